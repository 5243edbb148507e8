# %% [markdown]
# # 03 · The naive kernel
#
# **What does the obvious kernel cost?** One thread computes one element of `C`. It is right at every shape, and it asks memory for two
# numbers per multiply-add: an intensity of 0.25 FLOP/byte against a ridge of 14.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [02](02_gemm_and_roofline.ipynb): FLOPs, bytes, roofline.
# - **You will be able to:** map threads to outputs and guard the edge; check a GEMM so that a pass means something; read the emulator's
#   counters by source line and know their profiler names; read the loop of a kernel in PTX and SASS; write the same kernel in CUDA C++.
# - **Needs:** nothing; with an NVIDIA GPU of compute capability 7.5 or later the same cells run on it.
# - **Time:** 75 minutes.

# %% tags=["setup"]
import gemmlab as gl

# %% [markdown]
# ## The limit
#
# From chapter 02: a 4096³ FP32 product is 137.4 GFLOP, at least 2.05 ms on an H200 (derived). To come near, 132 SMs with 128 FP32 lanes each
# must start a multiply-add in every cycle. The question of this chapter is what memory has to deliver for that if we do the obvious thing.
#
# ## The idea
#
# `C` has `M·N` elements and none depends on another. So: **one thread per element**. A thread takes its own row `m` and column `n` from its
# position in the grid, walks along `k`, and writes one number.
#
# Threads come in blocks and blocks in a grid, both up to three-dimensional. Our block is 32 × 8 threads, and its `x` direction, the one in
# which lanes of a warp are numbered, runs along `m`.

# %%
gl.plots.thread_map(block=(32, 8), tile=(32, 8), x="m")

# %% [markdown]
# Each warp of 32 lanes therefore covers 32 *rows* of `C` in one column. That is a free choice, and the next chapter will question it.
#
# ## The kernel
#
# Numba compiles the Python function below to PTX, NVIDIA's portable assembly. `cuda.grid(2)` is `blockIdx · blockDim + threadIdx` in `x` and
# in `y`.

# %%
from numba import cuda, float32

# %% tags=["kernel"] gemmlab={"kernel": "simt/k03_naive.py"}

# %% [markdown]
# - **The guard.** The grid is rounded up to whole blocks, so at the lower and right edge there are threads with no element. They must
#   neither read nor write; both conditions are needed.
# - **`float32(0)`.** A bare `0.0` is a double in Python, and then the whole sum is. We count what that costs below.
# - **The accumulator is local.** `C[m, n] += …` in the loop would read and write memory `K` times per output.
# - **Shapes travel with the arrays.** Numba passes each array as a pointer with its sizes and strides; `m` and `k` are turned into an address
#   inside the kernel.
#
# The host chooses the grid. We state it as a rule in `M`, `N`, `K`, so that the same kernel can be launched, checked and graded at any shape:

# %%
rule = {"grid": ["cdiv(M, 32)", "cdiv(N, 8)", "1"], "block": [32, 8, 1], "shared": 0, "args": ["A", "B", "C"]}

# %% [markdown]
# One call launches it, on the GPU if there is one that fits, otherwise on the emulator, which executes the PTX on the CPU. The cell is the
# same.

# %%
import numpy as np

A, B = np.random.default_rng(0).normal(size=(2, 64, 64)).astype(np.float32)
C = np.full((64, 64), np.nan, np.float32)
launch = gl.launch(naive, A, B, C, grid=(2, 8), block=(32, 8))
print(launch.backend, abs(C - A @ B).max())

# %% [markdown]
# ## Is it right?
#
# One square shape and a small difference prove little: a transposed product passes if the inputs are symmetric, an unguarded kernel passes if
# it spoils memory that nobody looks at. `gl.check` uses fresh asymmetric inputs, shapes off the block size (17, 33), three different sizes,
# a long `K`, a `C` full of NaN, guard zones around every array and an error bound derived from `K` and the type. On the emulator, also every
# access must be inside its array.

# %%
gl.check(naive, rule=rule)

# %% [markdown]
# What if the grid is rounded down instead of up? This is the commonest mistake, and at 64 × 64 it would not show.

# %%
short = dict(rule, grid=["M // 32", "N // 8", "1"])
try:
    gl.check(naive, rule=short)
except gl.CheckError as error:
    print(error)

# %% [markdown]
# ## Predict, then count
#
# Per output element the loop loads `K` elements of `A` and `K` of `B`. All outputs together *request* `2·M·N·K` elements, 8·M·N·K bytes in
# FP32, for `2·M·N·K` FLOP: exactly **0.25 FLOP/byte**, at every shape (the store of `C` adds 1/(2K) to the bytes).
#
# **Predict** for 64 × 64 × 64: how many bytes of loads, and how often is one element of `A` read? (`A` has 4,096 elements, 16 KB.)

