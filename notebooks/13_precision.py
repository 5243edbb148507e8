# %% [markdown]
# # 13 · Precision
#
# **What did the fast format cost?** Bits, and they can be bought back: three products on tensor cores give nearly FP32,
# faster than FP32 itself. But not every error comes from the factors: a tensor core cuts its sums short.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [12](12_multistage_pipelines.ipynb): the multistage loop; [11](11_mma_and_ldmatrix.ipynb): fragments.
# - **You will be able to:** say from the bits of a format how far a product can be off; tell rounding from cutting;
#   split a float for 3xTF32 and BF16x9; keep sums from losing what products have; choose a format for a task.
# - **Needs:** nothing; a GPU of compute capability 8.0 adds the stopwatch.
# - **Time:** 90 minutes.

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
# Chapter 09 ended at the FP32 lanes, chapter 12 at nine times their rate. In between lie formats.
# **Predict:** which of them is FP32 with fewer bits, and nothing else?

# %%
h200 = gl.hardware.gpu("H200")
for dtype in ("float32", "tf32", "bfloat16", "float16", "int8"):
    peak = h200.peak(dtype)
    times = peak / h200.peak("float32")
    print(f"{dtype:9} {peak:6,.0f} TFLOP/s dense (published), {times:4.1f} times FP32")

# %%
gl.plots.number_formats("FP32", "TF32", "BF16", "FP16", "INT8")

# %% [markdown]
# A format with `p` explicit mantissa bits rounds a number by at most `2^-(p+1)` of its size. The exponent decides
# what is too large. TF32 has FP32's exponent and *ten* mantissa bits, just as FP16 ("one fewer", says one guide).
# BF16 has seven: it is FP32 cut in half.
#
# ## Rounded or cut?
#
# A register of TF32 is a register of FP32 whose low 13 bits `mma` ignores. If nobody rounds, it *cuts*. **Predict** the
# largest relative error of one product, rounded and cut.

