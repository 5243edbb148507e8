# %% [markdown]
# # 13 · Precision: exercises
#
# Read [the lesson](../notebooks/13_precision.ipynb) first. The kernels here are one warp that computes 16 × 8
# elements of `C` straight from global memory: slow, and all about bits.

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
# ## 13.1 Round to TF32
#
# **Goal.** Write `rounded(x, bits)`: the number nearest to `x` that has `bits` explicit mantissa bits (TF32: 10,
# BF16: 7), ties away from zero. `x` is no zero and far from the smallest and largest floats.
#
# **Hint.** `math.frexp` gives a mantissa from 0.5 to 1 and an exponent.

# %% tags=["exercise"] gemmlab={"exercise": "13.1"}
import math


def rounded(x, bits):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    mantissa, exponent = math.frexp(abs(x))
    scale = 2 ** (bits + 1)
    return math.copysign(math.floor(mantissa * scale + 0.5) / scale * 2.0**exponent, x)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "13.1"}
gl.exercise("13.1").check(rounded)

# %% [markdown]
# ## 13.2 Which path
#
# **Goal.** Five programs multiply 3.3 by 3.3, through `matmul`, and print five decimals. Which results come from a path
# with TF32, in one factor or in both, rounded or cut? Put their names into the set.

# %%
for result in gl.exercise("13.2").given:
    print(result)

# %% tags=["exercise"] gemmlab={"exercise": "13.2"}
### BEGIN SOLUTION
### SKELETON: with_tf32 = {...}
spacing = 2 * 2.0**-10  # of TF32 numbers from 2 to 4
up, down = round(3.3 / spacing) * spacing, 3.3 // spacing * spacing
with_tf32 = {f"{product:.5f}" for product in (up * 3.3, up * up, down * down)}
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "13.2"}
gl.exercise("13.2").check(with_tf32)

# %% [markdown] tags=["solution"]
# TF32's neighbours of 3.3 are 3.298828125 and 3.30078125, BF16's 3.296875 and 3.3125. Comparing with such candidates
# finds the path of a suspicious number faster than any documentation.

# %% [markdown]
# ## 13.3 Split and multiply
#
# **Goal.** Make nearly FP32 of this TF32 kernel: write `split`, and three products.
#
# **Target.** Right at every shape within 3xTF32's bound; three `mma` per step of 8 `k`; and after 2,048 positive
# products the mean error is below `5e-7`.
#
# **Hint.** The rest `x − high` is exact in FP32. What does the last target say about the place of the sum?

# %% tags=["exercise"] gemmlab={"exercise": "13.3"}
# %%cuda fine
# #include "ptx/mma.cuh"
#
# __device__ unsigned element(const float* X, int rows, int cols, int row, int col) {
#     return row < rows && col < cols ? __float_as_uint(X[row * cols + col]) : 0;
# }
#
# __device__ void split(unsigned x, unsigned& high, unsigned& low) {
#     // ### BEGIN SOLUTION
#     // ### SKELETON: high = x;  // mma cuts the low 13 bits off
#     // ### SKELETON: low = 0;
#     high = (x + 0x1000) & 0xffffe000;
#     low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high)) + 0x1000;
#     // ### END SOLUTION
# }
#
# extern "C" __global__ void fine(const float* A, const float* B, float* C,
#                                 int M, int N, int K) {
#     int g = threadIdx.x / 4, t = threadIdx.x % 4;
#     int m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
#     float acc[4] = {};
#     for (int k = 0; k < K; k += 8) {
#         unsigned a[4], b[2], a_low[4], b_low[2];
#         for (int r = 0; r < 4; ++r) {
#             int m = m0 + g + r % 2 * 8, at = k + t + r / 2 * 4;
#             split(element(A, M, K, m, at), a[r], a_low[r]);
#         }
#         for (int r = 0; r < 2; ++r)
#             split(element(B, K, N, k + t + r * 4, n0 + g), b[r], b_low[r]);
#         // ### BEGIN SOLUTION
#         // ### SKELETON: mma_m16n8k8_f32_tf32(acc, a, b);
#         float sum[4] = {};
#         mma_m16n8k8_f32_tf32(sum, a_low, b);
#         mma_m16n8k8_f32_tf32(sum, a, b_low);
#         mma_m16n8k8_f32_tf32(sum, a, b);
#         for (int r = 0; r < 4; ++r) acc[r] += sum[r];
#         // ### END SOLUTION
#     }
#     for (int r = 0; r < 4; ++r) {
#         int m = m0 + g + r / 2 * 8, n = n0 + 2 * t + r % 2;
#         if (m < M && n < N) C[m * N + n] = acc[r];
#     }
# }

