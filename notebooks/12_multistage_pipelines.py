# %% [markdown]
# # 12 · Multistage pipelines
#
# **How deep must the queue be?** Two stages give a copy less than one tile's time to arrive. With a ring of `S` stages
# it has that of `S − 1` tiles, for shared memory that Hopper has, and one number that counts *groups*.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [11](11_mma_and_ldmatrix.ipynb): `mma.sync`, `ldmatrix`, fragments, the swizzle;
#   [09](09_double_buffering.ipynb): `cp.async` and its groups.
# - **You will be able to:** count groups in flight and choose what `wait_group` lets go on, to the last tile; predict
#   from latency, bandwidth and tile how many stages help; budget shared memory; order the tiles of `C` for L2.
# - **Needs:** nothing; a GPU of compute capability 8.0 adds the stopwatch.
# - **Time:** 75 minutes.

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
# The best kernel of chapter 11 asks for a tile, multiplies the one before, and waits. For a tile of 128 × 256 × 32 an
# SM makes 1,048,576 multiply-adds: 512 cycles at the full bf16 rate, about 820 at the 62 % that `mma.sync` reaches.
#
# But the copy does not have all of them. Fragments are fetched one step of 16 `k` ahead, so the next tile must be there
# before the *last* step of this one. **Predict:** with two stages, how many cycles does a copy have? Is that more than
# DRAM's latency?

# %%
measured = gl.machine.latencies()
latency = {"L2": 250, "DRAM": 600}
if measured:
    latency = {level: round(measured[level]) for level in latency}


def cycles_per_tile(BK, BM=128, BN=256, share=0.62):
    """An SM of an H200 makes 2,048 multiply-adds of bf16 per cycle at most."""
    return BM * BN * BK / (2048 * share)


def time_to_arrive(stages, BK):
    """From a tile's first step to the wait for the tile that was copied then."""
    return (stages - 1 - 16 / BK) * cycles_per_tile(BK)


print(f"latency: {latency} cycles", "(measured)" if measured else "(assumed)")
for stages in (2, 3, 4, 5):
    short, long = (time_to_arrive(stages, BK) for BK in (32, 64))
    print(f"{stages} stages: BK = 32: {short:5.0f} cycles, BK = 64: {long:5.0f} cycles")

# %% [markdown]
# (Modelled.) Half a tile, 413 cycles, is enough for L2 on an idle machine, and too little for DRAM. And that latency is
# the best case: 132 SMs ask at the same time.
#
# ## How many bytes must be under way?
#
# Little's law: what is in flight equals rate times latency. **Predict** for the whole GPU: how many bytes does the
# kernel have in flight with `S` stages, and how many does DRAM want to be busy?

# %%
h200 = gl.hardware.gpu("H200")
wanted = gl.machine.bytes_in_flight(latency["DRAM"] / 1.98, h200.bandwidth_gbs)
print(f"DRAM wants {wanted / 1e6:.1f} MB in flight")
for stages in (2, 3, 4, 5):
    tile = 2 * 32 * (128 + 256)
    held, flight = stages * tile // 1024, 132 * (stages - 1) * tile
    print(f"{stages} stages: {held} KB per SM, {flight / 1e6:.1f} MB in flight")

# %% [markdown]
# So bytes are no problem even with two stages; *time* is. These are two different shortages, and a queue cures one of
# them:
#
# - **Latency-bound.** Loads overlap each other. Time per tile is `max(T_c, T_l / (S − 1))` when the threads that
#   multiply start the copies.
# - **Bandwidth-bound.** Memory takes `T_b` for the bytes of a tile, whatever is queued. From the second stage on,
#   `max(T_c, T_b)`: a longer queue is a longer queue.
#
# One guide has `T_l / S` stay exposed, most of all "when bandwidth is short". Move the sliders.

# %%
gl.widgets.stage_explorer(load=300, compute=100, stages=4, transfer=0)

