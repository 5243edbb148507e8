# %% [markdown]
# # 16 · Warp specialisation
#
# **Who loads, who multiplies?** Until now every warp did both. We give the copies to one thread of a warpgroup of its
# own and leave two warpgroups to do nothing but multiply; they meet only at barriers in shared memory.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [15](15_wgmma.ipynb): `wgmma`; [14](14_tma.ipynb): TMA, mbarriers, parity;
#   [09](09_double_buffering.ipynb): the stage model.
# - **You will be able to:** build a producer/consumer ring and argue when a stage is free; budget registers with
#   `setmaxnreg`; find a wrong parity, an early release and a pool that is too small; read a timeline of roles.
# - **Needs:** nothing. A Hopper GPU (compute capability 9.0) adds the stopwatch.
# - **Time:** 90 minutes.

# %% tags=["setup", "hide-input"]
# Set-up, the same in every notebook: find the course, or fetch it.
import subprocess
import sys
from pathlib import Path

root = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / "gemmlab").is_dir()), Path("gemm-ladder"))
if not root.is_dir():
    url = "https://github.com/gemm-ladder/gemm-ladder"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", "--branch=main", url, root.name], check=True)
sys.path.insert(0, str(root.resolve()))

import numpy as np

import gemmlab as gl

# %load_ext gemmlab.magic
print(gl.device().reason)

# %% [markdown]
# ## The limit
#
# The kernel of chapter 15 copies a tile, waits, multiplies, waits. Only the two other CTAs of its SM work meanwhile.
# A tile of 128 × 128 × 64 occupies the tensor cores of an SM, 4,096 FLOP per cycle (dense bf16), for 512 cycles; a
# copy takes at least one latency of L2 or DRAM.
#
# **Predict:** which share of the time does a CTA multiply?

# %%
h200, measured = gl.hardware.gpu("h200"), gl.machine.latencies()
rate = h200.peak("bfloat16") * 1e12 / (h200.sms * h200.tensor_clock_mhz * 1e6)
compute = 2 * 128 * 128 * 64 / rate
latency = {"L2": 250, "DRAM": 600}
latency |= {level: measured[level] for level in latency if measured}
for level, load in latency.items():
    share = compute / (compute + load)
    print(f"{level:4} {load:4.0f} cycles: {share:.0%} of the time at work (modelled)")

# %% [markdown]
# ## The idea: a ring and two roles
#
# Chapter 12's cure is a ring of stages, filled `STAGES − 1` tiles ahead. On Hopper one thread could fill it while it
# also multiplies: that is `k16_multistage`. Its weak point is the moment of refilling. A stage is free when *all*
# warps have read it, so all eight meet at `__syncthreads()` in every turn, and the slowest decides.
#
# Give the copies to a warp that does nothing else, and the meeting goes. Each stage has two mbarriers: **full** says
# "the bytes are here", **empty** says "everybody has read them". The producer waits for *empty*, consumers for *full*.

# %%
load, compute = round(latency["DRAM"]), round(compute)
ORDERS = {
    "one stage": gl.stages.pipeline(load, compute, 1),
    "four stages, a producer": gl.stages.pipeline(load, compute, 4, producer=True),
}
gl.plots.timeline(ORDERS, title="One CTA, six tiles (modelled)")

# %% [markdown]
# ## The kernel
#
# 384 threads: warpgroup 0 is the producer, of which one thread works; warpgroups 1 and 2 own 64 rows of a tile of
# 128 × 256 each. `multiply_stage` is the loop of chapter 15: fence, four k-steps, commit. `Ring` counts stages and
# flips a parity at each round.

