# %% [markdown]
# # 11 · mma and ldmatrix: exercises
#
# Read [the lesson](../notebooks/11_mma_and_ldmatrix.ipynb) first. The kernels are CUDA C++ in BF16 (`T`). They include
# the course's wrappers of `ldmatrix`, `mma` and `cp.async`, and `load_chunk`, which fetches eight elements or zeros.

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
# ## 11.1 Who holds it?
#
# **Goal.** Write `owner(row, col)` for the factor `A` (16 × 16) of `mma.m16n8k16`: lane `l` holds `A[row, col]` as its
# element `a_i`, `i` from 0 to 7, two per register. Return `8 * l + i`.
#
# **Hint.** The lesson goes from lane to element; this is the way back. `a0, a1` lie in the first register.

# %% tags=["exercise"] gemmlab={"exercise": "11.1"}
def owner(row, col):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    lane = row % 8 * 4 + col % 8 // 2
    i = col // 8 * 4 + row // 8 * 2 + col % 2
    return 8 * lane + i
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "11.1"}
gl.exercise("11.1").check(owner)

# %% [markdown]
# ## 11.2 Repair the fragments
#
# **Goal.** One warp computes 16 × 16 elements of `C` with two `mma` per step of 16. Three things are wrong between
# shared memory and `C`.
#
# **Hint.** Eight rows of 16 bytes make a matrix: which rows and which half does each group of eight lanes point at? How
# does `mma` want `B`? And where do `d0 … d3` sit?

# %% tags=["exercise"] gemmlab={"exercise": "11.2"}
# %%cuda seated
# #include "ptx/ldmatrix.cuh"
# #include "tile/chunk.cuh"
#
# extern "C" __global__ void seated(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ uint4 smem_a[16 * 2], smem_b[16 * 2];
#     float d[2][4] = {};
#     int lane = threadIdx.x, g = lane / 4, t = lane % 4;
#     int m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
#     for (int k0 = 0; k0 < K; k0 += 16) {
#         int row = lane / 2, c = lane % 2;
#         smem_a[row * 2 + c] = load_chunk(A, M, K, m0 + row, k0 + c * 8);
#         smem_b[row * 2 + c] = load_chunk(B, K, N, k0 + row, n0 + c * 8);
#         __syncwarp();
#         unsigned a[4], b[2][2];
#         // ### BEGIN SOLUTION
#         // ### SKELETON: ldmatrix_x4(a, shared_address(&smem_a[lane]));
#         // ### SKELETON: ldmatrix_x4(b, shared_address(&smem_b[lane % 16 * 2 + lane / 16]));
#         ldmatrix_x4(a, shared_address(&smem_a[lane % 16 * 2 + lane / 16]));
#         ldmatrix_x4_trans(b, shared_address(&smem_b[lane % 16 * 2 + lane / 16]));
#         // ### END SOLUTION
#         for (int j = 0; j < 2; ++j) mma_m16n8k16_f32_T(d[j], a, b[j]);
#         __syncwarp();
#     }
#     for (int j = 0; j < 2; ++j)
#         for (int i = 0; i < 4; ++i) {
#             // ### BEGIN SOLUTION
#             // ### SKELETON: int m = m0 + g + i % 2 * 8, n = n0 + 8 * j + 2 * t + i / 2;
#             int m = m0 + g + i / 2 * 8, n = n0 + 8 * j + 2 * t + i % 2;
#             // ### END SOLUTION
#             if (m < M && n < N) C[(size_t)m * N + n] = narrow(d[j][i]);
#         }
# }

# %% tags=["check"] gemmlab={"exercise": "11.2"}
gl.exercise("11.2").check(seated)

# %% [markdown] tags=["solution"]
# Lanes 0–7 point at the rows of matrix 0, lanes 8–15 at those of matrix 1: `lane % 16` is the row and `lane / 16` the
# half. `B` lies row by row and is wanted column by column: `.trans`. And `d1` is the right neighbour of `d0`, `d2` the
# one eight rows below.

# %% [markdown]
# ## 11.3 Rows of 32 bytes
#
# **Goal.** Four warps share a tile of 64 × 16 of `A`, in rows of *two* chunks, and one of 16 × 64 of `B`, in rows of
# eight. Write the two functions that say where a chunk lies, so that no store and no `ldmatrix` meets a conflict.
#
# **Target.** No excess wavefront, no padding: the arrays are full.
#
# **Hint.** How many rows of `A` share the 32 banks? The chunk's place has to change from one such group to the next.

