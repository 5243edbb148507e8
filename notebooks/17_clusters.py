# %% [markdown]
# # 17 · Clusters
#
# **Can SMs share a tile?** CTAs that lie side by side in `C` fetch the same rows of `A` or columns of `B`. A cluster
# starts them together, and TMA writes one copy into the shared memory of several: a third of the bytes that SMs ask of
# L2 goes away.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [16](16_warp_specialisation.ipynb): the ring and its roles; [14](14_tma.ipynb): TMA.
# - **You will be able to:** launch a cluster and say when the launch is refused; share a tile by multicast, with the
#   barriers that this takes; leave a cluster safely; exchange data through distributed shared memory; count what is
#   saved, and where.
# - **Needs:** nothing. A Hopper GPU (compute capability 9.0) adds the stopwatch.
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
# `k16_two_consumers` computes tiles of 128 × 256. Each element of `A` is fetched by all `N / 256` CTAs of a row of
# tiles, each element of `B` by the `M / 128` of a column. **Predict** for 4096³: how many bytes cross from L2 to the
# SMs, and at which rate, if the kernel reaches 600 TFLOP/s?

# %%
M = N = K = 4096
fetched = 2 * (M * K * (N // 256) + K * N * (M // 128))
seconds = 2 * M * N * K / 600e12
print(f"{fetched / 1e9:.2f} GB from L2, {fetched / seconds / 1e12:.1f} TB/s")
print(f"A and B together: {4 * M * K / 1e9:.2f} GB")

# %% [markdown]
# ## The idea
#
# Let two CTAs, one above the other, form a **cluster**. They need the same 64 × 256 of `B`. Each fetches half of it,
# and each half is written to both: *multicast*.

# %%
gl.widgets.cluster_explorer(2, 1, tile=(128, 256, 64))

# %% [markdown]
# **Predict**, before you try them above, the bytes that one CTA asks of L2 per step of 64 along `K`, for clusters of
# 2 × 1 (a column of CTAs), 1 × 2, 2 × 2 and 4 × 1.

# %%
for rows, columns in ((1, 1), (2, 1), (1, 2), (2, 2), (4, 1)):
    a, b = 128 / columns, 256 / rows  # A is shared along rows of CTAs, B along columns
    kilobytes = 2 * 64 * (a + b) / 1024
    print(f"{rows} x {columns}: {kilobytes:4.0f} KB per CTA and step, of 48")

# %% [markdown]
# ## A cluster starts together
#
# The CTAs of a cluster are guaranteed to run at the same time, on one group of SMs (a GPC). That they get *different*
# SMs is not promised. A cluster has at most 8 CTAs wherever clusters exist; 16 must be asked for, and not every GPU
# has them. The grid must be a multiple of it. Each CTA keeps its own limits: 227 KB of shared memory at most. Four can
# *reach* 908 KB, but none owns more than before.

# %%
# %%cuda ranks
# #include "ptx/cluster.cuh"
#
# extern "C" __global__ void ranks(int* out) { out[blockIdx.x] = cluster_ctarank(); }

# %%
for cluster in (4, 3, 16):
    out = np.zeros(16, np.int32)
    try:
        gl.launch(ranks, out, grid=16, block=32, cluster=cluster)
        print(cluster, out)
    except gl.GemmlabError as error:
        print(error)

# %% [markdown]
# ## The kernel
#
# `__cluster_dims__(1, 2, 1)` pairs the CTAs of a column. What changed against chapter 16: who copies what, who must
# release a stage, and how the pair begins and ends.

# %% tags=["kernel"] gemmlab={"kernel": "hopper/k17_multicast.cu"}
# %%cuda multicast
# #include "ptx/barrier.cuh"
# #include "ptx/cluster.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/registers.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int BM = 128, BN = 256, STAGES = 4, CONSUMERS = 2, CTAS = 2;
#
# struct Shared {
#   struct alignas(1024) Stage {
#     T a[BM * BK], b[BN / 64][BK * 64];
#   } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void
# __cluster_dims__(1, CTAS, 1) __launch_bounds__(384, 1)
# multicast(const __grid_constant__ CUtensorMap A,
#           const __grid_constant__ CUtensorMap B, T* C,
#           int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * BM, n = blockIdx.x * BN;
#   int lane = threadIdx.x % 32, rank = cluster_ctarank();
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) {
#       mbarrier_init(&s.full[i], 1);
#       mbarrier_init(&s.empty[i], 4 * CONSUMERS * CTAS);  // of both CTAs
#     }
#     fence_mbarrier_init();
#   }
#   barrier_cluster_arrive();  // the other's barriers exist before we use them
#   barrier_cluster_wait();
#   Ring<STAGES> ring;
#
#   if (threadIdx.x < 128) {
#     // Producer: our A to us, our half of B to both CTAs.
#     setmaxnreg_dec<24>();
#     if (threadIdx.x < 32 && elect_sync()) {
#       for (int k = 0; k < K; k += BK, ring.advance()) {
#         auto& stage = s.stage[ring.stage];
#         mbarrier_t* full = &s.full[ring.stage];
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         mbarrier_arrive_expect_tx(full, sizeof(stage));  // the other's half too
#         tma_load_2d(stage.a, &A, k, m, full);
# #pragma unroll
#         for (int i = 0; i < BN / 64 / CTAS; ++i) {
#           int box = i * CTAS + rank;
#           tma_load_2d_multicast(stage.b[box], &B, n + box * 64, k, full, 3);
#         }
#       }
#     }
#   } else {
#     setmaxnreg_inc<240>();
#     int row = (threadIdx.x / 128 - 1) * 64;
#     float acc[1][BN / 2];
#     for (int k = 0; k < K; k += BK, ring.advance()) {
#       auto& stage = s.stage[ring.stage];
#       mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#       multiply_stage<BN>(acc, stage.a + row * BK, stage.b[0], k == 0);
#       wgmma_wait_group<1>();
#       __syncwarp();
#       int before = (ring.stage + STAGES - 1) % STAGES;
#       if (k > 0 && lane < CTAS)  // at both CTAs
#         mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
#     }
#     wgmma_wait_group<0>(acc[0]);
#     store_direct<BN>(acc[0], C, m + row, n, M, N);
#   }
#   __syncwarp();
#   barrier_cluster_arrive_relaxed();  // NOTE: the other may still arrive here
#   barrier_cluster_wait();
# }

# %% [markdown]
# - **One address, one mask.** A multicast writes to the *same offset* in every CTA whose bit is set in a 16-bit mask
#   (3: both), and each CTA's own barrier counts its bytes. One guide passes "an array of pointers": there is none.
# - **Each announces all it will receive**, the other's half too: 49,152 bytes.
# - **A stage belongs to both.** The other CTA writes into it as well, so it needs our consumers' word: every consumer
#   warp arrives in both CTAs, and *empty* expects sixteen arrivals.

# %% [markdown]
# - **Begin together:** before the first meeting the other's barriers may not exist yet.
# - **End together:** a CTA that leaves takes its shared memory along, and the other may still arrive at a barrier
#   there.
# - **Relaxed arrivals.** Our consumers only *read* the stage; there is nothing to publish. A *release* at cluster scope
#   makes the assembler put a fence for the whole GPU in front of each arrival.

# %%
for scope in ("relaxed", "release"):
    text = multicast.text.replace("arrive_relaxed_cluster", f"arrive_{scope}_cluster")
    sass = gl.compile(gl.cuda_source(text, "multicast"), target="sm_90a").sass()
    fences = sass.count("MEMBAR.ALL.GPU")
    print(f"{scope}: MEMBAR.ALL.GPU stands {fences} x in the machine code")

# %% [markdown]
# The one that stays belongs to the first meeting, where it is needed. The other stands in the loop, and would make
# every warp wait in every step for all that it has written.
#
# ## Is it right?

# %%
TYPES = {name: "bfloat16" for name in ("a_dtype", "b_dtype", "c_dtype")}
rule = TYPES | {
    "grid": ["cdiv(N, 256)", "2*cdiv(M, 256)", "1"],
    "block": [384, 1, 1],
    "shared": 4 * (2 * 64 * (128 + 256) + 16),
    "args": ["map(A, 128, 64, 128)", "map(B, 64, 64, 128)", "C", "M", "N", "K"],
}
gl.check(multicast, rule=rule, shapes=[(256, 256, 64), (136, 40, 328)])

# %% [markdown]
# `M` is rounded up to a whole pair: in the second shape one CTA has eight rows of `C`, and TMA fills the rest with
# zeros. What if the last two lines are left out? On a GPU it works on most days. The emulator asks whether the exit is
# ordered after the other's arrivals:

# %%
hasty = multicast.text.replace("  barrier_cluster_arrive_relaxed();", "  return;")
try:
    hasty = gl.cuda_source(hasty, "multicast")
    gl.check(hasty, rule=rule, shapes=[(256, 256, 448)], backend="emulator")
except gl.CheckError as error:
    print(str(error)[:420], "…")

# %% [markdown]
# The events of one CTA. The copies of its stage come from two producers:

# %%
events = gl.trace_events("k17_multicast", 256, 256, 7 * 64)
gl.widgets.roles(events, title="k17_multicast, CTA 0, in the order of the emulator")

# %% [markdown]
# ## Predict, then count
#
# **Predict:** bytes requested from L2, wavefronts in shared memory, bank conflicts, against chapter 16.

# %%
PAIR = ("k16_two_consumers", "k17_multicast")
counters = {kernel: gl.count(kernel, 256, 256, 256) for kernel in PAIR}
for kernel, c in counters.items():
    loads, shared = c.total(space="global", op="ld").bytes, c.total(space="shared")
    written = c.total(space="shared", op="st").bytes
    print(f"{kernel:18} {loads:7,} bytes from L2, {written:7,} into shared memory,",
          f"{shared.excess_wavefronts} excess wavefronts")

# %% [markdown]
# A third less from L2; what lands in shared memory is the same. Guides say that multicast divides the traffic of *HBM*.
# It does not: the second CTA's request would have found the data in L2. What multicast relieves is the path from L2 to
# the SMs, and L2 itself.

# %%
gl.plots.bank_grid(gl.trace("k17_multicast", 256, 256, 64))

# %% [markdown]
# ## Measure
#
# **Predict:** a third fewer bytes from L2, everything else as before. How much faster?

# %%
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in PAIR}
for kernel, m in found.items():
    rate = f"{m.tflops:5.0f} TFLOP/s" if m.tflops else "not recorded yet"
    print(f"{kernel:18} {rate}", f"= {m.ratio:.2f} of cuBLAS" if m.ratio else "")
print("4096 × 4096 × 4096, bf16,", found["k17_multicast"].label)

# %% [markdown]
# And what crossed the wires? The profiler knows what arrived at the SMs, and how much of it came by multicast, that is:
# was asked for once and delivered twice.

# %%
for kernel in PAIR:
    for record in gl.results.find(kernel, 4096, 4096, 4096):
        p = record.get("profile", {})
        if "tma_load_bytes" in p:
            arrived, shared = p["tma_load_bytes"], p["tma_multicast_bytes"]
            hits, dram = p["l2_hit_pct"], p["dram_read_bytes"]
            print(f"{kernel:18} {arrived / 1e9:.2f} GB, {shared / 1e9:.2f} by multicast;",
                  f"asked of L2: {(arrived - shared / 2) / 1e9:.2f}, {hits:.0f} % hits;",
                  f"DRAM: {dram / 1e9:.2f}")

# %% [markdown]
# **Outcome** (H200, 2026-11-30). 1.61 GB without sharing, as predicted; a third less with it, and no gain: the two
# are level. L2 was not the limit; in the timeline of chapter 16 the copies are ahead. DRAM reads stay the same
# (the *share* of hits falls, as the requests that go away were hits). And the pair costs something: two CTAs must find
# room at the same moment, meet at the start and at the end, and wait for the slower one, once per tile. A kernel that
# stays for many tiles pays once: chapter 18.

# %%
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=PAIR, bytes="measured DRAM", linear=True
)