# %% [markdown]
# ## The idea: a ring
#
# Stage `t mod S` holds tile `t`. While tile `t` is multiplied, tile `t + S − 1` goes into the stage of tile `t − 1`,
# which everybody has left behind. Each turn has one wait and one barrier, as with two stages.

# %%
load, compute = 700, 400
gl.widgets.timeline(
    {f"{S} stages": gl.stages.pipeline(load, compute, S, tiles=6) for S in (2, 3, 4)},
    title="Loads of 700, tiles of 400 (modelled)",
    source="Modelled: the threads that multiply start the copies, S − 1 tiles ahead.",
)

# %% [markdown]
# ## Groups
#
# `cp.async.wait_group N` waits until at most the `N` *newest groups of this thread* are open. To read tile `t + 1`, of
# the groups `0 … t + S − 1` that were committed only those after `t + 1` may be open: `N = S − 2`.
#
# Near the end there is nothing left to copy. If the commit goes away with the copy, the newest `N` groups are older
# ones, and the last tiles are read before they land. So the kernel commits in *every* turn; an empty group is complete
# at once. (Or it waits for 0 in the last turns.) **Predict** what is open at each wait, for 7 tiles and 4 stages.

# %%
def open_groups(tiles, S, empty_commits):
    """Return for each tile the groups that may be open after the wait for it."""
    groups, found = [*range(min(S - 1, tiles))], []
    for tile in range(tiles):
        found.append([g for g in groups[-(S - 2):] if g is not None])
        copied = tile + S - 1
        if copied < tiles or empty_commits:
            groups.append(copied if copied < tiles else None)
    return found


for name, empty in (("commit in every turn", True), ("no commit at the end", False)):
    print(name)
    for tile, still in enumerate(open_groups(7, 4, empty)):
        mark = "<- and read now" if tile in still else ""
        print(f"  tile {tile}: may be open {still}", mark)

# %% [markdown]
# ## The kernel
#
# Against chapter 11, two things change: the queue, and `grouped_tile` (below). `TileCopy` is that chapter's copy with
# its addresses kept from tile to tile.

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k12_multistage.cu"}
# %%cuda multistage STAGES=4 TILE_K=32 GROUP_ROWS=8
# #include "tile/stage.cuh"
# #include "tile/store_mma.cuh"
# #include "tile/tile_copy.cuh"
# #include "tile/tile_order.cuh"
#
# constexpr int BM = 128, BN = 256, BK = TILE_K, WM = 64, WN = 64, THREADS = 256;
# using Tiles = Stage<BM, BN, BK>;
#
# template <bool WIDE>  // N and K are multiples of 8: 16-byte copies
# __device__ void gemm(Tiles* stages, const T* A, const T* B, T* C,
#                      int M, int N, int K) {
#     Fragments<WM, WN> frag[2];
#     Sums acc[WM / 16][WN / 8] = {};  // float[4] each
#     Tile tile = grouped_tile<GROUP_ROWS>(blockIdx.x, (M + BM - 1) / BM,
#                                          (N + BN - 1) / BN);
#     int warp = threadIdx.x / 32, m0 = tile.m * BM, n0 = tile.n * BN;
#     int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;
#     TileCopy<T, WIDE, BM, BK, THREADS, swizzled<BK / 8>> a(
#         shared_address(stages->a), A, M, K, m0, 0);
#     TileCopy<T, WIDE, BK, BN, THREADS, swizzled<BN / 8>> b(
#         shared_address(stages->b), B, K, N, 0, n0);
#     auto copy = [&](int stage) {
#         a.copy(stage * sizeof(Tiles)), a.right();
#         b.copy(stage * sizeof(Tiles)), b.down();
#         cp_async_commit_group();
#     };
#
#     // Prologue: STAGES - 1 groups under way; the oldest must land.
#     for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage);
#     cp_async_wait_group<STAGES - 2>();
#     __syncthreads();
#     frag[0].fetch(stages[0], wm, wn, 0);
#
#     // Main loop: one group per tile, beyond the last tile, too.
#     int read = 0, fill = STAGES - 1;
#     for (int k0 = 0; k0 < K; k0 += BK)
# #pragma unroll
#         for (int k = 0; k < BK; k += 16) {
#             if (k == 0) copy(fill);
#             if (k + 16 == BK) {  // the next fragments are of the next tile
#                 cp_async_wait_group<STAGES - 2>();
#                 __syncthreads();
#                 fill = read;  // nobody reads this stage any more
#                 read = read + 1 == STAGES ? 0 : read + 1;
#             }
#             int next = (k / 16 + 1) % 2;
#             frag[next].fetch(stages[read], wm, wn, (k + 16) % BK);
#             frag[next ^ 1].multiply(acc);
#         }
#
#     // Epilogue: no copy may still write where C is turned.
#     cp_async_wait_group<0>();
#     __syncthreads();
#     uint4* staging = stages[0].a + warp * 16 * WN / 8;
# #pragma unroll
#     for (int i = 0; i < WM / 16; ++i)
#         store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, acc[i],
#                          staging);
# }
#
# extern "C" __global__ void __launch_bounds__(THREADS)
#     multistage(const T* A, const T* B, T* C, int M, int N, int K) {
#     extern __shared__ Tiles stages[];
#     if (N % 8 == 0 && K % 8 == 0)
#         gemm<true>(stages, A, B, C, M, N, K);
#     else
#         gemm<false>(stages, A, B, C, M, N, K);
# }

