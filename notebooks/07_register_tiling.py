# %% [markdown]
# # 07 · Register tiling
#
# **How much work per byte of shared memory?** A thread computes a patch of `C` instead of one element. An 8 × 8 patch
# makes 64 multiply-adds from 16 loads of shared memory, where a single element makes one from two.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [05](05_shared_tiling.ipynb): tiles in shared memory; [06](06_bank_conflicts.ipynb): banks and
#   wavefronts.
# - **You will be able to:** derive what a patch of TM × TN saves; write a kernel as a sum of outer products; choose
#   which elements a lane owns so that no bank is met twice; read registers and spills off the compiler.
# - **Needs:** nothing; a GPU adds the stopwatch.
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
# In one cycle an SM serves one **wavefront** of shared memory, up to 32 words. In the same cycle its 128 FP32 lanes
# could start *four* warp-wide multiply-adds. So a kernel may spend one wavefront on four of them.
#
# **Predict.** The square tile of chapter 05 loads two words for each multiply-add. What share of the FP32 peak can
# shared memory feed?

# %%
from numba import cuda, float32, uint32


def fed(kernel):
    counters = gl.count(kernel, 128, 128, 512)
    loads, fmas = counters.total(space="shared", op="ld"), counters.mix()["fma"]
    share = min(1, fmas / 4 / loads.wavefronts)
    each = loads.requests / fmas, loads.wavefronts / fmas
    said = f"{each[0]:.3f} loads, {each[1]:.3f} wavefronts per multiply-add"
    print(f"{kernel}: {said} (counted)")
    print(f"    feeds at most {share:.1%} of the peak (modelled)")
    return counters


counted = {"k05_tiled_square": fed("k05_tiled_square")}

# %% [markdown]
# An eighth, with not a single bank conflict.
#
# ## The idea
#
# A value in a register can be used again for nothing. So let a thread own a **patch** of TM × TN elements of `C`. For
# each `k` it reads TM values of `A` and TN of `B`, and adds their *outer product* to the patch: TM · TN multiply-adds
# that do not wait for one another.

# %%
gl.plots.outer_product(8, 8)

# %% [markdown]
# A value of `A` serves TN multiply-adds, one of `B` TM (not TM · TN, as one can read): per step `2 · TM · TN` FLOP from
# `4 (TM + TN)` bytes. BK does not enter.
#
# **Predict:** which square patch is the first that one wavefront per load can feed at full rate?

# %%
gl.plots.patch_intensity(mark=[(8, 1), (4, 4), (8, 8)])

# %% [markdown]
# Four multiply-adds per load means `TM · TN ≥ 4 (TM + TN)`: 8 × 8, with 2 FLOP per byte of shared memory (derived). Its
# sums take 64 of a thread's 255 registers.
#
# Make the patch larger and smaller below: which ones feed every lane, and what do they leave for a second block?

# %%
gl.widgets.patch_explorer()

# %% [markdown]
# ## Half a step: a column per thread
#
# First TM = 8, TN = 1. The tile is 64 × 64 and BK is 8, so that each of 512 threads copies one element of either tile.

# %%
BM, BN, BK = 64, 64, 8
TM = 8
THREADS = BM * BN // TM


