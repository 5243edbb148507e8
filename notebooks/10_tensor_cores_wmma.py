# %% [markdown]
# # 10 · Tensor cores
#
# **What is a tensor core, from Volta to Blackwell?** A unit that multiplies small matrices in one instruction, 15 times
# as fast as the FP32 lanes beside it. We drive it through WMMA, the C++ interface that hides which lane holds what, and
# find out what hiding costs.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [05](05_shared_tiling.ipynb): tiles; [06](06_bank_conflicts.ipynb): banks;
#   [08](08_vectorised_access.ipynb): CUDA C++ and chunks of 16 bytes.
# - **You will be able to:** say what five generations of tensor cores multiply per cycle, dense and sparse; write a
#   GEMM with WMMA that is right at every size; read in the machine code what became of it.
# - **Needs:** nothing; a GPU adds the stopwatch (FP16 runs from compute capability 7.5 on, BF16 from 8.0).
# - **Time:** 75 minutes.

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
# Chapter 09 ended with fewer than one instruction in ten that is no multiply-add. The FP32 lanes of an H200 allow 66.9
# TFLOP/s, whatever the kernel. An instruction `FFMA` starts 32 multiply-adds and names three registers per lane for
# them. Can one instruction do more?
#
# Take a column of 16 elements of `A` and a row of 16 of `B`: their **outer product** is 256 multiply-adds from 32
# inputs. Chapter 07 kept such a patch in one thread's registers; a tensor core is that patch in wires, with the
# registers of a *warp* around it.

# %%
gl.plots.outer_product(16, 16, title="32 inputs, 256 multiply-adds: one step of k")

# %% [markdown]
# **Predict:** `mma.m16n8k16` multiplies 16 × 16 by 16 × 8 FP16 elements and adds to 16 × 8 FP32 sums. How many
# multiply-adds does one of the warp's registers serve?

# %%
gl.plots.fma_per_register()

# %% [markdown]
# 19 times FFMA. (One guide says 205, but divides the warp's 2,048 multiply-adds by the 10 registers of a *single*
# lane.) The last bar looks ahead: Hopper's `wgmma` reads both factors from shared memory (chapter 15).
#
# ## Five generations

# %%
gl.plots.tensor_core_table(("float16", "bfloat16", "fp8"))

# %% [markdown]
# - **Dense.** The sparse rate is for weights of which two in four are zero; an ordinary GEMM has none. That an A100
#   has "156 dense, 312 sparse" in FP16 is off by one column: 156 is TF32.
# - **Shapes.** Volta's *hardware* unit multiplies 4 × 4 × 4 per cycle; `m8n8k4` is the shape in PTX, 16 × 16 × 16
#   that of the C++ interface. They are often mixed up.
# - **What moves out.** From row to row factors, then sums, leave the registers; one thread is enough to start the last.
#   Ada and consumer Blackwell stay with `mma.sync`.
# - **The ridge moves right.** FP16 arithmetic grew 18-fold from V100 to B200, bandwidth 8.6-fold:

# %% tags=["nbval-check-output"]
for key in ("v100", "t4", "a100-80", "h200", "b200"):
    gpu = gl.hardware.gpu(key)
    speed = gpu.peak("float16") / gpu.peak("float32")
    ridge = gl.roofline.ridge(gpu, "float16")
    print(f"{gpu.name:11} {speed:4.1f} x FP32, ridge {ridge:4.0f} FLOP/byte")

# %% [markdown]
# ## The idea: fragments
#
# WMMA (*warp matrix multiply-accumulate*) has four verbs for whole warps: fill, load, multiply, store. Between them
# the elements lie in a **fragment**: registers spread over 32 lanes.
#
# Which lane holds which element? The interface does not say, and a kernel may not depend on it. This is *one* possible
# seating, the emulator's, with lane 5 in strong colour:

# %%
gl.plots.fragments("wmma.m16n16k16.f16", lane=5)

