# %% [markdown]
# # 15 · wgmma: exercises
#
# Read [the lesson](../notebooks/15_wgmma.ipynb) first. The kernels here are small: one warpgroup computes a tile of 64
# × 128 in bf16, `BK = 64`, with the lesson's wrappers. wgmma reads shared memory and writes its registers as *late* as
# the rules allow here.

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
# ## 15.1 Where does it look?
#
# **Goal.** A descriptor for a K-major operand with the 128-byte swizzle says `start` and `sbo` (both in bytes here).
# The instruction reads two chunks of 16 bytes per row. Write `address(start, sbo, row, chunk)`: the byte in shared
# memory at which chunk 0 or 1 of a row begins.
#
# **Hint.** Eight rows of 128 bytes form a group; `sbo` leads to the next group. The swizzle XORs bits 4 to 6 of the
# *sum* with its bits 7 to 9. A step along K moves `start` by 32 bytes, and nothing else changes.

# %% tags=["exercise"] gemmlab={"exercise": "15.1"}
def address(start, sbo, row, chunk):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    place = start + row // 8 * sbo + row % 8 * 128 + 16 * chunk
    return place ^ (place >> 7 & 7) << 4
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "15.1"}
gl.exercise("15.1").check(address)

# %% [markdown]
# ## 15.2 Multiply a stage
#
# **Goal.** The tiles are there; multiply them. `A` is K-major, `B` N-major in two boxes of 64 columns, both with the
# 128-byte swizzle. Descriptors, the fence, four instructions, the commit, the wait.
#
# **Target.** Right at every shape, no finding; no warning of the compiler.
#
# **Hint.** Descriptors count 16 bytes. 16 steps of `k` are 32 bytes of a row of `A`, and 16 whole rows of `B`. Which
# offset of `B`'s descriptor leads to the second box? The first product of all must not add what `acc` happens to hold.

# %% tags=["exercise"] gemmlab={"exercise": "15.2"}
# %%cuda multiplied
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "ptx/wgmma.cuh"
# #include "tile/store_direct.cuh"
#
# constexpr int BM = 64, BN = 128, BK = 64;
#
# struct Shared {
#   T a[BM * BK];           // K-major: a row of 128 bytes per m
#   T b[BN / 64][BK * 64];  // N-major: two boxes of 64 columns, a row of 128 bytes per k
#   mbarrier_t full;
# };
#
# extern "C" __global__ void __launch_bounds__(128) multiplied(const __grid_constant__ CUtensorMap A,
#                                                        const __grid_constant__ CUtensorMap B, T* C, int M, int N,
#                                                        int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   const int m = blockIdx.y * BM, n = blockIdx.x * BN;
#   if (threadIdx.x == 0) {
#     mbarrier_init(&s.full, 1);
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#
#   float acc[BN / 2];
#   for (int k0 = 0; k0 < K; k0 += BK) {
#     if (threadIdx.x == 0) {
#       mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
#       tma_load_2d(s.a, &A, k0, m, &s.full);
#       tma_load_2d(s.b[0], &B, n, k0, &s.full);
#       tma_load_2d(s.b[1], &B, n + 64, k0, &s.full);
#     }
#     mbarrier_wait_parity(&s.full, k0 / BK % 2);
#
#     // ### BEGIN SOLUTION
#     // ### SKELETON: // two descriptors, then four steps of 16 along K
#     const wgmma_desc_t a = wgmma_descriptor(s.a, 16, 1024, 1);
#     const wgmma_desc_t b = wgmma_descriptor(s.b, sizeof(s.b[0]), 1024, 1);
#     wgmma_fence();
# #pragma unroll
#     for (int k = 0; k < BK / 16; ++k)
#       wgmma_m64k16<BN, 0, 1>(acc, a + 2 * k, b + 128 * k, k0 + k > 0, T());
#     wgmma_commit_group();
#     wgmma_wait_group<0>(acc);
#     // ### END SOLUTION
#     __syncthreads();
#   }
#   store_direct<BN>(acc, C, m, n, M, N);
# }

# %% tags=["check"] gemmlab={"exercise": "15.2"}
gl.exercise("15.2").check(multiplied)

# %% [markdown] tags=["solution"]
# With a swizzle, LBO of an MN-major operand leads to the next 64 columns, SBO to the next eight rows of `k`; of a
# K-major one LBO is unused, and SBO leads to the next eight rows. One wait per tile is enough, as the barrier behind it
# lets nobody refill the tile before all four warps have waited.

# %% [markdown]
# ## 15.3 Repair
#
# **Goal.** Four things are wrong here. Two show in the values, one only where `K` is longer than a tile, and one would
# show on a GPU when the copy is fast. Find and mend them.
#
# **Hint.** Run the check first. Then ask of each number: bytes, elements or units of 16 bytes? And: when has the
# hardware *read* the tile?

