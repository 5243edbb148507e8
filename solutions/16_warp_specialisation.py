# %% [markdown]
# # 16 · Warp specialisation: exercises
#
# Read [the lesson](../notebooks/16_warp_specialisation.ipynb) first. The kernels here are small: a tile of 64 × 64 in
# bf16, `BK = 64`, one consumer warpgroup (warps 0 to 3) and, where there are roles, one producer warp (warp 4).
# `multiply_stage` and `Ring` are the lesson's. The check runs each kernel with copies and multiplications that take
# effect as late as the rules allow.

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
# ## 16.1 Fill the ring
#
# **Goal.** Write the producer's loop. For each tile: wait until its stage is empty, announce the bytes, copy a box of
# `A` (coordinates `k, m`) and one of `B` (`n, k`).
#
# **Target.** Right at every shape, no finding, no deadlock: `K` may have one tile, or more than stages.
#
# **Hint.** The consumers give a stage back when they are done with the tile *after* it; the last one is never given
# back. Which parity does a new barrier let through?

# %% tags=["exercise"] gemmlab={"exercise": "16.1"}
# %%cuda filled
# #include "ptx/barrier.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int STAGES = 3;
# struct Shared {
#   struct alignas(1024) Stage { T a[64 * BK], b[64 * BK]; } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __launch_bounds__(160)
# filled(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
#        T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * 64, n = blockIdx.x * 64, lane = threadIdx.x % 32;
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
#       // ### SKELETON: // for each tile: wait, announce, copy A, copy B, advance
#       for (int k = 0; k < K; k += BK, ring.advance()) {
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));
#         tma_load_2d(s.stage[ring.stage].a, &A, k, m, &s.full[ring.stage]);
#         tma_load_2d(s.stage[ring.stage].b, &B, n, k, &s.full[ring.stage]);
#       }
#       // ### END SOLUTION
#     }
#     return;
#   }
#
#   float acc[1][32];
#   for (int k = 0; k < K; k += BK, ring.advance()) {
#     mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#     multiply_stage<64>(acc, s.stage[ring.stage].a, s.stage[ring.stage].b, k == 0);
#     wgmma_wait_group<1>();
#     __syncwarp();
#     int before = (ring.stage + STAGES - 1) % STAGES;
#     if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
#   }
#   wgmma_wait_group<0>(acc[0]);
#   store_direct<64>(acc[0], C, m, n, M, N);
# }

# %% tags=["check"] gemmlab={"exercise": "16.1"}
gl.exercise("16.1").check(filled)

# %% [markdown]
# ## 16.2 Repair the consumer
#
# **Goal.** The producer is right; the consumer has three faults. On a GPU each of them gives right results on most
# runs. Find and mend them.
#
# **Target.** Right at every shape, no finding, and one group of multiplications still under way while the next tile is
# awaited.
#
# **Hint.** Run the check first; it names one disease at a time. When is a stage free, and who knows?