# %% [markdown]
# - **The order in a turn.** The copy first, then the fragments, then 32 `mma`: what takes longest starts first.
#   With the fetch first, ptxas puts the last `ldmatrix` behind all the `mma` of its step, and nothing hides it.
# - **One barrier** says both: everybody's part of the next tile has landed, and nobody reads stage `fill` any more.
# - **Zeros.** Outside the matrices `cp.async` reads 0 bytes and fills with zeros, so `K`'s tail needs no other code.
# - **Shared memory is dynamic.** A static array may have 48 KB, for the compiler; one CTA may have 227 KB on Hopper,
#   163 on an A100, 99 on an RTX 5090, asked for at the launch.

# %%
BF16 = {"a_dtype": "bfloat16", "b_dtype": "bfloat16", "c_dtype": "bfloat16"}
rule = {
    "grid": ["cdiv(M, 128) * cdiv(N, 256)", "1", "1"],
    "block": [256, 1, 1],
    "shared": 4 * 2 * 32 * (128 + 256),
    "args": ["A", "B", "C", "M", "N", "K"],
} | BF16
gl.check(multistage, rule=rule)

# %% [markdown]
# The emulator lets copies land as late as the waits allow ("late") and at once ("early"), so that a wait that is too
# weak shows without luck. Here is what it saw of one CTA: the groups of 10 tiles in their slots. (10 to 12 lie beyond
# the last tile and bring zeros.)

# %%
events = gl.trace_events("k12_4_stages_of_32", 128, 256, 320)
groups = gl.plots.roles(events)
gl.plots.timeline(groups, unit="events", title="Groups under way, 4 stages, 10 tiles")

# %% [markdown]
# Nothing about the swizzle has changed, but stages of 24 KB start at other addresses. **Predict:** does that make
# conflicts?

# %%
trace = gl.trace("k12_4_stages_of_32", 128, 256, 64)
gl.plots.matrix_rows(trace, limit=2)

# %%
for kernel in ("k11_double_buffer", "k12_4_stages_of_32", "k12_tile_order"):
    shared = gl.count(kernel, 128, 256, 128).total(space="shared")
    held = gl.occupancy_of(kernel)
    waves = f"{shared.excess_wavefronts} excess wavefronts of {shared.wavefronts:,}"
    print(f"{kernel:18} {waves}, {held.warps} warps per SM")