# %% [markdown]
# So what may a thread do with its part, `fragment.x[i]`? Anything that treats all elements alike: scale them, clip
# them. Not: add a bias per column, or convert sums to another type by copying `x[i]` to a fragment of that type. The
# layout is chosen by the *compiler* (not "by the driver", as one guide has it), and two fragments may differ.
#
# ## The kernel
#
# A warp, a tile of 16 × 16, straight from global memory. WMMA loads whole tiles only, from rows whose distance is a
# multiple of 16 bytes; `load_tile` and `store_tile`
# ([tile/wmma.cuh](https://github.com/gemm-ladder/gemm-ladder/blob/main/kernels/tile/wmma.cuh)) take a detour through
# shared memory at the edges, and to round the sums. `T` is `__half` with `F16`.

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k10_wmma_global.cu"}
# %%cuda wmma_global F16=1
# #include "tile/wmma.cuh"
#
# using namespace nvcuda;
# constexpr int BM = 32, BN = 32;
#
# extern "C" __global__ void __launch_bounds__(128)
#     wmma_global(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ alignas(32) T patch[4][256];
#     __shared__ alignas(32) float patch_c[4][16 * PATCH_PITCH];
#     wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> frag_a;
#     wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> frag_b;
#     wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
#     int warp = threadIdx.x / 32;
#     int m0 = blockIdx.y * BM + warp / 2 * 16;
#     int n0 = blockIdx.x * BN + warp % 2 * 16;
#
#     wmma::fill_fragment(acc, 0.0f);
#     for (int k0 = 0; k0 < K; k0 += 16) {
#         load_tile(frag_a, patch[warp], A, M, K, m0, k0);
#         load_tile(frag_b, patch[warp], B, K, N, k0, n0);
#         wmma::mma_sync(acc, frag_a, frag_b, acc);
#     }
#     store_tile(C, M, N, m0, n0, acc, patch_c[warp]);
# }

# %%
F16 = {"a_dtype": "float16", "b_dtype": "float16", "c_dtype": "float16"}
rule = {
    "grid": ["cdiv(N, 32)", "cdiv(M, 32)", "1"],
    "block": [128, 1, 1],
    "args": ["A", "B", "C", "M", "N", "K"],
} | F16
gl.check(wmma_global, rule=rule)

# %% [markdown]
# - **`row_major` for both factors**: it says how the tile lies *in memory*. Two guides load a row-major `B` with
#   `col_major`: each tile of 16 × 16 then enters transposed. A third leaves the tag out, which does not compile.
# - **The warp's number comes from the linear thread index.** `(blockIdx.y * blockDim.y + threadIdx.y) / 32`, as
#   printed, gives threads of one warp different tiles in a block that is not flat.
# - **`load`, `mma` and `store` are for the whole warp**: no `if` that splits it may stand around them.
#
# What does the first mistake look like?

# %%
tag = "matrix_b, 16, 16, 16, T, wmma::{}_major"
text = wmma_global.text.replace(tag.format("row"), tag.format("col"))
wrong = gl.cuda_source(text, "wmma_global", F16=1)
try:
    gl.check(wrong, rule=rule, shapes=[(16, 16, 16)])
except gl.CheckError as error:
    print(error)

# %% [markdown]
# ## What became of it
#
# **Predict:** the tensor core of an H200 takes `m16n8k16`. How many machine instructions `HMMA` is one `mma_sync`? And
# on a T4, whose instruction is `m16n8k8`?

# %%
for target in ("sm_75", "sm_90"):
    built = gl.compile("k10_wmma_shared_f16", target=target)
    calls, sass = built.ptx.count("wmma.mma.sync"), built.sass()
    machine = sass.count("HMMA") if sass else "uncounted (no nvdisasm)"
    print(f"{target}: {calls} mma_sync, {machine} HMMA")