# %% tags=["exercise"] gemmlab={"exercise": "16.2"}
# %%cuda consumed
# #include "ptx/barrier.cuh"
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/ring.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int STAGES = 3;
# struct Shared {
#   struct alignas(1024) Stage { T a[64 * BK], b[64 * BK]; } stage[STAGES];
#   mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __launch_bounds__(160)
# consumed(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
#          T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * 64, n = blockIdx.x * 64, lane = threadIdx.x % 32;
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) {
#       mbarrier_init(&s.full[i], 1);
#       // ### BEGIN SOLUTION
#       // ### SKELETON: mbarrier_init(&s.empty[i], 1);
#       mbarrier_init(&s.empty[i], 4);
#       // ### END SOLUTION
#     }
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#   Ring<STAGES> ring;
#
#   if (threadIdx.x >= 128) {
#     if (elect_sync()) {
#       for (int k = 0; k < K; k += BK, ring.advance()) {
#         mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
#         mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));
#         tma_load_2d(s.stage[ring.stage].a, &A, k, m, &s.full[ring.stage]);
#         tma_load_2d(s.stage[ring.stage].b, &B, n, k, &s.full[ring.stage]);
#       }
#     }
#     return;
#   }
#
#   float acc[1][32];
#   for (int k = 0; k < K; k += BK, ring.advance()) {
#     // ### BEGIN SOLUTION
#     // ### SKELETON: mbarrier_wait_parity(&s.full[ring.stage], 0);
#     // ### SKELETON: multiply_stage<64>(acc, s.stage[ring.stage].a, s.stage[ring.stage].b, k == 0);
#     // ### SKELETON: wgmma_wait_group<1>();
#     // ### SKELETON: if (threadIdx.x == 0) mbarrier_arrive(&s.empty[ring.stage]);
#     mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
#     multiply_stage<64>(acc, s.stage[ring.stage].a, s.stage[ring.stage].b, k == 0);
#     wgmma_wait_group<1>();
#     __syncwarp();
#     int before = (ring.stage + STAGES - 1) % STAGES;
#     if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
#     // ### END SOLUTION
#   }
#   wgmma_wait_group<0>(acc[0]);
#   store_direct<64>(acc[0], C, m, n, M, N);
# }

# %% tags=["check"] gemmlab={"exercise": "16.2"}
gl.exercise("16.2").check(consumed)

# %% [markdown] tags=["solution"]
# The parity of the wait must follow the round: with a constant 0 the second round does not wait at all. A group may
# still be under way after `wgmma_wait_group<1>`, and it is the one that reads this turn's stage: release the stage
# *before* it. And warp 0 has waited for warp 0: the three other warps may still be reading, so each sends its arrival,
# and the barrier expects four.

# %% [markdown]
# ## 16.3 Register budget
#
# **Goal.** A CTA has one producer warpgroup and `consumers` consumer warpgroups, and an SM holds `ctas` such CTAs. The
# producer keeps `producer` registers per thread. Write `consumer_registers(consumers, producer, ctas)`: the most that
# each consumer thread can ask for with `setmaxnreg`, or 0 if there is no lawful value.
#
# **Rules.** An SM has 65,536 registers. At launch each thread of its CTAs gets an equal share, rounded down to a
# multiple of 8 and at most 248; a CTA's pool is that share times its threads. Values are multiples of 8 from 24 to 256,
# `producer` too (else return 0); the producer may not keep more than its share, consumers not less than theirs.

# %% tags=["exercise"] gemmlab={"exercise": "16.3"}
def consumer_registers(consumers, producer, ctas):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    threads = 128 * (1 + consumers)
    share = min(65536 // (threads * ctas) // 8 * 8, 248)
    if producer % 8 or not 24 <= producer <= share:
        return 0
    rest = share * threads - 128 * producer
    return min(rest // (128 * consumers) // 8 * 8, 256)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "16.3"}
gl.exercise("16.3").check(consumer_registers)

# %% [markdown]
# ## 16.4 Repair a guide's pipeline
#
# **Goal.** This loop has the shape of one that a guide prints: the threads that multiply also copy, `STAGES − 1` tiles
# ahead. It overwrites the stage that is being multiplied from, never flips its parity, and copies beyond the last tile.
# Mend it.
#
# **Target.** Right at every shape, no finding, and one group of multiplications still under way while the next tile is
# awaited. One wait and one barrier of the block per turn are enough.
#
# **Hint.** The stage to refill is the one of the turn before. What must have happened, in all four warps, first?

# %% tags=["exercise"] gemmlab={"exercise": "16.4"}
# %%cuda piped
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/store_direct.cuh"
# #include "tile/warpgroup.cuh"
#
# constexpr int STAGES = 4;
# struct Shared {
#   struct alignas(1024) Stage { T a[64 * BK], b[64 * BK]; } stage[STAGES];
#   mbarrier_t full[STAGES];
# };
#
# __device__ void copy_tile(Shared& s, const CUtensorMap* A, const CUtensorMap* B, int m, int n, int tile) {
#   int stage = tile % STAGES;
#   mbarrier_arrive_expect_tx(&s.full[stage], sizeof(Shared::Stage));
#   tma_load_2d(s.stage[stage].a, A, tile * BK, m, &s.full[stage]);
#   tma_load_2d(s.stage[stage].b, B, n, tile * BK, &s.full[stage]);
# }
#
# extern "C" __global__ void __launch_bounds__(128)
# piped(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
#       T* C, int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * 64, n = blockIdx.x * 64, tiles = (K + BK - 1) / BK;
#   if (threadIdx.x == 0) {
#     for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1);
#     fence_mbarrier_init();
#     // ### BEGIN SOLUTION
#     // ### SKELETON: for (int i = 0; i < STAGES - 1; ++i) copy_tile(s, &A, &B, m, n, i);
#     for (int i = 0; i < STAGES - 1 && i < tiles; ++i) copy_tile(s, &A, &B, m, n, i);
#     // ### END SOLUTION
#   }
#   __syncthreads();
#
#   float acc[1][32];
#   for (int i = 0; i < tiles; ++i) {
#     // ### BEGIN SOLUTION
#     // ### SKELETON: if (threadIdx.x == 0) copy_tile(s, &A, &B, m, n, i + STAGES - 1);
#     // ### SKELETON: mbarrier_wait_parity(&s.full[i % STAGES], 0);
#     // ### SKELETON: multiply_stage<64>(acc, s.stage[i % STAGES].a, s.stage[i % STAGES].b, i == 0);
#     mbarrier_wait_parity(&s.full[i % STAGES], i / STAGES % 2);
#     multiply_stage<64>(acc, s.stage[i % STAGES].a, s.stage[i % STAGES].b, i == 0);
#     wgmma_wait_group<1>();
#     __syncthreads();
#     if (threadIdx.x == 0 && i + STAGES - 1 < tiles) copy_tile(s, &A, &B, m, n, i + STAGES - 1);
#     // ### END SOLUTION
#   }
#   wgmma_wait_group<0>(acc[0]);
#   store_direct<64>(acc[0], C, m, n, M, N);
# }

# %% tags=["check"] gemmlab={"exercise": "16.4"}
gl.exercise("16.4").check(piped)

# %% [markdown] tags=["solution"]
# Turn `i − 1` reads stage `(i − 1) % STAGES`, the very one that tile `i + STAGES − 1` goes to. Multiply, wait until at
# most this turn's group is under way, meet the other warps, and refill. Copies beyond the last tile would
# leave bytes in flight at the end, and a phase that nobody awaits.