# %% [markdown]
# ## Which tiles run together?
#
# 132 CTAs run at a time. What they read of `A` and `B` is shared through L2 if it is the same. CTAs numbered along the
# rows of `C` touch few rows of tiles and all columns; in groups of eight rows they form a block. **Predict:** which set
# is smaller where `C` is 4,096 rows high and 16,384 columns wide?

# %%
orders = {"along rows": None, "groups of 8 rows": 8}
gl.plots.tile_order(orders, tiles=(32, 64), wave=132, tile=(128, 256))

# %% [markdown]
# The trick is short, and one guide has it wrong. Its formula works in widths of 8 *columns*:

# %%
def guide(i, tiles_m, tiles_n, width=8):
    return i // width % tiles_m, i % width + i // (width * tiles_m) * width


def grouped(i, tiles_m, tiles_n, rows=8):
    first, inside = i // (rows * tiles_n) * rows, i % (rows * tiles_n)
    height = min(rows, tiles_m - first)
    return first + inside % height, inside // height


for order in (guide, grouped):
    for size in (16, 9):
        tiles = {order(i, size, size) for i in range(size * size)}
        inside = {(m, n) for m, n in tiles if m < size and n < size}
        missing = size * size - len(inside)
        print(f"{order.__name__:8} {size} × {size}: {missing} tiles missing")

# %% [markdown]
# At 9 × 9 the last width holds one column, but the formula still deals out eight: 7 CTAs work outside of `C`, and 7
# tiles are nobody's. The last group has to be as narrow as what is left; `min` is all it takes.
#
# ## Measure
#
# **Predict** the order of these kernels from the table of cycles above, before you run the cell. Where do more stages
# stop to help?

# %%
QUEUES = [(2, 32), (3, 32), (4, 32), (5, 32), (2, 64), (3, 64), (4, 64)]
names = {(S, BK): f"k12_{S}_stages_of_{BK}" for S, BK in QUEUES}
found = {q: gl.measure(name, 4096, 4096, 4096) for q, name in names.items()}
rows = []
for (S, BK), m in found.items():
    rate = f"{m.tflops:.0f}" if m.tflops else "-"
    held = S * 2 * BK * 384 // 1024
    rows.append((f"{S}", f"{BK}", f"{held} KB", f"{time_to_arrive(S, BK):.0f}", rate))
columns = ("stages", "BK", "shared memory", "cycles to arrive (modelled)", "TFLOP/s")
gl.plots.table.Table(f"4096 × 4096 × 4096, {m.label}", columns, tuple(rows))

# %%
by_BK = {"BK = 32": [], "BK = 64": []}
for (S, BK), m in found.items():
    by_BK[f"BK = {BK}"] += [(S, m.tflops)] if m.tflops else []
title = "Stages at 4096 × 4096 × 4096, H200"
gl.plots.lines(by_BK, x="stages", y="TFLOP/s", title=title)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). Two stages of 32 `k` are far behind, as their 413 cycles said. Three have three
# times as long and come close to the best of their `BK`; the fourth and fifth add next to nothing. With `BK = 64`
# there are half as many waits and barriers per `k`: from three stages on these queues are the fastest. Three stages of
# 64 are the rung.

# %% [markdown]
# One guide found three stages *slower* than two, and `BK = 64` slower than 32, on a laptop's RTX 5060, and guessed at
# registers. A longer queue takes none: all queues of one `BK` above have the same 254 or 255. Where tensor cores are
# slower beside their memory, two stages arrive in time already; then a third costs shared memory, and with it the
# second resident block, which was worth more there.
#
# ## The order of tiles, measured
#
# **Predict** the gain at 4096, at 8192 and at the wide `C` of the figure: there are 16, 32 and 64 columns of tiles, and
# 132 CTAs at a time.

# %%
def profile_of(measurement):
    return (measurement.record or {}).get("profile", {})


