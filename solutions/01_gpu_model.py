# %% [markdown]
# # 01 · The machine: exercises
#
# Read [the lesson](../notebooks/01_gpu_model.ipynb) first. Each exercise has an answer cell, which you edit, and a
# check cell, which you run. A check raises an error that says what went wrong, or prints one line. All of it works
# without a GPU.

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
# ## 01.1 A vector kernel for any grid
#
# **Goal.** `out[i] = alpha * x[i] + y[i]` for vectors of any length `n`, always launched with 2 blocks of 64 threads.
#
# **Target.** Right for `n` from 1 to 4,096, no finding, at most 5 sectors per request (4 for 32
# neighbours, and one to spare), each element stored once.
#
# **Hint.** `cuda.grid(1)` numbers the threads of the whole grid, `cuda.gridsize(1)` says how many there are. Which
# elements belong to thread 5, if neighbouring lanes should read neighbouring words?

# %% tags=["exercise"] gemmlab={"exercise": "01.1"}
@cuda.jit
def axpy(alpha, x, y, out):
    i = cuda.grid(1)
    ### BEGIN SOLUTION
    ### SKELETON: if i < out.size:  # enough for 128 elements
    ### SKELETON:     out[i] = alpha * x[i] + y[i]
    while i < out.size:
        out[i] = alpha * x[i] + y[i]
        i += cuda.gridsize(1)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "01.1"}
gl.exercise("01.1").check(axpy)

# %% [markdown] tags=["solution"]
# Thread `i` takes `i`, `i + 128`, `i + 256`, …: in every step the lanes of a warp read 32 neighbours. Had each thread
# taken a contiguous piece of `n / 128` elements, a warp would touch 32 sectors.

# %% [markdown]
# ## 01.2 Blocks per SM
#
# **Goal.** Write `blocks(threads, registers, shared)`: how many blocks an SM of an H200 holds at once. `registers` per
# thread (a multiple of 8), `shared` in bytes per block (a multiple of 1,024, or 0).
#
# **Facts.** 65,536 registers, 2,048 threads, 32 blocks, 228 KB of shared memory of which the system takes 1 KB for each
# block; registers are handed out to whole warps, and the four schedulers have a quarter of them each.
#
# **Hint.** One limit per resource; the least counts. How many warps can one scheduler's 16,384 registers hold?

# %% tags=["exercise"] gemmlab={"exercise": "01.2"}
def blocks(threads, registers, shared):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    warps = -(-threads // 32)
    warps_by_registers = 16384 // (32 * registers) * 4
    return min(
        warps_by_registers // warps,
        2048 // (32 * warps),
        32,
        (228 * 1024) // (shared + 1024),
    )
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "01.2"}
gl.exercise("01.2").check(blocks)

# %% [markdown]
# ## 01.3 Warps to fill a memory
#
# **Goal.** A GPU has 100 SMs at 1.5 GHz, a DRAM latency of 600 cycles and 2,400 GB/s. Every lane has one **16-byte**
# load under way. How many warps per SM does it take to reach that bandwidth?

# %% tags=["exercise"] gemmlab={"exercise": "01.3"}
### BEGIN SOLUTION
### SKELETON: warps = ...
latency_ns = 600 / 1.5
bytes_per_sm = latency_ns * 2400 / 100
warps = bytes_per_sm / (32 * 16)
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "01.3"}
gl.exercise("01.3").check(warps)