# %% tags=["exercise"] gemmlab={"exercise": "15.3"}
# %%cuda mended
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "ptx/wgmma.cuh"
# #include "tile/store_direct.cuh"
#
# constexpr int BM = 64, BN = 128, BK = 64;
#
# struct Shared {
#   T a[BM * BK];           // K-major: a row of 128 bytes per m
#   T b[BN / 64][BK * 64];  // N-major: two boxes of 64 columns, a row of 128 bytes per k
#   mbarrier_t full;
# };
#
# extern "C" __global__ void __launch_bounds__(128) mended(const __grid_constant__ CUtensorMap A,
#                                                        const __grid_constant__ CUtensorMap B, T* C, int M, int N,
#                                                        int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   const int m = blockIdx.y * BM, n = blockIdx.x * BN;
#   if (threadIdx.x == 0) {
#     mbarrier_init(&s.full, 1);
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#
#   float acc[BN / 2];
#   for (int k0 = 0; k0 < K; k0 += BK) {
#     if (threadIdx.x == 0) {
#       mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
#       tma_load_2d(s.a, &A, k0, m, &s.full);
#       tma_load_2d(s.b[0], &B, n, k0, &s.full);
#       tma_load_2d(s.b[1], &B, n + 64, k0, &s.full);
#     }
#     mbarrier_wait_parity(&s.full, k0 / BK % 2);
#
#     // ### BEGIN SOLUTION
#     // ### SKELETON: const wgmma_desc_t a = wgmma_descriptor(s.a, 16, 128, 1);
#     // ### SKELETON: const wgmma_desc_t b = wgmma_descriptor(s.b, sizeof(s.b[0]), 1024, 1);
#     // ### SKELETON: wgmma_fence();
#     // ### SKELETON: #pragma unroll
#     // ### SKELETON: for (int k = 0; k < BK / 16; ++k)
#     // ### SKELETON:   wgmma_m64k16<BN, 0, 1>(acc, a + 16 * k, b + 128 * k, k > 0, T());
#     // ### SKELETON: wgmma_commit_group();
#     // ### SKELETON: __syncthreads();
#     const wgmma_desc_t a = wgmma_descriptor(s.a, 16, 1024, 1);
#     const wgmma_desc_t b = wgmma_descriptor(s.b, sizeof(s.b[0]), 1024, 1);
#     wgmma_fence();
# #pragma unroll
#     for (int k = 0; k < BK / 16; ++k)
#       wgmma_m64k16<BN, 0, 1>(acc, a + 2 * k, b + 128 * k, k0 + k > 0, T());
#     wgmma_commit_group();
#     wgmma_wait_group<0>(acc);
#     __syncthreads();
#     // ### END SOLUTION
#   }
#   // ### BEGIN SOLUTION
#   // ### SKELETON: wgmma_wait_group<0>(acc);
#   // ### END SOLUTION
#   store_direct<BN>(acc, C, m, n, M, N);
# }

# %% tags=["check"] gemmlab={"exercise": "15.3"}
gl.exercise("15.3").check(mended)

# %% [markdown] tags=["solution"]
# SBO is the distance of groups of *eight* rows; a step along K is 32 bytes, 2 units; the accumulators start anew only
# at the first tile. And the commit starts nothing to wait for by itself: the tile may be filled again only when every
# warp has waited for its group, hence wait, *then* barrier.

# %% [markdown]
# ## 15.4 Which exist?
#
# **Goal.** Which of these does the assembler accept for sm_90a? D is in FP32 (INT32 for `s8`).
#
# | name | instruction |
# |---|---|
# | n40 | `m64n40k16`, f16 × f16 |
# | n36 | `m64n36k16`, f16 × f16 |
# | n264 | `m64n264k16`, f16 × f16 |
# | m128 | `m128n128k16`, bf16 × bf16 |
# | mixed | `m64n128k16`, f16 × bf16 |
# | int40 | `m64n40k32`, s8 × s8 |
# | int48 | `m64n48k32`, s8 × s8 |
# | fp8 | `m64n32k32`, e4m3 × e5m2 |
# | fp8_turned | `m64n64k32`, e4m3 × e4m3, B N-major |
# | tf32 | `m64n8k8`, tf32 × tf32 |

# %% tags=["exercise"] gemmlab={"exercise": "15.4"}
### BEGIN SOLUTION
### SKELETON: accepted = {...}
accepted = {"n40", "int48", "fp8", "tf32"}
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "15.4"}
gl.exercise("15.4").check(accepted)

# %% [markdown] tags=["solution"]
# M is always 64. N is a multiple of 8 up to 256, for integers 8, 16, 24, 32 and then multiples of 16. FP8 types mix,
# FP16 and BF16 do not; and only 16-bit operands may be N-major.