# %% tags=["exercise"] gemmlab={"exercise": "11.3"}
# %%cuda placed
# #include "ptx/ldmatrix.cuh"
# #include "tile/chunk.cuh"
#
# // ### BEGIN SOLUTION
# // ### SKELETON: __device__ int place_a(int row, int chunk) { return row * 2 + chunk; }
# // ### SKELETON: __device__ int place_b(int row, int chunk) { return row * 8 + chunk; }
# __device__ int place_a(int row, int chunk) { return row * 2 + (chunk ^ row / 4 % 2); }
# __device__ int place_b(int row, int chunk) { return row * 8 + (chunk ^ row % 8); }
# // ### END SOLUTION
#
# extern "C" __global__ void placed(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ uint4 smem_a[64 * 2], smem_b[16 * 8];
#     float d[2][4][4] = {};
#     int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
#     int m0 = blockIdx.y * 64, n0 = blockIdx.x * 64;
#     int wm = warp % 2 * 32, wn = warp / 2 * 32, row = lane % 16, half = lane / 16;
#     for (int k0 = 0; k0 < K; k0 += 16) {
#         uint4& to_a = smem_a[place_a(tid / 2, tid % 2)];
#         uint4& to_b = smem_b[place_b(tid / 8, tid % 8)];
#         to_a = load_chunk(A, M, K, m0 + tid / 2, k0 + tid % 2 * 8);
#         to_b = load_chunk(B, K, N, k0 + tid / 8, n0 + tid % 8 * 8);
#         __syncthreads();
#         unsigned a[2][4], b[2][2][2];
#         for (int i = 0; i < 2; ++i) {
#             const uint4& row_a = smem_a[place_a(wm + 16 * i + row, half)];
#             const uint4& row_b = smem_b[place_b(row, wn / 8 + 2 * i + half)];
#             ldmatrix_x4(a[i], shared_address(&row_a));
#             ldmatrix_x4_trans(b[i], shared_address(&row_b));
#         }
#         for (int i = 0; i < 2; ++i)
#             for (int j = 0; j < 4; ++j)
#                 mma_m16n8k16_f32_T(d[i][j], a[i], b[j / 2][j % 2]);
#         __syncthreads();
#     }
# #pragma unroll
#     for (int e = 0; e < 32; ++e) {
#         int i = e / 16, j = e / 4 % 4, r = e % 4;
#         int m = m0 + wm + 16 * i + lane / 4 + r / 2 * 8;
#         int n = n0 + wn + 8 * j + lane % 4 * 2 + r % 2;
#         if (m < M && n < N) C[(size_t)m * N + n] = narrow(d[i][j][r]);
#     }
# }

# %% tags=["check"] gemmlab={"exercise": "11.3"}
gl.exercise("11.3").check(placed)

# %% [markdown] tags=["solution"]
# Four rows of 32 bytes share the 128 bytes of 32 banks, and the next four would meet them: so every second group of
# four exchanges its two chunks, `chunk ^ (row / 4 % 2)`. For rows of 128 bytes the group is a single row.

# %% [markdown]
# ## 11.4 Repair the pipeline
#
# **Goal.** One warp again, now with two stages and `cp.async`. It starts the next tile's copy, waits for all groups
# but the newest, and multiplies. Three things are wrong, one of them only at sizes that are no multiple of eight.
#
# **Target.** Right at every shape, no finding, `cp.async` wherever the rows allow it; the next tile is still under way
# while this one is multiplied.
#
# **Hint.** `copy_chunk<true>` is a `cp.async` of 16 bytes and wants rows of a multiple of 16 bytes; `copy_chunk<false>`
# takes any. What does a wait count? Who may still read a stage when it is filled again?

# %% tags=["exercise"] gemmlab={"exercise": "11.4"}
# %%cuda piped
# #include "ptx/ldmatrix.cuh"
# #include "tile/chunk.cuh"
#
# constexpr int TILE = 16 * 2;  // chunks
#
# template <bool WIDE>  // the chunk of X (rows x cols) at (row, col); zeros from outside
# __device__ void copy_chunk(uint4& to, const T* X, int rows, int cols, int row, int col) {
#     copy_chunk<WIDE>(to, X + row * cols + col, rows - row, cols - col);
# }
#
# extern "C" __global__ void piped(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ uint4 smem_a[2 * TILE], smem_b[2 * TILE];
#     float d[2][4] = {};
#     int lane = threadIdx.x, m0 = blockIdx.y * 16, n0 = blockIdx.x * 16, now = 0;
#     auto copy = [&](int stage, int k0) {
#         int row = lane / 2, c = lane % 2, at = stage * TILE + row * 2 + c;
#         // ### BEGIN SOLUTION
#         // ### SKELETON: copy_chunk<true>(smem_a[at], A, M, K, m0 + row, k0 + c * 8);
#         // ### SKELETON: copy_chunk<true>(smem_b[at], B, K, N, k0 + row, n0 + c * 8);
#         if (K % 8 == 0)
#             copy_chunk<true>(smem_a[at], A, M, K, m0 + row, k0 + c * 8);
#         else
#             copy_chunk<false>(smem_a[at], A, M, K, m0 + row, k0 + c * 8);
#         if (N % 8 == 0)
#             copy_chunk<true>(smem_b[at], B, K, N, k0 + row, n0 + c * 8);
#         else
#             copy_chunk<false>(smem_b[at], B, K, N, k0 + row, n0 + c * 8);
#         cp_async_commit_group();
#         // ### END SOLUTION
#     };
#     copy(0, 0);
#     for (int k0 = 0; k0 < K; k0 += 16, now ^= 1) {
#         copy(now ^ 1, k0 + 16);
#         cp_async_wait_group<1>();
#         __syncwarp();
#         unsigned a[4], b[2][2];
#         int at = now * TILE + lane % 16 * 2 + lane / 16;
#         ldmatrix_x4(a, shared_address(&smem_a[at]));
#         ldmatrix_x4_trans(b, shared_address(&smem_b[at]));
#         for (int j = 0; j < 2; ++j) mma_m16n8k16_f32_T(d[j], a, b[j]);
#         // ### BEGIN SOLUTION
#         // ### SKELETON: // the end of a turn
#         __syncwarp();
#         // ### END SOLUTION
#     }
#     for (int j = 0; j < 2; ++j)
#         for (int i = 0; i < 4; ++i) {
#             int m = m0 + lane / 4 + i / 2 * 8, n = n0 + 8 * j + lane % 4 * 2 + i % 2;
#             if (m < M && n < N) C[(size_t)m * N + n] = narrow(d[j][i]);
#         }
# }

# %% tags=["check"] gemmlab={"exercise": "11.4"}
gl.exercise("11.4").check(piped)

# %% [markdown] tags=["solution"]
# Rows of 23 elements do not start at multiples of 16 bytes: there the copy goes by elements. Without a commit there is
# no group to wait for, and "all but the newest" waits for nothing. And the next turn fills the stage that other lanes
# may still be reading: a barrier has to stand between, here one of the warp.
