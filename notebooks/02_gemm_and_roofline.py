# %% [markdown]
# # 02 · GEMM and the roofline
#
# **How fast can a GEMM be?** Three sizes and two numbers from a data sheet give a time that no kernel can beat. Every
# later chapter is judged against it.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** the picture of a GPU as many multipliers behind one memory.
# - **You will be able to:** count the FLOPs and bytes of a GEMM; state a time floor for any GPU and type; place a
#   kernel on a roofline; say which layers of a language model are bound by memory.
# - **Needs:** no GPU; nothing here is compiled.
# - **Time:** 40 minutes.

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
# ## The limit
#
# General matrix multiplication is `D = α·A·B + β·C`, with `A` of `M × K`, `B` of `K × N`, `C` and `D` of `M × N`.
# Mostly α = 1 and β = 0, and then we write `C = A·B`. Each of the `M·N` outputs is a sum of `K` products: `K`
# multiply-adds, two floating-point operations (FLOP) each. α and β add at most three operations per output, which is
# noise when `K` is in the thousands. So the work is `2·M·N·K`, whatever the kernel does.
#
# And which bytes *must* move? Each input once, the output once. These are the **ideal bytes**. With β ≠ 0 the old `C`
# is read too.

# %% tags=["nbval-check-output"]
def flop(M, N, K):
    return 2 * M * N * K


def ideal_bytes(M, N, K, size, beta=False):
    return (M * K + K * N + M * N * (2 if beta else 1)) * size


n = 4096
gflop, mb = flop(n, n, n) / 1e9, ideal_bytes(n, n, n, size=4) / 1e6
print(f"4096³: {gflop:.1f} GFLOP, {mb:.1f} MB in FP32")

# %% [markdown]
# The machine has a ceiling for each: **peak arithmetic** in FLOP/s and **memory bandwidth** in bytes/s. Data sheets
# print tensor-core rates twice. The *sparse* rate assumes that two of every four weights are zero and skipped; an
# ordinary, *dense* GEMM gets half of it. Our figures are dense unless they say otherwise.
#
# A kernel can finish neither before its arithmetic is done nor before its bytes have moved:
#
# $$ t \ge \max\left(\frac{2MNK}{\text{peak}},\ \frac{\text{ideal bytes}}{\text{bandwidth}}\right) $$
#
# **Predict:** how many milliseconds does an 8192³ BF16 GEMM need at least on an H200 (989.4 TFLOP/s dense, 4.8 TB/s)?
# Which term decides?

# %% tags=["nbval-check-output"]
arithmetic = flop(8192, 8192, 8192) / 989.4e12
memory = ideal_bytes(8192, 8192, 8192, size=2) / 4.8e12
print(f"arithmetic {arithmetic * 1e3:.3f} ms, memory {memory * 1e3:.3f} ms")

# %% [markdown]
# Arithmetic decides, 13 times over (derived). The floor is a bound and no forecast: a chip that multiplies random
# numbers at full rate meets its power limit and lowers its clock ([He
# 2024](https://www.thonking.ai/p/strangely-matrix-multiplications)). But a report of 0.9 ms for this product is
# wrong, and we know it without looking. `gl.measure` refuses such results by the same rule.

# %% [markdown]
# ## The idea: intensity meets the ridge
#
# FLOP divided by bytes is the **arithmetic intensity**. For a square product of size `n` with ideal bytes and `s`
# bytes per element it is `2n³ / (3n²·s) = 2n / 3s`: larger matrices reuse each element more often.

# %% tags=["nbval-check-output"]
from gemmlab.roofline import intensity, ridge

for n in (256, 1024, 4096):
    fp32, fp16 = intensity(n, n, n, "float32"), intensity(n, n, n, "float16")
    print(f"{n:4}³  FP32 {fp32:6.1f}   FP16 {fp16:6.1f} FLOP/byte")

# %% [markdown]
# (The value 1365 is sometimes printed for 4096³ in FP32. It is the FP16 figure; FP32 has 682.7.)
#
# A machine has the same ratio: its **ridge** is peak divided by bandwidth, the intensity at which both terms of the
# floor are equal. Left of the ridge memory is the lower ceiling, right of it arithmetic.
#
# **Predict:** on an H100 the ridge for FP32 on the ordinary cores is 20 FLOP/byte. Where is it for FP16 on tensor
# cores? And where would the sparse rate put it?

# %% tags=["nbval-check-output"]
for key in ("a100-80", "h100", "h200", "b200"):
    gpu = gl.hardware.gpu(key)
    fp32, dense = ridge(gpu, "float32"), ridge(gpu, "float16")
    tensor = f"FP16 dense {dense:5.1f}, sparse {2 * dense:5.1f}"
    print(f"{gpu.name:12} FP32 {fp32:4.1f}, {tensor} FLOP/byte")

# %% [markdown]
# Plot attainable FLOP/s = min(peak, intensity × bandwidth) with both axes logarithmic, and the **roofline** appears:
# a slope of bandwidth and a flat roof of arithmetic. The open marks are limits, not measurements.

# %%
sizes = (16, 64, 256, 1024, 4096)
cases = [(f"{n}³ FP32", intensity(n, n, n, "float32")) for n in sizes]
gl.plots.roofline("H200", dtypes=["float32", "float16"], points=cases)

# %% [markdown]
# Change GPU, type and shape below (the sizes are powers of two). Two things to try: between which two values of `K`
# does a 4096 × 4096 FP16 product on an H200 cross the ridge? What happens to a matrix-vector product (`N = 1`) when
# `M` and `K` double?

# %%
gl.widgets.roofline_explorer()

