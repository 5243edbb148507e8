# %% [markdown]
# # 08 · Wide loads: exercises
#
# Read [the lesson](../notebooks/08_vectorised_access.ipynb) first. The checks look at the width of each load and
# store; all of it works without a GPU.

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
# %%
from numba import cuda, float32

# %% [markdown]
# ## 08.1 The widest aligned load
#
# **Goal.** A row-major matrix with elements of `itemsize` bytes (2, 4 or 8) begins `offset` elements after a multiple
# of 256 bytes; its rows are `pitch` elements apart. Write `widest(offset, pitch, itemsize)`: the widest load, 4, 8 or
# 16 bytes (or `itemsize`, if that is all), that may start *every* one of its many rows.
#
# **Checked** on many matrices.
#
# **Hint.** Where do row 0 and row 1 begin? Which powers of two divide both addresses?

# %% tags=["exercise"] gemmlab={"exercise": "08.1"}
def widest(offset, pitch, itemsize):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    return max(width for width in (2, 4, 8, 16) if offset * itemsize % width == pitch * itemsize % width == 0)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "08.1"}
gl.exercise("08.1").check(widest)

# %% [markdown] tags=["solution"]
# Base and pitch must both be multiples of the width. A pitch of 33 floats allows scalar loads only, 34 floats 64
# bits, 36 floats 128 bits: the reason why libraries pad rows.

# %% [markdown]
# ## 08.2 Four columns per thread
#
# **Goal.** The coalesced kernel of chapter 04, but each thread owns four neighbouring columns of `C`. Blocks have
# 32 × 8 threads, the grid is `(cdiv(N, 128), cdiv(M, 8))`.
#
# **Target.** Right at every shape, no finding; where N is a multiple of four, `B` is read and `C` is stored 128 bits
# at a time.
#
# **Hint.** `load4(B, index)` counts elements in memory order: which index has `B[k, n]`? And if N is not a multiple
# of four, which rows of `B` are aligned?

# %% tags=["exercise"] gemmlab={"exercise": "08.2"}
from kernels.simt.edge import edge_load4, edge_store4
from kernels.simt.vector import load4, store4


@cuda.jit
def four_columns(A, B, C):
    x, m = cuda.grid(2)
    n, N, K = 4 * x, C.shape[1], A.shape[1]
    if m < C.shape[0] and n < N:
        c0 = c1 = c2 = c3 = float32(0)
        ### BEGIN SOLUTION
        ### SKELETON: # sum over k, then store four columns; ragged rows need another path
        ### SKELETON: ...
        for k in range(K):
            b = load4(B, k * N + n) if N % 4 == 0 else edge_load4(B, k, n)
            c0 += A[m, k] * b[0]
            c1 += A[m, k] * b[1]
            c2 += A[m, k] * b[2]
            c3 += A[m, k] * b[3]
        if N % 4 == 0:
            store4(C, m * N + n, c0, c1, c2, c3)
        else:
            edge_store4(C, m, n, c0, c1, c2, c3)
        ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "08.2"}
gl.exercise("08.2").check(four_columns)

# %% [markdown] tags=["solution"]
# With N = 33, row 1 of `B` begins 132 bytes after row 0: no multiple of 16, so `load4` would stop the kernel even far
# from the edge. A guard on the last columns alone does not help.

# %% [markdown]
# ## 08.3 Repair
#
# **Goal.** This CUDA C++ kernel computes tiles of 32 × 32 with 64 threads and `float4`. Three things are wrong with
# it: one the compiler says, one stops it at every shape, one at shapes that are not multiples of four. Mend them and
# keep the structure.
#
# **Target.** Right at every shape, no finding, no bank conflict, 128-bit access to `A`, `B` and `C` where the shape
# allows it.
#
# **Hint.** Run the check after each change. Which rows of `smem_b` begin at a multiple of 16 bytes?