# %% tags=["check"] gemmlab={"exercise": "13.3"}
gl.exercise("13.3").check(fine)

# %% [markdown] tags=["solution"]
# `high` may be cut instead of rounded: then `low` has one bit more to hold and loses it. The fourth product, `low ·
# low`, is as small as FP32's last bit.

# %% [markdown]
# ## 13.4 Repair
#
# **Goal.** `A` and `B` are FP16, `C` is FP32, and so should be the sums. The kernel is right for small `K` now and
# then. Three things are wrong with it; find and mend them.
#
# **Hint.** What holds the sums, and how many bits of them? Which of two neighbours belongs into the lower half of a
# register? What happens to a `K` that is no multiple of 16?

# %% tags=["exercise"] gemmlab={"exercise": "13.4"}
# %%cuda wide
# #include <cuda_fp16.h>
#
# #include "ptx/mma.cuh"
#
# __device__ unsigned element(const __half* X, int rows, int cols, int row, int col) {
#     return row < rows && col < cols ? __half_as_ushort(X[row * cols + col]) : 0;
# }
#
# extern "C" __global__ void wide(const __half* A, const __half* B, float* C,
#                                 int M, int N, int K) {
#     int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
#     int m0 = blockIdx.y * 16, n0 = blockIdx.x * 8;
#     // ### BEGIN SOLUTION
#     // ### SKELETON: unsigned acc[2] = {};
#     // ### SKELETON: for (int k = 0; k + 16 <= K; k += 16) {
#     float acc[4] = {};
#     for (int k = 0; k < K; k += 16) {
#     // ### END SOLUTION
#         unsigned a[4], b[2];
#         for (int r = 0; r < 4; ++r) {
#             int m = m0 + g + r % 2 * 8, at = k + t + r / 2 * 8;
#             a[r] = element(A, M, K, m, at) | element(A, M, K, m, at + 1) << 16;
#         }
#         for (int r = 0; r < 2; ++r) {
#             int at = k + t + r * 8, n = n0 + g;
#             // ### BEGIN SOLUTION
#             // ### SKELETON: b[r] = element(B, K, N, at, n) << 16 | element(B, K, N, at + 1, n);
#             b[r] = element(B, K, N, at, n) | element(B, K, N, at + 1, n) << 16;
#             // ### END SOLUTION
#         }
#         // ### BEGIN SOLUTION
#         // ### SKELETON: mma_m16n8k16_f16_f16(acc, a, b);
#         mma_m16n8k16_f32_f16(acc, a, b);
#         // ### END SOLUTION
#     }
#     for (int r = 0; r < 4; ++r) {
#         int m = m0 + g + r / 2 * 8, n = n0 + t + r % 2;
#         // ### BEGIN SOLUTION
#         // ### SKELETON: unsigned short bits = acc[r / 2] >> r % 2 * 16;
#         // ### SKELETON: float sum = __half2float(__ushort_as_half(bits));
#         float sum = acc[r];
#         // ### END SOLUTION
#         if (m < M && n < N) C[m * N + n] = sum;
#     }
# }

# %% tags=["check"] gemmlab={"exercise": "13.4"}
gl.exercise("13.4").check(wide)

# %% [markdown] tags=["solution"]
# The accumulators were FP16, two in a register, and `mma` agreed: names that differ in one type are easily confused.
# The halves of `B` were swapped; had those of `A` been, too, the products would have come out right. And the last,
# partial step of `k` was left out, though `element` gives zeros beyond the edge.