# %% [markdown]
# ## Distributed shared memory
#
# Inside a cluster a thread can read, write and update the shared memory of other CTAs, over a network between SMs (not
# NVLink, which joins GPUs). `mapa` turns an address of ours into that of the same object in CTA `rank`. There is no
# `cute::cluster_local_ptr`, which one guide uses. A ring of four, each writing to its neighbour:

# %%
# %%cuda neighbours
# #include "ptx/cluster.cuh"
#
# extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbours(float4* out) {
#   __shared__ float4 box;
#   unsigned rank = cluster_ctarank();
#   barrier_cluster_arrive();  // all four have started
#   barrier_cluster_wait();
#   unsigned next = mapa_shared_cluster(&box, (rank + 1) % 4);
#   if (threadIdx.x == 0) st_shared_cluster_v4(next, make_float4(rank, 0, 0, 0));
#   barrier_cluster_arrive();  // release: what was written before is visible
#   barrier_cluster_wait();
#   if (threadIdx.x == 0) out[blockIdx.x] = box;
# }

# %%
out = np.zeros((4, 4), np.float32)
gl.launch(neighbours, out, grid=4, block=32)
print("received:", out[:, 0])

# %% [markdown]
# What is it good for in a GEMM? `k17_dsmem` lets two CTAs share one tile of `C`: each takes every other step along `K`,
# and then they trade: CTA 0 keeps the sums of rows 0 to 63 and sends the others, CTA 1 the reverse. No workspace in
# global memory, no second kernel. **Predict** what it does to the speed at 4096³.

