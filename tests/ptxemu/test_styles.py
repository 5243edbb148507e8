"""Kernels in unusual styles: the correct ones are silent and right under every schedule, the wrong ones are found."""

import functools

import numpy as np
import pytest
from compiling import KERNELS, marked_lines, nvrtc_ptx
from valid_async_cases import ramp, tmap

import ptxemu

COLUMN, ROWS, SQUARES = ramp(56, 32), ramp(7, 128), ramp(56, 32).reshape(7, 256) ** 2
SUMS = COLUMN.reshape(7, 256).sum(0)
STEPS = np.repeat(np.float32([0, 1]), 32)


RNG = np.random.default_rng(0)
A16, B16 = (RNG.integers(-3, 4, (rows, 32)).astype(np.float16) for rows in (16, 8))
GA, GB = (RNG.integers(-3, 4, (5, rows, 16)).astype(np.float16) for rows in (64, 8))
PRODUCT = sum(x.astype(np.float32) @ y.astype(np.float32).T for x, y in zip(GA, GB, strict=True))
PLACES = RNG.integers(0, 128, (4, 32)).astype(np.int32)


def f32(*shape):
    return np.zeros(shape, np.float32)


def f16(n):
    return np.ones(n, np.float16).view(np.uint16)


def a():
    return tmap(COLUMN.copy(), (32, 8))


def c(rows=56):
    return tmap(f32(rows, 32), (32, 8))


def shared_map(tiles=1):
    """A tensor map and the array that it is of: the kernel has both."""
    array = ptxemu.Array(f32(8 * tiles, 32), name="W")
    return ptxemu.TensorMap(array, "float32", (32, 8 * tiles), (128,), (32, 8), (1, 1)), array


def flag(n=1):
    return np.zeros(n, np.uint32)


def narrow():
    return ptxemu.TensorMap(np.zeros((8, 64), np.uint16), "float16", (64, 8), (128,), (64, 8), (1, 1))


def half_map(x):
    return ptxemu.TensorMap(bits(x), "float16", x.shape[::-1], (64,), x.shape[::-1], (1, 1), 64)


def bits(x):
    return x.view(np.uint16).copy()


def halves():
    """A tile of four rows."""
    return tmap(COLUMN.copy(), (32, 4))


