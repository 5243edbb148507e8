"""Every broken kernel around wgmma is found: rule, line and words, under every schedule."""

import copy
import functools

import numpy as np
import pytest
from broken_wgmma_cases import BROKEN
from compiling import KERNELS, marked_lines, nvrtc_ptx

import ptxemu

FILE = "broken_wgmma.cu"
CONSEQUENCES = {"other_warpgroup_still_reads": {"divergent-barrier"}}  # it waits at one barrier in two places


@functools.cache
def load():
    return ptxemu.load(nvrtc_ptx((KERNELS / FILE).read_text(), FILE, "90a", (f"-I{KERNELS}",)))


def run(case, schedule="late", **keywords):
    """Launch a broken case; arrays are named a, b, c… after their positions."""
    args = [
        ptxemu.Array(arg, name="abcdef"[position]) if isinstance(arg, np.ndarray) else arg
        for position, arg in enumerate(copy.deepcopy(case.args))
    ]
    entry = load().entry(case.kernel)
    return ptxemu.launch(entry, case.grid, case.block, args, case.shared, schedule=schedule, **keywords)


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
    assert (case.rule, case.severity) in {(f.rule, f.severity) for f in report.findings}, str(report)


@pytest.mark.parametrize("kernel", ["no_commit", "no_wait", "weak_wait"])
def test_late_data_is_poisoned(kernel):
    """An accumulator read too early is a NaN every time, even with the checks off."""
    case = next(c for c in BROKEN if c.kernel == kernel)
    args = copy.deepcopy(case.args)
    ptxemu.launch(load().entry(kernel), case.grid, case.block, args, check=False, count=False)
    assert np.isnan(args[2]).all()
