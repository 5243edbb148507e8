# %% [markdown]
# # 18 · Persistent kernels
#
# **What happens between tiles?** Nobody multiplies: a CTA ends, another starts, fills its ring, and at the end writes
# its tile. We let CTAs stay, so that the producer is already bringing the next tile while this one is written. That
# brings the ladder to cuBLAS's speed.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [17](17_clusters.ipynb): clusters and multicast; [16](16_warp_specialisation.ipynb): the ring.
# - **You will be able to:** write a tile scheduler that covers every grid; say what cooperative and ping-pong overlap,
#   and what they cost; predict wave quantisation; choose an order of tiles; tell a limit of power from one of time.
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
# In chapter 16 a tile of 128 × 256 at `K = 4096` takes 64 steps of 1,024 cycles. Before the first step the ring is
# empty: one latency. After the last one, 64 KB of `C` are written. **Predict** the share of the time that is not
# multiplication, if each end costs about 2,000 cycles; and at `K = 512`.

# %%
for K in (4096, 512):
    steps, ends = K // 64 * 1024, 2 * 2000
    share = ends / (steps + ends)
    print(f"K = {K}: {share:.0%} of the time at the ends of a tile (modelled)")

# %% [markdown]
# Two CTAs per SM would fill each other's ends, but the ring of one already takes 192 KB of shared memory.
#
# ## The idea: stay
#
# Start exactly as many CTAs as the GPU has SMs. Each computes tile number `blockIdx.x`, then the one `gridDim.x` later,
# and so on. The roles of chapter 16 now pay: the producer knows no tiles, only steps. While the consumers write their
# tile, it fills the ring for the next one.

# %%
def tile(number, fill, start):
    """Return the spans of a tile: fill the ring, multiply (16 units), store (4)."""
    end = start + 16
    work = [(start, end, "compute", f"tile {number}"), (end, end + 4, "store", "")]
    return [(start - fill, start, "load", ""), *work][not fill :]


TWO = {
    "a CTA per tile": tile(0, 4, 4) + tile(1, 4, 28),
    "persistent, consumers": tile(0, 4, 4) + tile(1, 0, 24),
    "persistent, producer": [(0, 36, "issue", "never stops")],
}
gl.plots.timeline(TWO, unit="units", title="Two tiles on one SM (modelled)")

# %% [markdown]
# ## The kernel
#
# `Stages::produce` and `consume` are chapter 17's loops, moved to `kernels/tile/mainloop.cuh`: pairs of CTAs share `B`.
# New are the two loops over `t`, and a TMA store: `tma_store_c` writes the tile to shared memory with `stmatrix`, and
# the copy engine takes it from there.