# %% tags=["kernel"] gemmlab={"kernel": "hopper/k16_two_consumers.cu"}
# %%cuda two_consumers
# #include "ptx/barrier.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/registers.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int BM = 128, BN = 256, STAGES = 4, CONSUMERS = 2;
#
# struct Shared {
#   struct alignas(1024) Stage {
#     T a[BM * BK], b[BN / 64][BK * 64];
#   } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __launch_bounds__(384, 1)
# two_consumers(const __grid_constant__ CUtensorMap A,
#               const __grid_constant__ CUtensorMap B, T* C,
#               int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * BM, n = blockIdx.x * BN;
#   int lane = threadIdx.x % 32;
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) {
#       mbarrier_init(&s.full[i], 1);
#       mbarrier_init(&s.empty[i], 4 * CONSUMERS);  // one lane per consumer warp
#     }
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#   Ring<STAGES> ring;
#
#   // Producer: one thread keeps the ring full.
#   if (threadIdx.x < 128) {
#     setmaxnreg_dec<24>();
#     if (threadIdx.x < 32 && elect_sync()) {
#       for (int k = 0; k < K; k += BK, ring.advance()) {
#         auto& stage = s.stage[ring.stage];
#         mbarrier_t* full = &s.full[ring.stage];
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         mbarrier_arrive_expect_tx(full, sizeof(stage));
#         tma_load_2d(stage.a, &A, k, m, full);
#         for (int box = 0; box < BN / 64; ++box)
#           tma_load_2d(stage.b[box], &B, n + box * 64, k, full);
#       }
#     }
#     return;
#   }
#
#   // Consumers: 64 rows each, 128 accumulators per thread.
#   setmaxnreg_inc<240>();
#   int row = (threadIdx.x / 128 - 1) * 64;
#   float acc[1][BN / 2];
#   for (int k = 0; k < K; k += BK, ring.advance()) {
#     auto& stage = s.stage[ring.stage];
#     mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#     multiply_stage<BN>(acc, stage.a + row * BK, stage.b[0], k == 0);
#     wgmma_wait_group<1>();
#     __syncwarp();
#     int before = (ring.stage + STAGES - 1) % STAGES;
#     if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
#   }
#   wgmma_wait_group<0>(acc[0]);
#   store_direct<BN>(acc[0], C, m + row, n, M, N);
# }

# %% [markdown]
# - **A new barrier lets parity 1 pass.** So the producer starts with `parity ^ 1`: the first round finds every stage
#   empty, without a special case.
# - **Released one turn late.** `wgmma_wait_group<1>` leaves the group just issued under way; what is finished is the
#   turn *before*, and its stage is the one that is released.
# - **Four arrivals per warpgroup.** The wait covers a warp, so one lane of each of the eight warps arrives. One arrival
#   per warpgroup would speak for warps that are still reading.

# %% [markdown]
# - **The producer returns early**, with copies under way: nobody needs it any more, as the last barrier to complete is
#   *full*.
# - **Four stages** of 48 KB take 192 of the 227 KB that a CTA can have: a fifth does not fit.

# %% [markdown]
# ## Is it right?

# %%
BOXES = ["map(A, 128, 64, 128)", "map(B, 64, 64, 128)"]
TYPES = {name: "bfloat16" for name in ("a_dtype", "b_dtype", "c_dtype")}
rule = TYPES | {
    "grid": ["cdiv(N, 256)", "cdiv(M, 128)", "1"],
    "block": [384, 1, 1],
    "shared": 4 * (2 * 64 * (128 + 256) + 16),
    "args": [*BOXES, "C", "M", "N", "K"],
}
SHAPES = [(128, 256, 64), (130, 264, 328), (40, 24, 520)]
gl.check(two_consumers, rule=rule, shapes=SHAPES)

# %% [markdown]
# The emulator lets every copy and every multiplication take effect as late as the rules allow; a stage that is released
# too early is then overwritten *every* time, not once a week. What happened, event by event:

# %%
events = gl.trace_events("k16_two_consumers", 128, 256, 9 * 64)
gl.widgets.roles(events, title="k16_two_consumers, nine tiles, by the emulator")

# %% [markdown]
# Step through one stage's barriers. *Full* needs one arrival (the producer's `arrive.expect_tx`) and 49,152 bytes;
# *empty* needs eight arrivals and no bytes.

# %%
gl.widgets.phases(events, ["full 0", "empty 0"], start=30)

# %% [markdown]
# ## Registers are given away
#
# A thread of a consumer holds 128 accumulators (64 × 256 / 128) and needs more for addresses; a producer needs few.
# But all threads of a kernel start with the same number: 65,536 / 384 = 170, rounded down to 168. `setmaxnreg` moves
# them: a warpgroup hands back (`dec`) or waits for more (`inc`).
#
# **Predict:** which pairs (producer, each of two consumers) fit?

# %%
for producer, consumer in ((24, 240), (40, 232), (24, 248), (128, 256), (256, 256)):
    total = 128 * (producer + 2 * consumer)
    verdict = "fits" if total <= 384 * 168 else "waits for ever"
    print(f"{producer:3} + 2 x {consumer}: {total:6,} of 64,512", verdict)

# %%
budget = {"producer": (4, 24), "consumer 1": (4, 240), "consumer 2": (4, 240)}
gl.plots.register_budget(budget, launch=168)  # (warps, registers per thread)

# %% [markdown]
# Values are multiples of 8 from 24 to 256. (One text's "240256" registers have lost their dash, and 256 does not fit.)
# The profiler shows 168 for the whole kernel: it is the number at launch, and occupancy follows from it. With a third
# consumer warpgroup 512 threads start with 128 each, and 24 + 3 × 240 asks for 95,232: the kernel hangs on a GPU. The
# emulator says why:

# %%
# %%cuda greedy
# #include "ptx/registers.cuh"
#
# extern "C" __global__ void __launch_bounds__(512, 1) greedy(int* out) {
#     if (threadIdx.x < 128) setmaxnreg_dec<24>();
#     else setmaxnreg_inc<240>();
#     out[threadIdx.x] = 1;
# }

# %%
out = np.zeros(512, np.int32)
launched = gl.launch(greedy, out, grid=1, block=512, backend="emulator")
print(launched.report.findings[0])

# %% [markdown]
# And without the `1` in `__launch_bounds__(512, 1)` the assembler need not know how many registers the kernel starts
# with. Then it drops every `setmaxnreg`, and says so in one line that a build log hides:

# %%
unbound = gl.cuda_source(greedy.text.replace("(512, 1)", "(512)"), "greedy")
print(*gl.verdict(gl.compile(unbound, target="sm_90a")).faults, sep="\n")

# %% [markdown]
# Do consumers *need* more than the average? One text says that without `setmaxnreg` accumulators spill, and speed
# collapses. **Predict** for this kernel without it, and for a third consumer:

# %%
import re

plain = re.sub(r".*setmaxnreg.*\n", "", two_consumers.text)
for threads in (384, 512):
    text = plain.replace("(384, 1)", f"({threads}, 1)")
    try:
        built = gl.compile(gl.cuda_source(text, "two_consumers"), target="sm_90a")
        print(f"{threads}: {built.registers} registers, {built.spill_bytes} B spilled")
    except gl.GemmlabError as error:
        print(f"{threads}:", str(error).splitlines()[1])

# %% [markdown]
# With two consumers all fits into 168. With a third, 128 registers cannot hold 128 accumulators and an address, and the
# assembler says so; with `setmaxnreg` (32 and 160) it says the same, for one instruction must fit into what the kernel
# starts with. Several together may hold more: 192 accumulators, three tiles of 64 × 128, compile beside
# `setmaxnreg_inc<240>` without a spill. Without it 4.8 KB are spilled, and ptxas serialises every `wgmma` (C7511). So
# the text is right where a consumer holds more than the average: larger tiles, `A` in registers, scales, attention's
# softmax.

# %% [markdown]
# ## A pipeline that guides print
#
# One text shows a four-stage pipeline in which each turn (1) copies tile `i + 3` to stage `(i + 3) % 4`, (2) waits for
# stage `i % 4`, (3) multiplies. We traced it. Stage `(i + 3) % 4` is the one that turn `i − 1` multiplied from, and
# nothing waits until that is over: there is no *empty* barrier and no wait for `wgmma`. It copies past the last tile,
# never flips the phase it waits for, and never loads `B`. Its drawing hands tile `i − 1` the barrier of tile `i`.
#
# You will mend such a loop in exercise 16.4.

# %% [markdown]
# ## Predict, then count
#
# **Predict** for the step from 128 × 128 to 128 × 256: bytes requested from global memory per multiply-add; registers;
# warps on an SM; bank conflicts.

# %%
LADDER = ("k15_wgmma", "k16_multistage", "k16_warp_specialised", "k16_two_consumers")
counters = {kernel: gl.count(kernel, 256, 256, 256) for kernel in LADDER}
for kernel, c in counters.items():
    registers, held = gl.compile(kernel).registers, gl.occupancy_of(kernel)
    loads = c.total(space="global", op="ld").bytes / 256**3
    print(f"{kernel:21} {loads:.4f} bytes per FMA, {registers} registers,",
          f"CTAs on an SM: {held.blocks}, warps: {held.warps}")

# %% [markdown]
# TMA and `wgmma` have no lanes with addresses; the emulator counts their access to shared memory in chunks of 16 bytes.
# With the 128-byte swizzle, eight chunks of a row go to eight different groups of banks:

# %%
gl.plots.bank_grid(gl.trace("k16_two_consumers", 128, 256, 64))

# %% [markdown]
# ## Measure
#
# Two studies beside the rungs, to tell causes apart: `k16_multistage_wide` has the tile of 128 × 256 without roles, and
# `k16_multistage_pair` has two CTAs on each SM, three stages each. **Predict:** is it the roles that pay, or the tile?

# %%
STUDIES = ("k16_multistage_pair", "k16_multistage_wide")
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in (*LADDER, *STUDIES)}
for kernel, m in found.items():
    rate = f"{m.tflops:5.0f} TFLOP/s" if m.tflops else "not recorded yet"
    print(f"{kernel:21} {rate}", f"= {m.ratio:.2f} of cuBLAS" if m.ratio else "")
