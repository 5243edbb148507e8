"""Every broken kernel around cp.async, ldmatrix, mma and wmma is found: rule, line and words, under every schedule."""

import copy

import numpy as np
import pytest
from broken_tensor_cases import BROKEN
from judging import check_found, check_nothing_else, check_verdict, load, run

import ptxemu

FILE = "broken_tensor.cu"
CONSEQUENCES = {"weak_wait": {"copy-overwritten"}, "odd_target": {"uninitialised-shared"}}


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


@pytest.mark.parametrize("arch", ["80", "100a", "120a"])
@pytest.mark.parametrize("case", BROKEN[::3], ids=lambda c: c.kernel)
def test_found_on_every_target(case, arch):
    assert case.rule in {f.rule for f in run(FILE, case, arch=arch).findings}


@pytest.mark.parametrize("kernel", ["no_wait", "weak_wait", "no_commit", "ldmatrix_without_wait"])
def test_late_data_is_poisoned(kernel):
    """What is read too early is all ones, so the values are wrong every time, even with the checks off."""
    case = next(c for c in BROKEN if c.kernel == kernel)
    args = copy.deepcopy(case.args)
    ptxemu.launch(load(FILE).entry(kernel), case.grid, case.block, args, check=False, count=False)
    out = next(x for x in args if isinstance(x, np.ndarray) and x.size <= 64)
    assert np.isnan(out).all() if out.dtype == np.float32 else (out == 0).all()  # ones XOR ones XOR ones XOR ones
