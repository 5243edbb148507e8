# %% [markdown]
# # 09 · Double buffering: exercises
#
# Read [the lesson](../notebooks/09_double_buffering.ipynb) first. The kernels here are small: 64 threads compute a
# tile of 32 × 32, `BK = 8`, and each thread owns 4 × 4 elements. The checks look at values, races, and *order*.

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
# ## 09.1 Hide the load
#
# **Goal.** The skeleton loads a tile, waits, multiplies, waits. Turn it into a double-buffered kernel: the next tile
# waits in the registers `a` and `b` while the current one is multiplied.
#
# **Target.** All 64 of a warp's shared loads per tile are issued between the next tile's global loads and the stores
# that use them; one barrier per tile; right at every shape, no race.
#
# **Hint.** Prologue: the first tile. Loop from the second tile on: load to registers, multiply, store to the other
# buffer, barrier. One tile is left at the end.

# %% tags=["exercise"] gemmlab={"exercise": "09.1"}
@cuda.jit(device=True)
def element(X, row, col):
    return X[row, col] if row < X.shape[0] and col < X.shape[1] else float32(0)


@cuda.jit(device=True)
def multiply(acc, smem_a, smem_b, buffer, ty, tx):
    for k in range(8):
        for i in range(4):
            for j in range(4):
                acc[i, j] += smem_a[buffer, k, ty + 8 * i] * smem_b[buffer, k, tx + 8 * j]