print("4096 × 4096 × 4096, bf16,", found[LADDER[-1]].label)

# %% [markdown]
# **Outcome** (H200, 2026-11-30), in shares of cuBLAS. The ring brings a sixth, the wide tile another 7 to 10 %. The
# roles themselves bring nothing: with the wide tile both kernels are level, with two CTAs per SM the one without roles
# is even 3 % ahead. Nor is that a surprise: eight warps that meet once in 512 cycles of multiplication lose little,
# and two CTAs per SM fill each other's gaps. What the roles buy is independence: a producer can run ahead into the
# *next* tile while the consumers still store this one, and chapter 18 uses just that.

# %% [markdown]
# Where does a CTA spend its time? The same kernel with stamps of the SM's clock before and after each wait, in a CTA
# in the middle of the grid:

# %%
from gemmlab.measuring.roles import roles

stamps = roles(first=20, count=8)
shares = (f"{role} {share:.0%}" for role, share in stamps.busy.items())
print("time not spent waiting:", ", ".join(shares))
print(stamps.label)
if stamps.spans:
    mine = stamps.spans["consumer 1"]
    waits = [end - start for start, end, kind, _ in mine if kind == "wait"]
    step = (mine[-2][0] - mine[0][0]) / (len(waits) - 1)
    print(f"consumer 1: {step:,.0f} cycles a step, waits {min(waits)} to {max(waits)}")
    title, rows = "Tiles 20 to 27 of a CTA on an H200", {"": stamps.spans}
    display(gl.widgets.timeline(rows, title=title, source=f"Clock: {stamps.label}."))

