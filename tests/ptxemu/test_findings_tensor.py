"""Every broken kernel around cp.async, ldmatrix, mma and wmma is found: rule, line and words, under every schedule."""

import copy
import functools

import numpy as np
import pytest
from broken_tensor_cases import BROKEN
from compiling import KERNELS, marked_lines, nvrtc_ptx

import ptxemu

FILE = "broken_tensor.cu"
CONSEQUENCES = {"weak_wait": {"copy-overwritten"}, "odd_target": {"uninitialised-shared"}}


@functools.cache
def load(arch):
    return ptxemu.load(nvrtc_ptx((KERNELS / FILE).read_text(), FILE, arch, (f"-I{KERNELS}",)))


def run(case, schedule="late", arch="90a"):
    """Launch a broken case; arrays are named a, b, c… after their positions."""
    args = [
        ptxemu.Array(arg, name="abcdef"[position]) if isinstance(arg, np.ndarray) else arg
        for position, arg in enumerate(copy.deepcopy(case.args))
    ]
    profile = ptxemu.profile_for(f"sm_{arch}")
    return ptxemu.launch(load(arch).entry(case.kernel), case.grid, case.block, args, schedule=schedule, profile=profile)


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_found(case):
    report = run(case)
    found = [f for f in report.findings if f.rule == case.rule]
    assert found, str(report)
    finding = found[0]
    assert finding.severity == case.severity, str(finding)
    assert finding.line in marked_lines(FILE, case.kernel, "here"), str(finding)
    assert finding.file.endswith(FILE)
    other = marked_lines(FILE, case.kernel, "other")
    if other:
        assert finding.other_line in other, str(finding)
    for words in case.says:
        assert words in str(report), str(report)
    assert finding.threads and finding.advice and "\n" not in finding.advice


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_nothing_else_is_said(case):
    """The late schedule names the one mistake, and of its consequences only those that are mistakes themselves."""
    rules = {f.rule for f in run(case).findings}
    assert rules - CONSEQUENCES.get(case.kernel, set()) == {case.rule}, str(run(case))


@pytest.mark.parametrize("schedule", ["early", 1, 2], ids=str)
@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_verdict_does_not_depend_on_the_schedule(case, schedule):
    report = run(case, schedule)
    assert (case.rule, case.severity) in {(f.rule, f.severity) for f in report.findings}, str(report)


@pytest.mark.parametrize("arch", ["80", "100a", "120a"])
@pytest.mark.parametrize("case", BROKEN[::3], ids=lambda c: c.kernel)
def test_found_on_every_target(case, arch):
    assert case.rule in {f.rule for f in run(case, arch=arch).findings}


@pytest.mark.parametrize("kernel", ["no_wait", "weak_wait", "no_commit", "ldmatrix_without_wait"])
def test_late_data_is_poisoned(kernel):
    """What is read too early is all ones, so the values are wrong every time, even with the checks off."""
    case = next(c for c in BROKEN if c.kernel == kernel)
    args = copy.deepcopy(case.args)
    ptxemu.launch(load("90a").entry(kernel), case.grid, case.block, args, check=False, count=False)
    out = next(x for x in args if isinstance(x, np.ndarray) and x.size <= 64)
    assert np.isnan(out).all() if out.dtype == np.float32 else (out == 0).all()  # ones XOR ones XOR ones XOR ones
