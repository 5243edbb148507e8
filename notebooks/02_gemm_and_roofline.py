# %% [markdown]
# # 02 · GEMM and the roofline
#
# **How fast can a GEMM be?** Before we write a kernel we compute, from four numbers on a data sheet and three on paper, the time that no
# kernel can beat. Every later chapter is judged against it.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** arithmetic, and the picture of a GPU as many multipliers behind one memory.
# - **You will be able to:** count the FLOPs and bytes of a GEMM; state a time floor for any GPU and type; place a kernel on a roofline; say
#   which layers of a language model are bound by memory.
# - **Needs:** no GPU. Nothing here is compiled.
# - **Time:** 40 minutes.

# %% tags=["setup"]
import gemmlab as gl

# %% [markdown]
# ## The limit
#
# General matrix multiplication is `D = α·A·B + β·C`, with `A` of `M × K`, `B` of `K × N`, `C` and `D` of `M × N`. In most uses α = 1 and
# β = 0, and then we write `C = A·B`. Each of the `M·N` outputs is a sum of `K` products: `K` multiply-adds, each counted as two
# floating-point operations (FLOP). The factors α and β add at most three operations per output, which for `K` in the thousands is noise.
#
# So the work is `2·M·N·K`, whatever the kernel does.

# %%
def flop(M, N, K):
    return 2 * M * N * K


print(f"4096³ GEMM: {flop(4096, 4096, 4096) / 1e9:.1f} GFLOP")

# %% [markdown]
# How many bytes *must* move? At the very least each input is read once and the output is written once. These are the **ideal bytes**; a real
# kernel moves more, and the rest of the book is about how much more. With β ≠ 0 the old `C` is read too.

# %%
def ideal_bytes(M, N, K, size, beta=False):
    return (M * K + K * N + M * N * (2 if beta else 1)) * size


print(f"4096³ in FP32: {ideal_bytes(4096, 4096, 4096, 4) / 1e6:.0f} MB, in FP16: {ideal_bytes(4096, 4096, 4096, 2) / 1e6:.0f} MB")

# %% [markdown]
# The two meet in the machine's two ceilings: **peak arithmetic** in FLOP/s and **memory bandwidth** in bytes/s. The data sheets print some
# rates twice. *Sparse* rates assume that two of every four weights are zero and skipped; an ordinary, *dense* GEMM gets half of them. We
# always say which one we use, and it is dense unless we say otherwise.

# %%
gl.hardware.table(["T4", "A100 SXM 80GB", "H100 SXM", "H200", "B200"])

# %% [markdown]
# ### A time floor
#
# A kernel cannot finish before its arithmetic is done, nor before its bytes have moved:
#
# $$ t \ge \max\left(\frac{2MNK}{\text{peak}},\ \frac{\text{ideal bytes}}{\text{bandwidth}}\right) $$
#
# **Predict** before running the next cell: how many milliseconds does a 4096³ FP16 GEMM need at least on an H100 SXM (989.4 TFLOP/s dense,
# 3.35 TB/s)? Which of the two terms decides?

# %%
def floor_ms(M, N, K, size, peak, bandwidth):
    return flop(M, N, K) / peak * 1e3, ideal_bytes(M, N, K, size) / bandwidth * 1e3


arithmetic, memory = floor_ms(4096, 4096, 4096, 2, peak=989.4e12, bandwidth=3.35e12)
print(f"arithmetic {arithmetic:.3f} ms, memory {memory:.3f} ms")

# %% [markdown]
# Arithmetic decides, 4.6 times over (derived). The floor is a bound and no forecast: on real inputs a library reaches perhaps three
# quarters of the peak, because a chip that multiplies random numbers at full rate runs into its power limit and lowers its clock. But if
# somebody reports 0.10 ms for this GEMM, we know without looking that the measurement is wrong. `gl.measure` uses this floor to refuse
# impossible results.

