"""Launches of kernels/valid_tensor.cu with what they must compute. FP16 matrices travel as uint16."""

import numpy as np
from valid_cases import ONE, Valid, f32

TWO_WARPS, WARP = (64, 1, 1), (32, 1, 1)


def _draw(seed, *shape):
    return np.random.default_rng(seed).integers(-4, 5, shape)


def _half(values):
    return values.astype(np.float16).view(np.uint16)


def u32(*shape):
    return np.zeros(shape, np.uint32)


def _fragments(rows, trans=False):
    """What lane t gets of each 8 x 8 matrix of uint16[8 n, 8]: element pairs (t // 4, 2 (t % 4)), low half first."""
    tiles = rows.reshape(-1, 8, 8)
    tiles = tiles.transpose(0, 2, 1) if trans else tiles
    return np.ascontiguousarray(tiles).reshape(-1, 64).view(np.uint32)


tiles = _draw(1, 8, 256).astype(np.float32)
reversed_sum = tiles[:, ::-1][:, :64].sum(0)
flat = tiles[0]
words = np.arange(256, dtype=np.uint16).reshape(32, 8)
A, B = _draw(2, 64, 80), _draw(3, 80, 32)
A1, B1 = _draw(4, 16, 16), _draw(5, 16, 8)
A8, B8 = _draw(6, 16, 64).astype(np.int8), _draw(7, 8, 64).astype(np.int8)
AT, BT = _draw(8, 16, 24).astype(np.float32), _draw(9, 24, 8).astype(np.float32)
BW = _draw(10, 80, 16)
tail = np.append(np.zeros(16), flat[192:240][::-1])
padded = np.concatenate([flat[:203], np.zeros(53, np.float32)])

VALID = [
    Valid("two_stages", ONE, TWO_WARPS, (tiles, f32(64), 8), {1: reversed_sum}),
    Valid("four_stages", ONE, TWO_WARPS, (tiles, f32(64), 8), {1: reversed_sum}),
    Valid("four_stages", ONE, TWO_WARPS, (tiles[:2], f32(64), 2), {1: tiles[:2, ::-1][:, :64].sum(0)}),
    Valid("one_stage_two_barriers", ONE, TWO_WARPS, (tiles, f32(64), 8), {1: reversed_sum}),
    Valid("zero_filled_tail", ONE, TWO_WARPS, (flat[:203], f32(256), 203), {1: padded}),
    Valid("ignored_sources", ONE, TWO_WARPS, (flat[:40], f32(64), 40), {1: np.append(flat[:40], np.zeros(24))[::-1]}),
    Valid("own_data", ONE, TWO_WARPS, (flat, f32(64)), {1: flat.reshape(64, 4).sum(1)}),
    Valid("one_warp_syncwarp", ONE, TWO_WARPS, (flat, f32(64)), {1: flat.reshape(2, 128)[:, ::-1][:, :32]}),
    Valid("transposing_copies", ONE, TWO_WARPS, (flat, f32(256)), {1: flat.reshape(16, 16).T}),
    Valid("prefetch_left_behind", (3, 1, 1), TWO_WARPS, (flat, f32(192)), {1: np.tile(flat[::-1][:64], 3)}),
    Valid("two_groups_two_waits", ONE, TWO_WARPS, (flat, tiles[1], f32(64)), {2: (flat * tiles[1])[::-1][:64]}),
    Valid("stores_beside_copies", ONE, TWO_WARPS, (flat, f32(64), 240), {1: tail}),
    Valid("identity_by_ldmatrix", ONE, WARP, (words, u32(128)), {1: _fragments(words)}),
    Valid("unused_addresses", ONE, WARP, (words[:16], u32(96)), {1: _fragments(words[[*range(8), *range(16)]])}),
    Valid("split_destinations", ONE, WARP, (words, u32(128)), {1: _fragments(words, trans=True)}),
    Valid("transposed_by_movmatrix", ONE, WARP, (_fragments(words[:8])[0], u32(32)), {1: _fragments(words[:8], True)}),
    Valid("pipelined_gemm", (1, 2, 1), (128, 1, 1), (_half(A), _half(B), f32(64, 32), 32, 80), {2: A @ B}),
    Valid("tf32_gemm", ONE, WARP, (AT, BT, f32(16, 8), 24), {2: AT @ BT}),
    Valid("s8_gemm", ONE, WARP, (A8, B8, np.zeros((16, 8), np.int32), 64), {2: A8.astype(int) @ B8.T.astype(int)}),
    Valid("one_warp_multiplies", ONE, TWO_WARPS, (_half(A1), _half(B1), f32(16, 8)), {2: A1 @ B1}),
    Valid("wmma_gemm", (2, 2, 1), TWO_WARPS, (_half(A), _half(B), f32(64, 32), 32, 80), {2: A @ B}),
    Valid("wmma_from_shared", ONE, WARP, (_half(A[:16]), _half(BW), f32(16, 16), 80), {2: A[:16] @ BW}),
]  # fmt: skip
HOPPER = [
    Valid(
        "tile_through_stmatrix", ONE, WARP, (_fragments(words[:16]), np.zeros((16, 8), np.uint16)), {1: words[:16]}
    ),
]  # fmt: skip