# name: blocks, threads, arguments, which of them holds the result, and it
VALID = {
    "mbarrier_only": (1, 64, lambda: (ramp(7, 32), f32(32), 7), 1, ramp(7, 32).sum(0)[::-1]),
    "state_barrier": (1, 64, lambda: (ramp(64), f32(64)), 1, np.roll(ramp(64), -3)),
    "cp_ring": (1, 160, lambda: (ROWS.copy(), f32(128), 7), 1, ROWS.sum(0)[::-1]),
    "reduce_many": (5, 256, lambda: (c(8),), 0, 5 * ramp(256) + 10),
    "staged_store": (
        1, 256, lambda: (c(48), 3), 0,
        np.stack([1000 * g + 100 * i + ramp(256) for i in range(3) for g in range(2)]),
    ),
    "dsmem_sum": (8, 32, lambda: (ramp(8, 32), f32(2, 32)), 1, ramp(2, 4, 32).sum(1)),
    "ring_pass": (4, 32, lambda: (ramp(4, 32), f32(4, 32)), 1, np.tile(ramp(4, 32).sum(0), 4)),
    "ping_pong": (
        1, 256, lambda: (ramp(128), f32(256), 3), 1, np.append(3 * ramp(128)[::-1] + 3, 3 * ramp(128)[::-1] + 6)
    ),
    "lane_waits": (1, 288, lambda: (a(), f32(256), 7), 1, SUMS),
    "load_then_expect": (1, 256, lambda: (a(), f32(256)), 1, COLUMN[:8]),
    "split_cluster": (
        2, 64, lambda: (ramp(128), f32(128)), 1, np.append(ramp(128)[64:] + STEPS, ramp(128)[:64] + STEPS)
    ),
    "hints": (1, 256, lambda: (a(), c(8)), 1, COLUMN[:8] + 1),
    "store_then_flag": (2, 256, lambda: (*shared_map(), f32(256), flag()), 2, ramp(256)),
    "workspace_then_tma": (2, 256, lambda: (*shared_map(), f32(256), flag()), 2, ramp(256)),
    "rounds_ahead": (
        2, 256, lambda: (*shared_map(9), f32(9, 256), flag(9), 9), 2, np.arange(0, 9000, 1000)[:, None] + ramp(256)
    ),
    "one_fences_for_all": (2, 256, lambda: (*shared_map(), f32(256), flag()), 2, ramp(256)),
    "relay_fences": (3, 256, lambda: (*shared_map(), f32(256), flag(2)), 2, ramp(256)),
    "own_workspace": (1, 256, lambda: (*shared_map(), f32(256)), 2, ramp(256) + 1),
    "red_release": (6, 32, lambda: (ramp(6, 32), f32(6, 32), f32(32), flag()), 2, ramp(6, 32).sum(0)),
    "backoff": (1, 256, lambda: (a(), f32(256)), 1, COLUMN[:8]),
    "in_place_transform": (1, 256, lambda: (a(), c(), 7), 1, COLUMN.reshape(7, 8, 32)[:, ::-1, ::-1]),
    "two_producers": (1, 320, lambda: (a(), a(), f32(256), 7), 2, SQUARES.sum(0)),
    "tma64_ldmatrix": (
        1, 32, lambda: (half_map(A16), half_map(B16), f32(128)), 2, A16.astype(np.float32) @ B16.astype(np.float32).T
    ),
    "wg_ring": (1, 256, lambda: (bits(GA), bits(GB), f32(512), 5), 2, PRODUCT),
    "wg_ring_relaxed": (1, 256, lambda: (bits(GA), bits(GB), f32(512), 5), 2, PRODUCT),
    "stage_as_staging": (1, 256, lambda: (a(), c(8), 7), 1, SUMS),
    "multicast_ring": (2, 288, lambda: (halves(), f32(512), 7), 1, np.tile(SUMS, 2)),
    "remote_atomics": (
        4, 32, lambda: (PLACES.copy(), np.zeros((4, 32), np.int32)), 1, np.bincount(PLACES.ravel(), minlength=128)
    ),
}  # fmt: skip

# name: blocks, threads, arguments, rule
BROKEN = {
    "flag_after_read_wait": (2, 256, lambda: (*shared_map(), f32(256), flag()), "race-global"),
    "read_back": (1, 256, lambda: (*shared_map(), f32(256)), "race-global"),
    "workspace_without_proxy_fence": (2, 256, lambda: (*shared_map(), f32(256), flag()), "missing-proxy-fence"),
    "workspace_shared_fences": (2, 256, lambda: (*shared_map(), f32(256), flag()), "missing-proxy-fence"),
    "workspace_fences_too_early": (2, 256, lambda: (*shared_map(), f32(256), flag()), "missing-proxy-fence"),
    "second_round_without_fence": (2, 256, lambda: (*shared_map(3), f32(768), flag(3), 3), "missing-proxy-fence"),
    "one_writer_fences": (2, 256, lambda: (*shared_map(), f32(256), flag()), "missing-proxy-fence"),
    "zeros_then_tensor_store": (1, 256, lambda: (*shared_map(), f32(256)), "missing-proxy-fence"),
    "own_global_then_tma": (1, 256, lambda: (*shared_map(), f32(256)), "missing-proxy-fence"),
    "one_group_releases": (1, 288, lambda: (a(), f32(256), 7), "race-shared"),
    "used_after_inval": (1, 256, lambda: (a(), f32(512)), "mbarrier-uninitialised"),
    "each_warp_elects": (1, 256, lambda: (a(), f32(256)), "mbarrier-over-arrival"),
    "tail_commit": (1, 256, lambda: (ramp(7 * 256), f32(256), 7), "missing-copy-wait"),
    "reuse_without_all": (1, 256, lambda: (c(), 3), "race-shared"),
    "stmatrix_partial_barrier": (1, 128, lambda: (narrow(),), "race-shared"),
    "cp_async_over_wgmma": (1, 128, lambda: (f16(4096), f16(1024), f32(512), 3), "wgmma-operand-overwritten"),
    "cp_async_no_proxy_fence": (1, 128, lambda: (f16(1024), f16(128), f32(512)), "missing-proxy-fence"),
    "slot_reused": (2, 32, lambda: (ramp(128), f32(32), 4), "race-shared"),
    "forgot_mapa": (2, 32, lambda: (ramp(128), f32(32)), "deadlock"),
    "only_rank0_expects": (2, 256, lambda: (a(), f32(512)), "deadlock"),
    "barrier_zero_of_a_part": (1, 256, lambda: (ramp(256), f32(256)), "race-shared"),
    "reduce_and_plain": (2, 256, shared_map, "race-global"),
    "overlapping_stores": (2, 256, lambda: (c(),), "race-global"),
    "lane_releases_early": (1, 288, lambda: (a(), f32(256), 7), "race-shared"),
    "half_group": (1, 128, lambda: (bits(GA), bits(GB), f32(512)), "partial-warpgroup"),
    "own_consumers_only": (2, 288, lambda: (halves(), f32(512), 7), "race-shared"),
    "copies_after_noinc": (1, 64, lambda: (ramp(256), f32(64)), "missing-copy-wait"),
    "stmatrix_then_ldmatrix": (1, 64, lambda: (np.zeros(64, np.uint32),), "race-shared"),
    "fence_then_late_writer": (1, 256, lambda: (c(8),), "missing-proxy-fence"),
}
# Where the order of threads decides what is said first.
ALSO = {"reuse_without_all": {"copy-source-overwritten"}}


