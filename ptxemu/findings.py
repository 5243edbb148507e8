"""Findings: what is undefined, wrong or fragile in a kernel, with its place and one sentence of advice."""

from __future__ import annotations

from dataclasses import dataclass, field

SEVERITY = {
    "out-of-bounds": "error",
    "misaligned": "error",
    "uninitialised-shared": "error",
    "uninitialised-register": "error",
    "never-written": "error",
    "race-shared": "error",
    "race-global": "error",
    "divergent-barrier": "error",
    "barrier-after-exit": "warning",
    "deadlock": "error",
    "livelock": "error",
    "trap": "error",
    "missing-copy-wait": "error",
    "copy-overwritten": "error",
    "partial-warp": "error",
    "non-uniform-operand": "error",
    "missing-wgmma-fence": "error",
    "wgmma-registers": "error",
    "wgmma-operand-overwritten": "error",
    "partial-warpgroup": "error",
    "copy-source-overwritten": "error",
    "copy-unfinished": "error",
    "missing-proxy-fence": "error",
    "mbarrier-uninitialised": "error",
    "mbarrier-init-not-visible": "error",
    "mbarrier-over-arrival": "error",
    "mbarrier-reinitialised": "error",
    "mbarrier-overwritten": "error",
    "bad-tensor-map": "error",
    "tensor-map-overwritten": "error",
    "tensor-map-passing": "error",
    "cluster-not-started": "error",
    "cluster-exit": "error",
    "cluster-barrier": "error",
    "setmaxnreg-ignored": "warning",
    "setmaxnreg-direction": "error",
    "redundant-store": "info",
}

ADVICE = {
    "out-of-bounds": "Guard the access: compare the index with the array's extent before using it.",
    "misaligned": "Make the address a multiple of the access size, or use a narrower access.",
    "uninitialised-shared": "Write every element that is read, zeros included, with a barrier before the reads.",
    "uninitialised-register": "Give the variable a value on every path that leads here.",
    "never-written": "Check the grid size (round up, not down) and the guard before the store.",
    "divergent-barrier": "Move the barrier out of the branch so that every thread of the block reaches the same one.",
    "barrier-after-exit": "Keep the threads alive: guard the loads and the store instead of returning early.",
    "deadlock": "Make sure that every thread that a barrier waits for can reach it.",
    "livelock": "Check the loop's exit condition, and that whoever should change it can still run.",
    "trap": "The kernel stopped itself (assert or trap): check the condition that it tested.",
    "missing-copy-wait": "Before the read: cp.async.wait_group in the threads that copy (a number N lets the newest N "
    "groups go on), then a barrier. A bulk copy: wait for its mbarrier, with the parity of its phase.",
    "copy-overwritten": "Wait for a stage's copies, and use up what they brought, before the stage is written again.",
    "partial-warp": "Let all 32 threads of the warp execute it: outside branches, before any of them returns.",
    "non-uniform-operand": "Compute it from what all threads of the warp share, such as threadIdx.x / 32.",
    "missing-wgmma-fence": "Put wgmma.fence after the last use of the registers and before the first wgmma.mma_async.",
    "wgmma-registers": "Commit, and use the registers only after a wgmma.wait_group that covers it.",
    "wgmma-operand-overwritten": "Write the tile only after wgmma.wait_group in every warp that reads it, and a "
    "barrier (or mbarrier) behind those waits.",
    "partial-warpgroup": "Let all four warps of the warpgroup, threads 128 i to 128 i + 127, execute it together.",
    "copy-source-overwritten": "Before the memory is used again: cp.async.bulk.wait_group.read in the thread that "
    "issued the store, then a barrier.",
    "copy-unfinished": "Wait for every copy before the block ends (loads: the mbarrier; stores: "
    "cp.async.bulk.wait_group.read), since its shared memory goes to another block.",
    "missing-proxy-fence": "Every thread that wrote: fence.proxy.async (.shared::cta if it is shared memory) after its "
    "stores, then the barrier or flag, then the copy or wgmma.",
    "mbarrier-uninitialised": "One thread initialises it with mbarrier.init (arrive.expect_tx does not do so).",
    "mbarrier-init-not-visible": "After mbarrier.init: fence.mbarrier_init.release.cluster (or fence.proxy.async), "
    "then __syncthreads(), before anybody uses it.",
    "mbarrier-over-arrival": "Let as many threads arrive in each phase as mbarrier.init says: one elected thread, or a "
    "count of all.",
    "mbarrier-reinitialised": "Initialise it once, before the loop; its phases go on by themselves.",
    "mbarrier-overwritten": "Give barriers memory of their own, beyond the last stage, or mbarrier.inval them first.",
    "tensor-map-overwritten": "Wait for every copy through the map first, or keep one map per group.",
    "bad-tensor-map": "Make the map with gemmlab.tensor_map and pass it as const __grid_constant__ CUtensorMap.",
    "tensor-map-passing": "Declare the parameter const __grid_constant__ CUtensorMap; a map in global memory needs "
    "fence.proxy.tensormap::generic.acquire in each block that uses it.",
    "cluster-not-started": "Let the whole cluster meet first: barrier.cluster.arrive and .wait (cluster.sync()) before "
    "the access.",
    "cluster-exit": "Let the cluster meet, barrier.cluster.arrive and .wait, after the last such access, before any of "
    "its blocks returns.",
    "cluster-barrier": "Every thread: one barrier.cluster.arrive, then one barrier.cluster.wait; else it is undefined.",
    "setmaxnreg-ignored": "Say how many blocks share an SM, __launch_bounds__(threads, 1); message C7508 tells.",
    "setmaxnreg-direction": "Use setmaxnreg.dec to go down and setmaxnreg.inc to go up.",
    "redundant-store": "Accumulate in a register and store once.",
}


_COUNT_SAYS_NOTHING = {"deadlock", "livelock", "never-written"}  # their messages hold the numbers


@dataclass
class Finding:
    """One problem, with its place. ``threads``: up to a few ((cx, cy, cz), (tx, ty, tz)); ``where``: element or
    address names such as "A[3, 17]" or "shared+0x40"; ``other_line``: source line of the second party of a race;
    ``count``: how many times it was seen.
    """

    rule: str
    severity: str
    message: str
    advice: str
    file: str = ""
    line: int = 0
    other_line: int | None = None
    ptx_line: int = 0
    threads: list = field(default_factory=list)
    where: list = field(default_factory=list)
    count: int = 1

    def __str__(self):
        place = f"{self.file.rsplit('/', 1)[-1]}:{self.line}: " if self.line else ""
        times = f" ({self.count:,} times)" if self.count > 1 and self.rule not in _COUNT_SAYS_NOTHING else ""
        lines = [f"{self.severity}: {place}{self.message}{times} [{self.rule}]"]
        if self.advice:
            lines.append(f"  {self.advice}")
        return "\n".join(lines)

    def to_dict(self):
        """Plain data for JSON."""
        return {k: ([str(t) for t in v] if k == "threads" else v) for k, v in vars(self).items()}