# %%
def tf32(x, half=0x1000):
    """Round float32 to TF32, ties away from zero; half=0: cut."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + np.uint32(half)) & np.uint32(0xFFFFE000)).view(np.float32)


a, b = np.random.default_rng(0).standard_normal((2, 1 << 20), dtype=np.float32)
for name, half in (("rounded", 0x1000), ("cut", 0)):
    product = tf32(a, half).astype(float) * tf32(b, half)
    most = np.log2(np.abs(product / (a.astype(float) * b) - 1).max())
    print(f"{name}: 1024.5 becomes {tf32(1024.5, half)},", end=" ")
    print(f"products off by up to 2^{most:.2f}")
nan_of_a_gpu = np.uint32(0x7FFFFFFF).view(np.float32)
print(nan_of_a_gpu, "becomes", tf32(nan_of_a_gpu))

# %% [markdown]
# A factor is off by `2^-11` at most when rounded and by `2^-10` when cut, a product by the sum of two. Cutting also
# has a direction, so that a sum of products of one sign drifts. Adding half of the last bit's range first is one
# integer instruction, and a trap: the NaN that GPUs make has every bit set, and becomes −0. Our kernels take
# `cvt.rn.tf32`, which keeps NaN: one instruction on Hopper, three before.
#
# *Which path did this number take?* Somebody multiplies 3.14 by 3.14 and gets 9.8616.

# %%
x = np.float32(3.14)
paths = {"FP32": x * x, "one factor in TF32": float(tf32(x)) * float(x)}
paths["both in TF32"] = float(tf32(x)) ** 2
for path, value in paths.items():
    print(f"{path:18} {value:.4f}")

# %% [markdown]
# ## Floats on tensor cores
#
# `k13_tf32` is the multistage loop of chapter 12 on float matrices. `mma.m16n8k8` wants one float per register:
# `A[g][t]`, with `g = lane / 4`, `t = lane % 4`, and `B[t][g]`. `ldmatrix` moves 16-bit pairs, and a row of 16 bytes
# may as well be four floats: it brings `A` as before. For `B`, `.trans` would tear floats apart. So each thread reads
# 16 bytes of a row of `B`, four neighbours, as *its column of four products*: which column of `C` is called column 0
# of a product is our choice. What a thread then owns of `C` are four neighbours, too.

# %%
gl.check("k13_tf32")
trace = gl.trace("k13_tf32", 256, 128, 32)
gl.plots.bank_grid(next(a for a in trace if a.site.opcode.startswith("ld.shared")))

# %% [markdown]
# (A swizzle of its own, `chunk ^ k % 4`, keeps four rows and two columns of chunks apart.)
#
# ## Splitting
#
# What rounding takes away is a float itself: `low = x − high`, exactly. **Predict:** how many bits does `high + low`
# keep, if `low` is rounded to TF32, too?

# %%
high = tf32(a)
low = a - high
kept = high.astype(float) + tf32(low)
part, lost = (np.log2(np.abs(x).max()) for x in (low / a, kept / a - 1))
print(f"low / x:              up to 2^{part:.1f}")
print(f"x - (high + low):     up to 2^{lost:.1f} of x")
print(f"low x low, left out:  up to 2^{2 * part:.1f} of a product")

# %% [markdown]
# So `high · high + high · low + low · high` is off by some `2^-22` at worst, four roundings of FP32, and far less on
# average.
#
# ## The kernel

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k13_3xtf32.cu"}
# %%cuda three_tf32
# #include "ptx/mma.cuh"
# #include "ptx/tf32.cuh"
# #include "tile/float_gemm.cuh"
#
# // BM, BN, WM, WN, STAGES, k of a step, unrolled steps
# using Shape = FloatShape<128, 128, 64, 32, 3, 8, 2>;
#
# // x = high + low: high is the nearest TF32 number, low what is missing, rounded
# // to TF32, too. NOTE: infinity times a number with a rest becomes NaN.
# __device__ __forceinline__ void split(unsigned x, unsigned& high,
#                                       unsigned& low) {
#     high = nearest_tf32(x);
#     float rest = __uint_as_float(x) - __uint_as_float(high);
#     low = nearest_tf32(__float_as_uint(rest));
# }
#
# struct ThreeTf32 {
#     template <int MT, int NT>
#     static __device__ void multiply(float (&acc)[MT][NT][4],
#                                     unsigned (&a)[1][MT][4],
#                                     unsigned (&b)[1][NT][2]) {
#         unsigned a_low[MT][4];
# #pragma unroll
#         for (int i = 0; i < MT; ++i)
# #pragma unroll
#             for (int r = 0; r < 4; ++r)
#                 split(a[0][i][r], a[0][i][r], a_low[i][r]);
# #pragma unroll
#         for (int j = 0; j < NT; ++j) {
#             unsigned b_low[2];
#             split(b[0][j][0], b[0][j][0], b_low[0]);
#             split(b[0][j][1], b[0][j][1], b_low[1]);
# #pragma unroll
#             for (int i = 0; i < MT; ++i) {
# #ifdef SUM_INSIDE
#                 float(&sum)[4] = acc[i][j];
# #else
#                 float sum[4] = {};
# #endif
#                 mma_m16n8k8_f32_tf32(sum, a_low[i], b[0][j]);  // small first
#                 mma_m16n8k8_f32_tf32(sum, a[0][i], b_low);
#                 mma_m16n8k8_f32_tf32(sum, a[0][i], b[0][j]);
# #ifndef SUM_INSIDE
# #pragma unroll
#                 for (int r = 0; r < 4; ++r) acc[i][j][r] += sum[r];
# #endif
#             }
#         }
#     }
# };
#
# extern "C" __global__ void __launch_bounds__(Shape::THREADS, 1)
#     three_tf32(const float* A, const float* B, float* C, int M, int N, int K) {
#     extern __shared__ __align__(1024) unsigned char shared[];
#     float_gemm<Shape, ThreeTf32>(A, B, C, M, N, K, shared);
# }

# %% [markdown]
# - **`float_gemm`** is the loop of `k13_tf32`; this struct is all that differs.
# - **Small products first**, so that they add up before the large one hides their last bits.
# - **`sum` starts at zero** and is added to `acc` by FP32 lanes: four `FADD` per three `mma`. Why not let `mma` add
#   to `acc`, as everywhere else?

# %%
rule = {
    "grid": ["cdiv(M, 128) * cdiv(N, 128)", "1", "1"],
    "block": [256, 1, 1],
    "shared": 3 * 4 * 32 * (128 + 128),
    "args": ["A", "B", "C", "M", "N", "K"],
}
gl.check(three_tf32, rule=rule | {"math": "3xtf32"})

# %% [markdown]
# ## How a tensor core adds
#
# One `mma` takes the largest of its products and `C`, cuts everything to 25 bits below that one's leading bit, toward
# zero, adds exactly, and cuts the sum to FP32. (Found on an H200 with the method of Fasi and others; the emulator
# adds the same way, bit for bit in every recorded case. Other GPUs differ.) A cut sum is always too small.
# **Predict** for positive data: which grows with `K`, the error of an FP32 lane or that of a tensor core?

# %%
rng = np.random.default_rng(1)
for K in (256, 1024):
    A = rng.random((32, K), dtype=np.float32)
    B = rng.random((K, 32), dtype=np.float32)
    exact = A.astype(float) @ B.astype(float)
    for name in ("k09_wide_patch", "k13_3xtf32_inside", "k13_3xtf32"):
        error = np.asarray(gl.run(name, A, B, backend="emulator")) / exact - 1
        mean, rms = np.mean(error), np.std(error)
        print(f"K = {K:4} {name:18} mean error {mean:+.1e}, RMS {rms:.1e}")

# %% [markdown]
# Summed inside, all three products' care is lost to the accumulator. Taken out of the tensor core after 8 `k`, the
# error is that of FP32, or less: each group of eight is added nearly exactly.
#
# ## Measured
#
# The next curves are no model: each format on an H200, against FP64, relative to the RMS of `C`. **Predict** the
# order at `K = 8192`, and which curves rise.

# %%
COARSE = ["INT8", "BF16", "FP16, FP16 sums", "FP16", "TF32", "cuBLAS TF32"]
gl.plots.error_curves(formats=COARSE)

# %%
FINE = ["3xTF32, summed inside", "FP32, CUDA cores", "cuBLAS FP32"]
FINE += ["3xTF32", "BF16x6", "BF16x9"]
gl.plots.error_curves(formats=FINE)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). For normal data the formats lie in the order of their mantissas: INT8, BF16, then
# FP16 and TF32 with the same ten bits. The curves are flat: errors of factors are as random as the products, and both
# sums grow like `√K`. Only FP16 sums rise, to nine times FP16's error.
#
# For positive data the factors' errors average out, and what is left shows: in BF16 and FP16 the rounding of `C`
# itself; in INT8, whose sums are exact, nothing, so that it passes FP16; in TF32 the cuts of the accumulator, which
# leave `C` `5.5e-5` too small at `K = 8192`.

# %% [markdown]
# Summed inside, 3xTF32 ends where plain TF32 does on positive data: three products for nothing. With FP32 sums
# outside it lies a factor of three below our FP32 kernel, since an FP32 lane rounds after each product, and these
# after each group of 8 or 16. cuBLAS's FP32 is on a level with them for normal data, and better for positive. Nine
# products of BF16 are hardly better than six.
#
# The largest errors tell the same story, five to ten times higher:

# %%
gl.plots.error_curves(kind="max", formats=[FINE[0], *FINE[2:5]])

# %% [markdown]
# ## Nine products of BF16
#
# BF16 has eight bits with the hidden one, FP32 has 24: three BF16 numbers hold a float. **Predict:** always exactly?
# And how many of the nine products matter?

# %%
def cut(x):
    """Return three bf16 parts as float32: the upper 16 bits, then those of the rest."""
    parts = []
    for _ in range(3):
        parts.append((x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32))
        x = x - parts[-1]
    return parts


x, y = cut(a), cut(b)
print("exact:", bool((x[0].astype(float) + x[1] + x[2] == a).all()))
for order in range(5):
    pairs = [(x[i].astype(float), y[order - i]) for i in range(3) if 0 <= order - i < 3]
    largest = max(np.abs(p * q / (a.astype(float) * b)).max() for p, q in pairs)
    print(f"parts that add up to {order}: products up to 2^{np.log2(largest):.0f}")

# %% [markdown]
# The six products up to order 2 leave out less than `2^-21` of a product at worst, and much less on average: that is
# BF16x6. A guide has cuBLAS offer 3xTF32 and, on Hopper, BF16x9. Neither: 3xTF32 is CUTLASS's, and cuBLAS's
# `EMULATED_16BFX9` (12.9) is for compute capability 10.0 and 10.3.
#
# ## FP16 sums, and INT8
#
# `mma` can also add in FP16 (`k13_f16_acc`: chapter 12's kernel, compiled with `F16_SUMS`). That halves the
# accumulators' registers; a data-centre GPU has the same published rate for both. It has two ends: beyond 2,048 the
# numbers are two apart, and beyond 65,504 there are none.

# %%
for K in (1024, 2048, 8192):
    A, B = np.full((16, K), 0.3, np.float16), np.full((K, 16), 0.3, np.float16)
    exact = (A.astype(float) @ B.astype(float))[0, 0]
    wide = gl.run("k12_tile_order_f16", A, B, backend="emulator")[0, 0]
    narrow = gl.run("k13_f16_acc", A, B, backend="emulator")[0, 0]
    print(f"K = {K}: exact {exact:.3f}, FP32 sums {wide:.3f}, FP16 sums {narrow:.3f}")

# %% [markdown]
# INT8 is the other extreme: 32-bit integer sums are exact (up to `K` of 130,000), and all error is in the scaling.
# `B` is stored by columns, as `mma.m16n8k32` packs four neighbours in `k` into a register; the Spec says
# `row,col->row`.

# %%
A, B = rng.standard_normal((2, 64, 512), dtype=np.float32)  # B by columns: (N, K)
scale_a, scale_b = (np.abs(x).max(axis=1, keepdims=True) / 127 for x in (A, B))
a8, b8 = (np.rint(x / s).astype(np.int8) for x, s in ((A, scale_a), (B, scale_b)))
C = np.asarray(gl.run("k13_int8", a8, b8, backend="emulator"))
print("sums exact:", bool((C == a8.astype(int) @ b8.astype(int).T).all()))
exact, scaled = A.astype(float) @ B.T.astype(float), C * scale_a * scale_b.T
error = np.sqrt(np.mean((scaled - exact) ** 2) / np.mean(exact**2))
print(f"error of scaling: {error:.1e} of the RMS of C")

# %% [markdown]
# ## Measure
#
# **Predict** TFLOP/s at 4096 from products per multiply-add and from what `mma.sync` gives bf16 in chapter 12. (Rates
# count useful operations, for INT8 of integers: 3xTF32 makes three products for each.)

# %%
FORMATS = ["k09_wide_columns", "k13_tf32", "k13_tf32_added", "k13_3xtf32"]
FORMATS += ["k13_3xtf32_inside", "k13_bf16x6", "k13_bf16x9"]
FORMATS += ["k12_tile_order", "k12_tile_order_f16", "k13_f16_acc", "k13_int8"]
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in FORMATS}
rows = []
for kernel, m in found.items():
    measured = (f"{m.tflops:.1f}", f"{m.ratio:.2f}") if m.ratio else ("-", "-")
    rows.append((kernel, *measured))
columns = ("kernel", "TFLOP/s", "of cuBLAS in that type")
title = f"4096 × 4096 × 4096, {found['k13_tf32'].label}"
gl.plots.table.Table(title, columns, tuple(rows))

# %% [markdown]
# **Outcome** (H200, 2026-11-30). 3xTF32 and BF16x6 are a fifth faster than our FP32 kernel, and than cuBLAS's; summed
# inside, 3xTF32 would gain another fifth. Rounding by an addition makes TF32 some 7 % faster: that is what NaN costs.
# FP16 sums and INT8 are held back where BF16 is, by `mma.sync`.
#
# **Predict** where the same kernels stand at other shapes. A tile of 3xTF32 is 128 × 128, one of TF32 256 × 128: 1024³
# has 64 and 32 of them for 132 SMs. And rows of 4,097 floats start at any multiple of 4 bytes.

# %%
SHAPES = {f"{n}³": (n, n, n) for n in (1024, 2048, 8192)}
for shape in ((4096, 4096, 512), (512, 4096, 4096), (4095, 4097, 1023)):
    SHAPES["×".join(map(str, shape))] = shape
rows = []
for kernel in ("k13_tf32", "k13_3xtf32", "k13_bf16x6", "k13_f16_acc", "k13_int8"):
    measured = [gl.measure(kernel, *shape) for shape in SHAPES.values()]
    rows.append((kernel, *(f"{m.ratio:.2f}" if m.ratio else "-" for m in measured)))
title = f"Share of cuBLAS in that type, {measured[0].label}"
gl.plots.table.Table(title, ("kernel", *SHAPES), tuple(rows))

# %% [markdown]
# **Outcome.** Wherever `C` has tiles for all SMs, 3xTF32 and BF16x6 stay a fifth ahead of cuBLAS's FP32 or more, at
# `K = 512` too. 512 × 4096 makes 128 small tiles, one for nearly every SM, but 64 large ones, and TF32 drops to a third
# of cuBLAS; at 1024³ most SMs idle in either (chapter 19). Rows of 4,097 floats are copied one by one (chapter 12);
# INT8 has no rival there, as cuBLAS refuses such rows.

# %%
gl.plots.recorded_roofline("H200", "tf32", kernels=FORMATS[:7])

# %%
for kernel in FORMATS[1:]:
    excess = gl.count(kernel, 256, 256, 128).total(space="shared").excess_wavefronts
    built = gl.compile(kernel)
    registers = f"{built.registers} registers, {built.spill_bytes} bytes spilled"
    print(f"{kernel:18} {excess} excess wavefronts, {registers}")

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A format costs the bits of its factors once, however long the sum; the accumulator costs more with
# > every step. Three TF32 products and FP32 sums outside the tensor core give FP32's error at more than FP32's rate.

# %%
gl.plots.ladder_table({
    "k09_wide_columns": ("the FP32 lanes", "FP32's rate"),
    "k13_tf32": ("half of bf16", "mma.sync's TF32 rate"),
    "k13_3xtf32": ("a third of TF32", "splits and additions between the mma"),
    "k13_bf16x6": ("a sixth of bf16", "the same"),
    "k13_bf16x9": ("a ninth of bf16", "products"),
})

# %% [markdown]
# What does the profiler say of 3xTF32?

# %%
profile = (found["k13_3xtf32"].record or {}).get("profile", {})
for name, what in ("tensor_pct", "tensor pipe busy"), ("issue_pct", "issue slots"):
    print(what, f"{profile[name]:.0f} %" if name in profile else "not recorded yet")

# %% [markdown]
# Neither is full. Four instructions stand beside each `mma`, most of them for splitting the same float again in every
# warp that reads it.
#
# One thing has stayed the same through four chapters: threads compute addresses, one for every 16 bytes. Who else
# could? That is chapter 14.

# %% [markdown]
# ## Exercises
#
# In [exercises/13_precision.ipynb](../exercises/13_precision.ipynb): **13.1** round to TF32, **13.2** which path,
# **13.3** split and multiply, **13.4** a repair.
#
# ## References
#
# - M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, [Numerical behavior of NVIDIA tensor
#   cores](https://peerj.com/articles/cs-330/), PeerJ Computer Science 7 (2021).
# - H. Ootomo, R. Yokota, [Recovering single precision accuracy from tensor cores while surpassing the FP32
#   theoretical peak performance](https://arxiv.org/abs/2203.03341), 2022.
# - G. Henry, P. T. P. Tang, A. Heinecke, [Leveraging the bfloat16 artificial intelligence datatype for higher-precision
#   computations](https://arxiv.org/abs/1904.06376), 2019.
# - NVIDIA, [CUTLASS example 27,
#   3xTF32](https://github.com/NVIDIA/cutlass/tree/main/examples/27_ampere_3xtf32_fast_accurate_tensorop_gemm).
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `mma`;
#   [cuBLAS](https://docs.nvidia.com/cuda/cublas/): compute types.