# %%
gl.check("k17_dsmem", shapes=[(128, 128, 256), (136, 40, 72)], backend="emulator")
for kernel in ("k15_wgmma", "k17_dsmem"):
    m = gl.measure(kernel, 4096, 4096, 4096)
    rate = f"{m.tflops:5.0f} TFLOP/s" if m.tflops else "not recorded yet"
    print(f"{kernel:10} {rate}")

# %% [markdown]
# With many tiles all SMs are busy anyway, and the trade is pure cost. It pays where tiles are few: at 512 × 512 there
# are 16 of 128 × 128 for 132 SMs, and two CTAs per tile put 32 to work. Chapter 19 takes this further, and measures it.
#
# ## What limits us now?

# %%
gl.plots.ladder_table({
    "k16_two_consumers": ("one CTA per tile", "start and end of a CTA"),
    "k17_multicast": ("a third less from L2", "the same, in pairs"),
    "k17_dsmem": ("more SMs per tile", "one stage, one tile per CTA"),
})

# %% [markdown]
# > **Takeaway.** A cluster makes copies cheaper and meetings dearer. Multicast saves bytes between L2 and the SMs, not
# > in DRAM; whoever writes into your stage must hear from your readers; and nobody leaves before the others are done.
#
# Blackwell keeps the limits of 8 and 16. Its `cta_group::2` joins the tensor cores of two CTAs for twice the *rows*
# (chapter 22). First, the question that two chapters have now ended with: what happens between tiles? That is
# chapter 18.

# %% [markdown]
# ## Exercises
#
# In [exercises/17_clusters.ipynb](../exercises/17_clusters.ipynb): **17.1** repair the multicast, **17.2** bytes per
# step, **17.3** trade sums.
#
# ## References
#
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): thread block clusters,
#   distributed shared memory.
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `barrier.cluster`, `mapa`,
#   `cp.async.bulk.tensor` with `.multicast::cluster`, `mbarrier.arrive`, "Memory consistency model: scopes".
# - NVIDIA, [CUTLASS](https://github.com/NVIDIA/cutlass): `include/cute/arch/copy_sm90_tma.hpp`,
#   `include/cute/arch/cluster_sm90.hpp`.
# - NVIDIA, [H100 architecture white paper](https://resources.nvidia.com/en-us-tensor-core): clusters and GPCs.
