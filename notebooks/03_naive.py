# %% [markdown]
# # 03 · The naive kernel
#
# **What does the obvious kernel cost?** One thread computes one element of `C`. It is right at every shape, and it
# asks memory for two numbers per multiply-add: 0.25 FLOP/byte, where the H200's ridge is at 14.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [02](02_gemm_and_roofline.ipynb): FLOPs, bytes, roofline.
# - **You will be able to:** map threads to outputs and guard the edge; check a GEMM so that a pass means something;
#   read counters by source line and name them in a profiler; read the loop of a kernel in PTX and SASS; write the
#   same kernel in CUDA C++.
# - **Needs:** nothing; with an NVIDIA GPU of compute capability 7.5 or later the same cells run on it.
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
# A 4096³ FP32 product needs at least 2.05 ms on an H200 (chapter 02, derived). To come near, 132 SMs with 128 FP32
# lanes each must start a multiply-add in every cycle. What does memory have to deliver for that, if we do the obvious
# thing?

# %% [markdown]
# ## The idea
#
# The `M·N` elements of `C` do not depend on one another. So: **one thread per element**. A thread derives its row `m`
# and column `n` from its place in the grid, walks along `k`, writes one number.
#
# Threads form blocks, blocks the grid; the machine runs a block in **warps** of 32 lanes. In ours, of 32 × 8 threads,
# `x`, the direction in which lanes are numbered, runs along `m`.

# %%
gl.plots.thread_map(block=(32, 8), x="m")

# %% [markdown]
# So the lanes of a warp hold 32 *rows* of `C` in one column. That is a free choice; the next chapter questions it.
# (Lanes usually execute together, but since Volta each has its own program counter: code that needs lockstep must ask
# for it with `__syncwarp`.)
#
# ## The kernel
#
# Numba compiles a Python function to PTX, NVIDIA's portable assembly. `cuda.grid(2)` returns `blockIdx · blockDim +
# threadIdx` in `x` and in `y`. The host chooses grid and block; we write them as a **launch rule** in `M`, `N` and
# `K`, so that the kernel can be launched, checked and graded at any shape.

# %%
from numba import cuda, float32, uint32

