"""A warp-specialised GEMM of Hopper (TMA, mbarriers, wgmma, setmaxnreg) is silent and right; its mutants, whose values
are right on most runs of a GPU, are found every time.
"""

import functools

import numpy as np
import pytest
from compiling import KERNELS, nvrtc_ptx

import ptxemu

FILE, BLOCK = "hopper_gemm.cu", 384


@functools.cache
def load(mutant="", stages=3):
    options = [f"-I{KERNELS}", f"-DSTAGES={stages}", *([f"-D{mutant}"] if mutant else [])]
    return ptxemu.load(nvrtc_ptx((KERNELS / FILE).read_text(), FILE, "90a", tuple(options)))


def launch(m, n, k, mutant="", stages=3, **keywords):
    """(report, C, A B^T)."""
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-3, 4, (rows, k)).astype(np.float16) for rows in (m, n))
    maps = [ptxemu.TensorMap(x, "float16", (k, len(x)), (2 * k,), (64, 128), (1, 1), 128) for x in (a, b)]
    c = np.full((m, n), np.nan, np.float32)
    out = ptxemu.Array(c, name="C", role="out")
    shared = stages * (128 + 128) * 64 * 2 + 16 * stages
    entry = load(mutant, stages).entry("gemm")
    report = ptxemu.launch(entry, (n // 128, m // 128), BLOCK, [*maps, out, n, k], shared, **keywords)
    return report, c, a.astype(np.float32) @ b.astype(np.float32).T


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2], ids=str)
@pytest.mark.parametrize("stages, k", [(3, 64), (3, 256), (3, 448), (2, 320)])
def test_silent_and_right(schedule, stages, k):
    report, c, expected = launch(128, 256, k, stages=stages, schedule=schedule)
    assert not report.findings, str(report)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("schedule", ["late", 1, 2], ids=str)
def test_work_is_counted(schedule):
    report, _, _ = launch(128, 128, 128, schedule=schedule)
    assert report.counters.flops >= 2 * 128**3
    assert report.counters.mix()["mma"] == 2 * 4 * 2 * 4  # steps, multiplications, warpgroups, warps


MUTANTS = {
    "BREAK_FULL": {"missing-copy-wait"},
    "BREAK_EMPTY_BEFORE_WAIT": {"wgmma-operand-overwritten", "race-shared"},
    "BREAK_RELEASE_OWN_WARP": {"race-shared"},
    "BREAK_RELEASE_NEWEST": {"wgmma-operand-overwritten", "race-shared"},
}


@pytest.mark.parametrize("schedule", ["late", "early", 1], ids=str)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_found(mutant, schedule):
    report, _, _ = launch(128, 128, 448, mutant, schedule=schedule)
    found = [f for f in report.findings if f.rule in MUTANTS[mutant]]
    assert found and found[0].severity == "error", str(report)
    assert found[0].file.endswith(FILE) and found[0].line
