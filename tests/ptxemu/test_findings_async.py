"""Every broken kernel around mbarriers, bulk and tensor copies is found, under every schedule."""

import copy
import functools

import numpy as np
import pytest
from broken_async_cases import BROKEN
from compiling import KERNELS, marked_lines, nvrtc_ptx

import ptxemu

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
    entry = load(arch).entry(case.kernel)
    return ptxemu.launch(entry, case.grid, case.block, args, case.shared, schedule=schedule, profile=profile)


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
    rules = {f.rule for f in run(case).findings}
    assert rules - CONSEQUENCES.get(case.kernel, set()) == {case.rule}, str(run(case))


@pytest.mark.parametrize("schedule", ["early", 1, 2], ids=str)
@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_verdict_does_not_depend_on_the_schedule(case, schedule):
    report = run(case, schedule)
    rules = {case.rule} | OTHER_VERDICT.get(case.kernel, set())
    assert rules & {f.rule for f in report.findings if f.severity == case.severity}, str(report)