rule = {
    "grid": ["cdiv(M, 32)", "cdiv(N, 8)", "1"],
    "block": [32, 8, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}


# %% tags=["kernel"] gemmlab={"kernel": "simt/k03_naive.py"}
@cuda.jit
def naive(A, B, C):
    m, n = cuda.grid(2)  # NOTE: x counts rows: a warp runs down a column of C
    if m < C.shape[0] and n < C.shape[1]:
        m, n, K = uint32(m), uint32(n), uint32(A.shape[1])  # NOTE: unsigned, see below
        acc = float32(0)  # NOTE: 0.0 would make the sum a float64
        k = uint32(0)
        while k < K:
            acc += A[m, k] * B[k, n]
            k += uint32(1)
        C[m, n] = acc


# %% [markdown]
# - **The guard.** The grid is rounded up to whole blocks, so threads at the edge have no element. They must neither
#   read nor write; both conditions are needed.
# - **`float32(0)` and `uint32(k)`.** A bare `0.0` would make the sum a double, and `range` would count in signed
#   64-bit integers. Below we count what those two Python habits cost.
# - **A local accumulator.** `C[m, n] += …` in the loop would read and write memory `K` times per output.
# - **Shapes travel with the arrays.** Numba passes each array as a pointer with its sizes and strides.
#
# One call launches it: on the GPU if there is one that can, otherwise on the emulator, which executes the PTX on the
# CPU.

# %%
A, B = np.random.default_rng(3).normal(size=(2, 64, 64)).astype(np.float32)
C = np.full((64, 64), np.nan, np.float32)
launch = gl.launch(naive, A, B, C, grid=(2, 8), block=(32, 8))
print(f"on the {launch.backend}; close to NumPy: {abs(C - A @ B).max() < 1e-4}")

# %% [markdown]
# ## Is it right?
#
# One square shape and a small difference prove little: a transposed product passes if the inputs are symmetric, a
# missing guard passes if nobody looks where it wrote. `gl.check` uses fresh asymmetric inputs, sizes off the block
# (17, 33), three different sizes, a long `K`, a `C` full of NaN, guard zones around every array, and an error bound
# derived from `K` and the type. The emulator also verifies each single access.
#
# And if the grid is rounded down? At 64 × 64 nobody would notice.

# %%
gl.check(naive, rule=rule)
try:
    gl.check(naive, rule=dict(rule, grid=["M // 32", "N // 8", "1"]))
except gl.CheckError as error:
    print(error)

# %% [markdown]
# ## Predict, then count
#
# For each output the loop loads `K` elements of `A` and `K` of `B`. All outputs together *request* `2·M·N·K`
# elements, 8·M·N·K bytes in FP32, for `2·M·N·K` FLOP: **0.25 FLOP/byte** at every shape. (The store of `C` adds one
# part in 2K.) At 1024³ that is 8.6 GB from inputs of 8.4 MB: each element is asked for 1,024 times.
#
# **Predict** for `M, N, K = 64, 32, 64`: how many bytes do the loads request, and how often is an element of `A`
# read, how often one of `B`? The inputs hold 24 KB.

# %%
counters = gl.count(naive, 64, 32, 64, rule=rule)
counters

# %% [markdown]
# A *request* is one load by one warp; a *sector* is 32 bytes of memory. Both are what the profiler Nsight Compute
# counts on a GPU:
#
# | here | `ncu --metrics …`, for global loads |
# |---|---|
# | instructions (`ldg`) | `smsp__inst_executed_op_global_ld.sum` |
# | requests | `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum` |
# | sectors | `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` |
#
# `A` takes 32 sectors per request and `B` one. Keep the 32: it is chapter 04. The emulator counts what is
# *requested*; what reaches DRAM only a profiler on a GPU can tell (`dram__bytes_read.sum`).

# %%
requested, flops = counters.bytes("global"), counters.flops
print(f"{requested:,} bytes for {flops:,} FLOP: {counters.intensity:.3f} FLOP/byte")
everywhere = gl.trace(naive, 64, 32, 64, rule=rule, cta=None, warp=None)
gl.plots.reads_per_element(everywhere, {"A": (64, 64), "B": (64, 32)})

# %% [markdown]
# ## The same kernel in CUDA C++
#
# From chapter 10 on we need instructions that Numba cannot express, so we meet its sibling now. The cell holds C++;
# edit it and run it again.

# %% tags=["kernel"] gemmlab={"kernel": "simt/k03_naive_cuda.cu"}
# %%cuda naive_cuda
# extern "C" __global__ void naive(
#     const float* A, const float* B, float* C, int M, int N, int K)
# {
#     int m = blockIdx.x * blockDim.x + threadIdx.x;  // NOTE: x counts rows
#     int n = blockIdx.y * blockDim.y + threadIdx.y;
#     if (m < M && n < N) {
#         float acc = 0.0f;
#         for (int k = 0; k < K; ++k)
#             acc += A[(size_t)m * K + k] * B[(size_t)k * N + n];
#         C[(size_t)m * N + n] = acc;
#     }
# }

# %% [markdown]
# - **`extern "C"`** keeps the entry's name; otherwise C++ mangles it and no loader finds it.
# - **Bare pointers.** Sizes are arguments, and the row lengths are ours to write: `K` for `A`, `N` for `B` and `C`.
#   Mix them up and square shapes still pass.
# - **`(size_t)`**, because `m * K` in `int` overflows beyond 2³¹ elements.
#
# NVRTC, NVIDIA's run-time compiler, compiles the text without a GPU. In CuPy it would be `cupy.RawKernel(text,
# "naive")`, called as `kernel(grid, block, (A, B, C, np.int32(M), …))`; an argument of the wrong width goes unnoticed
# there, while `gl.launch` checks each against the kernel.

# %%
twin = dict(rule, args=["A", "B", "C", "M", "N", "K"])
gl.check(naive_cuda, rule=twin)

# %% [markdown]
# ## What the machine executes
#
# Four PTX instructions make a GEMM: `ld.global` loads, `fma.rn.f32` is the fused multiply-add (one rounding), `setp`
# compares into a predicate register, `bra` jumps if that predicate holds. Names such as `%f29` are virtual registers,
# as many as one likes. This is the twin's loop for one `k`; the compiler also makes a version unrolled by four, to
# have more loads in flight.

# %%
import re


def last_loop(kernel):
    ptx = gl.compile(kernel).ptx
    blocks = re.findall(r"^\$L\w+:.*?bra\s[^;]*;", ptx, re.DOTALL | re.MULTILINE)
    return [block for block in blocks if "fma" in block][-1]


print(last_loop(naive_cuda))

# %% [markdown]
# Two loads for one `fma`; the rest is address arithmetic and loop control. `ptxas` turns PTX into **SASS**, the code
# of one GPU generation, where the four are called `LDG`, `FFMA`, `ISETP` and `BRA` and the registers are real: at
# most 255 per thread. `gl.compile(naive).sass()` shows it if `nvdisasm` is installed.
#
# ### Two Python habits
#
# Here is the kernel as one would first write it in Python, and once more with the sum started at `0.0`.

# %%
def habit(zero):
    @cuda.jit
    def kernel(A, B, C):
        m, n = cuda.grid(2)
        if m < C.shape[0] and n < C.shape[1]:
            acc = zero
            for k in range(A.shape[1]):
                acc += A[m, k] * B[k, n]
            C[m, n] = acc

    return kernel


signed = gl.count(habit(np.float32(0)), 64, 32, 64, rule=rule)
double = gl.count(habit(0.0), 64, 32, 64, rule=rule)
habits = {"range, signed": signed, "range, 0.0": double}
gl.plots.instruction_mix({"ours": counters, **habits})

# %% [markdown]
# - **Signed indices**: 19 integer instructions per multiply-add instead of 2.5 (counted). A signed index may be
#   negative, which in Python counts from the end, so the kernel tests for it in each access, and `range` adds a test
#   of its own. The C++ twin needs 2.3.
# - **`0.0`**: no fused multiply-add is left. Each product is rounded to FP32, converted, and added in FP64. The
#   result is *more* accurate, so no comparison of values finds it. An H200 has half as many FP64 as FP32 lanes, a T4
#   1/32, an RTX 5090 1/64 (data sheets).

# %% [markdown]
# ## Measure
#
# **Predict.** If every requested byte came from HBM, an H200's 4.8 TB/s would allow 0.25 · 4.8 = 1.2 TFLOP/s, and
# 4096³ would take 115 ms (derived). Slower than that would mean that something else holds the kernel back; faster,
# that caches serve requests. Which?

# %%
for size in (1024, 2048, 4096):
    print(gl.measure("k03_naive", size, size, size))

# %% [markdown]
# About 0.5 TFLOP/s at every size: slower than even DRAM would force it to be. And DRAM is nearly idle: at 4096³ the
# profiler saw 28 of the 550 GB requested cross the memory bus, 0.1 TB/s (recorded); caches served the rest. So DRAM
# is not the limit, nor is arithmetic (0.7 % of the peak), nor are the instructions: at six per multiply-add (counted)
# the four schedulers of an SM use 5 % of their slots (derived). On the roofline, at its requested bytes, the kernel
# hangs *below* the slope of the bandwidth. Something that the plot does not draw holds it back.

# %%
counted = {"k03_naive": counters}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=["k03_naive"], bytes="requested", counters=counted
)

