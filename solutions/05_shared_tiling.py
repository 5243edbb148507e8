# %% [markdown]
# # 05 · Tiling in shared memory: exercises
#
# Read [the lesson](../notebooks/05_shared_tiling.ipynb) first. The checks look at values, at races, and at every byte
# that the kernel requests from global memory.

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
# ## 05.1 Build the tiled kernel
#
# **Goal.** `C = A·B`, all row-major FP32, blocks of 32 × 32 threads, grid `(cdiv(N, 32), cdiv(M, 32))`. Write the body
# of the loop over `k0`: copy, wait, multiply, wait.
#
# **Target.** Right at every shape without a finding; each element of `A` and `B` requested once per block; 4 sectors
# per request.
#
# **Hint.** What stands in a tile beyond the edge of its matrix? Which threads may skip the copy?

# %% tags=["exercise"] gemmlab={"exercise": "05.1"}
TILE = 32


@cuda.jit
def gemm(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)
    for k0 in range(0, K, TILE):
        ### BEGIN SOLUTION
        ### SKELETON: # copy one element of each tile, then add TILE products from the tiles
        ### SKELETON: ...
        smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += smem_a[ty, k] * smem_b[k, tx]
        cuda.syncthreads()
        ### END SOLUTION
    if m < M and n < N:
        C[m, n] = acc

# %% tags=["check"] gemmlab={"exercise": "05.1"}
gl.exercise("05.1").check(gemm)

# %% [markdown]
# ## 05.2 The traffic of a tile
#
# **Goal.** Write `requested_bytes(M, N, K, BM, BN)`: the bytes that a tiled FP32 kernel requests from global memory,
# loads of `A` and `B` and the store of `C` together. `M`, `N` and `K` need not be multiples of anything; beyond the
# edges nothing is requested.
#
# **Hint.** How many blocks ask for one element of `A`? For one of `B`? `-(-a // b)` rounds up.

# %% tags=["exercise"] gemmlab={"exercise": "05.2"}
def requested_bytes(M, N, K, BM, BN):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    columns, rows = -(-N // BN), -(-M // BM)
    return 4 * (M * K * columns + K * N * rows + M * N)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "05.2"}
gl.exercise("05.2").check(requested_bytes)

# %% [markdown]
# ## 05.3 Repair
#
# **Goal.** This kernel, for blocks of 16 × 16, is right at 64 × 64 × 64 on most days. It has three faults, all of them
# found in published code. Mend them and keep the structure.
#
# **Hint.** Run the check first; it names one disease at a time. What is true of `K`, of threads outside `C`, and of
# the slowest warp?

# %% tags=["exercise"] gemmlab={"exercise": "05.3"}
TILE = 16


@cuda.jit
def repaired(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)
    ### BEGIN SOLUTION
    ### SKELETON: if m >= M or n >= N:
    ### SKELETON:     return
    ### SKELETON: for step in range(cuda.gridDim.x):
    ### SKELETON:     k0 = step * TILE
    ### SKELETON:     smem_a[ty, tx] = A[m, k0 + tx] if k0 + tx < K else float32(0)
    ### SKELETON:     smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K else float32(0)
    ### SKELETON:     cuda.syncthreads()
    ### SKELETON:     for k in range(TILE):
    ### SKELETON:         acc += smem_a[ty, k] * smem_b[k, tx]
    ### SKELETON: C[m, n] = acc
    for k0 in range(0, K, TILE):
        smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += smem_a[ty, k] * smem_b[k, tx]
        cuda.syncthreads()
    if m < M and n < N:
        C[m, n] = acc
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "05.3"}
gl.exercise("05.3").check(repaired)

# %% [markdown] tags=["solution"]
# `gridDim.x` counts blocks along `N`; the number of steps is `K`'s, rounded up, and the two agree only if `N` and `K`
# do. Threads that return take their part of the tiles with them. Without the second barrier a warp that is ahead
# overwrites what another still reads.

# %% [markdown]
# ## 05.4 The tile that reaches the ridge
#
# **Goal.** Square tiles of edge `T`, FP32, `K` so large that the store of `C` does not matter: which is the smallest
# `T`, a multiple of 8, whose intensity by requested bytes reaches an H200's ridge (66.9 TFLOP/s over 4.8 TB/s)?
#
# **Hint.** A step along `k` loads `2·T` elements and does `T²` multiply-adds.

# %% tags=["exercise"] gemmlab={"exercise": "05.4"}
### BEGIN SOLUTION
### SKELETON: edge = ...
edge = 56
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "05.4"}
gl.exercise("05.4").check(edge)

# %% [markdown] tags=["solution"]
# `2·T²` FLOP over `4·2·T` bytes is `T/4`; the ridge is 13.9, so `T` is at least 55.8. Such a tile has 3,136 outputs
# and a block at most 1,024 threads: each thread must compute several. The loads from *shared* memory ask for the same
# (chapter 07).