# %% tags=["kernel"] gemmlab={"kernel": "simt/k07_register_1d.py"}
@cuda.jit
def register_1d(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    row, col = tid // uint32(BN) * uint32(TM), tid % uint32(BN)
    am, ak = tid // uint32(BK), tid % uint32(BK)  # NOTE: one element per tile and thread
    bk, bn = tid // uint32(BN), tid % uint32(BN)
    for i in range(TM):
        acc[i] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        smem_a[am, ak] = A[m0 + am, k0 + ak] if m0 + am < M and k0 + ak < K else float32(0)
        smem_b[bk, bn] = B[k0 + bk, n0 + bn] if k0 + bk < K and n0 + bn < N else float32(0)
        cuda.syncthreads()

        # Multiply: one value of B meets TM values of A.
        for k in range(uint32(BK)):
            b = smem_b[k, col]
            for i in range(TM):
                acc[i] += smem_a[row + uint32(i), k] * b
        cuda.syncthreads()

    for i in range(TM):
        m, n = m0 + row + uint32(i), n0 + col
        if m < M and n < N:
            C[m, n] = acc[i]
# %%
gl.check("k07_register_1d")
counted["k07_register_1d"] = fed("k07_register_1d")

# %% [markdown]
# `acc` is a *local array*: in registers if its indices are constants once the loops are unrolled, otherwise in local
# memory, which is device memory behind a cache.
#
# ## A patch per thread
#
# Now both directions: 256 threads, each with 8 × 8 elements of a 128 × 128 tile.

# %%
BM, BN, BK = 128, 128, 8
TM, TN = 8, 8
THREADS = (BM // TM) * (BN // TN)


# %% tags=["kernel"] gemmlab={"kernel": "simt/k07_register_2d.py"}
@cuda.jit
def register_2d(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    frag_a = cuda.local.array(TM, float32)
    frag_b = cuda.local.array(TN, float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)  # NOTE: signed indices would be 64 bits wide
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    row, col = tid // uint32(BN // TN) * uint32(TM), tid % uint32(BN // TN) * uint32(TN)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        for i in range(BM * BK // THREADS):
            e = tid + uint32(i * THREADS)
            m, k = e // uint32(BK), e % uint32(BK)
            smem_a[m, k] = A[m0 + m, k0 + k] if m0 + m < M and k0 + k < K else float32(0)
        for i in range(BK * BN // THREADS):
            e = tid + uint32(i * THREADS)
            k, n = e // uint32(BN), e % uint32(BN)
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < K and n0 + n < N else float32(0)
        cuda.syncthreads()

        # Multiply: the outer product of a column of the A patch and a row of the B patch.
        for k in range(uint32(BK)):
            for i in range(TM):
                frag_a[i] = smem_a[row + uint32(i), k]
            for j in range(TN):
                frag_b[j] = smem_b[k, col + uint32(j)]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += frag_a[i] * frag_b[j]
        cuda.syncthreads()

    for i in range(TM):
        for j in range(TN):
            m, n = m0 + row + uint32(i), n0 + col + uint32(j)
            if m < M and n < N:
                C[m, n] = acc[i, j]
# %% [markdown]
# - **Copying is separate from computing.** Neighbouring lanes copy neighbouring addresses, four elements per thread,
#   whoever computes with them.
# - **`frag_a`, `frag_b`** hold one step of `k`; the two inner loops are the outer product.
#
# **Predict:** 16 loads for 64 multiply-adds. So the wavefronts per multiply-add are 0.25?

# %%
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"],
    "block": [256, 1, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}
gl.check(register_2d, rule=rule)
counted["k07_register_2d"] = fed("k07_register_2d")

# %% [markdown]
# Three times as many. Here are the banks of one warp's reads, `B` (into `frag_b`) above and `A` below:

# %%
def reads(kernel):
    trace = gl.trace(kernel, 128, 128, 8)
    return [access for access in trace if access.kind == "ld"]


gl.plots.bank_grid(reads("k07_register_2d"))

# %% [markdown]
# ## Neighbours in a thread are strangers in a warp
#
# "A thread reads TN *consecutive* elements of `B`, so there is no bank conflict." Consecutive over TN instructions. But
# banks are met by the lanes of *one* instruction, which read at a stride of TN words: every eighth bank. For `A`, two
# rows lie 64 words apart, in one bank.

# %% [markdown]
# Would wider loads help? `load4` reads four neighbours at once (chapter 08); a quarter of the warp is served together.
#
# **Predict** the wavefronts that bring eight columns to each of 16 lanes: scalar; 128-bit; 128-bit, with the columns in
# two halves, `4c` and `64 + 4c`.

# %%
from kernels.simt.vector import load4


@cuda.jit
def read_scalar(out, stride, second):
    smem = cuda.shared.array(256, float32, alignment=16)
    at = stride * (cuda.threadIdx.x % 16)
    for j in range(4):
        out[cuda.threadIdx.x] += smem[at + j] + smem[at + second + j]


@cuda.jit
def read_wide(out, stride, second):
    smem = cuda.shared.array(256, float32, alignment=16)
    at = stride * (cuda.threadIdx.x % 16)
    x, y = load4(smem, at), load4(smem, at + second)
    out[cuda.threadIdx.x] = x[0] + x[1] + x[2] + x[3] + y[0] + y[1] + y[2] + y[3]


# %%
def columns(kernel, stride, second):
    out = np.zeros(32, np.float32)
    how = {"grid": 1, "block": 32, "backend": "emulator", "check": False}
    report = gl.launch(kernel, out, stride, second, **how).report
    loads = report.counters.total(space="shared", op="ld")
    return f"{loads.requests} loads, {loads.wavefronts:2} wavefronts"


print("scalar,  8c … 8c+7             ", columns(read_scalar, 8, 4))
print("128-bit, 8c … 8c+7             ", columns(read_wide, 8, 4))
print("scalar,  4c … 4c+3 and 64+4c … ", columns(read_scalar, 4, 64))
print("128-bit, 4c … 4c+3 and 64+4c … ", columns(read_wide, 4, 64))

# %% [markdown]
# The width alone halves the 32 wavefronts, the ownership does the rest: eight lanes then read 128 bytes in a row.
#
# ### What the assembler merges
#
# The emulator counts PTX, whose loads are scalar. `ptxas` merges four into one `LDS.128` where it can prove that they
# are neighbours and aligned to 16 bytes:

# %%
import re
from collections import Counter


def shared_loads(kernel):
    try:
        sass = gl.compile(kernel, target="sm_90").sass()
        return dict(Counter(re.findall(r"\bLDS[.\w]*", sass)))
    except gl.GemmlabError as error:
        return error


for kernel in ("k05_tiled_square", "k07_register_2d", "k07_warp_tile"):
    print(f"{kernel}: {shared_loads(kernel)}")

# %% [markdown]
# `register_2d` has two `LDS.128` for `B`, which still conflict two ways, and eight scalar loads for `A`, whose rows lie
# BK words apart. That makes 16 + 16 wavefronts for 64 multiply-adds, at most half the peak (modelled).

# %% [markdown]
# ## A patch per warp
#
# Two cures: `A` goes into shared memory **transposed**, so that the rows of one `k` are neighbours, and lanes own
# **groups of four**, so that the warp's patch is compact.

# %%
two = ("k07_register_2d", "k07_warp_tile")
gl.plots.warp_patches({name: gl.trace(name, 128, 128, 8) for name in two}, (128, 128))

# %% [markdown]
# The perimeter of chapter 04 again: work is the area of the warp's patch, the words it needs half the perimeter. So
# there is a level between block and thread: block tile BM × BN, **warp tile** WM × WN, thread patch TM × TN. Tensor
# cores take over this warp tile in chapter 10.

# %%
WM, WN = 64, 32
THREADS = 32 * (BM // WM) * (BN // WN)
PITCH = BM + 4


# %% tags=["kernel"] gemmlab={"kernel": "simt/k07_warp_tile.py"}
@cuda.jit
def warp_tile(A, B, C):
    smem_a = cuda.shared.array((BK, PITCH), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    frag_a = cuda.local.array(TM, float32)
    frag_b = cuda.local.array(TN, float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    warp, lane = tid // uint32(32), tid % uint32(32)
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    row = warp % uint32(BM // WM) * uint32(WM) + lane // uint32(4) * uint32(4)
    col = warp // uint32(BM // WM) * uint32(WN) + lane % uint32(4) * uint32(4)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        for i in range(BM * BK // THREADS):
            e = tid + uint32(i * THREADS)
            m, k = e // uint32(BK), e % uint32(BK)
            smem_a[k, m] = A[m0 + m, k0 + k] if m0 + m < M and k0 + k < K else float32(0)
        for i in range(BK * BN // THREADS):
            e = tid + uint32(i * THREADS)
            k, n = e // uint32(BN), e % uint32(BN)
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < K and n0 + n < N else float32(0)
        cuda.syncthreads()

        for k in range(uint32(BK)):
            # Groups of four: rows from row and row + 32, columns from col and col + 16.
            for i in range(4):
                frag_a[i] = smem_a[k, row + uint32(i)]
                frag_a[4 + i] = smem_a[k, row + uint32(32 + i)]
                frag_b[i] = smem_b[k, col + uint32(i)]
                frag_b[4 + i] = smem_b[k, col + uint32(16 + i)]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += frag_a[i] * frag_b[j]
        cuda.syncthreads()

    for i in range(TM):
        for j in range(TN):
            m = m0 + row + uint32(i // 4 * 32 + i % 4)
            n = n0 + col + uint32(j // 4 * 16 + j % 4)
            if m < M and n < N:
                C[m, n] = acc[i, j]
# %% [markdown]
# - **8 × 4 lanes.** Lanes that want the same word share it.
# - **`PITCH = BM + 4`.** Storing a transposed tile walks down columns. Four words of padding spread them over the
#   banks and keep rows aligned to 16 bytes.
#
# **Predict** the wavefronts per multiply-add, and the conflicts.

# %%
gl.check(warp_tile, rule=rule)
counted["k07_warp_tile"] = fed("k07_warp_tile")
shared = counted["k07_warp_tile"].total(space="shared")
print(f"{shared.excess_wavefronts} of {shared.wavefronts:,} wavefronts in excess")
gl.plots.bank_grid(reads("k07_warp_tile"))

# %% [markdown]
# ## The square tile
#
# Many texts set BM = BN = BK and TM = TN. Ours has a tile of 64 and patches of 4 × 4. What does the deep tile buy?

# %%
gl.check("k07_register_square")
counted["k07_register_square"] = fed("k07_register_square")
for kernel in ("k07_register_square", "k07_warp_tile"):
    print(f"{kernel}: {gl.compile(kernel).static_shared:,} bytes of shared memory")

# %% [markdown]
# No reuse, since BK cancels; fewer barriers, for four times the shared memory. A listing that circulates stores the
# tile of `A` as `As[m][k]` and reads it as `As[k][m]`: neither `A·B` nor `Aᵀ·B`, at any shape (exercise 07.3).
#
# ## Registers
#
# **Predict:** 64 sums and 16 values are 80 registers. How many does the compiler take, and how many blocks of 256
# threads does an SM hold then?

# %%
def blocks_per_sm(compiled, threads):
    registers = -(-compiled.registers // 8) * 8  # given out in units of 8 per thread
    by_shared = 228 * 1024 // (compiled.static_shared + 1024)
    return min(2048 // threads, 65536 // (registers * threads), by_shared)


BLOCKS = {"k05_tiled_square": 1024, "k07_register_1d": 512, "k07_warp_tile": 256}
for kernel, threads in BLOCKS.items():
    c = gl.compile(kernel, target="sm_90")
    blocks = blocks_per_sm(c, threads)
    held = f"{blocks} blocks, {blocks * threads // 32} of 64 warps"
    used = f"{c.registers:4} registers, {c.spill_bytes} bytes spilled"
    print(f"{kernel:17}{used}: {held}")

# %% [markdown]
# A quarter of the warps, and yet the fastest (below): **occupancy is no goal**. It hides latency, as 64 independent
# sums per thread do.
#
# A guide's cure for spilled registers is `__launch_bounds__`. **Predict** what more blocks per SM do:

# %%
for blocks in (1, 2, 3, 4):
    bounded = cuda.jit(launch_bounds=(256, blocks))(warp_tile.py_func)
    c = gl.compile(bounded, target="sm_90")
    used = f"{c.registers:3} registers, {c.spill_bytes:3} bytes spilled"
    print(f"{blocks} per SM: {used}")

# %% [markdown]
# The bound is a *limit* for the compiler: four blocks leave 64 registers, as many as the sums alone. Here it causes
# spills, where in chapter 05 it helped; a smaller patch cures them. (`k07_warp_tile_spilled` below is the last line.)
#
# ## What a signed index costs
#
# Our kernels say `uint32` wherever an index appears; without it Numba takes signed 64-bit integers. **Predict** the
# integer instructions per multiply-add, before and after.

# %%
from types import FunctionType

code, names = register_2d.py_func.__code__, register_2d.py_func.__globals__
signed = cuda.jit(FunctionType(code, {**names, "uint32": int}, "signed"))

kinds = {"uint32": register_2d, "int": signed}
mixes = {name: gl.count(k, 128, 128, 64, rule=rule) for name, k in kinds.items()}
for name, counters in mixes.items():
    mix, registers = counters.mix(), gl.compile(kinds[name], target="sm_90").registers
    print(f"{name:6} {mix['int'] / mix['fma']:.2f} integer per multiply-add,", end=" ")
    print(f"{registers} registers")
gl.plots.instruction_mix(mixes)

# %% [markdown]
# A signed index may be negative, which in Python counts from the end: every access compares, selects and multiplies
# in 64 bits, on half as many lanes as FP32 has.
#
# ## Measure
#
# **Predict** the order of the kernels at 4096³, and at 1024³, where C has 64 tiles of 128 × 128.

# %%
LADDER = ("k05_tiled_square", "k07_register_1d", "k07_register_2d", "k07_warp_tile")
STUDIES = ("k07_register_square", "k07_register_2d_signed", "k07_warp_tile_spilled")
sizes = (1024, 2048, 4096)
found = {name: [gl.measure(name, n, n, n) for n in sizes] for name in LADDER + STUDIES}
print(f"TFLOP/s at {sizes}: {found['k07_warp_tile'][-1].label}")
for name, row in found.items():
    print(f"{name:24}", *(f"{m.tflops:6.2f}" if m.tflops else "     –" for m in row))

# %%
gl.plots.recorded_roofline(
    "H200", "float32", kernels=LADDER, bytes="requested", counters=counted
)

# %% [markdown]
# Larger tiles also move the kernels to the right: fewer *global* bytes. Shared memory, this chapter's limit, is drawn
# nowhere on this plot. Counters show it:
#
# | at 4096³ | wavefronts per multiply-add | feeds, at most | TFLOP/s | of cuBLAS |
# |---|---|---|---|---|
# | square tile of 05 | 1.50 | 11.2 | 7.8 | 0.15 |
# | column, 8 × 1 | 1.125 | 14.9 | 11.6 | 0.23 |
# | patch, 8 × 8 | 0.50 | 33.5 | 22.6 | 0.44 |
# | warp tile | 0.19 | 66.9 | 29.9 | 0.58 |

# %% [markdown]
# (Shared loads by the profiler, recorded on an H200, 2026-11-30; ceilings modelled from them.)

# %% [markdown]
# - **At 4096** each rung beats the one below; the first three reach 67 to 78 % of what shared memory allows.
# - **At 1024** the order turns: tiles of 128 × 128 give 64 blocks for 132 SMs, 64 × 64 gives 256.
# - **Signed indices** cost a factor of 3.2, **spilled** sums one of 5.3.
# - **The warp tile** is fed in full and reaches 45 % of the peak. The next limit stands in SASS: of 819 instructions
#   per tile 512 do arithmetic, at most 42 TFLOP/s.

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A patch of TM × TN turns TM + TN loads into TM · TN multiply-adds; BK cancels. Banks are met by the
# > lanes of one instruction: let them own their columns in groups of four. Registers pay for it, and launch bounds
# > are a limit, no gift.
#
# Shared memory could now feed every FP32 lane; slots for instructions are short. The warp *issues* one for every word
# that it copies or stores. How wide is one load? That is chapter 08.

# %% [markdown]
# ## Exercises
#
# In [exercises/07_register_tiling.ipynb](../exercises/07_register_tiling.ipynb): **07.1** FLOP per byte of a patch,
# **07.2** write the outer product, **07.3** repair a published listing, **07.4** choose the columns.
#
# ## References
#
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): launch bounds.
# - NVIDIA, [CUTLASS: efficient GEMM](https://docs.nvidia.com/cutlass/media/docs/cpp/efficient_gemm.html): tiles of
#   block, warp and thread.
# - S. Boehm, [How to optimize a CUDA matmul kernel](https://siboehm.com/articles/22/CUDA-MMM), kernels 4, 5 and 10.
# - V. Volkov, [Better performance at lower
#   occupancy](https://www.nvidia.com/content/GTC-2010/pdfs/2238_GTC2010.pdf), GTC 2010.
