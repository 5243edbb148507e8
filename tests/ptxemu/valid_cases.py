"""Launches of kernels/valid.cu with what they must compute."""

from dataclasses import dataclass

import numpy as np

ONE = (1, 1, 1)


@dataclass(frozen=True)
class Valid:
    """``args``: arrays (copied per run) and scalars; ``expected``: {position: array} after the launch;"""

    kernel: str
    grid: tuple
    block: tuple
    args: tuple
    expected: dict
    shared: int = 0


def _random(seed, *shape):
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def f32(*shape):
    return np.full(shape, np.nan, np.float32)


def i32(*shape):
    return np.zeros(shape, np.int32)


def zeros(*shape):
    return np.zeros(shape, np.float32)


def _gemm(kernel, grid, block, M, N, K, with_m=True):
    A, B = _random(1, M, K), _random(2, K, N)
    return Valid(kernel, grid, block, (A, B, f32(M, N), *((M,) if with_m else ()), N, K), {2: A @ B})


t = np.arange(64, dtype=np.int32)
a = _random(3, 256)
ints = _random(4, 64).astype(np.int32)
keys = np.abs(_random(5, 128)).astype(np.int32)
A16, B16 = _random(6, 16, 64), _random(7, 64, 16)
quads = _random(8, 100, 4)
stops = np.zeros(100, np.int32)
stops[7] = 1
square = _random(9, 32, 32)
kept = int((ints > 0).sum())
table = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)

VALID = [
    _gemm("tiled", (3, 2, 1), (16, 16, 1), 17, 33, 40),
    _gemm("tiled", (2, 2, 1), (16, 16, 1), 32, 32, 32),
    _gemm("tiled_two_buffers", (3, 2, 1), (16, 16, 1), 17, 33, 40),
    _gemm("register_tile", (2, 1, 1), (64, 1, 1), 32, 64, 24, with_m=False),
    Valid("shuffle_reduction", (4, 1, 1), (32, 1, 1), (a[:128], f32(4)), {1: a[:128].reshape(4, 32).sum(1)}),
    Valid("block_reduction", ONE, (256, 1, 1), (a, f32(1)), {1: a.sum(keepdims=True)}),
    Valid("tree_reduction", ONE, (128, 1, 1), (a[:128], f32(1)), {1: a[:128].sum(keepdims=True)}),
    Valid("warp_reduction_with_syncwarp", ONE, (64, 1, 1), (a[:64], f32(2)), {1: a[:64].reshape(2, 32).sum(1)}),
    Valid("half_syncwarp", ONE, (32, 1, 1), (i32(32),), {0: t[:32] ^ 8}),
    Valid("scan", ONE, (64, 1, 1), (ints, i32(64)), {1: np.cumsum(ints)}),
    Valid("scan_ping_pong", ONE, (64, 1, 1), (ints, i32(64)), {1: np.cumsum(ints)}),
    Valid("named_producer_consumer", ONE, (64, 1, 1), (i32(5, 32), 5), {0: 100 * np.arange(5)[:, None] + t[:32][::-1]}),
    Valid("two_named_barriers", ONE, (128, 1, 1), (i32(128),), {0: np.arange(128) ^ 62}),
    Valid("barrier_count", ONE, (64, 1, 1), (ints, i32(64)), {1: np.full(64, kept + 1000)}),
    Valid("shared_histogram", (2, 1, 1), (64, 1, 1), (keys, i32(16)), {1: np.bincount(keys, minlength=16)}),
    Valid("global_atomics", (3, 1, 1), (64, 1, 1), (zeros(1), i32(1), i32(1)), {0: [192.0], 1: [191], 2: [192]}),
    Valid("last_block", (5, 1, 1), (32, 1, 1), (a[:160], f32(5), i32(1), f32(1)), {2: [0], 3: [a[:160].sum()]}),
    Valid("last_block_all_threads", (3, 1, 1), (64, 1, 1), (f32(192), i32(1), f32(64)), {2: 3.0 * t}),
    Valid("flag_spin", (3, 1, 1), (64, 1, 1), (i32(1), i32(64), i32(2, 64)), {2: np.tile(3 * t[::-1], (2, 1))}),
    Valid("warp_flag", (2, 1, 1), (32, 1, 1), (i32(1), i32(32), i32(32)), {2: 7 * t[:32][::-1]}),
    Valid("flag_acquire_release", (2, 1, 1), (1, 1, 1), (i32(1), i32(1), i32(1)), {2: [5]}),
    Valid("split_k_turns", (4, 1, 1), (16, 16, 1), (A16, B16, zeros(16, 16), i32(1)), {2: A16 @ B16}),
    Valid("stream_k_fixup", (4, 1, 1), (64, 1, 1), (f32(4, 64), i32(4), f32(64)), {2: np.full(64, 10.0)}),
    Valid("grid_barrier", (3, 1, 1), (32, 1, 1), (i32(1), i32(3, 32), i32(3, 32)),
          {2: t[:32][::-1] + np.array([[1], [2], [0]])}),
    Valid("lock", (6, 1, 1), (32, 1, 1), (i32(1), i32(1)), {1: [6]}),
    Valid("return_before_nothing", (2, 1, 1), (32, 1, 1), (f32(40), 40), {0: np.arange(40)}),
    Valid("transpose_padded", ONE, (32, 8, 1), (square, f32(32, 32)), {1: square.T}),
    Valid("buffer_reused_after_barrier", ONE, (64, 1, 1), (a[:64], f32(64)), {1: a[:64][::-1] - (63 - t)}),
    Valid("grid_stride", (2, 1, 1), (32, 1, 1), (quads, f32(100, 4), 100), {1: quads[:, ::-1]}),
    Valid("bytes_of_one_word", ONE, (64, 1, 1), (np.zeros(64, np.uint8),), {0: t[::-1]}),
    Valid("in_place", (2, 1, 1), (32, 1, 1), (a[:50], 50), {0: 2 * a[:50] + 1}),
    Valid("broadcast_then_write", ONE, (64, 1, 1), (i32(3, 64),), {0: np.repeat([[0], [10], [20]], 64, axis=1)}),
    Valid("dynamic_shared", ONE, (64, 1, 1), (a[:100], f32(100), 100), {1: a[:100][::-1]}, shared=400),
    Valid("constant_and_call", ONE, (32, 1, 1), (i32(32),), {0: 2 * (table[t[:32] & 7] + table[(t[:32] + 3) & 7])}),
    Valid("local_array", ONE, (32, 1, 1), (ints[:32], i32(32)), {1: (ints[:32] & 7) * t[:32]}),
    Valid("warp_aggregated_atomic", ONE, (64, 1, 1), (ints, i32(1), i32(64)), {1: [kept], 2: (t < kept).astype(int)}),
    Valid("uniform_break", ONE, (64, 1, 1), (stops, i32(64)), {1: np.full(64, 7)}),
    Valid("shared_flag", ONE, (64, 1, 1), (i32(32),), {0: t[:32][::-1]}),
    Valid("masked_lanes", ONE, (32, 1, 1), (a[:32], f32(32)), {1: np.where(t[:32] % 2, a[:32], -a[:32])[::-1]}),
    Valid("write_once_read_by_all", (3, 1, 1), (64, 1, 1), (ints[:3], i32(3, 64)), {1: ints[:3].repeat(64)}),
    Valid("wide_and_narrow", ONE, (32, 1, 1), (np.arange(128, dtype=np.int32), i32(128)), {1: np.arange(128)}),
]  # fmt: skip
