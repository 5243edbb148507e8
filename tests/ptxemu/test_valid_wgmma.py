"""Correct kernels with wgmma are silent and right under every schedule."""

import copy
import functools

import numpy as np
import pytest
from compiling import KERNELS, nvrtc_ptx
from valid_wgmma_cases import VALID

import ptxemu

FILE = "valid_wgmma.cu"


@functools.cache
def load():
    return ptxemu.load(nvrtc_ptx((KERNELS / FILE).read_text(), FILE, "90a", (f"-I{KERNELS}",)))


def run(case, schedule="late", **keywords):
    """Launch on fresh copies: (report, arguments)."""
    args, entry = copy.deepcopy(case.args), load().entry(case.kernel)
    report = ptxemu.launch(entry, case.grid, case.block, args, case.shared, schedule=schedule, **keywords)
    return report, args


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2, 3], ids=str)
@pytest.mark.parametrize("case", VALID, ids=lambda c: c.kernel)
def test_silent_and_right(case, schedule):
    report, args = run(case, schedule)
    assert not [f for f in report.findings if f.rule != "divergent-barrier"], str(report)
    assert report.completed
    for position, expected in case.expected.items():
        np.testing.assert_array_equal(args[position], np.asarray(expected).reshape(args[position].shape))


@pytest.mark.parametrize("case", VALID, ids=lambda c: c.kernel)
def test_observing_changes_nothing(case):
    plain, plain_args = run(case, check=False, count=False)
    both, both_args = run(case)
    counted, _ = run(case, check=False)
    for x, y in zip(plain_args, both_args, strict=True):
        np.testing.assert_array_equal(x, y)
    assert counted.counters.to_dict() == both.counters.to_dict()


def test_chunks_are_traced():
    """Which 16 bytes a multiplication reads: a warp's rows of A, then B."""
    report, _ = run(VALID[0], trace=ptxemu.Trace(warps=[0, 1], spaces=("shared",)))
    reads = [a for a in report.trace if a.site.opcode.startswith("wgmma")]
    assert [(a.warp, a.width, (a.addresses >= 0).sum()) for a in reads] == [(0, 16, 32), (1, 16, 32), (0, 16, 16)]
    first = reads[0].addresses[0]
    assert sorted(reads[0].addresses - first) == list(range(0, 512, 16))  # 16 rows of 32 bytes


def test_work_is_counted():
    report, _ = run(VALID[0])
    assert report.counters.flops == 2 * 64 * 8 * 16
    assert report.counters.mix()["mma"] == 4
    site = next(s for s in report.counters.sites if s.opcode.startswith("wgmma.mma_async"))
    assert (site.wavefronts, site.wavefronts_ideal, site.bytes) == (18, 18, 64 * 32 + 8 * 32)
