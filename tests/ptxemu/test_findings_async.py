"""Every broken kernel around mbarriers, bulk and tensor copies is found, under every schedule."""

import pytest
from broken_async_cases import BROKEN
from judging import check_found, check_nothing_else, check_verdict, run

FILE = "broken_async.cu"
# What else is said in the late schedule because the mistake leads to it.
CONSEQUENCES = {
    "parity_never_flips": {"copy-overwritten", "mbarrier-over-arrival"},
    "odd_column": {"uninitialised-shared"},
}
# Where data that is there early changes what the kernel does.
OTHER_VERDICT = {
    "parity_never_flips": {"deadlock"},
    "wrong_first_parity": {"deadlock"},
    "half_do_not_wait": {"race-shared"},
}


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_found(case):
    check_found(FILE, case, run(FILE, case))


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_nothing_else_is_said(case):
    check_nothing_else(run(FILE, case), case, CONSEQUENCES)


@pytest.mark.parametrize("schedule", ["early", 1, 2], ids=str)
@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_verdict_does_not_depend_on_the_schedule(case, schedule):
    check_verdict(run(FILE, case, schedule), case, OTHER_VERDICT.get(case.kernel, ()))
