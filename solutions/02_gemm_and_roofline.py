# %% [markdown]
# # 02 · GEMM and the roofline: exercises
#
# Read [the lesson](../notebooks/02_gemm_and_roofline.ipynb) first. Each exercise has an answer cell, which you edit,
# and a check cell, which you run. A check raises an error that says what is missing, or prints one line.

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
# ## 02.1 A time floor
#
# **Goal.** State the least time, in milliseconds, that a 4096 × 4096 × 4096 FP16 GEMM can take on an H100 SXM with
# its dense tensor-core rate of 989.4 TFLOP/s and 3.35 TB/s.
#
# **Hint.** Two floors; the larger one counts. Three significant digits are enough. If your answer is half of the
# right one, look at the word *dense* again.

# %% tags=["exercise"] gemmlab={"exercise": "02.1"}
### BEGIN SOLUTION
### SKELETON: least_ms = ...
least_ms = max(2 * 4096**3 / 989.4e12, 3 * 4096**2 * 2 / 3.35e12) * 1e3
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "02.1"}
gl.exercise("02.1").check(least_ms)

# %% [markdown] tags=["solution"]
# `2·4096³` FLOP at 989.4 TFLOP/s are 0.139 ms; the 100.7 MB need 0.030 ms. The larger one is the floor.

# %% [markdown]
# ## 02.2 Ideal intensity
#
# **Goal.** Write `intensity(M, N, K, bytes_per_element)`: FLOP per ideal byte of `C = A·B` with β = 0.
#
# **Checked** on square, thin and odd shapes, in 1, 2 and 4 bytes per element.

# %% tags=["exercise"] gemmlab={"exercise": "02.2"}
def intensity(M, N, K, bytes_per_element):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    return 2 * M * N * K / ((M * K + K * N + M * N) * bytes_per_element)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "02.2"}
gl.exercise("02.2").check(intensity)

# %% [markdown]
# ## 02.3 Which layers are memory bound?
#
# **Goal.** For a decoder of width 4096 with 32 heads on one H200 (bf16, 989 TFLOP/s dense, 4.8 TB/s) name the GEMMs
# that lie left of the ridge:
#
# | key | GEMM | M × N × K |
# |---|---|---|
# | `qkv_prefill` | QKV projection, 4,096 tokens | 4096 × 12288 × 4096 |
# | `qkv_decode_16` | QKV projection, batch of 16 | 16 × 12288 × 4096 |
# | `scores_prefill` | Q·Kᵀ of one head, 4,096 tokens | 4096 × 4096 × 128 |
# | `values_prefill` | P·V of one head, 4,096 tokens | 4096 × 128 × 4096 |
# | `ffn_up_prefill` | FFN up, 4,096 tokens | 4096 × 16384 × 4096 |
# | `ffn_down_decode_64` | FFN down, batch of 64 | 64 × 4096 × 16384 |
# | `lm_head_decode_512` | LM head, batch of 512 | 512 × 128256 × 4096 |
#
# Give a set of keys.

# %% tags=["exercise"] gemmlab={"exercise": "02.3"}
### BEGIN SOLUTION
### SKELETON: memory_bound = {...}
memory_bound = {"qkv_decode_16", "scores_prefill", "values_prefill", "ffn_down_decode_64"}
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "02.3"}
gl.exercise("02.3").check(memory_bound)

# %% [markdown]
# ## 02.4 The roofline as a function
#
# **Goal.** Write `attainable(intensity, peak, bandwidth)`: the FLOP/s that the roofline allows, for `intensity` in
# FLOP/byte, `peak` in FLOP/s and `bandwidth` in bytes/s.

# %% tags=["exercise"] gemmlab={"exercise": "02.4"}
def attainable(intensity, peak, bandwidth):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    return min(peak, intensity * bandwidth)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "02.4"}
gl.exercise("02.4").check(attainable)
