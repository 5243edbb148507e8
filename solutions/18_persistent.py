# %% [markdown]
# # 18 · Persistent kernels: exercises
#
# Read [the lesson](../notebooks/18_persistent.ipynb) first. The kernels are those of chapter 16's exercises, made
# persistent: tiles of 64 × 64 in bf16, one consumer warpgroup (warps 0 to 3) and a producer warp (warp 4). The grid
# has two CTAs, or one if there is one tile.

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
# ## 18.1 A scheduler
#
# **Goal.** The skeleton computes one tile per CTA, number `blockIdx.x`. Let each CTA go on to the tile `gridDim.x`
# later, until there are none: in the producer and in the consumers. Tile `t` is row `t / columns`, column
# `t % columns` of the grid of tiles.
#
# **Target.** Right at every shape, no finding; the producer runs ahead into the next tile.
#
# **Hint.** The ring goes on from tile to tile. Which stage has nobody given back when a tile ends?

# %% tags=["exercise"] gemmlab={"exercise": "18.1"}
# %%cuda scheduled
# #include "ptx/barrier.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int STAGES = 2;
# struct Shared {
#   struct alignas(1024) Stage { T a[64 * BK], b[64 * BK]; } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __launch_bounds__(160)
# scheduled(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
#           T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int lane = threadIdx.x % 32, columns = (N + 63) / 64, tiles = (M + 63) / 64 * columns;
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) {
#       mbarrier_init(&s.full[i], 1);
#       mbarrier_init(&s.empty[i], 4);
#     }
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#   Ring<STAGES> ring;
#
#   if (threadIdx.x >= 128) {
#     if (elect_sync()) {
#       // ### BEGIN SOLUTION
#       // ### SKELETON: int m = blockIdx.x / columns * 64, n = blockIdx.x % columns * 64;
#       // ### SKELETON: for (int k = 0; k < K; k += BK, ring.advance()) {
#       for (int t = blockIdx.x; t < tiles; t += gridDim.x)
#         for (int k = 0, m = t / columns * 64, n = t % columns * 64; k < K; k += BK, ring.advance()) {
#       // ### END SOLUTION
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));
#         tma_load_2d(s.stage[ring.stage].a, &A, k, m, &s.full[ring.stage]);
#         tma_load_2d(s.stage[ring.stage].b, &B, n, k, &s.full[ring.stage]);
#       }
#     }
#     return;
#   }
#
#   // ### BEGIN SOLUTION
#   // ### SKELETON: int t = blockIdx.x;
#   for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#   // ### END SOLUTION
#   float acc[1][32];
#   int before = 0;
#   for (int k = 0; k < K; k += BK, ring.advance()) {
#     mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#     multiply_stage<64>(acc, s.stage[ring.stage].a, s.stage[ring.stage].b, k == 0);
#     wgmma_wait_group<1>();
#     __syncwarp();
#     if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
#     before = ring.stage;
#   }
#   wgmma_wait_group<0>(acc[0]);
#   // ### BEGIN SOLUTION
#   // ### SKELETON: store_direct<64>(acc[0], C, t / columns * 64, t % columns * 64, M, N);
#   __syncwarp();
#   if (lane == 0) mbarrier_arrive(&s.empty[before]);
#   store_direct<64>(acc[0], C, t / columns * 64, t % columns * 64, M, N);
#   }
#   // ### END SOLUTION
# }

# %% tags=["check"] gemmlab={"exercise": "18.1"}
gl.exercise("18.1").check(scheduled)

# %% [markdown] tags=["solution"]
# `ring` stays outside both loops over tiles, so that stage and parity go on. The last stage of a tile must be given
# back as well, once its group is over: in chapter 16 the CTA ended there, here the producer waits for it.

# %% [markdown]
# ## 18.2 Repair the stay
#
# **Goal.** Someone put a loop over tiles around chapter 16's consumer, and the first tile of each CTA is right. Three
# things are wrong with the others. Mend them.
#
# **Target.** Right at every shape, no finding, `C` stored once.
#
# **Hint.** What must start anew with each tile, what must not, and what must be given back?

# %% tags=["exercise"] gemmlab={"exercise": "18.2"}
# %%cuda stayed
# #include "ptx/barrier.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int STAGES = 2;
# struct Shared {
#   struct alignas(1024) Stage { T a[64 * BK], b[64 * BK]; } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __launch_bounds__(160)
# stayed(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
#        T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int lane = threadIdx.x % 32, columns = (N + 63) / 64, tiles = (M + 63) / 64 * columns;
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) {
#       mbarrier_init(&s.full[i], 1);
#       mbarrier_init(&s.empty[i], 4);
#     }
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#   Ring<STAGES> ring;
#
#   if (threadIdx.x >= 128) {
#     if (elect_sync()) {
#       for (int t = blockIdx.x; t < tiles; t += gridDim.x)
#         for (int k = 0, m = t / columns * 64, n = t % columns * 64; k < K; k += BK, ring.advance()) {
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));
#         tma_load_2d(s.stage[ring.stage].a, &A, k, m, &s.full[ring.stage]);
#         tma_load_2d(s.stage[ring.stage].b, &B, n, k, &s.full[ring.stage]);
#         }
#     }
#     return;
#   }
#
#   float acc[1][32];
#   for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#     int before = 0;
#     // ### BEGIN SOLUTION
#     // ### SKELETON: ring = Ring<STAGES>();
#     // ### END SOLUTION
#     for (int k = 0; k < K; k += BK, ring.advance()) {
#       mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#       // ### BEGIN SOLUTION
#       // ### SKELETON: bool first = t == blockIdx.x && k == 0;
#       bool first = k == 0;
#       // ### END SOLUTION
#       multiply_stage<64>(acc, s.stage[ring.stage].a, s.stage[ring.stage].b, first);
#       wgmma_wait_group<1>();
#       __syncwarp();
#       if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
#       before = ring.stage;
#     }
#     wgmma_wait_group<0>(acc[0]);
#     // ### BEGIN SOLUTION
#     // ### SKELETON: // the tile is finished
#     __syncwarp();
#     if (lane == 0) mbarrier_arrive(&s.empty[before]);
#     // ### END SOLUTION
#     store_direct<64>(acc[0], C, t / columns * 64, t % columns * 64, M, N);
#   }
# }

# %% tags=["check"] gemmlab={"exercise": "18.2"}
gl.exercise("18.2").check(stayed)

# %% [markdown] tags=["solution"]
# The ring may not start anew: the producer's does not. The sum must: the first step of *every* tile ignores what the
# accumulators hold. And the last stage of a tile is given back, or the producer hangs when it comes round.

# %% [markdown]
# ## 18.3 Waves
#
# **Goal.** Write `efficiency(M, N, BM, BN, sms)`: the share of the SMs' time that is work, when tiles of `BM` × `BN` of
# equal duration run in rounds of `sms`, one per SM. Tiles that reach beyond the edge count as whole ones.

# %% tags=["exercise"] gemmlab={"exercise": "18.3"}
def efficiency(M, N, BM, BN, sms):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    tiles = -(-M // BM) * -(-N // BN)
    return tiles / (-(-tiles // sms) * sms)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "18.3"}
gl.exercise("18.3").check(efficiency)
