# %% [markdown]
# # 06 · Bank conflicts: exercises
#
# Read [the lesson](../notebooks/06_bank_conflicts.ipynb) first. Graded here are wavefronts, never seconds: whether a
# stopwatch sees a conflict depends on what else the kernel waits for.

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
# ## 06.1 Wavefronts of a load
#
# **Goal.** Write `wavefronts(stride, width, period)`: how many wavefronts a warp's load from shared memory takes when
# lane `i` reads `width` bytes (2, 4, 8 or 16) at byte address `(i % period) · stride · width`. The stride is at least
# 1; the period is 8, 16 or 32.
#
# **Checked** against the emulator's count over many strides, widths and periods.
#
# **Hint.** Up to 4 bytes the whole warp is served at once, at 8 bytes each half, at 16 each quarter. In each group:
# which *different* words lie in the same bank?

# %% tags=["exercise"] gemmlab={"exercise": "06.1"}
def wavefronts(stride, width, period):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    total, group = 0, 32 * 4 // max(4, width)
    for first in range(0, 32, group):
        starts = [lane % period * stride * width for lane in range(first, first + group)]
        words = {byte // 4 for start in starts for byte in range(start, start + width)}
        banks = [word % 32 for word in words]
        total += max(banks.count(bank) for bank in banks)
    return total
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "06.1"}
gl.exercise("06.1").check(wavefronts)

# %% [markdown]
# ## 06.2 A swizzle by words
#
# **Goal.** A tile of 32 × 32 words lies in exactly 1,024 words of shared memory. Write `idx(row, column)`, the word at
# which an element lies, so that a warp can read 32 neighbours *along a row* and 32 *down a column*, each in one
# wavefront.
#
# **Target.** Every element has a word of its own (0 to 1023); no excess in any row or column.
#
# **Hint.** `row * 32 + column` is free along rows. Which permutation of each row sends a column to 32 banks?

# %% tags=["exercise"] gemmlab={"exercise": "06.2"}
def idx(row, column):
    ### BEGIN SOLUTION
    ### SKELETON: return row * 32 + column
    return row * 32 + (column ^ row)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "06.2"}
gl.exercise("06.2").check(idx)

# %% [markdown]
# ## 06.3 A swizzle by chunks
#
# **Goal.** The same tile, for 128-bit access: four neighbours of a row, from a multiple of 4 on, stay together and in
# order, at a multiple of 4. A warp reads chunks of 16 bytes along rows, or the same chunk of 32 rows.
#
# **Target.** A bijection onto 1,024 words; four wavefronts for each 128-bit request, the fewest there are; one for a
# scalar row.
#
# **Hint.** A quarter-warp is eight lanes and takes eight chunks, which is all the banks there are.

# %% tags=["exercise"] gemmlab={"exercise": "06.3"}
def idx(row, column):
    ### BEGIN SOLUTION
    ### SKELETON: return row * 32 + column
    chunk, place = column // 4, column % 4
    return row * 32 + 4 * (chunk ^ row % 8) + place
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "06.3"}
gl.exercise("06.3").check(idx)

# %% [markdown]
# ## 06.4 Repair the padding
#
# **Goal.** Blocks of 16 × 16, the tile of `A` stored transposed, and one word of padding, as the guides have it. It
# still conflicts. Find the smallest padding that does not.
#
# **Target.** No excess wavefront, at most 2,304 bytes of shared memory, values as ever.
#
# **Hint.** A warp is *two* rows of this block: it stores 16 elements of one row of `A` and 16 of the next. Write down
# the 32 banks.

# %% tags=["exercise"] gemmlab={"exercise": "06.4"}
TILE = 16
### BEGIN SOLUTION
### SKELETON: PITCH = TILE + 1
PITCH = TILE + 2
### END SOLUTION


@cuda.jit
def repaired(A, B, C):
    smem_a = cuda.shared.array((TILE, PITCH), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)
    for k0 in range(0, K, TILE):
        smem_a[tx, ty] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += smem_a[k, ty] * smem_b[k, tx]
        cuda.syncthreads()
    if m < M and n < N:
        C[m, n] = acc

# %% tags=["check"] gemmlab={"exercise": "06.4"}
gl.exercise("06.4").check(repaired)

# %% [markdown] tags=["solution"]
# Lane `x` of row `y` stores to word `PITCH·x + y`. With a pitch of 17 the words of `y = 1` are those of `y = 0`, one
# bank on, and one bank is met twice. With 18 the first row takes the sixteen even banks and the second the sixteen
# odd ones. The padding belongs to the *request*, not to the tile.
