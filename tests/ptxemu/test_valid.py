"""Correct kernels are silent, right, and counted alike, whatever the schedule and whether checks are on or off."""

import copy

import numpy as np
import pytest
from compiling import file_ptx
from valid_cases import VALID

import ptxemu


def run(case, schedule="late", arch="90a", **keywords):
    """Launch a valid case on fresh copies; arrays that have an expected value get the role "inout". Returns
    (report, arguments).
    """
    entry = ptxemu.load(file_ptx("valid.cu", arch)).entry(case.kernel)
    args = copy.deepcopy(case.args)
    profile = ptxemu.profile_for(f"sm_{arch}")
    report = ptxemu.launch(
        entry, case.grid, case.block, args, shared=case.shared, schedule=schedule, profile=profile, **keywords
    )
    return report, args


def assert_right(case, args):
    for position, expected in case.expected.items():
        np.testing.assert_array_equal(args[position], np.asarray(expected).reshape(args[position].shape))


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2], ids=str)
@pytest.mark.parametrize("case", VALID, ids=lambda c: c.kernel)
def test_silent_and_right(case, schedule):
    report, args = run(case, schedule)
    assert not report.findings, str(report)
    assert report.completed
    assert_right(case, args)


@pytest.mark.parametrize("arch", ["75", "80", "100a", "120a"])
@pytest.mark.parametrize("case", VALID[::2], ids=lambda c: c.kernel)
def test_silent_on_every_target(case, arch):
    report, args = run(case, arch=arch)
    assert not report.findings, str(report)
    assert_right(case, args)


@pytest.mark.parametrize("case", VALID, ids=lambda c: c.kernel)
def test_observing_changes_nothing(case):
    """Values are the same with checks and counters off, and counters are the same with checks on and off."""
    plain, plain_args = run(case, check=False, count=False)
    both, both_args = run(case)
    counted, _ = run(case, check=False)
    assert plain.counters is None and not plain.findings
    for x, y in zip(plain_args, both_args, strict=True):
        np.testing.assert_array_equal(x, y)
    assert counted.counters.to_dict() == both.counters.to_dict()