# %% tags=["kernel"] gemmlab={"kernel": "hopper/k18_cooperative.cu"}
# %%cuda cooperative CONFIG_BN=256 CONFIG_STAGES=4 CONFIG_GROUP=8
# #include "ptx/registers.cuh"
# #include "tile/mainloop.cuh"
# #include "tile/store_c.cuh"
# #include "tile/tile_order.cuh"
#
# constexpr int BM = 128, BN = CONFIG_BN, STAGES = CONFIG_STAGES, CLUSTER = 2;
# constexpr int GROUP = CONFIG_GROUP;  // rows of tiles that CTAs take together
#
# struct Shared {
#   Stages<BM, BN, STAGES, CLUSTER> ring;
#   alignas(1024) T c[2][2 * 64 * 64];
# };
#
# extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
#     cooperative(const __grid_constant__ CUtensorMap A,
#                 const __grid_constant__ CUtensorMap B,
#                 const __grid_constant__ CUtensorMap C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   // NOTE: a shuffle tells the compiler that all lanes have the same number.
#   int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
#   int warpgroup = warp / 4, rank = cluster_ctarank(), steps = (K + BK - 1) / BK;
#   int rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER), columns = (N + BN - 1) / BN;
#   int first = blockIdx.x / CLUSTER, stride = gridDim.x / CLUSTER, tiles = rows * columns;
#   if (threadIdx.x == 0) {
#     prefetch_tensormap(&A);
#     prefetch_tensormap(&B);
#     s.ring.init(8);
#   }
#   // NOTE: relaxed, since fence.mbarrier_init has published the barriers. The tile's
#   // divisions take as long as the wait.
#   barrier_cluster_arrive_relaxed();
#   Tile tile = grouped_tile<GROUP>(first, rows, columns);
#   barrier_cluster_wait();
#
#   Ring<STAGES> ring;
#   if (warpgroup == 0) {
#     setmaxnreg_dec<40>();
#     if (warp == 0 && elect_sync())
#       for (int t = first; t < tiles;) {
#         int m = (tile.m * CLUSTER + rank) * BM;
#         s.ring.produce(ring, A, B, m, tile.n * BN, 0, steps, rank);
#         tile = grouped_tile<GROUP>(t += stride, rows, columns);
#       }
#   } else {
#     setmaxnreg_inc<232>();
#     int consumer = warpgroup - 1;
#     Consumer my = consumer_of<CLUSTER>(s.ring, consumer * 64);
#     for (int t = first; t < tiles;) {
#       float acc[1][BN / 2];
#       consume<BN, CLUSTER>(s.ring, ring, my, acc, steps);
#       finish<CLUSTER>(s.ring, ring, my, acc);
#       int m = (tile.m * CLUSTER + rank) * BM + consumer * 64;
#       tma_store_c(acc[0], s.c[consumer], &C, m, tile.n * BN, 1 + consumer);
#       tile = grouped_tile<GROUP>(t += stride, rows, columns);
#     }
#     if (threadIdx.x % 128 == 0) cp_async_bulk_wait_group_read<0>();
#   }
#   __syncwarp();  // NOTE: a peer may still arrive at our barriers or write to our stages
#   barrier_cluster_arrive_relaxed();
#   barrier_cluster_wait();
# }

# %% [markdown]
# - **The ring goes on.** `ring` is declared outside the loop over tiles: stage and parity continue, and the producer is
#   up to four steps ahead, in the next tile if need be.
# - **All stages are given back.** In chapter 16 the last one was not: the CTA ended. Here `finish` releases it.
# - **One meeting per kernel.** The cluster meets at the start and the end, no longer once per tile.

# %% [markdown]
# - **No queue.** The next tile is arithmetic, `t + gridDim.x`. A guide takes it from an atomic counter: that balances
#   tiles of unequal cost, but every role, in both CTAs of the pair, must then be told the answer, by one more barrier.
# - **Two warpgroups, one tile:** *cooperative*. Both finish at the same moment, so while they write, nobody multiplies.

# %% [markdown]
# ## Is it right?

# %%
SHAPES = [(256, 256, 128), (136, 264, 200)]
gl.check("k18_cooperative", shapes=SHAPES, backend="emulator")

# %% [markdown]
# On two SMs, four tiles make two rounds. The producer's light marks run through the tiles' ends:

# %%
events = gl.trace_events("k18_cooperative", 512, 512, 256, sms=2)
gl.widgets.roles(events, title="k18_cooperative: one CTA, two tiles of four steps")

# %% [markdown]
# ## Ping-pong
#
# Give each consumer warpgroup a tile of its own, 128 × 128, and let them take turns: while one multiplies, the other
# writes. Two named barriers hand the tensor cores over. The price: a smaller tile, hence more bytes per multiply-add.

# %%
events = gl.trace_events("k18_pingpong", 512, 512, 128, sms=2)
gl.widgets.roles(events, title="k18_pingpong: two warpgroups, alternate tiles")

