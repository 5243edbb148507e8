"""Launches of kernels/broken.cu, each with the finding that the emulator must make."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Broken:
    """``args``: what to pass (arrays are copied per run); ``outputs``: names of arguments with role "out".
    ``threads``: a predicate over the linear thread ids that the finding may name; ``says``: words that its text
    holds.
    """

    kernel: str
    rule: str
    grid: tuple
    block: tuple
    args: tuple
    severity: str = "error"
    shared: int = 0
    says: tuple = ()
    out: int | None = None
    max_steps: int | None = None


def f32(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def i32(*shape):
    return np.zeros(shape, np.int32)


K = 64
TILE = (f32(16, K), f32(K, 16), f32(16, 16), 16, K)
ONE = (1, 1, 1)

BROKEN = [
    Broken("no_barrier", "race-shared", ONE, (64, 1, 1), (i32(64),), says=("A barrier is missing between line",)),
    Broken("no_second_barrier", "race-shared", ONE, (16, 16, 1), TILE, says=("read-write race",)),
    Broken("no_first_barrier", "race-shared", ONE, (16, 16, 1), TILE),
    Broken(
        "split_k_without_atomics",
        "race-global",
        (2, 1, 1),
        (32, 32, 1),
        (f32(32, 64), f32(64, 32), f32(32, 32)),
        says=("block",),
    ),
    Broken("unguarded_add", "out-of-bounds", (2, 1, 1), (32, 1, 1), (f32(33), 33), says=("a[33]", "past the end")),
    Broken("unguarded_load", "out-of-bounds", ONE, (32, 1, 1), (f32(17, 5), f32(32), 5), says=("reads",)),
    Broken("negative_index", "out-of-bounds", ONE, (32, 1, 1), (f32(32), f32(32)), says=("before",)),
    Broken("shared_overrun", "out-of-bounds", ONE, (64, 1, 1), (f32(64),), says=("shared memory",)),
    Broken("dynamic_shared_overrun", "out-of-bounds", ONE, (64, 1, 1), (f32(64),), shared=128),
    Broken("misaligned_float4", "misaligned", ONE, (8, 1, 1), (f32(64), f32(32)), says=("16 bytes",)),
    Broken("misaligned_shared", "misaligned", ONE, (32, 1, 1), (f32(32),), says=("8 bytes",)),
    Broken("strided_shared_read", "uninitialised-shared", (2, 1, 1), (32, 1, 1), (f32(64),)),
    Broken("halo_not_loaded", "uninitialised-shared", ONE, (32, 1, 1), (f32(32), f32(32)), says=("shared+0x0",)),
    Broken(
        "early_return",
        "uninitialised-shared",
        (3, 2, 1),
        (16, 16, 1),
        (f32(17, 40), f32(40, 33), f32(17, 33), 17, 33, 40),
    ),
    Broken("barrier_after_exit", "barrier-after-exit", ONE, (64, 1, 1), (f32(64), 40), severity="warning"),
    Broken("barrier_in_branches", "divergent-barrier", ONE, (64, 1, 1), (f32(64),), says=("warp 1",)),
    Broken("barrier_in_warp_branches", "divergent-barrier", ONE, (64, 1, 1), (f32(64),), severity="warning"),
    Broken("barrier_skipped_by_some", "divergent-barrier", ONE, (32, 1, 1), (f32(32),)),
    Broken("barrier_against_syncwarp", "deadlock", ONE, (32, 1, 1), (f32(32),), says=("16 of 32",)),
    Broken("named_barrier_too_few", "deadlock", ONE, (96, 1, 1), (f32(96),), says=("32 of 64",)),
    Broken("arrive_too_few", "deadlock", ONE, (128, 1, 1), (f32(128),), says=("64 of 96",)),
    Broken("short_grid", "never-written", (1, 2, 1), (32, 16, 1), (f32(33, 32), 33, 32), out=0, says=("row 32 of 33",)),
    Broken(
        "wrong_guard", "never-written", (1, 3, 1), (32, 16, 1), (f32(33, 32), 33, 32), out=0, says=("column 31 of 32",)
    ),
    Broken("even_elements", "never-written", ONE, (32, 1, 1), (f32(64),), out=0, says=("32 of 64",)),
    Broken(
        "store_in_loop",
        "redundant-store",
        ONE,
        (32, 1, 1),
        (f32(32, 64), f32(32), 64),
        severity="info",
        out=1,
        says=("65",),
    ),
    Broken("warp_synchronous", "race-shared", ONE, (32, 1, 1), (f32(32),), says=("__syncwarp",)),
    Broken(
        "warp_synchronous_volatile",
        "race-shared",
        ONE,
        (32, 1, 1),
        (f32(32),),
        severity="warning",
        says=("__syncwarp",),
    ),
    Broken("everybody_writes", "race-shared", ONE, (64, 1, 1), (i32(64),), says=("write-write",)),
    Broken(
        "everybody_writes_the_same",
        "race-shared",
        ONE,
        (64, 1, 1),
        (i32(64), 7),
        severity="warning",
        says=("same value",),
    ),
    Broken("atomic_then_plain", "race-shared", ONE, (64, 1, 1), (i32(64),)),
    Broken("counter_not_initialised", "uninitialised-shared", ONE, (64, 1, 1), (i32(64),)),
    Broken("initialised_too_late", "race-shared", ONE, (64, 1, 1), (i32(64),)),
    Broken(
        "flag_without_fence", "race-global", (2, 1, 1), (64, 1, 1), (i32(1), i32(64), i32(64)), says=("__threadfence",)
    ),
    Broken("flag_without_acquire", "race-global", (2, 1, 1), (1, 1, 1), (i32(1), i32(1), i32(1))),
    Broken("flag_with_block_fence", "race-global", (2, 1, 1), (1, 1, 1), (i32(1), i32(1), i32(1))),
    Broken("last_block_without_fence", "race-global", (4, 1, 1), (32, 1, 1), (f32(4), i32(1), f32(1))),
    Broken("endless", "livelock", ONE, (32, 1, 1), (i32(1),), max_steps=20_000),
    Broken("flag_never_set", "livelock", ONE, (32, 1, 1), (i32(1), i32(1)), max_steps=20_000),
    Broken("neighbour_blocks", "race-global", (2, 1, 1), (32, 1, 1), (f32(64),)),
    Broken("transpose_in_place", "race-global", ONE, (16, 16, 1), (f32(16, 16),)),
    Broken("histogram_without_atomics", "race-global", ONE, (32, 1, 1), (i32(32), i32(8))),
    Broken("half_barrier", "race-shared", ONE, (128, 1, 1), (i32(128),)),
    Broken("consumer_does_not_wait", "race-shared", ONE, (64, 1, 1), (i32(32),)),
    Broken("producer_overwrites", "race-shared", ONE, (64, 1, 1), (i32(64),)),
    Broken("reused_without_barrier", "race-shared", ONE, (64, 1, 1), (f32(64), f32(64))),
    Broken("traps", "trap", ONE, (64, 1, 1), (i32(64), 40)),
    Broken("syncwarp_across_warps", "race-shared", ONE, (64, 1, 1), (i32(64),)),
    Broken("partial_syncwarp", "race-shared", ONE, (32, 1, 1), (i32(32),)),
    Broken("one_stage_short", "race-shared", ONE, (64, 1, 1), (f32(4, 64), f32(64), 4)),
]
