"""Every broken kernel around wgmma is found: rule, line and words, under every schedule."""

import copy

import numpy as np
import pytest
from broken_wgmma_cases import BROKEN
from judging import check_found, check_nothing_else, check_verdict, load, run

import ptxemu

FILE = "broken_wgmma.cu"
CONSEQUENCES = {"other_warpgroup_still_reads": {"divergent-barrier"}}  # it waits at one barrier in two places


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_found(case):
    check_found(FILE, case, run(FILE, case))


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_nothing_else_is_said(case):
    check_nothing_else(run(FILE, case), case, CONSEQUENCES)


@pytest.mark.parametrize("schedule", ["early", 1, 2], ids=str)
@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_verdict_does_not_depend_on_the_schedule(case, schedule):
    check_verdict(run(FILE, case, schedule), case)


@pytest.mark.parametrize("kernel", ["no_commit", "no_wait", "weak_wait"])
def test_late_data_is_poisoned(kernel):
    """An accumulator read too early is a NaN every time, even with the checks off."""
    case = next(c for c in BROKEN if c.kernel == kernel)
    args = copy.deepcopy(case.args)
    ptxemu.launch(load(FILE).entry(kernel), case.grid, case.block, args, check=False, count=False)
    assert np.isnan(args[2]).all()