# %%
counters = gl.count(naive, 64, 64, 64, rule=rule)
counters

# %% [markdown]
# Each line of the table is a memory instruction of our source. With a GPU, Nsight Compute (`ncu`) shows the same under these names:
#
# | here | in `ncu`, for global loads |
# |---|---|
# | requests | `l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum` |
# | sectors | `l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum` |
# | executions | `smsp__inst_executed_op_global_ld.sum` |
#
# A *request* is one load instruction of one warp; a *sector* is 32 bytes. The load of `A` needs 32 sectors per request, that of `B` one. Keep
# that number: it is chapter 04.

# %%
print(f"requested {counters.bytes('global'):,} bytes, {counters.flops:,} FLOP: {counters.intensity:.3f} FLOP/byte")

# %% [markdown]
# The inputs hold 32 KB, yet 2.1 MB are requested: every element of `A` is read `N` times, every element of `B` `M` times. The heat map counts
# the reads per element from the addresses that the kernel really used.

# %%
gl.plots.reads_per_element(gl.trace(naive, 64, 64, 64, rule=rule, cta=None, warp=None))

# %% [markdown]
# ## What the machine executes
#
# The compiler turns our loop into PTX. Four kinds of instruction matter: `ld.global` loads, `fma.rn.f32` is the fused multiply-add, `setp`
# compares into a predicate register, and `bra` jumps if the predicate holds.

# %%
compiled = gl.compile(naive)
print(compiled.loop())

# %% [markdown]
# One `fma` stands among the loads, address arithmetic and loop control. `ptxas` then makes machine code (SASS) of it: `LDG`, `FFMA`, `ISETP`,
# `BRA`. It unrolls the loop by four, so that four loads are in flight before the first is needed. SASS needs `nvdisasm`, which comes with the
# CUDA toolkit; without it the cell says so.

# %%
print(compiled.sass_summary())

# %% [markdown]
# ### A double in the wrong place
#
# Now the promised trap: the same kernel with `acc = 0.0`. The result is even more accurate, so no comparison finds it.

# %%
@cuda.jit
def naive_f64(A, B, C):
    m, n = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = 0.0
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


for kernel in (naive, naive_f64):
    print({op: n for op, n in gl.count(kernel, 64, 64, 64, rule=rule).mix().items() if op in ("fma", "f64", "cvt")})

# %% [markdown]
# The fused multiply-adds are gone: the product is rounded to FP32, converted, and added in FP64. A data-centre GPU has half as many FP64 as
# FP32 lanes, a T4 has 1/32, an RTX 5090 1/64.
#
# ## The same kernel in CUDA C++
#
# From chapter 10 on we need instructions that Numba cannot express, so we meet its sibling now. The cell is C++; edit it and run it again.

# %% tags=["kernel"] gemmlab={"kernel": "simt/k03_naive_cuda.cu"}
# %%cuda naive_cuda

# %% [markdown]
# - **`extern "C"`** keeps the entry's name; without it C++ mangles it and the loader does not find it.
# - **Bare pointers.** Sizes are arguments, and we write the leading dimension ourselves: `A[m * K + k]`. Use the wrong one and square shapes
#   still pass.
# - **`int` indices** overflow above 2³¹ elements. Ours stay below; chapter 25 comes back to it.
#
# NVRTC compiles it at run time, as CuPy's `RawKernel` does, and the same `launch`, `check` and `count` accept it.

# %%
twin = dict(rule, args=["A", "B", "C", "M", "N", "K"])
gl.check(naive_cuda, rule=twin)
print(gl.count(naive_cuda, 64, 64, 64, rule=twin).total(space="global").sectors, counters.total(space="global").sectors)

# %% [markdown]
# ## Measure
#
# **Predict.** If each requested byte came from HBM at 4.8 TB/s, a 4096³ product would take 8·4096³ / 4.8e12 = 115 ms, 1.2 TFLOP/s. Will the
# kernel be slower than that, or faster?

# %%
for size in (1024, 2048, 4096):
    print(gl.measure("k03_naive", size, size, size))

# %% [markdown]
# (Discussion of the recorded numbers.)

# %%
gl.plots.recorded_roofline("H200", "float32", kernels=["k03_naive"], shape=(4096, 4096, 4096), bytes="requested")

# %%
gl.plots.bank_grid(gl.trace(naive, 64, 64, 64, rule=rule))

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** The naive kernel requests 8 bytes per multiply-add: 0.25 FLOP/byte, 1/56 of the H200's FP32 ridge. Caches decide what that
# > costs. Count first, then measure.
#
# Which 32 addresses does a warp ask for? → 04

# %% [markdown]
# ## Exercises
# ## References
