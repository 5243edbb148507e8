# %% [markdown]
# # 03 · The naive kernel: exercises
#
# Read [the lesson](../notebooks/03_naive.ipynb) first. Each exercise has an answer cell, which you edit, and a check
# cell, which you run. A check raises an error that says what went wrong, or prints one line. All of it works without
# a GPU.

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
# ## 03.1 Guard and loop
#
# **Goal.** Complete the kernel: one thread per element of `C = A·B` (row-major FP32), right at every shape.
#
# **Target.** Values within the FP32 bound, no finding from the emulator, also at `M = N = K = 33`, where the grid
# sticks out of the matrix on two sides. The launch rule is that of the lesson: blocks of 32 × 8 threads, `x` along
# `m`.
#
# **Hint.** `C.shape` and `A.shape` hold the sizes. A thread outside `C` must neither read nor write.

# %% tags=["exercise"] gemmlab={"exercise": "03.1"}
@cuda.jit
def gemm(A, B, C):
    m, n = cuda.grid(2)
    acc = float32(0.0)
    ### BEGIN SOLUTION
    ### SKELETON: # sum A[m, k] * B[k, n] over k and store the sum, for threads inside C only
    ### SKELETON: ...
    if m < C.shape[0] and n < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "03.1"}
gl.exercise("03.1").check(gemm)

# %% [markdown]
# ## 03.2 Intensity by requested bytes
#
# **Goal.** A kernel like the lesson's, but for `C` in FP32 and `A`, `B` in **FP16**: how many FLOP per byte do its
# loads request, when `K` is so large that the store does not matter?
#
# **Hint.** Count one step of the loop of one thread.

# %% tags=["exercise"] gemmlab={"exercise": "03.2"}
### BEGIN SOLUTION
### SKELETON: requested_intensity = ...
requested_intensity = 2 / (2 * 2)
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "03.2"}
gl.exercise("03.2").check(requested_intensity)

# %% [markdown] tags=["solution"]
# Two loads of two bytes for two FLOP: 0.5 FLOP/byte, twice the 0.25 of FP32. The size of the matrix does not enter.

# %% [markdown]
# ## 03.3 The twin in CUDA C++
#
# **Goal.** Finish the CUDA C++ kernel. Same product, same launch rule; the sizes are arguments here.
#
# **Target.** As 03.1, at shapes with three different sizes.
#
# **Hint.** The row length of `A` is not the row length of `C`. The entry's name must survive compilation: what does
# C++ do to names?

# %% tags=["exercise"] gemmlab={"exercise": "03.3"}
# %%cuda twin
# // ### BEGIN SOLUTION
# // ### SKELETON: __global__ void twin(const float* A, const float* B, float* C, int M, int N, int K) {
# extern "C" __global__ void twin(const float* A, const float* B, float* C, int M, int N, int K) {
# // ### END SOLUTION
#     int m = blockIdx.x * blockDim.x + threadIdx.x;
#     int n = blockIdx.y * blockDim.y + threadIdx.y;
#     if (m >= M || n >= N) return;
#     float acc = 0.0f;
#     // ### BEGIN SOLUTION
#     // ### SKELETON: // sum over k, then store
#     for (int k = 0; k < K; ++k) acc += A[m * K + k] * B[k * N + n];
#     C[m * N + n] = acc;
#     // ### END SOLUTION
# }

# %% tags=["check"] gemmlab={"exercise": "03.3"}
gl.exercise("03.3").check(twin)

# %% [markdown]
# ## 03.4 Repair
#
# **Goal.** This kernel compiles, runs, and gives the right result for some shapes. Three things are wrong with it:
# find and mend them, and keep the structure.
#
# **Hint.** Run the check first and read what it says; it names one disease at a time. One of the three changes no
# value at all.

# %% tags=["exercise"] gemmlab={"exercise": "03.4"}
@cuda.jit
def repaired(A, B, C):
    m, n = cuda.grid(2)
    ### BEGIN SOLUTION
    ### SKELETON: acc = 0.0
    ### SKELETON: if m < C.shape[0] or n < C.shape[1]:
    ### SKELETON:     for k in range(A.shape[1]):
    ### SKELETON:         acc += A[m, k] * B[k, n]
    ### SKELETON:     C[n, m] = acc
    acc = float32(0.0)
    if m < C.shape[0] and n < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "03.4"}
gl.exercise("03.4").check(repaired)

# %% [markdown] tags=["solution"]
# `or` lets threads through that are outside in one direction only; `C[n, m]` stores the transpose; `0.0` makes the
# sum a double, which the values do not show and the instruction mix does.