@functools.cache
def load(name):
    return ptxemu.load(nvrtc_ptx((KERNELS / name).read_text(), name, "90a", (f"-I{KERNELS}",)))


def launch(file, kernel, grid, block, args, schedule):
    args = [ptxemu.Array(arg, name="abcdef"[i]) if isinstance(arg, np.ndarray) else arg for i, arg in enumerate(args)]
    profile = ptxemu.profile_for("sm_90a")
    return args, ptxemu.launch(load(file).entry(kernel), grid, block, args, schedule=schedule, profile=profile)


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2, 3], ids=str)
@pytest.mark.parametrize("kernel", VALID)
def test_silent_and_right(kernel, schedule):
    grid, block, make, where, expected = VALID[kernel]
    args, report = launch("styles.cu", kernel, grid, block, make(), schedule)
    assert not report.findings, str(report)
    result = args[where].array
    result = result.array if isinstance(result, ptxemu.Array) else result
    np.testing.assert_array_equal(result.ravel(), np.ravel(expected))


@pytest.mark.parametrize("schedule", ["late", "early", 1, 2], ids=str)
@pytest.mark.parametrize("kernel", BROKEN)
def test_found(kernel, schedule):
    grid, block, make, rule = BROKEN[kernel]
    _, report = launch("mistakes.cu", kernel, grid, block, make(), schedule)
    found = [f for f in report.errors if f.rule in {rule} | ALSO.get(kernel, set())]
    assert found, str(report)
    if schedule == "late":
        assert found[0].line in marked_lines("mistakes.cu", kernel, "here"), str(found[0])
        other = marked_lines("mistakes.cu", kernel, "other")
        assert not other or found[0].other_line in other, str(found[0])


def test_a_phase_that_flips_every_turn():
    for schedule in ("late", "early", 1, 2):
        _, report = launch("mistakes.cu", "flips_each_turn", 1, 256, (a(), f32(256), 7), schedule)
        assert {f.rule for f in report.errors} & {"missing-copy-wait", "deadlock"}, str(report)


def test_a_wait_whose_answer_is_not_looked_at():
    """try_wait may give up; seeded schedules let it."""
    rules = set()
    for schedule in range(4):
        rules |= {f.rule for f in launch("mistakes.cu", "single_try", 1, 256, (a(), f32(256)), schedule)[1].errors}
    assert "missing-copy-wait" in rules