# %% [markdown]
# **What a roofline does not say.** A point left of the ridge has memory as its *lower ceiling*; whether it touches
# that ceiling is another matter. A kernel far below both is held back by something that the plot does not draw:
# latency, instruction issue, an on-chip memory, too few threads. And a point moves with the bytes that we count. We
# label ours:
#
# - **ideal**: every element once (derived);
# - **requested**: what the kernel's loads and stores ask for (counted by the emulator);
# - **measured DRAM**: what crosses the memory bus after the caches (a profiler on a GPU, recorded).
#
# It does say where to look first. Left of the ridge, save bytes: tiles, smaller types, fused steps. Right of it, save
# instructions that do not multiply, or take a unit that multiplies faster.

# %% [markdown]
# ## Where language models sit
#
# A decoder layer of width `d` is six kinds of GEMM; a seventh turns the last state into words. With `T` tokens in
# flight, `H` heads and sequences of length `S`:
#
# | GEMM | M | N | K | how many |
# |---|---|---|---|---|
# | QKV projection | T | 3d | d | 1 |
# | Q·Kᵀ | S | S | d/H | per head and sequence |
# | P·V | S | d/H | S | per head and sequence |
# | output projection | T | d | d | 1 |
# | FFN up, down | T | 4d, d | d, 4d | 1 each |
# | LM head | T | vocabulary | d | 1 |
#
# In **prefill** the whole prompt is in flight. In **decode** each sequence adds one token: `T` is the batch, and in
# attention `M = 1`.

# %%
gl.plots.llm_layers("H200", "bfloat16", batch=16)

# %% [markdown]
# - **Decode is memory bound.** When `M` is small the weights are nearly all of the bytes, and the intensity is about
#   `2MNK / 2NK = M`: the batch size.
# - **Attention in decode is worse.** Every sequence has its own keys and values, so a batch does not help: about 1
#   FLOP/byte (times the number of heads that share them).
# - **Attention in prefill lies left of the ridge too** if run as two GEMMs: with `d/H = 128` and `S = 4096` it has
#   120 FLOP/byte, because the `S × S` scores are written and read back. Fused attention kernels never write them.
#
# **Predict:** which batch lifts a decode FFN of width 4096 to the H200's bf16 ridge?

# %% tags=["nbval-check-output"]
target = ridge("h200", "bfloat16")
batch = 1
while intensity(batch, 4 * 4096, 4096, "bfloat16") < target:
    batch += 1
print(f"ridge {target:.0f} FLOP/byte: a batch of {batch}")

# %% [markdown]
# Why so much care for one routine? Count one layer in prefill. Softmax, norms, activation and residuals cost a few
# operations per element (5, 8, 10 and 1 here: estimates), a GEMM hundreds or thousands.

# %% tags=["nbval-check-output"]
d, S, H = 4096, 4096, 32
gemm = flop(S, 12 * d, d) + H * 2 * flop(S, S, d // H)
other = 5 * H * S * S + 2 * 8 * S * d + 10 * S * 4 * d + 2 * S * d
share, doubled = gemm / (gemm + other), gemm / (gemm + 2 * other)
print(f"GEMM share of the FLOPs: {share:.1%}; with twice the rest {doubled:.1%}")

# %% [markdown]
# The share of *time* is lower, since the rest is bound by memory at about one FLOP/byte.
#
# ## Where our kernels will sit
#
# Here are the first rungs of the ladder and cuBLAS in FP32, as recorded. They compute the same product, so by ideal
# bytes they share one intensity, and only the height tells them apart. Chapter 03 plots its kernel against the bytes
# that it *requests*, and the point moves left by three orders of magnitude.

# %%
rungs = ["k03_naive", "k04_coalesced"]
gl.plots.recorded_roofline("H200", "float32", kernels=rungs, shape=(4096, 4096, 4096))

# %% [markdown]
# Every chapter draws one more picture: **bank conflicts**, lanes that meet in the same of the 32 banks of shared
# memory. Nothing ran here, so the panel is empty; it fills when a kernel first uses shared memory, in chapter 05.

# %%
gl.plots.bank_grid([])

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A GEMM has a time floor: the larger of 2·M·N·K / peak and ideal bytes / bandwidth. Large square
# > GEMMs lie right of the ridge and may reach the arithmetic peak; thin ones, such as decode, cannot, in any kernel.
# > Say *dense* or *sparse*, and say *which bytes*.
#
# For 4096³ in FP32 an H200 (66.9 TFLOP/s) has a floor of 2.05 ms. What does the most obvious kernel take, and what
# does it spend the rest on? That is chapter 03.

# %% [markdown]
# ## Exercises
#
# In [exercises/02_gemm_and_roofline.ipynb](../exercises/02_gemm_and_roofline.ipynb): **02.1** a time floor, **02.2**
# ideal intensity, **02.3** memory-bound layers, **02.4** the roofline as a function.
#
# To ask yourself first: does β ≠ 0 move a 4096³ FP16 GEMM across the ridge? Can any library run 1024³ in FP32 in 20
# µs on an H100? A kernel reaches 3 % of the peak at 600 FLOP/byte: is it memory bound?
#
# ## References
#
# - S. Williams, A. Waterman, D. Patterson, [Roofline](https://doi.org/10.1145/1498765.1498785), CACM 52(4), 2009.
# - NVIDIA, [H100](https://www.nvidia.com/en-us/data-center/h100/) and
#   [H200](https://www.nvidia.com/en-us/data-center/h200/) product pages (tensor-core figures there are sparse).
# - [How to scale your model](https://jax-ml.github.io/scaling-book/), chapter on rooflines.
# - T. Dao and others, [FlashAttention](https://arxiv.org/abs/2205.14135), 2022.
