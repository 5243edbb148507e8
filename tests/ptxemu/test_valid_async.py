"""Correct kernels with mbarriers, bulk and tensor copies are silent and right under every schedule."""

import copy
import functools

import numpy as np
import pytest
from compiling import KERNELS, nvrtc_ptx
from valid_async_cases import VALID

import ptxemu

FILE = "valid_async.cu"


@functools.cache
def load(arch="90a"):
    return ptxemu.load(nvrtc_ptx((KERNELS / FILE).read_text(), FILE, arch, (f"-I{KERNELS}",)))


def run(case, schedule="late", arch="90a", **keywords):
    """Launch on fresh copies: (report, arguments)."""
    args, profile = copy.deepcopy(case.args), ptxemu.profile_for(f"sm_{arch}")
    entry = load(arch).entry(case.kernel)
    report = ptxemu.launch(entry, case.grid, case.block, args, schedule=schedule, profile=profile, **keywords)
    return report, [a.array if isinstance(a, ptxemu.TensorMap) else a for a in args]


def assert_right(case, args):
    for position, expected in case.expected.items():
        np.testing.assert_allclose(args[position], np.asarray(expected).reshape(args[position].shape), rtol=1e-6)


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2, 3], ids=str)
@pytest.mark.parametrize("case", VALID, ids=lambda c: c.kernel)
def test_silent_and_right(case, schedule):
    report, args = run(case, schedule)
    assert not report.findings, str(report)
    assert report.completed
    assert_right(case, args)


@pytest.mark.parametrize("arch", ["90", "100a", "120a"])
@pytest.mark.parametrize("case", VALID[::2], ids=lambda c: c.kernel)
def test_silent_on_every_target(case, arch):
    report, args = run(case, arch=arch)
    assert not report.findings, str(report)
    assert_right(case, args)


@pytest.mark.parametrize("case", VALID, ids=lambda c: c.kernel)
def test_observing_changes_nothing(case):
    plain, plain_args = run(case, check=False, count=False)
    both, both_args = run(case)
    counted, _ = run(case, check=False)
    for x, y in zip(plain_args, both_args, strict=True):
        np.testing.assert_array_equal(x, y)
    assert counted.counters.to_dict() == both.counters.to_dict()


def test_trace_shows_the_swizzle():
    """The pieces of a tile in its order: row r, chunk c of a 128-byte swizzle lies at chunk c XOR r % 8 of its row."""
    case = next(c for c in VALID if c.kernel == "swizzled_tile")
    report, _ = run(case, trace=ptxemu.Trace(spaces=("shared", "global")))
    copies = [a for a in report.trace if a.site.opcode.startswith("cp.async.bulk") and a.space == "shared"]
    pieces = np.concatenate([a.addresses for a in copies]).reshape(32, 8) - copies[0].addresses[0]
    row, chunk = np.indices((32, 8))
    np.testing.assert_array_equal(pieces, 128 * row + 16 * (chunk ^ row % 8))
    first = next(a for a in report.trace if a.site.opcode.startswith("cp.async.bulk") and a.space == "global")
    assert first.width == 16 and list(first.addresses[:8] - first.base) == list(range(0, 128, 16))
