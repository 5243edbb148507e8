"""Tensor copies against an independent reference, and against the bytes that a GPU moved."""

import base64
import functools
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from golden_tma import CASES, SHARED, run

from gemmlab.tensormap import DTYPES

RECORDS = sorted((Path(__file__).parent / "data").glob("tma_goldens_*.json.gz"))
NAMES = list(CASES)
REFUSALS = "takes no negative coordinates|needs a multiple of 16 bytes|which TMA does not have"
PLAIN = [name for name, c in CASES.items() if (c.words, c.reduce, c.nan_fill) == ("distinct", "", False)]
MOVED = [name for name in PLAIN if "tf" not in CASES[name].dtype]


@functools.cache
def record(path):
    return json.loads(gzip.decompress(path.read_bytes()))


def refused():
    """Cases at which a GPU stopped."""
    return sorted({name for path in RECORDS for name in record(path)["refused"]})


def reference(case):
    """What ``run`` must give, element by element from the definition: PTX ISA, "Tensors"."""
    array, tensor_map = case.make()
    tiled, size = tensor_map.tiled, DTYPES[case.dtype][1]
    shared = np.full(SHARED, 0xA5, np.uint8)
    if not case.load:
        shared = case.shared().view(np.uint8)
    steps = (1, *tiled.element_strides[1:])
    counts = [-(-b // s) for b, s in zip(tiled.box, steps, strict=True)]
    for number, index in enumerate(np.ndindex(*reversed(counts))):
        row, column = divmod(number, counts[0])
        at = case.at + row * (case.swizzle or counts[0] * size) + column * size
        mask = {0: 0, 32: 1, 64: 3, 128: 7}[case.swizzle]
        at ^= (at >> 7 & mask) << 4
        where = [c + i * s for c, i, s in zip(case.corner, reversed(index), steps, strict=True)]
        extents = list(case.dims)
        if not case.load:  # whole units of 16 bytes
            extents[0] = -(-extents[0] * size // 16) * 16 // size
        inside = all(0 <= w < d for w, d in zip(where, extents, strict=True))
        source = where[0] * size + sum(w * s for w, s in zip(where[1:], tiled.strides, strict=True))
        if not case.load:
            if inside:
                array[source : source + size] = shared[at : at + size]
        elif inside:
            shared[at : at + size] = array[source : source + size]
        else:
            shared[at : at + size] = 0
    return np.append(shared.view(np.uint32), np.uint32(1)) if case.load else array.view(np.uint32)


@pytest.mark.parametrize("name", [name for name in MOVED if name not in refused()][::2])
def test_every_element_lands_where_it_must(name):
    np.testing.assert_array_equal(run(CASES[name], "emulator"), reference(CASES[name]))


@pytest.mark.skipif(not RECORDS, reason="no tensor copies recorded yet: tools/record_tma.py makes them on a GPU")
@pytest.mark.parametrize("name", NAMES)
def test_as_on_the_gpu(name):
    for path in RECORDS:
        made = record(path)
        if name in made["refused"]:
            with pytest.raises(AssertionError, match=REFUSALS):
                run(CASES[name], "emulator")
            continue
        if name not in made["cases"]:
            pytest.skip("not in the record: run tools/record_tma.py again")
        expected = np.frombuffer(base64.b64decode(made["cases"][name]), np.uint32)
        np.testing.assert_array_equal(run(CASES[name], "emulator"), expected)
