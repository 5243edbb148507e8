# %% [markdown]
# # 19 · Split-K and Stream-K
#
# **What if there are too few tiles?** A GPU with 132 SMs and 16 tiles leaves 116 of them idle, however good the kernel
# is. First we fit the tile to the machine. Then we cut along K: several SMs share a tile, and somebody must add up
# their parts.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [18](18_persistent.ipynb): persistent kernels; [17](17_clusters.ipynb): distributed shared memory.
# - **You will be able to:** tell from the number of tiles which share of a GPU can work; fit a tile to one wave; choose
#   between sliced-K, Split-K and Stream-K; publish a partial sum with a flag, and prove that it is safe; say what the
#   sum costs, in bytes.
# - **Needs:** nothing; Hopper (sm_90a) natively.
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
# Tiles run in rounds of 132. The last round is rarely full, and with few tiles there is only a last round. **Predict**
# the share of the machine that can work, with tiles of 128 × 128: 512 × 512, 1024², 2176², 4096².

# %%
import kernels
from gemmlab.plots.quantisation import efficiency, tiles_of
from gemmlab.plots.table import Table
from kernels import ROOT

BF16 = dict.fromkeys(("a_dtype", "b_dtype", "c_dtype"), "bfloat16")

for size in (512, 1024, 2176, 4096):
    tiles = tiles_of(size, size, 128, 128)
    print(f"{size}²: {tiles:5} tiles, {efficiency(tiles):4.0%} of 132 SMs work (modelled)")

# %%
gl.plots.wave_quantisation((128, 128), sizes=range(512, 5121, 128))

# %% [markdown]
# Persistent kernels do not change this, whatever a guide says: 133 tiles take two rounds in any order.
#
# ## First, another tile
#
# Each of 132 SMs should get 2176² / 132 = 35,870 elements of `C`. **Predict:** which of these tiles comes closest?