# %% [markdown]
# Four and two: `mma_sync` is no single tensor-core operation.
#
# ## Tiles in shared memory
#
# **Predict** the intensity of the first kernel, by requested bytes: a warp loads 16 × 16 elements twice for 16³
# multiply-adds. Then that of a block which copies tiles of 128 × 64 and 64 × 128 to shared memory first. The ridge of
# an H200 is 206 FLOP/byte.

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k10_wmma_shared.cu"}
# %%cuda wmma_shared F16=1 PAD=8
# #include "tile/chunk.cuh"
# #include "tile/wmma.cuh"
#
# #ifndef PAD
# #define PAD 8
# #endif
#
# using namespace nvcuda;
# using Rows = wmma::row_major;
# constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 32, THREADS = 256;
# constexpr int PITCH_A = BK + PAD, PITCH_B = BN + PAD;  // elements
#
# extern "C" __global__ void __launch_bounds__(THREADS, 2)
#     wmma_shared(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ alignas(32) T smem_a[BM * PITCH_A], smem_b[BK * PITCH_B];
#     wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4][2];
#     int tid = threadIdx.x, warp = tid / 32;
#     int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;
#
#     for (auto& row : acc)
#         for (auto& tile : row) wmma::fill_fragment(tile, 0.0f);
#     for (int k0 = 0; k0 < K; k0 += BK) {
#         for (int i = 0; i < BM * BK / 8 / THREADS; ++i) {
#             int at = i * THREADS + tid, m = at / (BK / 8), k = at % (BK / 8) * 8;
#             uint4 chunk = load_chunk(A, M, K, m0 + m, k0 + k);
#             *reinterpret_cast<uint4*>(&smem_a[m * PITCH_A + k]) = chunk;
#         }
#         for (int i = 0; i < BK * BN / 8 / THREADS; ++i) {
#             int at = i * THREADS + tid, k = at / (BN / 8), n = at % (BN / 8) * 8;
#             uint4 chunk = load_chunk(B, K, N, k0 + k, n0 + n);
#             *reinterpret_cast<uint4*>(&smem_b[k * PITCH_B + n]) = chunk;
#         }
#         __syncthreads();
# #pragma unroll 2
#         for (int k = 0; k < BK; k += 16) {
#             wmma::fragment<wmma::matrix_a, 16, 16, 16, T, Rows> frag_a;
#             wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Rows> frag_b[2];
#             for (int j = 0; j < 2; ++j)
#                 wmma::load_matrix_sync(
#                     frag_b[j], &smem_b[k * PITCH_B + wn + 16 * j], PITCH_B);
#             for (int i = 0; i < 4; ++i) {
#                 wmma::load_matrix_sync(
#                     frag_a, &smem_a[(wm + 16 * i) * PITCH_A + k], PITCH_A);
#                 for (int j = 0; j < 2; ++j)
#                     wmma::mma_sync(acc[i][j], frag_a, frag_b[j], acc[i][j]);
#             }
#         }
#         __syncthreads();
#     }
#     // The tiles are no longer needed: a part of them per warp turns C.
#     float* patch = reinterpret_cast<float*>(smem_a) + warp * 16 * PATCH_PITCH;
#     for (int i = 0; i < 4; ++i)
#         for (int j = 0; j < 2; ++j)
#             store_tile(C, M, N, m0 + wm + 16 * i, n0 + wn + 16 * j, acc[i][j],
#                        patch);
# }

# %%
rule |= {"grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"], "block": [256, 1, 1]}
gl.check(wmma_shared, rule=rule)
for kernel in ("k10_wmma_global_f16", "k10_wmma_shared_f16"):
    c = gl.count(kernel, 256, 256, 256)
    loaded = c.total(space="global", op="ld").bytes
    print(f"{kernel:20} {c.flops / loaded:4.0f} FLOP per byte loaded (counted)")

# %% [markdown]
# - **Eight accumulators per warp.** A fragment of `A` is used twice, one of `B` four times.
# - **`PAD`** moves each row by four banks. That programmers of WMMA "cannot influence the banks" goes too far: pointer
#   and pitch are theirs. What does not fit is a swizzle, as a tile must be an array with one pitch.
#
# **Predict** the excess without padding: rows of 128 bytes, eight of them per 8 × 8 matrix.

# %%
for kernel in ("k10_wmma_unpadded_f16", "k10_wmma_shared_f16"):
    counted = gl.count(kernel, 128, 128, 64).sites
    loads = [site for site in counted if site.opcode.startswith("wmma.load")]
    waves = sum(site.wavefronts for site in loads)
    ideal = sum(site.wavefronts_ideal for site in loads)
    print(f"{kernel:22} {waves:5,} wavefronts for loads, {ideal:,} at least (modelled)")

# %%
trace = gl.trace("k10_wmma_unpadded_f16", 128, 128, 64)
gl.plots.bank_grid(next(a for a in trace if a.site.opcode.startswith("wmma.load.a")))

# %% [markdown]
# *Modelled*, since how the compiler reads a fragment is its own affair: the emulator takes word by word, and ptxas may
# choose `ldmatrix` (`LDSM`), which fetches rows. It does not always:

