"""Correct kernels with cp.async, ldmatrix, mma, wmma are silent and right under every schedule, on every target."""

import copy
import functools

import numpy as np
import pytest
from compiling import KERNELS, nvrtc_ptx
from valid_tensor_cases import HOPPER, VALID

import ptxemu


@functools.cache
def load(name, arch):
    return ptxemu.load(nvrtc_ptx((KERNELS / name).read_text(), name, arch, (f"-I{KERNELS}",)))


def run(case, schedule="late", arch="90a", **keywords):
    """Launch on fresh copies: (report, arguments)."""
    name = "valid_hopper_tensor.cu" if case in HOPPER else "valid_tensor.cu"
    args, profile = copy.deepcopy(case.args), ptxemu.profile_for(f"sm_{arch}")
    entry = load(name, arch).entry(case.kernel)
    report = ptxemu.launch(entry, case.grid, case.block, args, schedule=schedule, profile=profile, **keywords)
    return report, args


def assert_right(case, args):
    for position, expected in case.expected.items():
        np.testing.assert_array_equal(args[position], np.asarray(expected).reshape(args[position].shape))


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2, 3], ids=str)
@pytest.mark.parametrize("case", VALID + HOPPER, ids=lambda c: c.kernel)
def test_silent_and_right(case, schedule):
    report, args = run(case, schedule)
    assert not report.findings, str(report)
    assert report.completed
    assert_right(case, args)


@pytest.mark.parametrize("arch", ["80", "100a", "120a"])
@pytest.mark.parametrize("case", VALID[::2], ids=lambda c: c.kernel)
def test_silent_on_every_target(case, arch):
    report, args = run(case, arch=arch)
    assert not report.findings, str(report)
    assert_right(case, args)


@pytest.mark.parametrize("case", VALID + HOPPER, ids=lambda c: c.kernel)
def test_observing_changes_nothing(case):
    plain, plain_args = run(case, check=False, count=False)
    both, both_args = run(case)
    counted, _ = run(case, check=False)
    for x, y in zip(plain_args, both_args, strict=True):
        np.testing.assert_array_equal(x, y)
    assert counted.counters.to_dict() == both.counters.to_dict()
