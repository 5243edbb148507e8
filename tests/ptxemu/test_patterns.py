"""Sectors, requests and wavefronts of the access patterns equal what the profiler counted on hardware."""

import json
from pathlib import Path

import numpy as np
import pytest
from compiling import nvrtc_ptx
from pattern_cases import GLOBAL_BYTES, PATTERNS, TYPES, module_source

import ptxemu

RECORDS = sorted((Path(__file__).parent / "data").glob("patterns_*.json"))


def count(pattern):
    """The emulator's counts of one pattern's memory instruction: a Site."""
    entry = ptxemu.load(nvrtc_ptx(module_source(), "patterns.cu")).entry(pattern.name)
    data = np.zeros(GLOBAL_BYTES, np.uint8)
    report = ptxemu.launch(entry, 1, pattern.block, [data], check=False)
    return report.counters.total(pattern.space, pattern.op)


@pytest.mark.skipif(not RECORDS, reason="no recorded patterns: run tools/record_patterns.py on a GPU")
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_equals_the_profiler(pattern, path):
    recorded = json.loads(path.read_text())["patterns"].get(pattern.name)
    if recorded is None:
        pytest.skip(f"{pattern.name} is not in {path.name}: run tools/record_patterns.py on a GPU")
    site = count(pattern)
    if pattern.space == "global":
        measured = recorded[f"global_{pattern.op}_requests"], recorded[f"global_{pattern.op}_sectors"]
        assert (site.requests, site.sectors) == measured
    else:
        names = "instructions", "wavefronts", "conflicts"
        measured = tuple(recorded[f"shared_{pattern.op}_{name}"] for name in names)
        assert (site.requests, site.wavefronts, site.excess_wavefronts) == measured


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_is_counted(pattern):
    """Bounds that hold whatever the hardware does."""
    site = count(pattern)
    width = TYPES[pattern.bits][3]
    assert site.requests >= 1 and site.bytes == site.threads * width
    if pattern.space == "global":
        assert -(-width // 32) <= site.sectors <= site.threads
    else:
        assert 1 <= site.wavefronts_ideal <= site.wavefronts <= site.threads * max(1, width // 4)


def test_there_are_enough():
    assert len(PATTERNS) >= 40 and len({p.name for p in PATTERNS}) == len(PATTERNS)