# %% tags=["exercise"] gemmlab={"exercise": "08.3"}
# %%cuda wide
# // ### BEGIN SOLUTION
# // ### SKELETON: constexpr int BK = 8, PITCH = 32 + 1;
# constexpr int BK = 8, PITCH = 32 + 4;
# // ### END SOLUTION
#
# // Four neighbours of row `row` from column `col` on.
# __device__ float4 fetch(const float* src, int rows, int cols, int row, int col) {
#     // ### BEGIN SOLUTION
#     // ### SKELETON: return *reinterpret_cast<float4*>(src + row * cols + col);
#     if (cols % 4 == 0 && row < rows && col < cols) return *reinterpret_cast<const float4*>(src + row * cols + col);
#     float x[4];
#     for (int i = 0; i < 4; ++i) x[i] = row < rows && col + i < cols ? src[row * cols + col + i] : 0.0f;
#     return make_float4(x[0], x[1], x[2], x[3]);
#     // ### END SOLUTION
# }
#
# __device__ void put(float* dst, int rows, int cols, int row, int col, float4 x) {
#     // ### BEGIN SOLUTION
#     // ### SKELETON: *reinterpret_cast<float4*>(dst + row * cols + col) = x;
#     if (cols % 4 == 0 && row < rows && col < cols) {
#         *reinterpret_cast<float4*>(dst + row * cols + col) = x;
#         return;
#     }
#     float y[4] = {x.x, x.y, x.z, x.w};
#     for (int i = 0; i < 4; ++i) if (row < rows && col + i < cols) dst[row * cols + col + i] = y[i];
#     // ### END SOLUTION
# }
#
# extern "C" __global__ void wide(const float* A, const float* B, float* C, int M, int N, int K) {
#     __shared__ alignas(16) float smem_a[BK][PITCH], smem_b[BK][PITCH];
#     int t = threadIdx.x, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32, row = t / 8 * 4, col = t % 8 * 4;
#     float acc[4][4] = {};
#     for (int k0 = 0; k0 < K; k0 += BK) {
#         float4 a = fetch(A, M, K, m0 + t / 2, k0 + t % 2 * 4);
#         float x[4] = {a.x, a.y, a.z, a.w};
#         for (int i = 0; i < 4; ++i) smem_a[t % 2 * 4 + i][t / 2] = x[i];
#         *reinterpret_cast<float4*>(&smem_b[t / 8][col]) = fetch(B, K, N, k0 + t / 8, n0 + col);
#         __syncthreads();
#         for (int k = 0; k < BK; ++k) {
#             float4 b = *reinterpret_cast<const float4*>(&smem_b[k][col]);
#             for (int i = 0; i < 4; ++i) {
#                 acc[i][0] += smem_a[k][row + i] * b.x;
#                 acc[i][1] += smem_a[k][row + i] * b.y;
#                 acc[i][2] += smem_a[k][row + i] * b.z;
#                 acc[i][3] += smem_a[k][row + i] * b.w;
#             }
#         }
#         __syncthreads();
#     }
#     for (int i = 0; i < 4; ++i)
#         put(C, M, N, m0 + row + i, n0 + col, make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]));
# }

# %% tags=["check"] gemmlab={"exercise": "08.3"}
gl.exercise("08.3").check(wide)

# %% [markdown] tags=["solution"]
# `reinterpret_cast` must keep the `const`; a pitch of 33 words puts rows 1 to 3 off the 16 bytes, 36 does not and
# spreads the stores over the banks as well; and where a row length is no multiple of four, elements go one by one. A
# test for the edge is needed in both paths, since the grid is rounded up.

# %% [markdown]
# ## 08.4 Lanes that share
#
# **Goal.** One warp computes a tile of 32 × 16: 8 × 4 lanes, each with a patch of 4 × 4. The kernel is right and free
# of conflicts; a step of `k` takes two wavefronts for `A` and four for `B`. Give the lanes other places, so that both
# take two.
#
# **Target.** Right at every shape, no finding, no conflict, and 4 wavefronts for 16 multiply-adds.
#
# **Hint.** Two quarters of a warp are served together where lanes `i` and `i ^ 1` want the same address, or lanes `i`
# and `i ^ 2`. Which of the lane's bits may the row depend on, and which the column?

# %% tags=["exercise"] gemmlab={"exercise": "08.4"}
from kernels.simt import vector

BM, BN, BK = 32, 16, 8
PITCH = BM + 4
SIZE_A, SIZE_B = BK * PITCH, BK * BN


@cuda.jit
def shared_pairs(A, B, C):
    smem_a = cuda.shared.array(SIZE_A, float32, alignment=16)  # transposed: element (k, m) at k * PITCH + m
    smem_b = cuda.shared.array(SIZE_B, float32, alignment=16)
    acc = cuda.local.array((4, 4), float32)
    lane, m0, n0 = cuda.threadIdx.x, cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    ### BEGIN SOLUTION
    ### SKELETON: lane_row, lane_col = lane // 4, lane % 4  # 0 … 7 and 0 … 3
    lane_row, lane_col = lane // 8 * 2 + lane // 2 % 2, lane // 4 % 2 * 2 + lane % 2
    ### END SOLUTION
    row, col = 4 * lane_row, 4 * lane_col
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0

    for k0 in range(0, A.shape[1], BK):
        for e in range(lane, BM * BK, 32):
            m, k = e // BK, e % BK
            inside = m0 + m < A.shape[0] and k0 + k < A.shape[1]
            smem_a[k * PITCH + m] = A[m0 + m, k0 + k] if inside else float32(0)
        for e in range(lane, BK * BN, 32):
            k, n = e // BN, e % BN
            inside = k0 + k < B.shape[0] and n0 + n < B.shape[1]
            smem_b[k * BN + n] = B[k0 + k, n0 + n] if inside else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            a = vector.load4(smem_a, k * PITCH + row)
            b = vector.load4(smem_b, k * BN + col)
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()

    for i in range(4):
        for j in range(4):
            if m0 + row + i < C.shape[0] and n0 + col + j < C.shape[1]:
                C[m0 + row + i, n0 + col + j] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "08.4"}
gl.exercise("08.4").check(shared_pairs)

# %% [markdown] tags=["solution"]
# The row must ignore one of the two lowest bits, the column the other: bit 0 goes to the column and bit 1 to the row,
# or the other way round. The three upper bits are free.
