# %% [markdown]
# # 10 · Tensor cores: exercises
#
# Read [the lesson](../notebooks/10_tensor_cores_wmma.ipynb) first. The kernels are CUDA C++ in FP16 (`T` is `__half`);
# `load_tile` and `store_tile` of `tile/wmma.cuh` are those of the lesson.

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
# ## 10.1 Multiply-adds per register
#
# **Goal.** Write `per_register(m, n, k, bits)`: how many multiply-adds does a 32-bit register of the warp earn in one
# `mma` of shape `m × n × k`? `A` and `B` have `bits` bits per element, the sums are FP32, and all three lie in
# registers.
#
# **Hint.** Count the registers of all 32 lanes.

# %% tags=["exercise"] gemmlab={"exercise": "10.1"}
def per_register(m, n, k, bits):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    registers = (m * k + k * n) * bits / 32 + m * n
    return m * n * k / registers
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "10.1"}
gl.exercise("10.1").check(per_register)

# %% [markdown]
# ## 10.2 Repair a published kernel
#
# **Goal.** A block of 32 × 4 threads is four warps; each computes a tile of 16 × 16, one below the other. Three things
# are wrong with this kernel. Two of them stand in guides.
#
# **Hint.** Run the check first. Then: how does a tile of `B` lie in memory? Which threads form a warp? Which `k` are
# multiplied when `K` is 23?

# %% tags=["exercise"] gemmlab={"exercise": "10.2"}
# %%cuda repaired F16=1
# #include "tile/wmma.cuh"
#
# using namespace nvcuda;
#
# extern "C" __global__ void repaired(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ alignas(32) T patch[4][256];
#     __shared__ alignas(32) float patch_c[4][16 * PATCH_PITCH];
#     wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> frag_a;
#     wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
#     int warp = threadIdx.y, n0 = blockIdx.x * 16;
#     wmma::fill_fragment(acc, 0.0f);
#     // ### BEGIN SOLUTION
#     // ### SKELETON: wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> frag_b;
#     // ### SKELETON: int m0 = (blockIdx.y * blockDim.y + threadIdx.y) / 32 * 16;
#     // ### SKELETON: for (int k0 = 0; k0 + 16 <= K; k0 += 16) {
#     // ### SKELETON:     load_tile(frag_a, patch[warp], A, M, K, m0, k0);
#     // ### SKELETON:     load_tile(frag_b, patch[warp], B, K, N, k0, n0);
#     // ### SKELETON:     wmma::mma_sync(acc, frag_a, frag_b, acc);
#     // ### SKELETON: }
#     wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> frag_b;
#     int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
#     for (int k0 = 0; k0 < K; k0 += 16) {
#         load_tile(frag_a, patch[warp], A, M, K, m0, k0);
#         load_tile(frag_b, patch[warp], B, K, N, k0, n0);
#         wmma::mma_sync(acc, frag_a, frag_b, acc);
#     }
#     // ### END SOLUTION
#     store_tile(C, M, N, m0, n0, acc, patch_c[warp]);
# }

# %% tags=["check"] gemmlab={"exercise": "10.2"}
gl.exercise("10.2").check(repaired)

# %% [markdown] tags=["solution"]
# `col_major` read each tile of `B` transposed; the division by 32 belongs to a linear thread index, and here
# `threadIdx.y` *is* the warp's number; and the loop dropped the last `K % 16` products, which `load_tile` would have
# filled with zeros.

# %% [markdown]
# ## 10.3 Use a fragment twice
#
# **Goal.** Here a warp computes 32 × 32 elements, four tiles, one after the other, and loads every fragment for each of
# them anew. Keep four accumulators instead, and load each tile of `A` and `B` once.
#
# **Target.** Half the bytes: what tiles of 32 × 32 outputs per warp need. Right at every shape, no finding.