for shape in ((4096, 4096, 4096), (8192, 8192, 8192), (4096, 16384, 4096)):
    print(*shape, sep=" × ")
    for kernel in ("k12_multistage", "k12_tile_order"):
        m = gl.measure(kernel, *shape)
        rate = f"{m.tflops:.0f} TFLOP/s" if m.tflops else "not recorded yet"
        seen = profile_of(m)
        if seen:
            rate += f", L2 hits {seen['l2_hit_pct']:.0f} %"
            rate += f", {seen['dram_read_bytes'] / 1e9:.2f} GB from DRAM"
        print(f"  {kernel:15} {rate}")

# %% [markdown]
# **Outcome** (H200, 2026-11-30). At 4096 none: a wave along the rows *is* a block, of 8 rows and 16 columns. Where `C`
# is wide, groups bring a third of the bytes from DRAM, and hardly any speed: 4.8 TB/s had time to spare. The order is
# for GPUs with less of it, and for kernels that are faster than this one.
#
# And where no 16 divides anything? Rows of 4,097 elements start at any multiple of 2 bytes. `cp.async` has no such
# size, so `gemm<false>` copies element by element. **Predict:** what does that cost us, and what cuBLAS?

# %%
m = gl.measure("k12_tile_order", 4095, 4097, 1023)
if m.record:
    print(f"ours {m.tflops:.0f} TFLOP/s, cuBLAS {m.record['rival_best_tflops']:.0f}")

# %% [markdown]
# Both lose most of their speed: whoever can choose pads the rows of a matrix to multiples of 16 bytes.

# %%
RUNGS = ["k11_double_buffer", "k12_tile_order"]
counters = {kernel: gl.count(kernel, 128, 256, 256) for kernel in RUNGS}
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=RUNGS, bytes="requested", counters=counters
)

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A queue buys time to arrive, no bandwidth: `S` stages give `S − 1` tiles. Count groups, not copies:
# > commit in every turn, wait for all but `S − 2`. When the copy arrives in time, stop.

# %% [markdown]
# What do the counters say of the last step?

# %%
profile = profile_of(gl.measure("k12_tile_order", 4096, 4096, 4096))
for name in ("tensor_pct", "issue_pct"):
    print(name, f"{profile[name]:.0f} %" if name in profile else "not recorded yet")
stalls = {name[6:]: c for name, c in profile.items() if name.startswith("stall_")}
print("cycles that a warp waits, per instruction:")
for name, cycles in sorted(stalls.items(), key=lambda stall: -stall[1])[:6]:
    print(f"  {cycles:.1f} {name}")

# %%
gl.plots.ladder_table({
    "k11_double_buffer": ("two stages: too late", "copies: less than a tile's time"),
    "k12_multistage": ("three stages: in time", "waits and barriers, mma.sync's rate"),
    "k12_tile_order": ("no faster at this size", "mma.sync's rate"),
})

# %% [markdown]
# A warp waits for the tensor pipe and for the fixed latency of its own instructions; barriers, fragments and copies
# take less than one cycle in six. With nothing but `mma.sync` in a loop this GPU reaches some 630 TFLOP/s (chapter
# 11): three quarters of that are reached, and cuBLAS, with another instruction, is beyond it. But is bf16 what we want
# to multiply?

# %% [markdown]
# ## Exercises
#
# In [exercises/12_multistage_pipelines.ipynb](../exercises/12_multistage_pipelines.ipynb): **12.1** from two stages to
# four, **12.2** how many stages, **12.3** a repair, **12.4** an order for every grid.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `cp.async`, `cp.async.commit_group`,
#   `cp.async.wait_group`.
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): shared memory per
#   compute capability.
# - NVIDIA, [CUTLASS: efficient GEMM](https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md):
#   pipelining, threadblock rasterization.
# - J. D. C. Little, A proof for the queuing formula L = λW, Operations Research 9 (1961).