# %%
gl.plots.bank_grid(gl.trace(naive, 64, 32, 64, rule=rule))

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** One thread per element is right at every shape and requests 8 bytes per multiply-add: 0.25
# > FLOP/byte, 1/56 of the H200's FP32 ridge. Check on ragged shapes, count by source line, then measure.
#
# Of the two loads in the loop, one takes 32 sectors per request and the other a single one. Which 32 addresses does a
# warp ask for? That is chapter 04.

# %% [markdown]
# ## Exercises
#
# In [exercises/03_naive.ipynb](../exercises/03_naive.ipynb): **03.1** guard and loop, **03.2** intensity by requested
# bytes, **03.3** the twin in CUDA C++, **03.4** a repair.
#
# ## References
#
# - [Numba for CUDA](https://nvidia.github.io/numba-cuda/): kernels, `cuda.grid`, arrays.
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `ld`, `fma`, `setp`, `bra`.
# - NVIDIA, [Nsight Compute: kernel profiling
#   guide](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html): metrics of the L1/TEX cache.
# - [CuPy: raw kernels](https://docs.cupy.dev/en/stable/user_guide/kernel.html#raw-kernels).
# - S. Boehm, [How to optimize a CUDA matmul kernel](https://siboehm.com/articles/22/CUDA-MMM).
