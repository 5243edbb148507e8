"""Wavefronts and conflicts of wgmma's operands in shared memory: as a profiler counts them."""

import json
from pathlib import Path

import numpy as np
import pytest
from pattern_wgmma import PATTERNS, text

import ptxemu

RECORDS = sorted((Path(__file__).parent / "data").glob("wgmma_patterns_*.json"))


def count(name):
    """The emulator's counts of the instruction: Site."""
    words, image = PATTERNS[name].make()
    out = np.zeros((PATTERNS[name].sums, 128), np.uint32)
    report = ptxemu.launch(ptxemu.load(text(name)).entry(), 1, 128, [image, words, out], check=False)
    return next(s for s in report.counters.sites if s.opcode.startswith("wgmma.mma_async"))


def test_bytes_and_wavefronts_by_hand():
    site = count("p800")  # m64n8k16 of FP16: A has 2048 bytes, B 256
    assert (site.bytes, site.wavefronts, site.excess_wavefronts) == (2304, 18, 0)
    assert count("p801").wavefronts == 2  # A comes from registers


@pytest.mark.skipif(not RECORDS, reason="nothing recorded yet: tools/record_patterns.py --wgmma does so on a GPU")
@pytest.mark.parametrize("name", PATTERNS)
def test_as_profiled(name):
    site = count(name)
    for path in RECORDS:
        recorded = json.loads(path.read_text())["patterns"][name]
        assert (site.wavefronts, site.excess_wavefronts) == (recorded["wavefronts"], recorded["conflicts"])
        assert recorded["requests"] == site.executions  # one per warp