# %%
PERSISTENT = ("k17_multicast", "k18_cooperative", "k18_pingpong")
counters = {kernel: gl.count(kernel, 256, 256, 256) for kernel in PERSISTENT}
for kernel, c in counters.items():
    loads = c.total(space="global", op="ld").bytes / 256**3
    excess = c.total(space="shared").excess_wavefronts
    print(f"{kernel:16} {loads:.4f} bytes from L2 per FMA,",
          f"{excess} excess wavefronts")

# %%
gl.plots.bank_grid(gl.trace("k18_pingpong", 256, 128, 64))

# %% [markdown]
# **Predict:** which of the two is better at 4096 × 4096 × 4096, which at 4096 × 4096 × 512?
#
# ## Waves
#
# Persistent or not, tiles run in rounds of as many as there are SMs. One text says that persistent kernels remove the
# tail. They do not: 133 tiles on 132 SMs take two rounds, and half of the machine idles. Below are 2176³, 153 tiles, as
# the GPU's own clock saw them: each tile's kernel wrote down its SM, its start, its last product and its last store.

# %%
from gemmlab.measuring.waves import waves

seen = waves()
look = {"sms": 132, "unit": "µs", "height": 2.6, "caption": f"Clocks: {seen.label}."}
print(seen.label)
for kernel, stamps in seen.stamps.items():
    multiply, store = ((stamps[i::2, 4] - stamps[i::2, 3]).mean() for i in (0, 1))
    print(f"{kernel}: a tile multiplies {multiply:.1f} µs and stores {store:.1f} µs")
    display(gl.plots.gantt(stamps, title=f"{kernel}, 2176³ on 132 SMs", **look))

# %% [markdown]
# Both take two rounds. What staying and TMA save are the white and blue parts: start, and stores. And the size of the
# last round, over all sizes:

# %%
sizes = (*range(1024, 4097, 256), 2176, 8192)
found = {size: gl.results.find("k18_cooperative", size, size, size) for size in sizes}
measured = [(size, records[0]["tflops"]) for size, records in found.items() if records]
dates = [records[0]["date"] for records in found.values() if records]
look = {"measured": measured, "machine": f"NVIDIA H200, {max(dates, default='')}"}
gl.plots.wave_quantisation((128, 256), **look)

# %% [markdown]
# (8192³ stands lower than its rounds say: there power is the limit, see below.) What helps is another tile, with
# another remainder, or cutting along `K`: chapter 19.
#
# ## The order of tiles
#
# 66 pairs of CTAs run at the same time, each on 256 rows of a column of tiles. Which ones? Along rows of `C` they touch
# few rows of `A` and all columns of `B`; in groups of eight they touch a compact patch, and more of what they read is
# in L2 already. `grouped_tile` does it for any grid (a guide's formula covers a grid only if its width is a multiple
# of eight). **Predict** for 8192³: L2 hits, bytes from DRAM, and speed.

# %%
ORDERS, hits = {"along rows": None, "groups of 8": 8}, {}
for title, kernel in zip(ORDERS, ("k18_rows", "k18_cooperative"), strict=True):
    for r in gl.results.find(kernel, 8192, 8192, 8192):
        if "l2_hit_pct" in (p := r.get("profile", {})):
            hits[title] = p["l2_hit_pct"] / 100
            print(f"{title}: {p['dram_read_bytes'] / 1e9:.2f} GB from DRAM,",
                  f"{r['ratio']:.2f} of cuBLAS (recorded, {r['date']})")
gl.plots.tile_order(ORDERS, tiles=(32, 32), wave=66, tile=(256, 256), measured=hits)

# %% [markdown]
# Groups halve the bytes from DRAM, and the share of cuBLAS stays: 2.5 GB in 1.5 ms are 1.6 TB/s, well below what DRAM
# gives. An order is worth its line where DRAM is near its limit, and costs nothing.

# %% [markdown]
# ## Measure

