"""A warp-specialised GEMM of Hopper (TMA, mbarriers, wgmma, setmaxnreg) is silent and right; its mutants, whose values
are right on most runs of a GPU, are found every time.
"""

import gc

import numpy as np
import pytest
from hopper_gemm import FILE, launch


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


@pytest.mark.parametrize("mutant", ["", "BREAK_FULL"])
def test_nothing_is_left_behind(mutant):
    """A launch's arrays go at once, not when the collector of cycles comes by."""
    launch(128, 128, 128, mutant)
    gc.collect()
    gc.disable()
    try:
        launch(128, 128, 128, mutant)
        assert gc.collect() < 50  # a machine in a cycle makes more than a hundred
    finally:
        gc.enable()


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
