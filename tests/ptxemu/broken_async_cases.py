"""Launches of kernels/broken_async.cu, each with the finding that the emulator must make."""

import numpy as np
from broken_cases import ONE, Broken, f32
from valid_async_cases import tmap

import ptxemu

WARP, TWO_WARPS, EIGHT = (32, 1, 1), (64, 1, 1), (256, 1, 1)
WAIT, RACE, HANG, FENCE = "missing-copy-wait", "race-shared", "deadlock", "missing-proxy-fence"
ARRIVAL, INIT = "mbarrier-over-arrival", "mbarrier-init-not-visible"
STAGES = f32(56, 32)


def a():
    return tmap(STAGES.copy(), (32, 8))


def bf16_rows_of_500():
    return ptxemu.TensorMap(np.zeros((64, 500), np.uint16), "bfloat16", (500, 64), (1000,), (16, 32), (1, 1))


def c(rows=24):
    return tmap(np.zeros((rows, 32), np.float32), (32, 8))


BROKEN = [
    Broken("no_wait", WAIT, ONE, EIGHT, (a(), f32(256)), says=("no wait has seen its 1024 bytes",)),
    Broken("no_expect", WAIT, ONE, EIGHT, (a(), f32(256)), says=("still under way",)),
    Broken("too_few_bytes", HANG, ONE, EIGHT, (a(), f32(256)), says=("512 bytes more than expect_tx announced",)),
    Broken("too_many_bytes", HANG, ONE, EIGHT, (a(), f32(256)), says=("1024 expected bytes have not come",)),
    Broken("parity_never_flips", WAIT, ONE, EIGHT, (a(), f32(256), 7), says=("no wait has seen",)),
    Broken("wrong_first_parity", WAIT, ONE, EIGHT, (a(), f32(256))),
    Broken(
        "one_phase_too_far", HANG, ONE, EIGHT, (a(), f32(256)),
        says=("phase 1 (parity 1)", "for parity 1", "1 of 1 arrivals are missing", "256 threads"),
    ),
    Broken("init_in_the_loop", "mbarrier-reinitialised", ONE, EIGHT, (a(), f32(256), 3), says=("phase 1",)),
    Broken("every_thread_arrives", ARRIVAL, ONE, EIGHT, (a(), f32(256)), says=("only 0 of its 1 arrivals",)),
    Broken("arrivals_without_waits", ARRIVAL, ONE, WARP, (f32(32),), says=("expects 1 arrival,",)),
    Broken("count_exceeds_pending", ARRIVAL, ONE, WARP, (f32(32),), says=("count of 3", "only 2 of its 2")),
    Broken("no_complete_completes", ARRIVAL, ONE, WARP, (f32(32),), says=("noComplete",)),
    Broken("never_initialised", "mbarrier-uninitialised", ONE, WARP, (f32(32),), says=("arrive.expect_tx",)),
    Broken("no_sync_after_init", INIT, ONE, EIGHT, (a(), f32(256)), says=("nothing orders the two",)),
    Broken("no_fence_after_init", INIT, ONE, EIGHT, (a(), f32(256)), says=("async proxy",)),
    Broken("member_not_aligned", "misaligned", ONE, EIGHT, (a(), f32(256)), says=("64 bytes past a multiple of 128",)),
    Broken("odd_column", "misaligned", ONE, EIGHT, (a(), f32(256)), says=("innermost coordinate 3, 12 bytes",)),
    Broken("past_shared_memory", "out-of-bounds", ONE, EIGHT, (a(), f32(256)), shared=512, says=("1024 bytes",)),
    Broken("past_the_array", "out-of-bounds", ONE, WARP, (f32(200), f32(32)), says=("outside every array",)),
    Broken("store_without_fence", FENCE, ONE, EIGHT, (c(),), says=("without a fence.proxy.async after it",)),
    Broken("only_one_thread_fences", FENCE, ONE, EIGHT, (c(),), says=("thread 1 ",)),
    Broken("fence_before_the_store", FENCE, ONE, EIGHT, (c(),)),
    Broken("fence_by_the_issuer", FENCE, ONE, EIGHT, (c(),), "warning", says=("not with the thread that wrote",)),
    Broken("no_barrier_before_the_store", RACE, ONE, EIGHT, (c(),)),
    Broken("refill_over_readers", RACE, ONE, EIGHT, (a(), f32(256), 7)),
    Broken("refill_without_fence", FENCE, ONE, EIGHT, (a(), f32(256), 7), "warning", says=("read at line",)),
    Broken("source_reused", "copy-source-overwritten", ONE, EIGHT, (c(), 3), says=("wait_group.read",)),
    Broken("no_barrier_after_read", RACE, ONE, EIGHT, (c(), 3)),
    Broken("load_over_store", "copy-source-overwritten", ONE, EIGHT, (a(), c(), f32(256))),
    Broken("store_left_behind", "copy-unfinished", ONE, EIGHT, (c(),), "warning", says=("wait_group.read",)),
    Broken("load_left_behind", "copy-unfinished", ONE, EIGHT, (a(), f32(256)), says=("block ends",)),
    Broken("map_copied_to_local", "tensor-map-passing", ONE, EIGHT, (a(), f32(256)), says=("__grid_constant__",)),
    Broken("map_without_acquire", "tensor-map-passing", ONE, EIGHT, (a(), f32(256)), says=("proxy.tensormap",)),
    Broken(
        "through_this_map", "bad-tensor-map", ONE, EIGHT, (bf16_rows_of_500(), f32(256)),
        says=("1000 bytes, which is not a multiple of 16",),
    ),
    Broken("always_slot_zero", HANG, ONE, EIGHT, (a(), f32(256)), says=("empty", "1 of 256 arrivals are missing")),
    Broken("half_the_consumers_arrive", HANG, ONE, EIGHT, (a(), f32(256)), says=("128 of 256 arrivals",)),
    Broken("half_do_not_wait", WAIT, ONE, EIGHT, (a(), f32(256)), says=("line",)),
    Broken("copy_after_the_arrive", WAIT, ONE, TWO_WARPS, (f32(512), f32(64))),
    Broken("no_wait_for_async_copies", WAIT, ONE, TWO_WARPS, (f32(256), f32(64))),
    Broken("tile_over_barrier", "mbarrier-overwritten", ONE, EIGHT, (a(), f32(256)), says=("byte 1024",)),
    Broken("copy_over_barrier", "mbarrier-overwritten", ONE, EIGHT, (f32(300), f32(256))),
    Broken("map_changed_in_flight", "tensor-map-overwritten", ONE, EIGHT, (a(), f32(256))),
    Broken("relaxed_arrival_publishes_nothing", RACE, ONE, TWO_WARPS, (f32(32), f32(32))),
    Broken("relaxed_wait_acquires_nothing", RACE, ONE, TWO_WARPS, (f32(32), f32(32))),
    Broken("relaxed_wait_for_a_copy", RACE, ONE, EIGHT, (a(), f32(256))),
    Broken("multicast_without_cluster_sync", "cluster-not-started", (2, 1, 1), EIGHT, (a(), f32(512))),
    Broken("peer_still_reads", RACE, (2, 1, 1), EIGHT, (a(), f32(512), 3), says=("of block 1",)),
]  # fmt: skip
