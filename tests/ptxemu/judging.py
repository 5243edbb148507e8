"""Launch a broken case of one of the files in kernels/, and judge what was found: used by the test_findings_* of PTX
features that a GPU of its own kind has.
"""

import copy
import functools

import numpy as np
from compiling import KERNELS, marked_lines, nvrtc_ptx

import ptxemu


@functools.cache
def load(file, arch="90a"):
    return ptxemu.load(nvrtc_ptx((KERNELS / file).read_text(), file, arch, (f"-I{KERNELS}",)))


def run(file, case, schedule="late", arch="90a"):
    """The report of a launch; arrays are named a, b, c… after their positions."""
    args = [
        ptxemu.Array(arg, name="abcdef"[position]) if isinstance(arg, np.ndarray) else arg
        for position, arg in enumerate(copy.deepcopy(case.args))
    ]
    profile = ptxemu.profile_for(f"sm_{arch}")
    entry = load(file, arch).entry(case.kernel)
    return ptxemu.launch(entry, case.grid, case.block, args, case.shared, schedule=schedule, profile=profile)


def check_found(file, case, report):
    """The case's finding is there, with its severity, lines, words and advice."""
    found = [f for f in report.findings if f.rule == case.rule]
    assert found, str(report)
    finding = found[0]
    assert finding.severity == case.severity, str(finding)
    assert finding.line in marked_lines(file, case.kernel, "here"), str(finding)
    assert finding.file.endswith(file)
    other = marked_lines(file, case.kernel, "other")
    if other:
        assert finding.other_line in other, str(finding)
    for words in case.says:
        assert words in str(report), str(report)
    assert finding.threads and finding.advice and "\n" not in finding.advice


def check_nothing_else(report, case, consequences):
    """The late schedule names the one mistake, and of its ``consequences`` only those that are mistakes themselves."""
    rules = {f.rule for f in report.findings}
    assert rules - consequences.get(case.kernel, set()) == {case.rule}, str(report)


def check_verdict(report, case, others=()):
    """The case's rule, or one of ``others``, is found with its severity."""
    assert {case.rule, *others} & {f.rule for f in report.findings if f.severity == case.severity}, str(report)