# %%
for tile in ((128, 128), (128, 256), (256, 160), (192, 200)):
    tiles = tiles_of(2176, 2176, *tile)
    most = -(-tiles // 132) * tile[0] * tile[1]  # elements on the busiest SM
    print(f"{tile[0]} x {tile[1]}: {tiles:3} tiles, {most:6,} on one SM,",
          f"{2176**2 / 132 / most:.0%} of the machine works (modelled)")

# %% [markdown]
# 12 × 11 tiles of 192 × 200 are exactly 132: one wave. Nothing but habit asks for powers of two:

# %% [markdown]
# - `wgmma` takes any multiple of 8 columns. Three consumer warpgroups have 64 rows each, 100 accumulators a thread and
#   up to 160 registers; the producer keeps 32.
# - 200 columns of `B` are three boxes of 64 and one of 8, which comes by a tensor map of its own. In shared memory its
#   rows take 128 bytes too, but only 16 are copied. A tile that begins inside a 32-byte sector has its *first* columns
#   in the narrow box, so that the wide ones cut no sector.
# - Four stages are 224 of 227 KB. With one tile per CTA `C` needs no memory of its own: at the end a warpgroup's rows
#   of `A` are free.

# %%
text = (ROOT / "hopper" / "k19_one_wave.cu").read_text()
print(text[text.index("  } else {") : text.index("  __syncwarp")])

# %% [markdown]
# `store_vectors` turns a warp's rows round in shared memory: a lane writes 16 bytes of `C`, not 4, and two lanes a
# whole sector. Tiles of 64 × 128 with one consumer make 128 tiles of 1024². But smaller tiles read more bytes per FLOP:
# 16 tiles of 128 × 128 cannot become 128 that way. What is left to cut is K.

# %% [markdown]
# ## The idea: four ways to share a tile
#
# | | who shares | parts meet in | sum |
# |---|---|---|---|
# | sliced-K | warpgroups of a CTA | shared memory | a barrier |
# | Split-K, cluster | CTAs of a cluster (at most 8) | distributed shared memory | a cluster barrier |
# | Split-K | any CTAs | global memory, mostly L2 | flags |
# | Stream-K | all CTAs, cut where they happen to | global memory, mostly L2 | flags |

# %% [markdown]
# **Stream-K** (Osama, Merrill, Cecka, Garland and Owens, 2023) lays the k steps of all tiles in one row and cuts it
# into equal shares, one per SM. Nobody waits for a last round, but tiles are cut in odd places. Here are 20 tiles of 12
# steps on 8 SMs; gaps are idle.

# %%
SHOWN = {"kinds": {0: "compute", 1: "part"}, "sms": 8, "unit": "k steps"}
whole = gl.plots.wave_stamps(20, 8, time=12)
gl.plots.gantt(whole, title="Whole tiles: three rounds (modelled)", **SHOWN)

# %%
halves = gl.plots.wave_stamps(40, 8, time=6)
gl.plots.gantt(halves, title="Split-K, two parts: five half rounds (modelled)", **SHOWN)

# %%
def stream(tiles, steps, sms):
    """Return the stamps of Stream-K: equal shares of all steps, cut at the tiles' ends."""
    rows = []
    for sm in range(sms):
        first, last = tiles * steps * sm // sms, tiles * steps * (sm + 1) // sms
        edges = [first, *range((first // steps + 1) * steps, last, steps), last]
        for a, b in zip(edges, edges[1:], strict=False):
            rows.append((sm, 0, int(b - a < steps), a - first, b - first))
    return np.array(rows)


shares = stream(20, 12, 8)
gl.plots.gantt(shares, title="Stream-K: equal shares (modelled)", **SHOWN)

# %% [markdown]
# In general, over the number of tiles (sums left out):

# %%
gl.plots.split_efficiency(tiles=range(1, 301), steps=64, splits=(2, 8))

# %% [markdown]
# ## The kernel: sliced-K
#
# The smallest case has everything but the distance. A tile of 64 rows cannot be dealt out to two warpgroups by rows,
# since `wgmma` takes 64 at least. So each takes every other k step, with a ring of its own, and they exchange halves.

# %% tags=["kernel"] gemmlab={"kernel": "hopper/k19_sliced_k.cu"}
# %%cuda sliced_k
# #include "ptx/barrier.cuh"
# #include "ptx/registers.cuh"
# #include "tile/mainloop.cuh"
# #include "tile/store_direct.cuh"
#
# constexpr int BM = 64, BN = 128, DEPTH = 4, R = BN / 2;
#
# struct Shared {
#   union {
#     Stages<BM, BN, DEPTH, 1> slice[2];  // a ring for each warpgroup
#     float4 part[2][R / 8][128];         // over the first stages, at the end
#   };
# };
#
# extern "C" __global__ void __launch_bounds__(384, 1)
# sliced_k(const __grid_constant__ CUtensorMap A,
#          const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
#   int m = blockIdx.y * BM, n = blockIdx.x * BN, steps = (K + BK - 1) / BK;
#   if (threadIdx.x == 0)
#     for (auto& slice : s.slice) slice.init(4);
#   __syncthreads();
#
#   if (warpgroup == 0) {  // the producer deals the k steps out in turn
#     setmaxnreg_dec<40>();
#     Ring<DEPTH> even, odd;
#     for (int k = 0; threadIdx.x == 0 && k < steps; k += 2) {
#       s.slice[0].produce(even, A, B, m, n, k, k + 1, 0);
#       if (k + 1 < steps) s.slice[1].produce(odd, A, B, m, n, k + 1, k + 2, 0);
#     }
#     return;
#   }
#   setmaxnreg_inc<232>();
#   int w = warpgroup - 1;
#   Ring<DEPTH> ring;
#   Consumer my = consumer_of<1>(s.slice[w], 0);
#   float acc[1][R];
#   if (steps <= w)
#     for (float& x : acc[0]) x = 0;
#   consume<BN, 1>(s.slice[w], ring, my, acc, (steps + 1 - w) / 2);
#   for (auto& part : acc) wgmma_wait_group<0>(part);
#
#   // Give the other warpgroup the columns that it stores, keep 64 of our own.
#   bar_sync(1, 256);  // nobody reads the stages any more
#   float keep[R / 2], give[R / 2];
# #pragma unroll
#   for (int i = 0; i < R / 2; ++i) {
#     keep[i] = acc[0][i], give[i] = acc[0][R / 2 + i];
#     if (w == 1) keep[i] = acc[0][R / 2 + i], give[i] = acc[0][i];
#   }
# #pragma unroll
#   for (int i = 0; i < R / 8; ++i) {
#     const float* x = give + 4 * i;
#     s.part[w][i][thread] = make_float4(x[0], x[1], x[2], x[3]);
#   }
#   bar_sync(1, 256);
# #pragma unroll
#   for (int i = 0; i < R / 8; ++i) {
#     float* x = keep + 4 * i;
#     float4 other = s.part[1 - w][i][thread];
#     x[0] += other.x, x[1] += other.y, x[2] += other.z, x[3] += other.w;
#   }
#   store_direct<BN / 2>(keep, C, m, n + w * BN / 2, M, N);
# }

# %% [markdown]
# - **Two rings, one producer.** Stage by stage it serves one warpgroup, then the other.
# - **Both store.** Each gives half of its sums away and adds what it gets: no warpgroup idles at the end.
# - **The first barrier** says that no `wgmma` reads the stages any more; only then may they hold parts.
# - **Indices are constants**: `acc[0][R / 2 + i]` with a variable base would put the accumulators into local memory,
#   and ptxas would serialise every `wgmma` (C7514).

# %%
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 64)", "1"],
    "block": [384, 1, 1],
    "shared": 8 * 24 * 1024 + 2048,
    "args": ["map(A, 64, 64, 128)", "map(B, 64, 64, 128)", "C", "M", "N", "K"],
    **BF16,
}
gl.check(sliced_k, rule=rule)

# %% [markdown]
# ## Across CTAs: a flag
#
# Between CTAs there is no barrier short of the grid's end (or of a cluster's). A part goes to global memory, then a
# flag says so. Four things make that right:

# %% [markdown]
# 1. **Release and acquire.** The data is written *before* `st.release` of the flag, and read after `ld.acquire` has
#    seen it. A lane signals for its warp, behind `__syncwarp`.
# 2. **A fixed order.** Parts are added in the order of their numbers, not of arrival: FP32 addition is not associative,
#    and `atomicAdd` gives other bits every time.
# 3. **All CTAs run.** Who spins on a flag occupies an SM; if the writer has not started, both wait for ever. Hence
#    grids of at most one CTA per SM.
# 4. **Flags go back to zero**, for the next launch. With a flag for each writer and reader an ordinary store will do.

# %%
source = (ROOT / "hopper" / "k19_split_k.cu").read_text()
print(source[source.index("// A warp's part") : source.index('extern "C"')])

# %% [markdown]
# **Predict** what the emulator says if the flag is set with an ordinary store, and if nobody waits.

# %%
SIGNAL = "st_release_gpu(p.flags + i * parts + rank, 1);"
POLL = "while (ld_acquire_gpu(p.flags + rank * parts + i) == 0) {"
BREAKS = {
    "no release": (SIGNAL, "p.flags[i * parts + rank] = 1;"),
    "no wait": (POLL, "while (false) {"),
}
rule = kernels.spec("k19_split_k").rule() | BF16 | {"grid": ["2", "1", "8"]}
for what, (old, new) in BREAKS.items():
    broken = gl.cuda_source(source.replace(old, new), "split_k")
    try:
        gl.check(broken, [(128, 128, 512)], "emulator", rule, quiet=True)
    except gl.CheckError as error:
        print(f"{what}:", *str(error).splitlines()[:2], sep="\n  ", end="\n\n")

# %% [markdown]
# Right values, by luck, in both cases if the schedule is kind. Some texts add the parts with a second kernel instead:
# its launch is the barrier, and costs one.
#
# ## What the sum costs
#
# A part of 128 × 128 is 64 KB of FP32, where the C tile itself has 32 KB of bf16. Each CTA keeps the columns that it
# will add up itself; what others add up is written once and read once. **Predict** for 256 × 256 × 1024, so 4 tiles:
# who reads more of A and B, and how many bytes do the parts add?

# %%
WAYS = ("k18_pingpong", "k19_sliced_k", "k19_split_k_cluster4")
MOVES = {
    "tiles": ("global", "ld", "cp.async.bulk.tensor"),
    "parts out": ("global", "st", "st.global.v4"),
    "parts in": ("global", "ld", "ld.global.v4"),
    "from peers": ("shared", "ld", "ld.shared::cluster"),
}
rows = []
for kernel in (*WAYS, "k19_split_k", "k19_stream_k"):
    c, moved = gl.count(kernel, 256, 256, 1024), []
    for space, op, start in MOVES.values():
        sites = (s for s in c.sites if (s.space, s.op) == (space, op))
        moved.append(sum(s.bytes for s in sites if s.opcode.startswith(start)) / 1e6)
    excess = c.total(space="shared").excess_wavefronts
    rows.append((kernel, *(f"{mb:.2f}" for mb in moved), str(excess)))
Table("MB requested (counted)", ("kernel", *MOVES, "excess wavefronts"), tuple(rows))

# %% [markdown]
# ## Predict, then measure
#
# **Predict** the best way at each of these: 16 tiles with a K of 16,384; 64 tiles; 289 tiles; 128 tiles in four rows;
# and 1,024 tiles, where cutting is only cost.

# %%
SHAPES = ((512, 512, 16384), (1024,) * 3, (2176,) * 3, (512, 4096, 4096), (4096,) * 3)
KERNELS = ("k18_cooperative", "k18_pingpong", "k19_one_wave", "k19_one_wave_64")
KERNELS += ("k19_sliced_k", "k19_split_k", "k19_split_k_cluster4", "k19_split_k_cluster8")
KERNELS += ("k19_stream_k", "k19_split_tail")
rows = []
for name in KERNELS:
    found = [gl.measure(name, *shape) for shape in SHAPES]
    rows.append((name, *(f"{m.ratio:.2f}" if m.ratio else "–" for m in found)))
columns = ("kernel", *(" × ".join(map(str, shape)) for shape in SHAPES))
note = f"Times {found[0].label}; –: no record."
Table("Share of cuBLAS's best", columns, tuple(rows), note)

# %%
few = [r for kernel in KERNELS for r in gl.results.find(kernel, 512, 512, 16384)]
gl.plots.ladder_bars(few, title="16 tiles, K = 16,384")

# %%
rungs = ["k18_pingpong", "k19_split_k", "k19_stream_k"]
counters = {kernel: gl.count(kernel, 512, 512, 2048) for kernel in rungs}
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=rungs, shape=SHAPES[0], bytes="requested", counters=counters
)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). For 16 tiles Split-K is best, level with cuBLAS, where the plain kernel has a fourth;
# it pays in bytes, and from 64 tiles on is no better than doing nothing. At 1024³ and at 2176³ nothing that cuts K
# beats *whole tiles of the right size*: one wave of 64 × 128, and of 192 × 200. With 1,024 tiles all of it is only
# cost. (At 8192³, where tiles of 128 × 256 take 15.5 rounds, `k19_stream_k_256` is 2 % ahead of `k18_cooperative`.)

