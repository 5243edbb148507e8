# %% [markdown]
# # 07 · Register tiling: exercises
#
# Read [the lesson](../notebooks/07_register_tiling.ipynb) first. The checks count what a kernel reads from shared
# memory and which banks it meets; all of it works without a GPU.

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
# ## 07.1 FLOP per byte of a patch
#
# **Goal.** Write `flop_per_byte(TM, TN, BK, itemsize)`: FLOP per byte that a thread *reads from shared memory* while it
# works through a tile of depth BK, with a patch of TM × TN and elements of `itemsize` bytes.
#
# **Checked** on many patches. A guide gives 64 "FLOP per access" for TM = TN = 8 and BK = 16. Do you agree?
#
# **Hint.** Count one step of `k`. Then count BK of them.

# %% tags=["exercise"] gemmlab={"exercise": "07.1"}
def flop_per_byte(TM, TN, BK, itemsize):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    return 2 * TM * TN / ((TM + TN) * itemsize)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "07.1"}
gl.exercise("07.1").check(flop_per_byte)

# %% [markdown] tags=["solution"]
# Both the multiply-adds and the loads come BK times, so BK cancels. The guide's 64 divides the multiply-adds of 16
# steps by the loads of one; a step makes 64 multiply-adds from 16 values, 8 FLOP per value.

# %% [markdown]
# ## 07.2 The outer product
#
# **Goal.** 16 × 16 threads compute a tile of 64 × 64, each a patch of 4 × 4. Loading and storing are written; the
# heart is missing.
#
# **Target.** Right at every shape, no finding, and at most half a word of shared memory per multiply-add: 8 loads for
# 16.
#
# **Hint.** Which loop must be the outermost, so that a value is read once and used four times?

# %% tags=["exercise"] gemmlab={"exercise": "07.2"}
BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
PITCH = BM + 4


@cuda.jit
def patch(A, B, C):
    smem_a = cuda.shared.array((BK, PITCH), float32)  # transposed: smem_a[k, m]
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m0, n0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    row, col = ty * TM, tx * TN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = 0

    for k0 in range(0, A.shape[1], BK):
        for e in range(16 * ty + tx, BM * BK, 256):
            m, k = e // BK, e % BK
            smem_a[k, m] = A[m0 + m, k0 + k] if m0 + m < A.shape[0] and k0 + k < A.shape[1] else float32(0)
        for e in range(16 * ty + tx, BK * BN, 256):
            k, n = e // BN, e % BN
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < B.shape[0] and n0 + n < B.shape[1] else float32(0)
        cuda.syncthreads()

        ### BEGIN SOLUTION
        ### SKELETON: # add BK outer products of smem_a[k, row …] and smem_b[k, col …] to acc
        ### SKELETON: ...
        for k in range(BK):
            for i in range(TM):
                a = smem_a[k, row + i]
                for j in range(TN):
                    acc[i, j] += a * smem_b[k, col + j]
        ### END SOLUTION
        cuda.syncthreads()

    for i in range(TM):
        for j in range(TN):
            if m0 + row + i < C.shape[0] and n0 + col + j < C.shape[1]:
                C[m0 + row + i, n0 + col + j] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "07.2"}
gl.exercise("07.2").check(patch)

# %% [markdown] tags=["solution"]
# `k` outermost. With `k` innermost each of the 16 sums walks through the tile on its own and reads two words per
# multiply-add. The four `smem_b[k, col + j]` are written inside the loop over `i` and yet read once: the loops are
# unrolled, nothing is stored in between, and the compiler keeps the values in registers.

# %% [markdown]
# ## 07.3 Repair a published listing
#
# **Goal.** The square tile, as it is often printed: BM = BN = BK, and one loop copies both tiles. It compiles, runs,
# and gives a wrong product at every shape. Find the reason and mend it.
#
# **Target.** Right at every shape, no finding, at most one word of shared memory per multiply-add.
#
# **Hint.** What does `smem_a[r, c]` hold after the copy, and what does the loop over `k` ask for?

# %% tags=["exercise"] gemmlab={"exercise": "07.3"}
TILE, T = 32, 2