# %%
LADDER = ("k16_two_consumers", *PERSISTENT)
SHAPES = ((4096, 4096, 4096), (4096, 4096, 512), (2048, 2048, 2048), (8192, 8192, 8192))
for shape in SHAPES:
    for kernel in LADDER:
        m = gl.measure(kernel, *shape)
        rate = f"{m.tflops:5.0f} TFLOP/s" if m.tflops else "not recorded yet"
        ratio = f"= {m.ratio:.2f} of cuBLAS" if m.ratio else ""
        print(" × ".join(map(str, shape)), f"{kernel:18} {rate} {ratio}")

# %% [markdown]
# **Outcome** (H200, 2026-11-30), in shares of cuBLAS. At 4096³ staying brings 13 % over one tile per CTA, up to the
# library's rate. At `K = 512`, where a third of the time was lost at the ends of tiles, it nearly doubles the rate, and
# ping-pong, which hides the epilogue too, adds 12 %. At 2048³ the two are level within 2 %.

# %% [markdown]
# At 4096³ ping-pong is 3 % *behind*, at 8192³ 1 % ahead. It does not lack cycles: its tensor pipe is the busier one, 92
# % against 89 %. But a third more bytes arrive at the SMs (2.15 GB against 1.61), and `wgmma` reads a fifth more from
# shared memory (25 against 21 million wavefronts). Bytes cost energy, and the last section shows what that is worth.

# %%
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=PERSISTENT, bytes="measured DRAM", linear=True
)

# %% [markdown]
# ## The last steps: instructions and power
#
# A warpgroup issues four `wgmma` per step; what stands between them delays the next. So descriptors are not computed
# anew in every step: they stay in registers, and an addition moves them. **Predict** how many instructions a warp's
# step takes in all:

# %%
gl.verdict("k18_cooperative")

# %% [markdown]
# Some fifty, waits included, in 1,024 cycles. After that, time is no longer the limit, but energy. The rates above are
# bursts. What does a long run give?

# %%
for kernel in PERSISTENT[1:]:
    for r in gl.results.find(kernel, 4096, 4096, 4096, mode="sustained"):
        clock, power = r["clocks_mhz"]["median"], r["power_w"]["median"]
        rival = r["rivals"]["cublas"]
        print(f"{kernel:16} {r['tflops']:.0f} TFLOP/s, cuBLAS {rival:.0f};",
              f"{clock:.0f} MHz, {power:.0f} W (recorded, {r['date']})")

# %% [markdown]
# At the limit of 700 W the clock gives way, down from 1,980 MHz, and whoever spends less energy per FLOP is faster:
# here the tile that moves fewer bytes. The library's kernel has the same shape as ours, by the way: 128 × 256 × 64,
# four stages, clusters of two (its name in Nsight Compute says so).

# %% [markdown]
# ## What limits us now?

# %%
gl.plots.ladder_table({
    "k17_multicast": ("a third less from L2", "start and end, per tile"),
    "k18_cooperative": ("no start but the first", "end of a tile; last wave; power"),
    "k18_pingpong": ("the end of a tile hides", "bytes per FMA; last wave; power"),
})

# %% [markdown]
# > **Takeaway.** A persistent CTA pays for its start once, and its producer works across the ends of tiles. Ping-pong
# > hides the epilogue too, for a smaller tile. Neither fills the last wave.
#
# With few tiles there is only a last wave. What then? That is chapter 19.

# %% [markdown]
# ## Exercises
#
# In [exercises/18_persistent.ipynb](../exercises/18_persistent.ipynb): **18.1** a scheduler, **18.2** repair the stay,
# **18.3** waves.
#
# ## References
#
# - NVIDIA, [CUTLASS](https://github.com/NVIDIA/cutlass): "Efficient GEMM in CUDA": warp-specialised persistent
#   cooperative and ping-pong kernels; `sm90_tile_scheduler.hpp`.
# - PyTorch, [Deep dive on the CUTLASS ping-pong GEMM kernel](https://pytorch.org/blog/cutlass-ping-pong-gemm-kernel/),
#   2024.
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `stmatrix`, `bar.arrive`, `setmaxnreg`.
