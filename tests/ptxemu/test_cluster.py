"""Clusters: correct kernels are silent and right under every schedule; every mistake is found and named."""

import functools

import numpy as np
import pytest
from compiling import KERNELS, marked_lines, nvrtc_ptx

import ptxemu

A = np.random.default_rng(1).integers(-8, 9, (4, 64)).astype(np.float32)
PEER = A[[1, 0, 3, 2]]
V = np.random.default_rng(2).integers(0, 64, (8, 64)).astype(np.int32)
COUNTS = np.stack([np.bincount(part.ravel(), minlength=64) for part in (V[:4], V[4:])])
VALID = [
    ("exchange", A, PEER[:, ::-1]), ("exchange_by_stores", A, PEER[:, ::-1]), ("generic_pointers", A, A + PEER),
    ("work_between", A, PEER + 2 * A), ("own_address", A, A[:, ::-1]), ("histogram", V, COUNTS),
    ("many_clusters", A, PEER + 5), ("leave_together", A, PEER[:, ::-1]),
    ("init_fence_and_relaxed_arrival", A, A[:, ::-1]),
]  # fmt: skip
BROKEN = [
    ("exit_while_the_peer_reads", "cluster-exit", ("another block of its cluster",)),
    ("peer_may_not_have_started", "cluster-not-started", ("may not have started",)),
    ("block_barrier_only", "race-shared", ("barrier.cluster",)),
    ("relaxed_arrive", "race-shared", ("nothing orders",)),
    ("rank_beyond_the_cluster", "out-of-bounds", ("outside",)),
    ("overwritten_while_read", "race-shared", ("read-write",)),
    ("init_without_fence", "mbarrier-init-not-visible", ("nothing orders the two",)),
    ("arrives_at_a_peer_that_may_be_gone", "cluster-exit", ("may exit",)),
    ("arrives_at_a_peer_that_may_not_have_started", "cluster-not-started", ("may not have started",)),
    ("leaves_without_waiting", "cluster-exit", ("exit",)),
    ("arrives_twice", "cluster-barrier", ("again without having waited",)),
    ("waits_without_arriving", "cluster-barrier", ("without having arrived",)),
    ("stores_before_the_wait", "cluster-not-started", ("may not have started",)),
    ("reads_before_the_wait", "race-shared", ("nothing orders",)),
    ("relaxed_arrival_after_a_store", "race-shared", ("nothing orders",)),
]


@functools.cache
def load(name):
    return ptxemu.load(nvrtc_ptx((KERNELS / name).read_text(), name, "90a", (f"-I{KERNELS}",)))


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2, 3], ids=str)
@pytest.mark.parametrize("kernel, given, expected", VALID, ids=lambda v: v if isinstance(v, str) else "")
def test_silent_and_right(kernel, given, expected, schedule):
    out = np.zeros(expected.shape, given.dtype)
    extra = [5] if kernel == "many_clusters" else []
    entry = load("valid_cluster.cu").entry(kernel)
    report = ptxemu.launch(entry, len(given), 64, [given.copy(), out, *extra], schedule=schedule)
    assert not report.findings, str(report)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2], ids=str)
def test_multicast(schedule):
    tile, out = np.arange(1024, dtype=np.float32).reshape(32, 32), np.zeros((2, 32, 32), np.float32)
    tensor_map = ptxemu.TensorMap(tile, "float32", (32, 32), (128,), (32, 16), (1, 1), 0)
    entry = load("valid_cluster.cu").entry("multicast")
    report = ptxemu.launch(entry, 2, 64, [tensor_map, out], schedule=schedule)
    assert not report.findings, str(report)
    np.testing.assert_array_equal(out, np.stack([tile, tile]))


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2], ids=str)
def test_remote_arrival(schedule):
    out = np.zeros((4, 64), np.float32)
    report = ptxemu.launch(load("valid_cluster.cu").entry("remote_arrival"), 4, 64, [A.copy(), out], schedule=schedule)
    assert not report.findings, str(report)
    np.testing.assert_array_equal(out[::2], A[1::2, ::-1])


def test_positions():
    """A grid of 4 x 6 CTAs in clusters of 2 x 3."""
    out = np.zeros((6, 4, 8), np.int32)
    report = ptxemu.launch(load("valid_cluster.cu").entry("where"), (4, 6), 1, [out], cluster=(2, 3))
    assert not report.errors
    for y in range(6):
        for x in range(4):
            rank = x % 2 + 2 * (y % 3)
            assert out[y, x].tolist() == [x % 2, y % 3, x // 2, y // 3, 6, rank, 2, 1]


def run(kernel, schedule="late"):
    entry = load("broken_cluster.cu").entry(kernel)
    return ptxemu.launch(entry, 4, 64, [A.copy(), np.zeros_like(A)], schedule=schedule)


@pytest.mark.parametrize("kernel, rule, says", BROKEN, ids=lambda v: v if isinstance(v, str) else "")
def test_found(kernel, rule, says):
    report = run(kernel)
    assert {f.rule for f in report.findings} == {rule}, str(report)
    finding = report.findings[0]
    assert finding.severity == "error" and finding.advice and finding.threads
    assert finding.line in marked_lines("broken_cluster.cu", kernel, "here"), str(finding)
    other = marked_lines("broken_cluster.cu", kernel, "other")
    assert not other or finding.other_line in other, str(finding)
    for words in says:
        assert words in str(report), str(report)


@pytest.mark.parametrize("schedule", ["early", 1, 2], ids=str)
@pytest.mark.parametrize("kernel, rule, says", BROKEN, ids=lambda v: v if isinstance(v, str) else "")
def test_verdict_does_not_depend_on_the_schedule(kernel, rule, says, schedule):
    assert rule in {f.rule for f in run(kernel, schedule).findings}, str(run(kernel, schedule))


def test_a_block_that_never_comes():
    entry = load("broken_cluster.cu").entry("one_block_waits")
    report = ptxemu.launch(entry, 2, 64, [A.copy(), np.zeros_like(A)])
    assert {f.rule for f in report.findings} == {"deadlock"} and not report.completed
    assert "64 of 128 threads of the cluster arrived" in str(report)


@pytest.mark.parametrize(
    "grid, cluster, words",
    [(4, 32, "at most 16"), (5, 2, "no multiple"), ((4, 2), (2, 4), "no multiple"), (4, (2, 0), "positive integers")],
)
def test_refusals(grid, cluster, words):
    with pytest.raises(ptxemu.LaunchError, match=words):
        ptxemu.launch(load("valid_cluster.cu").entry("where"), grid, 1, [np.zeros(64, np.int32)], cluster=cluster)


def test_another_cluster_than_compiled():
    with pytest.raises(ptxemu.LaunchError, match="__cluster_dims__"):
        ptxemu.launch(load("valid_cluster.cu").entry("exchange"), 4, 64, [A.copy(), A.copy()], cluster=4)
