"""Launches of kernels/broken_wgmma.cu, each with the finding that the emulator must make."""

import numpy as np
from broken_cases import ONE, Broken, f32

GROUP, TWO_GROUPS = (128, 1, 1), (256, 1, 1)
FENCE, REGISTERS, OVERWRITTEN = "missing-wgmma-fence", "wgmma-registers", "wgmma-operand-overwritten"
PROXY, RACE = "missing-proxy-fence", "race-shared"


def f16(*shape):
    return (np.arange(int(np.prod(shape))) % 7).astype(np.float16).reshape(shape).view(np.uint16)


A, B, D = f16(4, 64, 16), f16(4, 8, 16), f32(64, 8)

BROKEN = [
    Broken("no_fence", FENCE, ONE, GROUP, (A, B, D), says=("no wgmma.fence comes before it",)),
    Broken("fence_before_the_loop_only", FENCE, ONE, GROUP, (A, B, D, 3), says=("since the last wgmma.fence",)),
    Broken("no_commit", REGISTERS, ONE, GROUP, (A, B, f32(128)), says=("no wgmma.commit_group",)),
    Broken("no_wait", REGISTERS, ONE, GROUP, (A, B, f32(128)), says=("no wgmma.wait_group",)),
    Broken("weak_wait", REGISTERS, ONE, GROUP, (A, B, f32(128)), says=("wait_group 1 of line", "newest 1")),
    Broken("single_buffer", OVERWRITTEN, ONE, GROUP, (A, B, D, 3), says=("still reads",)),
    Broken("one_stage_too_few", OVERWRITTEN, ONE, GROUP, (A, B, D, 4), says=("still reads",)),
    Broken("stage_released_before_the_wait", OVERWRITTEN, ONE, TWO_GROUPS, (A, B, D, 3), says=("still reads",)),
    Broken("waits_for_its_own_warp", RACE, ONE, GROUP, (A, B, D), says=("its own warp", "every warp")),
    Broken("no_proxy_fence", PROXY, ONE, GROUP, (A, B, D), says=("no fence.proxy.async", "generic proxy")),
    Broken("proxy_fence_before_the_stores", PROXY, ONE, GROUP, (A, B, D, 2)),
    Broken("one_thread_fences", PROXY, ONE, GROUP, (A, B, D)),
    Broken("no_barrier_after_the_stores", RACE, ONE, GROUP, (A, B, D)),
    Broken("copies_not_waited_for", "missing-copy-wait", ONE, GROUP, (A, B, D), says=("has not waited",)),
    Broken("part_of_the_tile", "uninitialised-shared", ONE, GROUP, (A, B, D)),
    Broken("past_the_end", "out-of-bounds", ONE, GROUP, (A, B, D), shared=2304, says=("operand A", "2304 bytes")),
    Broken("descriptor_per_warp", "non-uniform-operand", ONE, GROUP, (A, B, D), says=("descriptor of A",)),
    Broken("scale_per_warp", "non-uniform-operand", ONE, GROUP, (A, B, D), says=("scale-d",)),
    Broken("two_warps", "partial-warpgroup", ONE, GROUP, (A, B, f32(64)), says=("64 of the 128",)),
    Broken("warps_miss_each_other", "deadlock", ONE, GROUP, (A, B, D), says=("warpgroup",)),
    Broken("fragment_reused", REGISTERS, ONE, GROUP, (A, B, D, 2), says=("register of operand A",)),
    Broken("other_warpgroup_still_reads", OVERWRITTEN, ONE, TWO_GROUPS, (A, B, f32(128, 8))),
    Broken("too_many_registers", "deadlock", ONE, (512, 1, 1), (f32(512),), says=("95,232", "65,536", "maxnreg.inc")),
    Broken("nobody_hands_back", "deadlock", ONE, TWO_GROUPS, (f32(256),), says=("256 registers", "248 for each")),
    Broken("up_with_dec", "setmaxnreg-direction", ONE, TWO_GROUPS, (f32(256),), says=("32", "24 registers")),
    Broken(
        "blocks_per_sm_unknown", "setmaxnreg-ignored", ONE, (384, 1, 1), (f32(384),), severity="warning",
        says=(".minnctapersm",),
    ),
    Broken("one_warp_only", "deadlock", ONE, TWO_GROUPS, (f32(256),), says=("setmaxnreg.dec",)),
]  # fmt: skip
