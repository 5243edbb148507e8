"""Launches of kernels/valid_async.cu with what they must compute."""

import numpy as np
from valid_cases import ONE, Valid, f32

import ptxemu


def tmap(array, box, swizzle=0, steps=None, dims=None):
    """A tensor map of a C-contiguous array; ``box`` innermost first."""
    dims = dims or array.shape[::-1]
    steps = steps or (1,) * array.ndim
    return ptxemu.TensorMap(array, str(array.dtype), dims, array.strides[:-1][::-1], box, steps, swizzle)


def ramp(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


WARP, TWO_WARPS, EIGHT, NINE = (32, 1, 1), (64, 1, 1), (256, 1, 1), (288, 1, 1)
a40 = ramp(40, 60)
column = ramp(56, 32)
sums = column.reshape(7, 256).sum(0)
three = ramp(3, 256).sum(0)


def window(array, corner, shape):
    """``array`` from ``corner`` on, zeros outside; both in NumPy's order."""
    out = np.zeros(shape, array.dtype)
    for index in np.ndindex(shape):
        at = tuple(c + i for c, i in zip(corner, index, strict=True))
        if all(0 <= x < n for x, n in zip(at, array.shape, strict=True)):
            out[index] = array[at]
    return out


a3, a5, line = ramp(5, 6, 12), ramp(3, 2, 3, 4, 4), ramp(72)
added = np.zeros((12, 36), np.float32)
added[2:10, 4:36] = ramp(8, 32)
linear = ramp(3, 256)

VALID = [
    Valid("one_tile", ONE, WARP, (tmap(a40, (32, 32)), f32(1024), 0, 0), {1: a40[:32, :32]}),
    Valid("one_tile", ONE, WARP, (tmap(a40, (32, 32)), f32(1024), 40, 20), {1: window(a40, (20, 40), (32, 32))}),
    Valid("one_tile", ONE, EIGHT, (tmap(a40, (32, 32)), f32(1024), -8, -7), {1: window(a40, (-7, -8), (32, 32))}),
    Valid("one_tile", ONE, WARP, (tmap(a40, (32, 32)), f32(1024), 100, 0), {1: np.zeros(1024)}),
    Valid("one_waits_all_sync", ONE, EIGHT, (tmap(a40, (32, 32)), f32(1024)), {1: a40[:32, :32].T}),
    Valid("single_stage", ONE, EIGHT, (tmap(column, (32, 8)), f32(256), 7), {1: sums}),
    Valid("ring_of_two", ONE, NINE, (tmap(column, (32, 8)), f32(256), 7), {1: sums}),
    Valid("ring_of_three", ONE, NINE, (tmap(column, (32, 8)), f32(256), 7), {1: sums}),
    Valid("relaxed_ring", ONE, NINE, (tmap(column, (32, 8)), f32(256), 7), {1: sums}),
    Valid("ring_of_three", ONE, NINE, (tmap(column, (32, 8)), f32(256), 3), {1: three}),
    Valid("peek_before_release", ONE, NINE, (tmap(column, (32, 8)), f32(256), 7), {1: sums}),
    Valid("swizzled_tile", ONE, WARP, (tmap(a40, (32, 32), 128), f32(1024), 7), {1: a40[:32, :32]}),
    Valid("swizzled_tile", ONE, WARP, (tmap(a40, (16, 32), 64), f32(512), 3), {1: a40[:32, :16]}),
    Valid("swizzled_tile", ONE, WARP, (tmap(a40, (8, 32), 32), f32(256), 1), {1: a40[:32, :8]}),
    Valid("line", ONE, TWO_WARPS, (tmap(line, (64,)), f32(64)), {1: np.append(line[16:], np.zeros(8))}),
    Valid("brick", ONE, TWO_WARPS, (tmap(a3, (4, 4, 4)), f32(64)), {1: window(a3, (2, -1, 4), (4, 4, 4))}),
    Valid(
        "brick", ONE, TWO_WARPS, (tmap(a3, (4, 4, 8), steps=(1, 1, 2)), f32(64)),
        {1: window(a3[::2], (1, -1, 4), (4, 4, 4))},
    ),
    Valid(
        "five_dimensions", ONE, TWO_WARPS, (tmap(a5, (4, 2, 2, 2, 2)), f32(64)),
        {1: window(a5, (1, 1, 0, 1, 0), (2, 2, 2, 2, 4))},
    ),
    Valid("store_tiles", ONE, EIGHT, (tmap(f32(24, 32), (32, 8)), np.float32(0.5), 3), {0: ramp(24, 32) / 2}),
    Valid("store_tiles", ONE, EIGHT, (tmap(f32(21, 28), (32, 8)), np.float32(1), 3), {0: ramp(24, 32)[:21, :28]}),
    Valid("store_what_is_inside", ONE, WARP, (tmap(f32(5, 20), (32, 8)), 5, 20), {0: ramp(8, 32)[:5, :20]}),
    Valid("store_two_buffers", ONE, EIGHT, (tmap(f32(56, 32), (32, 8)), 7), {0: ramp(56, 32)}),
    Valid("add_tiles", (3, 1, 1), EIGHT, (tmap(np.zeros_like(added), (32, 8)), f32(256) * 0), {0: 3 * added}),
    Valid("linear_copies", (3, 1, 1), TWO_WARPS, (linear, f32(3, 256), 256), {1: 2 * linear}),
    Valid("barrier_of_threads", ONE, (128, 1, 1), (f32(128), 5), {0: (np.arange(128) + 5) % 128}),
    Valid("counts_and_drops", ONE, TWO_WARPS, (f32(64),), {0: np.r_[32:64, [-1] * 32]}),
    Valid("async_copies_arrive", ONE, TWO_WARPS, (linear, f32(64), 3), {1: linear[:, ::-1][:, :64].sum(0)}),
    Valid("async_copies_and_arrive", ONE, TWO_WARPS, (linear[0], f32(64)), {1: linear[0, ::-1][:64]}),
    Valid("map_in_global_memory", ONE, EIGHT, (tmap(column, (32, 8)), f32(256)), {1: column[:8]}),
    Valid(
        "flag_beside_a_copy", ONE, TWO_WARPS, (tmap(column, (32, 8)), f32(288), np.zeros(1, np.int32)),
        {1: np.append(column[:8], column[0])},
    ),
    Valid("invalidated_and_again", ONE, TWO_WARPS, (f32(64),), {0: np.arange(64)}),
    Valid(
        "multicast_halves", (4, 1, 1), NINE, (tmap(column, (32, 4)), f32(1024), 7),
        {1: np.concatenate([sums, 2 * sums, sums, 2 * sums])},
    ),
    Valid(
        "two_copies_one_barrier", ONE, EIGHT, (tmap(column, (32, 8)), tmap(column + 1, (32, 8)), f32(256), 7),
        {2: (column * (column + 1)).reshape(7, 256).cumsum(0)[-1]},
    ),
]  # fmt: skip