# %% [markdown]
# ## Why equal shares are not equal time
#
# Stream-K's plan is perfect: every SM gets the same number of steps, to within one. Yet two things are not in the plan.
# First, whole tiles that run side by side ask for the *same* k of A's rows and B's columns at about the same time: one
# fetches, the others find the bytes in L2. Workers of Stream-K stand at different k. Second, each sum is a store to L2,
# a flag and a load, one after the other, at the end, when nothing else is left to do.

# %% [markdown]
# **Split tail** (`k19_split_tail`) keeps whole tiles for the full rounds and cuts only the rest, all at the same k. And
# a cluster of eight has a third cost: clusters are placed on one GPC, and whatever SMs of a GPC do not fill eight stay
# empty.

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** First choose a tile of which one wave fills the machine. What is still too few is cured along K, at a
# > price per part: up to 64 KB each way and one wait for the slowest. Cut as little as fills the machine, all at the
# > same k, and add in a fixed order.

# %%
gl.plots.ladder_table({
    "k18_pingpong": ("16 of 132 SMs work", "too few tiles"),
    "k19_sliced_k": ("32 tiles of half the size", "too few tiles"),
    "k19_split_k_cluster4": ("64 SMs work", "half of the machine"),
    "k19_split_k": ("128 SMs work, in pairs that share A", "the sum: parts through L2"),
    "k19_stream_k": ("132 SMs work", "the sum, and requests that L2 cannot merge"),
}, shape=(512, 512, 16384))

