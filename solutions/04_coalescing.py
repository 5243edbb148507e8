# %% [markdown]
# # 04 · Coalescing: exercises
#
# Read [the lesson](../notebooks/04_coalescing.ipynb) first. Here a right result is not enough: the checks also count
# the sectors that each load and store takes.

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
# ## 04.1 Turn the mapping
#
# **Goal.** `C = A·B`, all row-major FP32, blocks of 32 × 8 threads, grid `(cdiv(N, 32), cdiv(M, 8))`.
#
# **Target.** At most 1 sector per request on `A`, 4 on `B` and 4 on `C`; values and findings as in 03.1.
#
# **Hint.** Lanes are numbered along `x`. Which index should they carry?

# %% tags=["exercise"] gemmlab={"exercise": "04.1"}
@cuda.jit
def gemm(A, B, C):
    ### BEGIN SOLUTION
    ### SKELETON: m, n = cuda.grid(2)  # as in chapter 03
    n, m = cuda.grid(2)
    ### END SOLUTION
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0.0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc

# %% tags=["check"] gemmlab={"exercise": "04.1"}
gl.exercise("04.1").check(gemm)

# %% [markdown]
# ## 04.2 Sectors of a strided load
#
# **Goal.** Write `sectors(stride, width)`: how many 32-byte sectors a warp's request touches when lane `i` loads
# `width` bytes (1, 2, 4, 8 or 16) at byte address `i · stride · width`. The stride counts elements and may be 0.
#
# **Checked** against the emulator's own count over many strides and widths.
#
# **Hint.** Write down the sector of each lane's address; how many different ones are there?

# %% tags=["exercise"] gemmlab={"exercise": "04.2"}
def sectors(stride, width):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    return len({lane * stride * width // 32 for lane in range(32)})
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "04.2"}
gl.exercise("04.2").check(sectors)

# %% [markdown]
# ## 04.3 When no mapping is coalesced
#
# **Goal.** `C = A·Bᵀ`, with `B` stored as `N × K`, row-major: a linear layer with its weights as frameworks store
# them. Now `k` is the contiguous index of *both* inputs, and a warp that is 32 columns of `C` reads 32 different rows
# of `B`. Choose the shape of the block instead, so that a warp covers a small rectangle of `C`.
#
# **Target.** A whole step of `k` in at most 12 sectors (`A` and `B` together), the store in at most 4, 256 threads
# per block.
#
# **Hint.** A warp of `w` columns and `32/w` rows loads `w` rows of `B` and `32/w` rows of `A`. Which `w` makes the
# sum smallest, and which of the two best ones serves the store?

# %% tags=["exercise"] gemmlab={"exercise": "04.3"}
@cuda.jit
def gemm_nt(A, B, C):
    n, m = cuda.grid(2)
    ### BEGIN SOLUTION
    ### SKELETON: ...
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0.0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[n, k]
        C[m, n] = acc
    ### END SOLUTION


### BEGIN SOLUTION
### SKELETON: BLOCK = (32, 8)
BLOCK = (8, 32)
### END SOLUTION
answer = gemm_nt, BLOCK

# %% tags=["check"] gemmlab={"exercise": "04.3"}
gl.exercise("04.3").check(answer)

# %% [markdown] tags=["solution"]
# `w + 32/w` is 12 for `w = 4` and `w = 8` (17 for 16, 33 for 32: derived). The store of a row of `w` floats takes
# `w/8` sectors, at least one: 4 rows of 8 floats are 4 sectors, 8 rows of 4 floats would be 8. So the block is 8
# columns wide. The sum is the perimeter of the warp's rectangle, while the work is its area: the same argument, one
# level up, gives the tiles of chapter 05.