# %%
for kernel in ("k10_wmma_shared_f16", "k10_wmma_shared"):
    built = gl.compile(kernel, target="sm_90")
    known = "wmma.load.a.sync.aligned.row.m16n16k16.shared" in built.ptx
    where, sass = "shared memory" if known else "somewhere", built.sass() or ""
    print(f"{kernel:20} loads from {where}:", end=" ")
    print(f"{sass.count('LDSM')} LDSM, {sass.count(' LD.E')} generic")

# %% [markdown]
# The same source, for BF16, compiles to *generic* loads, element pair by element pair (NVRTC 12.9, counted in SASS):
# for this type the compiler does not follow the pointer back to shared memory. Whoever hides the layout also chooses
# the instructions.

# %% [markdown]
# ## Measure
#
# A wavefront takes one cycle of an SM, so counts give a ceiling. **Predict** the order of the four, and where the best
# FP32 kernel of chapter 09 stands among them.

# %%
KERNELS = ("k10_wmma_global", "k10_wmma_unpadded", "k10_wmma_shared")
KERNELS += ("k10_wmma_shared_f16",)


def banks_allow(kernel):
    c = gl.count(kernel, 128, 128, 1024)
    waves = c.total(space="shared").wavefronts
    return f"{c.flops / waves * 132 * 1.98e9 / 1e12:.0f}" if waves else "-"


rows = []
for kernel in ("k09_wide_columns", *KERNELS):
    m = gl.measure(kernel, 4096, 4096, 4096)
    banks = banks_allow(kernel) if kernel in KERNELS[1:3] else "-"
    measured = (f"{m.tflops:.1f}", f"{m.ratio:.2f}") if m.tflops else ("-", "-")
    rows.append((kernel, banks, *measured))
columns = ("kernel", "banks allow (modelled)", "TFLOP/s", "of cuBLAS")
gl.plots.table.Table(f"4096 × 4096 × 4096, {m.label}", columns, tuple(rows))

# %% [markdown]
# **Outcome** (H200, 2026-11-30; all but the last in BF16). The first kernel is *slower* than FP32 on ordinary lanes:
# eight FLOP per byte starve any unit. Shared tiles without padding are two and a half times as fast, below what their
# banks allow. One constant, `PAD`, brings nearly a factor of three: it is the largest step of this chapter. And BF16
# pays for its generic loads: the same source in FP16 is about a fifth faster.

# %%
counters = {name: gl.count(name, 256, 256, 256) for name in KERNELS[:3:2]}
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=list(counters), bytes="requested", counters=counters
)

# %%
gl.verdict("k10_wmma_shared_f16")

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A tensor core multiplies matrices held by a whole warp: 19 times the work per register, for operands
# > that must arrive 19 times as fast. WMMA drives it in ten lines, and keeps the seating plan to itself.

# %% [markdown]
# | step | limit, and the counter that shows it |
# |---|---|
# | from global memory | loads: 8 FLOP per requested byte |
# | shared, no padding | banks: six wavefronts where one would do |
# | shared, padded | order: the block copies, waits, multiplies, waits (two barriers per tile) |
# | the same in BF16 | instructions: generic loads instead of `LDSM` |
#
# The loads of a fragment are the compiler's, and `C` takes a detour through shared memory, because nobody may know
# which lane holds which sum. Which lane holds which element? That is chapter 11.

# %% [markdown]
# ## Exercises
#
# In [exercises/10_tensor_cores_wmma.ipynb](../exercises/10_tensor_cores_wmma.ipynb): **10.1** multiply-adds per
# register, **10.2** repair a published kernel, **10.3** use a fragment twice, **10.4** which statements rely on a
# layout.
#
# ## References
#
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#wmma), warp matrix
#   functions: shapes, types, alignment.
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `wmma.load`, `wmma.mma`, `mma`.
# - J. Appleyard, S. Yokim, [Programming tensor cores in CUDA
#   9](https://developer.nvidia.com/blog/programming-tensor-cores-cuda-9/), 2017.
# - NVIDIA, architecture white papers: Volta, Turing, Ampere, Hopper ([hardware tables](../book/hardware.md)).
# - Z. Jia and others, [Dissecting the NVIDIA Volta GPU architecture via
#   microbenchmarking](https://arxiv.org/abs/1804.06826), 2018.
