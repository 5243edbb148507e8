"""Every broken kernel is found: right rule, severity, source line and words, under every schedule."""

import copy

import numpy as np
import pytest
from broken_cases import BROKEN
from compiling import file_ptx, marked_lines

import ptxemu

SCHEDULES = ("late", "early", 1, 2)


def run(case, schedule="late", arch="90a", **keywords):
    """Launch a broken case; arrays are named after their parameters a, b, c… only where the text needs it."""
    entry = ptxemu.load(file_ptx("broken.cu", arch)).entry(case.kernel)
    args = []
    for position, arg in enumerate(copy.deepcopy(case.args)):
        if isinstance(arg, np.ndarray):
            role = "out" if position == case.out else "inout"
            args.append(ptxemu.Array(arg, name="abcdef"[position], role=role))
        else:
            args.append(arg)
    profile = ptxemu.profile_for(f"sm_{arch}")
    return ptxemu.launch(
        entry,
        case.grid,
        case.block,
        args,
        shared=case.shared,
        schedule=schedule,
        max_steps=case.max_steps,
        profile=profile,
        **keywords,
    )


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_found(case):
    report = run(case)
    found = [f for f in report.findings if f.rule == case.rule]
    assert found, str(report)
    finding = found[0]
    assert finding.severity == case.severity, str(finding)
    here = marked_lines("broken.cu", case.kernel, "here")
    if here:
        assert finding.line in here, str(finding)
        assert finding.file.endswith("broken.cu")
    other = marked_lines("broken.cu", case.kernel, "other")
    if case.rule.startswith("race"):
        assert finding.other_line in other, str(finding)
        assert len(finding.threads) == 2 and finding.where, finding
        assert finding.threads[0] != finding.threads[1]
    text = str(report)
    for words in case.says:
        assert words in text, text
    assert finding.advice and "\n" not in finding.advice


@pytest.mark.parametrize("schedule", SCHEDULES[1:], ids=str)
@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.kernel)
def test_verdict_does_not_depend_on_the_schedule(case, schedule):
    report = run(case, schedule)
    assert (case.rule, case.severity) in {(f.rule, f.severity) for f in report.findings}, str(report)


@pytest.mark.parametrize("arch", ["75", "100a", "120a"])
@pytest.mark.parametrize("case", BROKEN[::3], ids=lambda c: c.kernel)
def test_found_on_every_target(case, arch):
    assert case.rule in {f.rule for f in run(case, arch=arch).findings}


def test_report_is_plain_data():
    import json

    report = run(BROKEN[0])
    data = json.loads(json.dumps(report.to_dict()))
    assert data["findings"][0]["rule"] == BROKEN[0].rule
    assert data["findings"][0]["count"] >= 1


def test_findings_are_few():
    """One racing pair of lines is one finding, however many threads and rounds it has."""
    report = run(next(c for c in BROKEN if c.kernel == "no_second_barrier"))
    assert 1 <= len(report.findings) <= 6
    assert max(f.count for f in report.findings) > 100