@cuda.jit
def hidden(A, B, C):
    smem_a, smem_b = cuda.shared.array((2, 8, 33), float32), cuda.shared.array((2, 8, 32), float32)
    a, b = cuda.local.array(4, float32), cuda.local.array(4, float32)
    acc = cuda.local.array((4, 4), float32)
    t, m0, n0, K = cuda.threadIdx.x, cuda.blockIdx.y * 32, cuda.blockIdx.x * 32, A.shape[1]
    ty, tx = t // 8, t % 8
    for i in range(4):
        for j in range(4):
            acc[i, j] = float32(0)

    ### BEGIN SOLUTION
    ### SKELETON: for k0 in range(0, K, 8):
    ### SKELETON:     for i in range(4):  # 64 threads, 4 elements each of A (32 x 8) and B (8 x 32)
    ### SKELETON:         smem_a[0, t % 8, t // 8 + 8 * i] = element(A, m0 + t // 8 + 8 * i, k0 + t % 8)
    ### SKELETON:         smem_b[0, t // 32 + 2 * i, t % 32] = element(B, k0 + t // 32 + 2 * i, n0 + t % 32)
    ### SKELETON:     cuda.syncthreads()
    ### SKELETON:     multiply(acc, smem_a, smem_b, 0, ty, tx)
    ### SKELETON:     cuda.syncthreads()
    for i in range(4):
        smem_a[0, t % 8, t // 8 + 8 * i] = element(A, m0 + t // 8 + 8 * i, t % 8)
        smem_b[0, t // 32 + 2 * i, t % 32] = element(B, t // 32 + 2 * i, n0 + t % 32)
    cuda.syncthreads()
    buffer = 0
    for k0 in range(8, K, 8):
        for i in range(4):
            a[i] = element(A, m0 + t // 8 + 8 * i, k0 + t % 8)
            b[i] = element(B, k0 + t // 32 + 2 * i, n0 + t % 32)
        multiply(acc, smem_a, smem_b, buffer, ty, tx)
        buffer ^= 1
        for i in range(4):
            smem_a[buffer, t % 8, t // 8 + 8 * i] = a[i]
            smem_b[buffer, t // 32 + 2 * i, t % 32] = b[i]
        cuda.syncthreads()
    multiply(acc, smem_a, smem_b, buffer, ty, tx)
    ### END SOLUTION

    for i in range(4):
        for j in range(4):
            if m0 + ty + 8 * i < C.shape[0] and n0 + tx + 8 * j < C.shape[1]:
                C[m0 + ty + 8 * i, n0 + tx + 8 * j] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "09.1"}
gl.exercise("09.1").check(hidden)

# %% [markdown]
# ## 09.2 Time per tile
#
# **Goal.** Write `time_per_tile(load, compute, stages, transfer)` for a kernel whose own threads issue the loads,
# `stages − 1` tiles ahead of the multiply. `load` is a tile's latency, `transfer` the time that memory is busy with its
# bytes; both are under way beside the multiply when there are two buffers or more. With one buffer nothing overlaps.

# %% tags=["exercise"] gemmlab={"exercise": "09.2"}
def time_per_tile(load, compute, stages, transfer):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    if stages == 1:
        return max(load, transfer) + compute
    return max(compute, load / (stages - 1), transfer)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "09.2"}
gl.exercise("09.2").check(time_per_tile)

# %% [markdown]
# ## 09.3 Repair
#
# **Goal.** Three things are wrong with this double buffer. Find and mend them, and keep the loads where they are: ahead
# of the multiply.
#
# **Hint.** Run the check first; it names one disease at a time, and for a race both of its lines. Which threads still
# read a buffer when others write it?

# %% tags=["exercise"] gemmlab={"exercise": "09.3"}
@cuda.jit(device=True)
def fetch(X, row, col):
    return X[row, col] if row < X.shape[0] and col < X.shape[1] else float32(0)


@cuda.jit(device=True)
def product(acc, smem_a, smem_b, buffer, ty, tx):
    for k in range(8):
        for i in range(4):
            for j in range(4):
                acc[i, j] += smem_a[buffer, k, ty + 8 * i] * smem_b[buffer, k, tx + 8 * j]


@cuda.jit
def repaired(A, B, C):
    smem_a, smem_b = cuda.shared.array((2, 8, 33), float32), cuda.shared.array((2, 8, 32), float32)
    a, b = cuda.local.array(4, float32), cuda.local.array(4, float32)
    acc = cuda.local.array((4, 4), float32)
    t, m0, n0, K = cuda.threadIdx.x, cuda.blockIdx.y * 32, cuda.blockIdx.x * 32, A.shape[1]
    ty, tx = t // 8, t % 8
    for i in range(4):
        for j in range(4):
            acc[i, j] = float32(0)
    for i in range(4):
        smem_a[0, t % 8, t // 8 + 8 * i] = fetch(A, m0 + t // 8 + 8 * i, t % 8)
        smem_b[0, t // 32 + 2 * i, t % 32] = fetch(B, t // 32 + 2 * i, n0 + t % 32)
    ### BEGIN SOLUTION
    ### SKELETON: buffer = 0
    ### SKELETON: for k0 in range(8, K, 8):
    ### SKELETON:     cuda.syncthreads()
    ### SKELETON:     for i in range(4):
    ### SKELETON:         a[i] = fetch(A, m0 + t // 8 + 8 * i, k0 + t % 8)
    ### SKELETON:         b[i] = fetch(B, k0 + t // 32 + 2 * i, n0 + t % 32)
    ### SKELETON:     product(acc, smem_a, smem_b, buffer, ty, tx)
    ### SKELETON:     for i in range(4):
    ### SKELETON:         smem_a[buffer, t % 8, t // 8 + 8 * i] = a[i]
    ### SKELETON:         smem_b[buffer, t // 32 + 2 * i, t % 32] = b[i]
    ### SKELETON:     buffer ^= 1
    cuda.syncthreads()
    buffer = 0
    for k0 in range(8, K, 8):
        for i in range(4):
            a[i] = fetch(A, m0 + t // 8 + 8 * i, k0 + t % 8)
            b[i] = fetch(B, k0 + t // 32 + 2 * i, n0 + t % 32)
        product(acc, smem_a, smem_b, buffer, ty, tx)
        buffer ^= 1
        for i in range(4):
            smem_a[buffer, t % 8, t // 8 + 8 * i] = a[i]
            smem_b[buffer, t // 32 + 2 * i, t % 32] = b[i]
        cuda.syncthreads()
    product(acc, smem_a, smem_b, buffer, ty, tx)
    ### END SOLUTION

    for i in range(4):
        for j in range(4):
            if m0 + ty + 8 * i < C.shape[0] and n0 + tx + 8 * j < C.shape[1]:
                C[m0 + ty + 8 * i, n0 + tx + 8 * j] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "09.3"}
gl.exercise("09.3").check(repaired)

# %% [markdown] tags=["solution"]
# The stores went to the buffer that other threads still read (switch before storing); the last tile was never
# multiplied; and the barrier has to stand after the stores of the last turn, too. A barrier at the top of the loop is
# as good as one at its end, if one more follows the loop.

# %% [markdown]
# ## 09.4 Groups and waits
#
# **Goal.** Here the tiles travel by `cp.async`: wait for a tile, start the copies of the next one, multiply. The kernel
# waits for "all groups but the youngest". On a GPU its results are wrong only sometimes. Mend it, and keep the next
# tile under way while this one is multiplied.
#
# **Target.** Right at every shape, no finding, `cp.async` only, one barrier per tile.
#
# **Hint.** A wait counts *groups*. Which groups are open when the wait of turn 0 is reached?

# %% tags=["exercise"] gemmlab={"exercise": "09.4"}
from kernels.simt.async_copy import commit, copy_async4, wait_all, wait_all_but_one  # noqa: F401 - a choice


@cuda.jit(device=True)
def copy_element(smem, put, X, row, col):
    """Start copying X[row, col], or a zero from beyond its edges, to word `put`."""
    inside = row < X.shape[0] and col < X.shape[1]
    copy_async4(smem, put, X, row * X.shape[1] + col if inside else 0, 1 if inside else 0)


@cuda.jit
def piped(A, B, C):
    smem_a, smem_b = cuda.shared.array(2 * 8 * 33, float32), cuda.shared.array(2 * 8 * 32, float32)
    acc = cuda.local.array((4, 4), float32)
    t, m0, n0, K = cuda.threadIdx.x, cuda.blockIdx.y * 32, cuda.blockIdx.x * 32, A.shape[1]
    ty, tx = t // 8, t % 8
    for i in range(4):
        for j in range(4):
            acc[i, j] = float32(0)
    for turn in range(-1, (K + 7) // 8):
        k0, fill, buffer = (turn + 1) * 8, (turn + 1) % 2, turn % 2
        ### BEGIN SOLUTION
        ### SKELETON: if turn >= 0:
        ### SKELETON:     wait_all_but_one()
        ### SKELETON:     cuda.syncthreads()
        ### SKELETON: for i in range(4):
        ### SKELETON:     put = fill * 264 + t % 8 * 33 + t // 8 + 8 * i
        ### SKELETON:     copy_element(smem_a, put, A, m0 + t // 8 + 8 * i, k0 + t % 8)
        ### SKELETON: commit()
        ### SKELETON: for i in range(4):
        ### SKELETON:     copy_element(smem_b, fill * 256 + t + 64 * i, B, k0 + t // 32 + 2 * i, n0 + t % 32)
        ### SKELETON: commit()
        if turn >= 0:
            wait_all()
            cuda.syncthreads()
        for i in range(4):
            put = fill * 264 + t % 8 * 33 + t // 8 + 8 * i
            copy_element(smem_a, put, A, m0 + t // 8 + 8 * i, k0 + t % 8)
            copy_element(smem_b, fill * 256 + t + 64 * i, B, k0 + t // 32 + 2 * i, n0 + t % 32)
        commit()
        ### END SOLUTION
        if turn < 0:
            continue
        for k in range(8):
            for i in range(4):
                for j in range(4):
                    a = smem_a[buffer * 264 + k * 33 + ty + 8 * i]
                    acc[i, j] += a * smem_b[buffer * 256 + k * 32 + tx + 8 * j]

    for i in range(4):
        for j in range(4):
            if m0 + ty + 8 * i < C.shape[0] and n0 + tx + 8 * j < C.shape[1]:
                C[m0 + ty + 8 * i, n0 + tx + 8 * j] = acc[i, j]

# %% tags=["check"] gemmlab={"exercise": "09.4"}
gl.exercise("09.4").check(piped)

# %% [markdown] tags=["solution"]
# At the wait two groups are open, the copies of `A` and of `B` of the very tile that is about to be multiplied: "all
# but the youngest" leaves `B` under way. One commit makes a tile one group, and as no other is open yet, all must
# land. To keep a group open across the wait takes a third buffer: chapter 12.
