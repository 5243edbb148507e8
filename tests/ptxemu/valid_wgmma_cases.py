"""Launches of kernels/valid_wgmma.cu with what they must compute. FP16 matrices travel as uint16."""

import ml_dtypes
import numpy as np
from valid_cases import ONE, Valid, f32, i32

GROUP, TWO_GROUPS = (128, 1, 1), (256, 1, 1)


def _draw(seed, *shape):
    return np.random.default_rng(seed).integers(-4, 5, shape)


def _half(values):
    return values.astype(np.float16).view(np.uint16)


A, B = _draw(1, 8, 64, 16), _draw(2, 8, 8, 16)  # tiles of A, and of B's transpose
HA, HB = _half(A), _half(B)
PRODUCTS = A.astype(float) @ B.transpose(0, 2, 1)
WIDE_A, WIDE_B = _draw(3, 64, 64), _draw(4, 8, 64)
A4, B4 = _draw(5, 64, 8).astype(np.float32), _draw(6, 8, 8).astype(np.float32)
A1, B1 = _draw(7, 64, 32), _draw(8, 8, 32)


def _fp8(values):
    return values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


def _scaled(tiles):
    total = np.zeros((64, 8))
    for product in PRODUCTS[:tiles]:
        total = 2 * total + product
    return total


D = f32(64, 8)
VALID = [
    Valid("one_product", ONE, GROUP, (HA, HB, D), {2: PRODUCTS[0]}),
    Valid("one_buffer", ONE, GROUP, (HA, HB, D, 5), {2: PRODUCTS[:5].sum(0)}),
    Valid("two_in_flight", ONE, GROUP, (HA, HB, D, 7), {2: PRODUCTS[:7].sum(0)}),
    Valid("two_in_flight", ONE, GROUP, (HA, HB, D, 1), {2: PRODUCTS[0]}),
    Valid("no_fence_between_equal_shapes", ONE, GROUP, (HA, HB, D), {2: PRODUCTS[:4].sum(0)}),
    Valid("first_product_overwrites", ONE, GROUP, (HA, HB, D, 3), {2: PRODUCTS[:3].sum(0)}),
    Valid("scaled_between", ONE, GROUP, (HA, HB, D, 4), {2: _scaled(4)}),
    Valid("difference", ONE, GROUP, (HA, HB, D), {2: PRODUCTS[0] - PRODUCTS[1]}),
    Valid("a_from_registers", ONE, GROUP, (HA, HB, D, 4), {2: PRODUCTS[:4].sum(0)}),
    Valid("b_row_major", ONE, GROUP, (HA, _half(B[0].T.copy()), D), {2: PRODUCTS[0]}),
    Valid("swizzled_rows", ONE, GROUP, (_half(WIDE_A), _half(WIDE_B), D), {2: WIDE_A @ WIDE_B.T}),
    Valid("two_warpgroups", ONE, TWO_GROUPS, (HA, HB, f32(2, 64, 8)), {2: A[:2] @ B[0].T}),
    Valid("producer_and_consumer", ONE, TWO_GROUPS, (HA, HB, D, 7), {2: PRODUCTS[:7].sum(0)}),
    Valid("one_lane_tells_for_its_warp", ONE, GROUP, (HA, HB, D, 5), {2: PRODUCTS[:5].sum(0)}),
    Valid("copies_into_the_tiles", ONE, GROUP, (HA, HB, D), {2: PRODUCTS[0]}),
    Valid("last_bytes", ONE, GROUP, (HA, HB, D), {2: PRODUCTS[0]}, shared=2304),
    Valid("fence_by_the_reader", ONE, GROUP, (HA, HB, D), {2: PRODUCTS[0]}),
    Valid("results_of_the_first_group", ONE, GROUP, (HA, HB, f32(2, 64, 8)), {2: PRODUCTS[:2]}),
    Valid("tf32_product", ONE, GROUP, (A4, B4, D), {2: A4 @ B4.T}),
    Valid("e4m3_product", ONE, GROUP, (_fp8(A1), _fp8(B1), D), {2: A1 @ B1.T}),
    Valid("s8_product", ONE, GROUP, (A1.astype(np.int8), B1.astype(np.int8), i32(64, 8)), {2: A1 @ B1.T}),
    Valid("registers_move", ONE, (384, 1, 1), (f32(384),), {0: np.ones(384)}),
    Valid("registers_move_twice", ONE, TWO_GROUPS, (f32(256),), {0: np.ones(256)}),
]  # fmt: skip
