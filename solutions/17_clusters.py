# %% [markdown]
# # 17 · Clusters: exercises
#
# Read [the lesson](../notebooks/17_clusters.ipynb) first. The kernels are small: a tile of 64 × 64 with one consumer
# warpgroup and a producer warp in 17.1, a tile of 16 × 16 in FP32 without tensor cores in 17.3.

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
# ## 17.1 Repair the multicast
#
# **Goal.** Two CTAs, one above the other, share the tile of `B` (64 × 64): each copies 32 of its rows to both. Four
# things were forgotten when the second CTA was added. On a GPU the kernel hangs, or works on most runs. Mend it.
#
# **Target.** Right at every shape, no finding, and `B` still fetched once per pair.
#
# **Hint.** How many bytes does a CTA's stage receive, and from whom? Who may write into it, and whose readers must have
# finished first? What must be true when the first copy arrives, and when a CTA leaves?

# %% tags=["exercise"] gemmlab={"exercise": "17.1"}
# %%cuda paired
# #include "ptx/barrier.cuh"
# #include "ptx/cluster.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int STAGES = 3, CTAS = 2, OWN_ROWS = BK / CTAS;
# struct Shared {
#   struct alignas(1024) Stage { T a[64 * BK], b[64 * BK]; } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __cluster_dims__(1, CTAS, 1) __launch_bounds__(160)
# paired(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
#        T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * 64, n = blockIdx.x * 64, lane = threadIdx.x % 32, rank = cluster_ctarank();
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) {
#       mbarrier_init(&s.full[i], 1);
#       // ### BEGIN SOLUTION
#       // ### SKELETON: mbarrier_init(&s.empty[i], 4);
#       mbarrier_init(&s.empty[i], 4 * CTAS);
#       // ### END SOLUTION
#     }
#     fence_mbarrier_init();
#   }
#   // ### BEGIN SOLUTION
#   // ### SKELETON: __syncthreads();
#   barrier_cluster_arrive();
#   barrier_cluster_wait();
#   // ### END SOLUTION
#   Ring<STAGES> ring;
#
#   if (threadIdx.x >= 128) {
#     if (elect_sync()) {
#       for (int k = 0; k < K; k += BK, ring.advance()) {
#         auto& stage = s.stage[ring.stage];
#         mbarrier_t* full = &s.full[ring.stage];
#         int row = rank * OWN_ROWS;
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         // ### BEGIN SOLUTION
#         // ### SKELETON: mbarrier_arrive_expect_tx(full, sizeof(stage.a) + sizeof(stage.b) / CTAS);
#         mbarrier_arrive_expect_tx(full, sizeof(stage.a) + sizeof(stage.b));
#         // ### END SOLUTION
#         tma_load_2d(stage.a, &A, k, m, full);
#         tma_load_2d_multicast(stage.b + row * 64, &B, n, k + row, full, (1 << CTAS) - 1);
#       }
#     }
#   } else {
#     float acc[1][32];
#     for (int k = 0; k < K; k += BK, ring.advance()) {
#       mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#       multiply_stage<64>(acc, s.stage[ring.stage].a, s.stage[ring.stage].b, k == 0);
#       wgmma_wait_group<1>();
#       __syncwarp();
#       int before = (ring.stage + STAGES - 1) % STAGES;
#       // ### BEGIN SOLUTION
#       // ### SKELETON: if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
#       if (k > 0 && lane < CTAS) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
#       // ### END SOLUTION
#     }
#     wgmma_wait_group<0>(acc[0]);
#     store_direct<64>(acc[0], C, m, n, M, N);
#   }
#   __syncwarp();
#   // ### BEGIN SOLUTION
#   // ### SKELETON: // leave
#   barrier_cluster_arrive_relaxed();
#   barrier_cluster_wait();
#   // ### END SOLUTION
# }

# %% tags=["check"] gemmlab={"exercise": "17.1"}
gl.exercise("17.1").check(paired)

# %% [markdown] tags=["solution"]
# A stage receives all of `B`, half of it from the other CTA: announce all. The other CTA overwrites the stage as well,
# so both producers wait for both CTAs' readers: eight arrivals, each warp sends one to either CTA. Barriers must exist
# before the other's copy arrives, which takes a meeting of the cluster; and no CTA may leave while the other may still
# arrive at its barriers.

# %% [markdown]
# ## 17.2 Bytes per step
#
# **Goal.** Write `bytes_per_step(BM, BN, BK, rows, columns)`: how many bytes of bf16 *one* CTA asks of L2 per step of
# `BK`, in a cluster of `rows` × `columns` CTAs, when everything that can be shared is shared by multicast. `rows` CTAs
# lie one above the other, `columns` side by side; all sizes divide.

# %% tags=["exercise"] gemmlab={"exercise": "17.2"}
def bytes_per_step(BM, BN, BK, rows, columns):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    return 2 * BK * (BM // columns + BN // rows)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "17.2"}
gl.exercise("17.2").check(bytes_per_step)

# %% [markdown]
# ## 17.3 Trade sums
#
# **Goal.** Two CTAs of a cluster compute the same 16 × 16 tile of `C`; each adds up every other `k`. Finish the kernel:
# CTA 1 writes its sums into the shared memory of CTA 0, which adds its own and stores.
#
# **Target.** Right at every shape, no finding, `C` stored once, nothing through global memory.
#
# **Hint.** `mapa_shared_cluster(&received[t], 0)` is the address of CTA 0's `received[t]`. Two meetings are needed: one
# says that CTA 0 has started, the other that the sums have arrived.

# %% tags=["exercise"] gemmlab={"exercise": "17.3"}
# %%cuda traded
# #include "ptx/cluster.cuh"
#
# extern "C" __global__ void __cluster_dims__(1, 1, 2)
# traded(const float* A, const float* B, float* C, int M, int N, int K) {
#   __shared__ float4 received[64];
#   int t = threadIdx.x, m = blockIdx.y * 16 + t / 4, n = blockIdx.x * 16 + t % 4 * 4, rank = cluster_ctarank();
#   float sum[4] = {};
#   for (int k = rank; k < K; k += 2)
#     for (int j = 0; j < 4; ++j)
#       if (m < M && n + j < N) sum[j] += A[m * K + k] * B[k * N + n + j];
#
#   // ### BEGIN SOLUTION
#   // ### SKELETON: // trade: CTA 1 sends, CTA 0 adds
#   barrier_cluster_arrive();
#   barrier_cluster_wait();
#   float4 ours = make_float4(sum[0], sum[1], sum[2], sum[3]);
#   if (rank == 1) st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);
#   barrier_cluster_arrive();
#   barrier_cluster_wait();
#   if (rank == 1) return;
#   float4 other = received[t];
#   sum[0] += other.x, sum[1] += other.y, sum[2] += other.z, sum[3] += other.w;
#   // ### END SOLUTION
#   for (int j = 0; j < 4; ++j)
#     if (m < M && n + j < N) C[m * N + n + j] = sum[j];
# }

# %% tags=["check"] gemmlab={"exercise": "17.3"}
gl.exercise("17.3").check(traded)

# %% [markdown] tags=["solution"]
# Between `st.shared::cluster` and the read lies a release and an acquire: the default of `barrier.cluster`. CTA 1 may
# leave after the second meeting, since nobody reads its memory. With one meeting less the kernel works on most runs.
