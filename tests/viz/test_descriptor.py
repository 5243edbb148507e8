"""The descriptor decoder computes as the emulator does."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from gemmlab import widgets
from gemmlab.errors import GemmlabError
from gemmlab.widgets.twin import asset
from ptxemu import decode_wgmma_descriptor, encode_wgmma_descriptor
from ptxemu.wgmma_descriptor import chunk_addresses

NODE = shutil.which("node")
FIELDS = [
    {"start": 0, "lbo": 16, "sbo": 1024, "swizzle": 128, "base": 0},
    {"start": 0x420, "lbo": 2048, "sbo": 512, "swizzle": 64, "base": 3},
    {"start": 96, "lbo": 128, "sbo": 256, "swizzle": 0, "base": 0},
    {"start": 0x3FFF0, "lbo": 4096, "sbo": 8192, "swizzle": 32, "base": 7},
]


@pytest.mark.skipif(NODE is None, reason="node is not installed: the component's arithmetic cannot be run")
@pytest.mark.parametrize("major", ["K", "MN"])
@pytest.mark.parametrize("fields", FIELDS)
def test_word_and_chunks_are_the_emulators(fields, major):
    word = encode_wgmma_descriptor(*(fields[name] for name in ("start", "lbo", "sbo", "swizzle", "base")))
    rows = 16 if major == "K" else 4
    page = "globalThis.window = globalThis; globalThis.document = {};\n" + asset("core.js") + asset("descriptor.js")
    got = f"String(D.encode(f)), D.decode({word}n), D.chunks(f, '{major}', {rows}).map((c) => c.at)"
    show = f"const D = gemmLadder.descriptor, f = {json.dumps(fields)}; console.log(JSON.stringify([{got}]))"
    done = subprocess.run([NODE, "-e", f"{page}\n{show}"], capture_output=True, text=True, check=True)
    encoded, decoded, chunks = json.loads(done.stdout)
    assert int(encoded) == word and decoded == fields
    assert chunks == chunk_addresses(np.array([word], np.uint64), major, rows)[0].tolist()


def test_the_decoder_starts_from_a_word():
    word = encode_wgmma_descriptor(0x400, lbo=16, sbo=512, swizzle=64)
    twin = widgets.descriptor(word)
    assert twin.data["choice"]["sbo"] == 512 and "SBO 512 B" in twin.alt and len(twin.html().encode()) < 100_000
    assert decode_wgmma_descriptor(word).swizzle == twin.data["choice"]["swizzle"] == 64


@pytest.mark.parametrize(("word", "major", "message"), [(-1, "K", "64-bit number"), (0, "M", "use 'K' or 'MN'")])
def test_what_is_no_descriptor_is_refused(word, major, message):
    with pytest.raises(GemmlabError, match=message):
        widgets.descriptor(word, major=major)