# %% [markdown]
# ## The idea: intensity and the roofline
#
# The ratio of the two counts is the **arithmetic intensity**, in FLOP per byte. With ideal bytes, `s` bytes per element and a square shape
# it grows with the size: `2n³ / (3n²·s) = 2n / (3s)`.
#
# Machines have the same ratio. The **ridge point** is peak divided by bandwidth: the intensity at which both ceilings take equally long.
# Left of it bandwidth is the lower ceiling, right of it arithmetic is: attainable FLOP/s = min(peak, intensity × bandwidth).

# %%
def intensity(M, N, K, size):
    return flop(M, N, K) / ideal_bytes(M, N, K, size)


for name, size in [("FP32", 4), ("FP16", 2)]:
    print(name, [f"{n}³: {intensity(n, n, n, size):.1f}" for n in (256, 1024, 4096)])

# %% [markdown]
# A figure of 1365 FLOP/byte for the 4096³ product appears in some guides under the label FP32; it belongs to FP16. In FP32 it is 682.7.
#
# **Predict:** an H100 has a ridge of 20 FLOP/byte for FP32 arithmetic on its ordinary cores. Where is it for FP16 on tensor cores, dense?
# And if we (wrongly) divide the sparse peak by the bandwidth?

# %%
gl.hardware.ridge_table(["A100 SXM 80GB", "H100 SXM", "H200", "B200"], ["float32", "float16"])

# %% [markdown]
# Faster arithmetic moves the ridge to the right: each generation makes it *harder* to be limited by arithmetic. The same 4096³ product can
# be compared with all of these at once in a **roofline plot**, both axes logarithmic. The roof is the lower of the two ceilings.

# %%
gl.plots.roofline("H200", dtypes=["float32", "float16"], points=[("4096³ FP32, ideal bytes", intensity(4096, 4096, 4096, 4))])

# %% [markdown]
# Change the GPU, the type and the shape. Two questions to try: which `K` brings a 4096 × 4096 FP16 product on an H200 down to the ridge?
# What happens to a matrix-vector product (`N = 1`) when the other two sizes double?

# %%
gl.widgets.roofline_explorer()

# %% [markdown]
# ### What a roofline does not say
#
# A point left of the ridge says that memory is the *lower ceiling*; it does not say that the kernel touches it. A kernel far below both
# ceilings is held back by something that the plot does not draw: latency, instruction issue, an on-chip memory, too few threads. And a
# point moves with the bytes that we count. We label each of ours:
#
# - **ideal**: every input once, every output once (derived);
# - **requested**: what the kernel's loads and stores ask for (counted by the emulator);
# - **measured DRAM**: what crosses the memory bus after the caches (read from a profiler on a GPU, recorded).

# %% [markdown]
# ## Where language models sit
#
# A decoder layer of width `d` is six GEMMs, and a seventh turns the last state into words. With `T` tokens in flight, `H` heads of size
# `d/H` and a sequence of length `S`:
#
# | GEMM | M | N | K | how many |
# |---|---|---|---|---|
# | QKV projection | T | 3d | d | 1 |
# | Q·Kᵀ | S | S | d/H | per head and sequence |
# | P·V | S | d/H | S | per head and sequence |
# | output projection | T | d | d | 1 |
# | FFN up / down | T | 4d / d | d / 4d | 1 each |
# | LM head | T | vocabulary | d | 1 |
#
# In **prefill** the whole prompt is in flight. In **decode** every sequence contributes one token: `T` is the batch size, and `M = 1` per
# head in the two attention products.

# %%
gl.roofline.llm_table(d=4096, heads=32, vocab=32000, tokens=4096, seq=4096, batch=16)

# %%
gl.plots.llm_layers("H200", "bfloat16")

# %% [markdown]
# Three things to read off (all derived):
#
# - **Decode is memory bound.** With `M` small the weights dominate the bytes, and the intensity is `2MNK / 2NK ≈ M`: the batch size. The
#   weights are read once for the whole batch.
# - **Decode attention is worse.** Every sequence has its own K and V, so batching does not help: about 1 FLOP/byte whatever the batch.
# - **Even prefill attention is left of the ridge** as a GEMM of its own: `K = 128` gives 120 FLOP/byte, because the `S × S` scores are
#   written and read back. Fused attention kernels never write them.
#
# **Predict:** which batch size lifts a decode FFN (`d = 4096`) to the H200's ridge in bf16?