@cuda.jit
def square(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    acc = cuda.local.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m0, n0 = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    for i in range(T):
        for j in range(T):
            acc[i, j] = 0

    for k0 in range(0, A.shape[1], TILE):
        for e in range(16 * ty + tx, TILE * TILE, 256):
            r, c = e // TILE, e % TILE
            smem_a[r, c] = A[m0 + r, k0 + c] if m0 + r < A.shape[0] and k0 + c < A.shape[1] else float32(0)
            smem_b[r, c] = B[k0 + r, n0 + c] if k0 + r < B.shape[0] and n0 + c < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            for i in range(T):
                ### BEGIN SOLUTION
                ### SKELETON: a = smem_a[k, ty * T + i]
                a = smem_a[ty * T + i, k]
                ### END SOLUTION
                for j in range(T):
                    acc[i, j] += a * smem_b[k, tx * T + j]
        cuda.syncthreads()

    for i in range(T):
        for j in range(T):
            if m0 + ty * T + i < C.shape[0] and n0 + tx * T + j < C.shape[1]:
                C[m0 + ty * T + i, n0 + tx * T + j] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "07.3"}
gl.exercise("07.3").check(square)

# %% [markdown] tags=["solution"]
# The tile is stored by rows of `m` and read by rows of `k`: each TILE × TILE block of `A` enters transposed *in place*.
# That is neither `A·B` nor `Aᵀ·B`, and it stays wrong for a symmetric `A`, whose blocks need not be symmetric. Storing
# `smem_a[c, r]` mends it too, but then 32 lanes write down a column: pad the rows.

# %% [markdown]
# ## 07.4 Choose the columns
#
# **Goal.** The kernel of 07.2, complete and right; but it reads `B` with two-way conflicts, and it stores `C` at four
# times the sectors that it needs. Let each thread own *other* rows or columns, without changing how many.
#
# **Target.** No bank conflict in any load or store of shared memory, and at most 4 sectors per store of `C`; half a
# word per multiply-add as before.
#
# **Hint.** The 16 lanes of a row differ in `tx`. By how many words do their addresses differ now, and by how many
# should they?

# %% tags=["exercise"] gemmlab={"exercise": "07.4"}
BM, BN, BK = 64, 64, 8
PITCH = BM + 4


@cuda.jit
def spread(A, B, C):
    smem_a = cuda.shared.array((BK, PITCH), float32)  # transposed: smem_a[k, m]
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((4, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m0, n0 = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0

    for k0 in range(0, A.shape[1], BK):
        for e in range(16 * ty + tx, BM * BK, 256):
            m, k = e // BK, e % BK
            smem_a[k, m] = A[m0 + m, k0 + k] if m0 + m < A.shape[0] and k0 + k < A.shape[1] else float32(0)
        for e in range(16 * ty + tx, BK * BN, 256):
            k, n = e // BN, e % BN
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < B.shape[0] and n0 + n < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for i in range(4):
                a = smem_a[k, 4 * ty + i]
                for j in range(4):
                    ### BEGIN SOLUTION
                    ### SKELETON: acc[i, j] += a * smem_b[k, 4 * tx + j]
                    acc[i, j] += a * smem_b[k, tx + 16 * j]
                    ### END SOLUTION
        cuda.syncthreads()

    for i in range(4):
        for j in range(4):
            ### BEGIN SOLUTION
            ### SKELETON: m, n = m0 + 4 * ty + i, n0 + 4 * tx + j
            m, n = m0 + 4 * ty + i, n0 + tx + 16 * j
            ### END SOLUTION
            if m < C.shape[0] and n < C.shape[1]:
                C[m, n] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "07.4"}
gl.exercise("07.4").check(spread)

# %% [markdown] tags=["solution"]
# Columns 16 apart: the 16 lanes of a row then read 16 neighbours, and store 16 neighbours of `C`, two sectors for each
# of the warp's two rows. The price: a thread's four columns are no neighbours any more, so no 128-bit load can fetch
# them. The warp tile of the lesson has both, with groups of four.