# %% [markdown]
# Which kernel for which shape is a choice of its own: tile, cluster, split and order. Libraries keep tables or models
# for it. `gl.best_kernel` is ours: it models start, steps, rounds and sums, and says why. How good are its predictions?

# %%
for shape in SHAPES[:3]:
    choice = gl.best_kernel(*shape)
    print(*str(choice.reasons).splitlines()[:4], sep="\n")
    m = gl.measure(choice.spec.name, *shape)
    took = f"{m.time_us:.1f} µs, {m.ratio:.2f} of cuBLAS" if m.ratio else "not recorded"
    print(f"  {choice.spec.name}: {took} ({m.label})\n")

# %% [markdown]
# So far C is all that leaves a tile; a bias, an activation, a scale want to ride along. What else fits into the
# epilogue? That is chapter 20.

# %% [markdown]
# ## Exercises
#
# In [exercises/19_split_k_stream_k.ipynb](../exercises/19_split_k_stream_k.ipynb): **19.1** the share that works,
# **19.2** deal out the steps, **19.3** add up the parts.
#
# ## References
#
# - M. Osama, D. Merrill, C. Cecka, M. Garland, J. Owens, [Stream-K: work-centric parallel decomposition for dense
#   matrix-matrix multiplication on the GPU](https://arxiv.org/abs/2301.03598), PPoPP 2023.
# - NVIDIA, [CUTLASS: efficient GEMM in
#   CUDA](https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md): split-K and sliced-K
#   reductions.
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): memory consistency model, `ld.acquire`,
#   `st.release`.