# %%
ridge = 989.4e12 / 4.8e12
batch = next(m for m in range(1, 4096) if intensity(m, 4 * 4096, 4096, 2) >= ridge)
print(f"ridge {ridge:.0f} FLOP/byte: batch {batch}")

# %% [markdown]
# Why so much fuss about one routine? Count a decoder layer's operations: everything that is not a GEMM (softmax, norms, activation,
# residuals) costs a few operations per element of a `T × d`, `T × 4d` or `S × S` array, while every GEMM costs hundreds or thousands.

# %%
d, S, H = 4096, 4096, 32
gemm = flop(S, 12 * d, d) + 2 * H * flop(S, S, d // H)
rest = 5 * H * S * S + 2 * 8 * S * d + 10 * S * 4 * d + 2 * S * d
print(f"GEMM share of the layer's FLOPs: {gemm / (gemm + rest):.1%}")

# %% [markdown]
# The share of *time* is smaller, because the rest is bound by memory (its intensity is about 1). The operation counts of softmax, norms and
# activation (5, 8 and 10 per element) are estimates; doubling them all changes the share by less than half a percent.

# %% [markdown]
# ## Where our kernels will sit
#
# Now the first two rungs of the ladder and NVIDIA's own FP32 GEMM, as recorded on an H200. All three compute the same product, so by ideal
# bytes they stand at one intensity, one above the other, and only the height tells them apart. Chapter 03 plots the first one against the
# bytes that it *requests*, and the point jumps to the left by three orders of magnitude.

# %%
gl.plots.recorded_roofline("H200", "float32", kernels=["k03_naive", "k04_coalesced"], shape=(4096, 4096, 4096))

# %% [markdown]
# The other picture that every chapter draws is of **bank conflicts**: 32 lanes meeting in the 32 banks of shared memory. This chapter runs
# no kernel, so the panel is empty; it fills when a kernel uses shared memory, in chapter 05.

# %%
gl.plots.bank_grid([])

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A GEMM of 2·M·N·K FLOPs has a time floor: the larger of FLOPs / peak and bytes / bandwidth. Large square GEMMs lie right of
# > the ridge and could run at the arithmetic peak; thin ones, such as decode, cannot, in any kernel. Say *dense* or *sparse*, and say
# > *which bytes*.
#
# For a large GEMM the floor is arithmetic, and it is low: 2.05 ms for 4096³ in FP32 on an H200's 67 TFLOP/s. What does the most obvious
# kernel take, and what does it spend the rest on? That is chapter 03.

# %% [markdown]
# ## Exercises
#
# In [exercises/02_gemm_and_roofline.ipynb](../exercises/02_gemm_and_roofline.ipynb), each checked by `gl.exercise(...)`:
#
# - **02.1** the least time of a 4096³ FP16 GEMM on an H100;
# - **02.2** a function for the ideal intensity of any GEMM;
# - **02.3** which layers of a model are memory bound on an H200;
# - **02.4** the roofline itself as a function.
#
# To ask yourself first: does β ≠ 0 move a 4096³ FP16 GEMM across the ridge? A vendor promises 1,979 TFLOP/s in FP16: dense or sparse? Can a
# library on an H100 run 1024³ in FP32 in 20 µs?
#
# ## References
#
# - S. Williams, A. Waterman, D. Patterson, [Roofline: an insightful visual performance model](https://doi.org/10.1145/1498765.1498785), CACM 52(4), 2009.
# - NVIDIA, [H100](https://www.nvidia.com/en-us/data-center/h100/) and [H200](https://www.nvidia.com/en-us/data-center/h200/) product pages: peak rates (the tensor-core figures there are sparse) and bandwidths.
# - J. Austin and others, [How to scale your model](https://jax-ml.github.io/scaling-book/), chapter on rooflines.
# - T. Dao and others, [FlashAttention](https://arxiv.org/abs/2205.14135), 2022: why the scores are never written.
