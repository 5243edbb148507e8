"""Launches of kernels/broken_tensor.cu, each with the finding that the emulator must make."""

import numpy as np
from broken_cases import ONE, Broken, f32


def f16(*shape):
    return (np.arange(int(np.prod(shape))) % 61).astype(np.float16).reshape(shape).view(np.uint16)


def u32(*shape):
    return np.zeros(shape, np.uint32)


TWO_WARPS, WARP = (64, 1, 1), (32, 1, 1)
WAIT, RACE, OVER = "missing-copy-wait", "race-shared", "copy-overwritten"
TILES = (f32(8, 256), f32(64), 8)

BROKEN = [
    Broken("no_wait", WAIT, ONE, TWO_WARPS, (f32(256), f32(64)), says=("has not waited since it committed",)),
    Broken("no_commit", WAIT, ONE, TWO_WARPS, (f32(256), f32(64)), says=("has not committed",)),
    Broken("weak_wait", WAIT, ONE, TWO_WARPS, TILES, says=("wait_group 2 of line",)),
    Broken("two_groups_per_tile", WAIT, ONE, TWO_WARPS, (f32(8, 256), f32(8, 256), f32(64), 8), says=("wait_group 1",)),
    Broken("one_stage_too_many", WAIT, ONE, TWO_WARPS, TILES, says=("lets the newest 3 go on",)),
    Broken("only_one_warp_waits", WAIT, ONE, TWO_WARPS, (f32(256), f32(64)), says=("still under way",)),
    Broken("no_barrier_after_wait", RACE, ONE, TWO_WARPS, (f32(256), f32(64)), says=("copies to it",)),
    Broken("barrier_before_wait", RACE, ONE, TWO_WARPS, (f32(256), f32(64)), says=("A barrier is missing",)),
    Broken("stage_reused", RACE, ONE, TWO_WARPS, TILES, says=("copies to it", "A barrier is missing")),
    Broken("single_stage_reused", RACE, ONE, TWO_WARPS, TILES, says=("copies to it",)),
    Broken("copy_over_copy", OVER, ONE, TWO_WARPS, (f32(2, 256), f32(64)), says=("writes to shared+0x0",)),
    Broken("store_over_copy", OVER, ONE, TWO_WARPS, (f32(256), f32(64), 250), says=("still under way",)),
    Broken("source_written", "race-global", ONE, TWO_WARPS, (f32(256), f32(64))),
    Broken("odd_pitch", "misaligned", ONE, WARP, (f16(32, 100), f16(32), 100), says=("16 bytes", "a[1, 0]")),
    Broken("odd_target", "misaligned", ONE, WARP, (f32(128), f32(32)), says=("16 bytes", "shared+0x14")),
    Broken("copy_past_the_end", "out-of-bounds", ONE, TWO_WARPS, (f32(250), f32(64)), says=("past the end",)),
    Broken("copy_past_the_tile", "out-of-bounds", ONE, TWO_WARPS, (f32(256), f32(64)), says=("shared memory",)),
    Broken("tail_skipped", "uninitialised-shared", ONE, TWO_WARPS, (f32(256), f32(64), 240)),
    Broken("ldmatrix_without_wait", WAIT, ONE, WARP, (f16(256), u32(32))),
    Broken("ldmatrix_without_barrier", RACE, ONE, TWO_WARPS, (f16(512), u32(64))),
    Broken("ldmatrix_pitch_20", "misaligned", ONE, WARP, (f16(320), u32(32)), says=("multiple of 16",)),
    Broken("ldmatrix_past_the_tile", "out-of-bounds", ONE, WARP, (f16(128), u32(32)), says=("shared memory",)),
    Broken("ldmatrix_of_nothing", "uninitialised-shared", ONE, WARP, (f16(256), u32(32))),
    Broken("tile_stored_over_readers", RACE, ONE, TWO_WARPS, (f16(4, 256), f32(64), 4)),
    Broken("mma_in_a_branch", "partial-warp", ONE, WARP, (u32(32), f32(32)), says=("16 of the 32",)),
    Broken("mma_of_half_a_warp", "partial-warp", ONE, (48, 1, 1), (u32(48), f32(48)), says=("16 of the 32",)),
    Broken(
        "wmma_over_the_edge", "out-of-bounds", (1, 2, 1), WARP, (f16(24, 16), f16(16, 16), f32(24, 16), 16, 16),
        says=("a[24, ",),
    ),
    Broken("wmma_without_barrier", RACE, ONE, TWO_WARPS, (f16(16, 16), f16(16, 16), f32(16, 16))),
    Broken("wmma_overlapping_tiles", "race-global", ONE, TWO_WARPS, (f16(16, 16), f16(16, 32), f32(16, 32), 32)),
]  # fmt: skip