# %% [markdown]
# A step takes some 1,160 cycles where the tensor cores need 1,024. A consumer's wait takes the same time at every step:
# that is the price of asking (and of two stamps), for the data is there. The producer spends most of its time
# waiting for an *empty* stage: copies are ahead, and their latency is hidden. Its waiting costs nobody anything, as
# `try_wait` suspends its thread. Under the roof, at the bytes that came from DRAM (Nsight Compute):

# %%
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=LADDER, bytes="measured DRAM", linear=True
)

# %% [markdown]
# ## What limits us now?

# %%
gl.plots.ladder_table({
    "k15_wgmma": ("two other CTAs fill the gaps", "waits: one stage per CTA"),
    "k16_multistage": ("no gap in the main loop", "start and end of a CTA"),
    "k16_warp_specialised": ("as before, less meeting", "64 B a cycle from L2"),
    "k16_two_consumers": ("a quarter less from L2", "start and end of a CTA"),
})

# %% [markdown]
# > **Takeaway.** One thread can feed two multiplying warpgroups. *Full* counts bytes, *empty* counts readers; a stage
# > is released when the group that reads it is over, and by every warp that read it.
#
# Two things remain. Neighbouring CTAs still fetch the same columns of `B`, each for itself: can SMs share a tile? That
# is chapter 17. And at the start and the end of each CTA the tensor cores stand still: that is chapter 18.

# %% [markdown]
# ## Exercises
#
# In [exercises/16_warp_specialisation.ipynb](../exercises/16_warp_specialisation.ipynb): **16.1** fill the ring,
# **16.2** repair the consumer, **16.3** the register budget, **16.4** repair a guide's pipeline.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `setmaxnreg`, `mbarrier`,
#   `wgmma.wait_group`, `elect.sync`.
# - NVIDIA, [CUTLASS](https://github.com/NVIDIA/cutlass): `include/cutlass/pipeline/sm90_pipeline.hpp`, the barriers
#   *full* and *empty*; `gemm/kernel/sm90_gemm_tma_warpspecialized.hpp`.
# - M. Bauer, H. Cook, B. Khailany, [CudaDMA: optimizing GPU memory bandwidth via warp
#   specialization](https://doi.org/10.1145/2063384.2063400), SC 2011: the idea, eleven years before Hopper.
# - J. Shah, G. Bikshandi, Y. Zhang, V. Thakkar, P. Ramani, T. Dao,
#   [FlashAttention-3](https://arxiv.org/abs/2407.08608), 2024: roles in an attention kernel.