# %% tags=["exercise"] gemmlab={"exercise": "10.3"}
# %%cuda reused F16=1
# #include "tile/wmma.cuh"
#
# using namespace nvcuda;
# using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major>;
# using FragmentB = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major>;
# using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
#
# extern "C" __global__ void reused(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ alignas(32) T patch[256];
#     __shared__ alignas(32) float patch_c[16 * PATCH_PITCH];
#     int m0 = blockIdx.y * 32, n0 = blockIdx.x * 32;  // a block is one warp
#     // ### BEGIN SOLUTION
#     // ### SKELETON: for (int i = 0; i < 2; ++i)
#     // ### SKELETON:     for (int j = 0; j < 2; ++j) {
#     // ### SKELETON:         FragmentA frag_a;
#     // ### SKELETON:         FragmentB frag_b;
#     // ### SKELETON:         Sums acc;
#     // ### SKELETON:         wmma::fill_fragment(acc, 0.0f);
#     // ### SKELETON:         for (int k0 = 0; k0 < K; k0 += 16) {
#     // ### SKELETON:             load_tile(frag_a, patch, A, M, K, m0 + 16 * i, k0);
#     // ### SKELETON:             load_tile(frag_b, patch, B, K, N, k0, n0 + 16 * j);
#     // ### SKELETON:             wmma::mma_sync(acc, frag_a, frag_b, acc);
#     // ### SKELETON:         }
#     // ### SKELETON:         store_tile(C, M, N, m0 + 16 * i, n0 + 16 * j, acc, patch_c);
#     // ### SKELETON:     }
#     FragmentA frag_a[2];
#     FragmentB frag_b[2];
#     Sums acc[2][2];
#     for (int i = 0; i < 2; ++i)
#         for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
#     for (int k0 = 0; k0 < K; k0 += 16) {
#         for (int i = 0; i < 2; ++i) {
#             load_tile(frag_a[i], patch, A, M, K, m0 + 16 * i, k0);
#             load_tile(frag_b[i], patch, B, K, N, k0, n0 + 16 * i);
#         }
#         for (int i = 0; i < 2; ++i)
#             for (int j = 0; j < 2; ++j)
#                 wmma::mma_sync(acc[i][j], frag_a[i], frag_b[j], acc[i][j]);
#     }
#     for (int i = 0; i < 2; ++i)
#         for (int j = 0; j < 2; ++j)
#             store_tile(C, M, N, m0 + 16 * i, n0 + 16 * j, acc[i][j], patch_c);
#     // ### END SOLUTION
# }

# %% tags=["check"] gemmlab={"exercise": "10.3"}
gl.exercise("10.3").check(reused)

# %% [markdown]
# ## 10.4 Who relies on a layout?
#
# **Goal.** `acc` is an accumulator fragment of `float`; every thread of the warp runs the statement. Which of them are
# wrong, or right only by luck, because they rely on *where* an element lies? Assign the set of their names.
#
# | name | statement |
# |---|---|
# | `"clip"` | `for (i …) acc.x[i] = fmaxf(acc.x[i], 0.0f);` |
# | `"scale"` | `for (i …) acc.x[i] *= alpha;` |
# | `"blend"` | `for (i …) acc.x[i] += beta * old.x[i];` where `old` is a fragment of the same type, loaded from `C` |
# | `"round"` | `for (i …) half_acc.x[i] = acc.x[i];` where `half_acc` is an accumulator of `half` |
# | `"bias"` | `for (i …) acc.x[i] += bias[lane % 4 * 2 + i % 2];` |
# | `"mask"` | `if (lane / 4 < 8) acc.x[0] = 0.0f;` to clear element (0, 0) |
# | `"row"` | `float sum = acc.x[0] + acc.x[1] + acc.x[4] + acc.x[5];` as a part of a row's sum |
# | `"chain"` | `for (i …) next_a.x[i] = acc.x[i];` to multiply the result by another matrix |
# | `"largest"` | the largest `acc.x[i]` of all lanes and all `i`, as the largest element of the tile |
# | `"memory"` | `store_matrix_sync(patch, acc, 16, …)`, then `patch[16 * row + column] += bias[column]` |

# %% tags=["exercise"] gemmlab={"exercise": "10.4"}
### BEGIN SOLUTION
### SKELETON: relies = ...
relies = {"round", "bias", "mask", "row", "chain"}
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "10.4"}
gl.exercise("10.4").check(relies)
