# %% [markdown]
# # 06 · Bank conflicts
#
# **Why is on-chip memory slow sometimes?** Shared memory has 32 banks. Lanes that want different words of one bank
# queue for it. We store the tile of `A` the other way round, see one store take 32 turns, and cure it in three ways.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [05](05_shared_tiling.ipynb): the tiled kernel.
# - **You will be able to:** compute the wavefronts of any access, 16 to 128 bits wide; find a conflict by source line;
#   cure it by padding, by a swizzle of words or of 16-byte chunks, and say what each costs.
# - **Needs:** nothing; a GPU adds the stopwatch.
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
# Word `w` (4 bytes) of shared memory lies in bank `w % 32`. In one **wavefront** every bank can deliver one word, to
# as many lanes as want it. So a request costs the largest number of *different* words in one bank.

# %%
from collections import Counter

from numba import cuda, float32, uint32


def passes(words):
    return max(Counter(int(word) % 32 for word in set(words)).values())


lane = np.arange(32)
orders = {"neighbours": lane, "backwards": 31 - lane, "one word": 0 * lane}
for name, words in orders.items():
    print(f"{name:10} {passes(words)} wavefront")

# %% [markdown]
# **Predict:** lane `i` reads word `stride · i`. How many wavefronts at strides 2, 3, 4, 16, 32 and 33?

# %%
@cuda.jit
def strided(out, stride):
    smem = cuda.shared.array(2048, float32)
    lane = cuda.threadIdx.x
    for i in range(lane, 2048, 32):
        smem[i] = i
    cuda.syncthreads()
    out[lane] = smem[stride * lane]


for stride in (1, 2, 3, 4, 16, 32, 33):
    out = np.zeros(32, np.float32)
    run = gl.launch(strided, out, stride, grid=1, block=32, backend="emulator")
    load = run.report.counters.total(space="shared", op="ld")
    print(f"stride {stride:2}: {passes(stride * lane):2} wavefronts derived, "
          f"{load.wavefronts:2} counted, {load.excess_wavefronts:2} in excess")

# %% [markdown]
# The greatest common divisor of stride and 32: odd strides are free, a stride of 32 is a **32-way conflict**. (An
# H200's profiler counts the same.)
#
# A tile of 16 × 16 words puts element `(i, j)` in bank `(16·i + j) % 32`. **Predict:** 16 lanes read a column, then a
# row. Which conflicts? A widely read guide has it the wrong way round.

# %%
i = np.arange(16)
print("16 × 16, column:", passes(16 * i + 3), " row:", passes(16 * 3 + i))

# %% [markdown]
# ## The idea
#
# In chapter 05 every request took one wavefront. But threads will soon compute several rows of `C` each, and want
# several `m` at the same `k`, side by side. So we store the tile of `A` *transposed*: `smem_a[k, m]`. The lanes that
# load a row of `A`, coalesced, now store it down a column. The **pitch**, the words from one row to the next, is 32.

# %%
TILE = 32


# %% tags=["kernel"] gemmlab={"kernel": "simt/k06_transposed.py"}
@cuda.jit
def transposed(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)  # NOTE: [k, m]
    smem_b = cuda.shared.array((TILE, TILE), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    m, n = uint32(cuda.blockIdx.y * TILE) + ty, uint32(cuda.blockIdx.x * TILE) + tx
    acc = float32(0)

    for k0 in range(uint32(0), K, uint32(TILE)):
        smem_a[tx, ty] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(uint32(TILE)):
            acc += smem_a[k, ty] * smem_b[k, tx]
        cuda.syncthreads()

    if m < M and n < N:
        C[m, n] = acc


# %%
rule = {
    "grid": ["cdiv(N, 32)", "cdiv(M, 32)", "1"],
    "block": [32, 32, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}
gl.check(transposed, rule=rule)

# %% [markdown]
# **Predict** the wavefronts of each of the four shared-memory accesses: two stores, two loads.

# %%
gl.count(transposed, 64, 64, 64, rule=rule)

# %%
def store_of_a(kernel, **launch):  # the first store to shared memory of warp 5
    accesses = gl.trace(kernel, 64, 64, 64, warp=5, **launch)
    return next(a for a in accesses if a.space == "shared" and a.kind == "st")


gl.plots.bank_grid(store_of_a(transposed, rule=rule))

# %% [markdown]
# The store of `A`: 32 wavefronts, all 32 lanes at one bank (counted). The other three are free. So per tile a warp
# spends 97 wavefronts where 66 would do.
#
# ## Cure 1: padding
#
# One unused word at the end of each row makes the pitch 33: element `(k, m)` moves to bank `(k + m) % 32`, and a
# column walks through all of them. What changes is one number (and the kernel's name):

# %%
import difflib

import kernels


def region(name):
    return kernels.spec(name).path.read_text().split("region: kernel")[1].splitlines()


two = region("k06_transposed"), region("k06_padded")
for line in difflib.unified_diff(*two, n=0, lineterm=""):
    if line[0] in "+-" and line[1:].strip(" +-"):
        print(line)

# %%
gl.check("k06_padded")
gl.plots.bank_grid(store_of_a("k06_padded"))

# %% [markdown]
# - **It costs memory**, 128 bytes here.
# - **It costs alignment.** Rows start at multiples of 132 bytes; a 128-bit access needs a multiple of 16, and stops
#   the kernel without it: "+1" and `float4` do not go together.
# - **The right number depends on the request**: in a block of 16 × 16, "+1" still conflicts (exercise 06.4).

# %% [markdown]
# ## Cure 2: a swizzle of words
#
# Permute each row within itself: element `(k, m)` goes to column `m ^ k`. XOR with a fixed number is a permutation and
# its own inverse: one formula serves store and load.

# %%
def word_swizzle(k, m, rows=32):
    return 32 * k + (m ^ (k % rows))


m = np.arange(32)
words = {int(word) for k in range(32) for word in word_swizzle(k, m)}
print(f"{len(words)} different words for 1024 elements")
for rows in (32, 16, 8):
    row, column = word_swizzle(5, m, rows), word_swizzle(m, 5, rows)
    took = f"along a row {passes(row)}, down a column {passes(column)}"
    print(f"m ^ (k % {rows:2}): {took}")


# %% [markdown]
# `k % 8`, in circulation for 4-byte words too, sends 32 lanes to eight banks: 4-way (derived). It belongs to another
# unit, to which we come. In the kernel two index expressions change:

# %% tags=["kernel"] gemmlab={"kernel": "simt/k06_xor_word.py"}
@cuda.jit(launch_bounds=(1024, 2))  # NOTE: two blocks per SM: at most 32 registers
def xor_word(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)  # NOTE: [k, m ^ k]
    smem_b = cuda.shared.array((TILE, TILE), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    m, n = uint32(cuda.blockIdx.y * TILE) + ty, uint32(cuda.blockIdx.x * TILE) + tx
    acc = float32(0)

    for k0 in range(uint32(0), K, uint32(TILE)):
        smem_a[tx, ty ^ tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(uint32(TILE)):
            acc += smem_a[k, ty ^ k] * smem_b[k, tx]
        cuda.syncthreads()

    if m < M and n < N:
        C[m, n] = acc


# %%
gl.check(xor_word, rule=rule)
gl.plots.bank_grid(store_of_a(xor_word, rule=rule))

# %% [markdown]
# No padding, no conflict. But four neighbours in `m` are now scattered: no 128-bit load can fetch them.

# %% [markdown]
# ## How wide is a request?
#
# A wavefront moves at most 32 words. With 64 bits per lane a half-warp is served at a time, with 128 bits a
# **quarter-warp**: eight lanes, each a *chunk* of 16 bytes. Conflicts arise only among lanes that are served together.
# Below 32 bits lanes share words.
#
# **Predict:** each lane reads the first chunk of its own row. Which pitch is free of conflicts at 128 bits: 32, 33 or
# 36 words? And 16-bit elements down a column of a 32 × 32 tile?

# %%
from gemmlab.bank_probe import wavefronts

PITCHES = {128: (32, 36), 64: (32, 34), 32: (32, 33), 16: (16, 17)}
for bits, pair in PITCHES.items():
    for pitch in pair:
        took, least = wavefronts(4 * pitch * lane, bits // 8)
        found = f"{took:2} wavefronts, {least} at least"
        print(f"{bits:3} bits, pitch {pitch} words: {found}")

# %% [markdown]
# At 128 bits a pitch of 36 words is free, and 33 is not allowed at all. A column of 16-bit elements with 64 bytes to a
# row is 16-way; copied in chunks it would be free. (A 128-bit broadcast takes an H200 two wavefronts, not four: chapter
# 08.)

# %% [markdown]
# ## Cure 3: a swizzle of chunks
#
# Permute chunks instead of words: chunk `c` of row `k` goes to place `c ^ (k % 8)`. Inside a chunk nothing moves, so
# that 128-bit loads stay possible. TMA and the tensor cores' descriptors have this swizzle in hardware (chapters 11,
# 14, 15).

# %%
def chunk_swizzle(k, m):
    return 32 * k + 4 * (m // 4 ^ k % 8) + m % 4


wide = wavefronts(4 * chunk_swizzle(lane, 0), 16)
print(f"128 bits down a column of chunks: {wide[0]} wavefronts, {wide[1]} at least")
print(f"32 bits down a column: {passes(chunk_swizzle(lane, 5))} wavefronts")


# %% [markdown]
# Free for the wide access, and 4-way for our scalar store. A swizzle fits *requests*, not tiles. So we change the
# request: a warp loads 4 rows of `A`, 8 elements of each, and stores all four words of all eight chunks.

# %% tags=["kernel"] gemmlab={"kernel": "simt/k06_xor_chunk.py"}
@cuda.jit(launch_bounds=(1024, 2))  # NOTE: two blocks per SM: at most 32 registers
def xor_chunk(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)  # NOTE: [k, m], swizzled
    smem_b = cuda.shared.array((TILE, TILE), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    m, n = uint32(cuda.blockIdx.y * TILE) + ty, uint32(cuda.blockIdx.x * TILE) + tx
    acc = float32(0)

    # Place the lanes on A so that a warp stores all 4 words of all 8 chunks.
    ak = tx % uint32(8) + ty % uint32(4) * uint32(8)
    am = tx // uint32(8) + ty // uint32(4) * uint32(4)
    am_global = m - ty + am

    for k0 in range(uint32(0), K, uint32(TILE)):
        a = A[am_global, k0 + ak] if am_global < M and k0 + ak < K else float32(0)
        smem_a[ak, am ^ ak % uint32(8) * uint32(4)] = a
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(uint32(TILE)):
            acc += smem_a[k, ty ^ k % uint32(8) * uint32(4)] * smem_b[k, tx]
        cuda.syncthreads()

    if m < M and n < N:
        C[m, n] = acc


# %%
gl.check(xor_chunk, rule=rule)
gl.plots.bank_grid(store_of_a(xor_chunk, rule=rule))

# %% [markdown]
# (With 64 bytes to a row every second row must differ: `c ^ (k // 2 % 4)`.) Try it, and the others, on any access:

# %%
gl.widgets.bank_explorer()

# %% [markdown]
# And here are the kernels' own addresses, lane by lane:

# %%
gl.widgets.bank_explorer(
    warp=5,
    transposed="k06_transposed",
    padded="k06_padded",
    words="k06_xor_word",
    chunks="k06_xor_chunk",
)

# %% [markdown]
# ## What do the cures cost?
#
# **Predict** which of the five kernels executes most integer instructions per multiply-add.

# %%
CURES = ("k06_padded", "k06_xor_word", "k06_xor_chunk")
STUDY = ("k05_tiled_square", "k06_transposed", *CURES)
counted = {name: gl.count(name, 64, 64, 64) for name in STUDY}
print(f"{'':17} excess wavefronts  integer/multiply-add  shared bytes")
for name, c in counted.items():
    excess, mix = c.total(space="shared").excess_wavefronts, c.mix()
    size = gl.compile(name, target="sm_90").static_shared
    print(f"{name:17} {excess:17,}  {mix['int'] / mix['fma']:20.2f}  {size:12,}")

# %%
for kernel in (xor_word, xor_chunk):
    free = gl.compile(cuda.jit(kernel.py_func), target="sm_90").registers
    held = gl.compile(kernel, target="sm_90").registers
    print(f"{kernel.__name__:9} {free} registers left alone, {held} within the bounds")

# %% [markdown]
# XOR is no constant offset: an address `m ^ k` is computed for each `k`, or kept in a register of its own. Left alone,
# `ptxas` keeps them, and only one block of 1,024 threads fits on an SM (chapter 05). Within the bounds it computes
# them: 163 and 142 instructions per tile, padding takes 134 (SASS, ptxas 12.9). So a swizzle is paid for in registers
# or in instructions.

# %% [markdown]
# ## Predict, then measure
#
# Excess wavefronts cost time only if the kernel waits for shared memory. Ours loops on it, 64 loads per store of `A`.
# At one wavefront per cycle:

# %%
def at_most(wavefronts, steps, sms=132, ghz=1.98):
    return sms * 64 * steps / wavefronts * ghz / 1e3  # TFLOP/s: 64 FLOP a step


steps = 64**3 / 32
for name, c in counted.items():
    ceiling = at_most(c.total(space="shared").wavefronts, steps)
    print(f"{name:17} at most {ceiling:.1f} TFLOP/s (modelled, H200)")
print(f"a 32-way conflict in the inner loop: at most {at_most(33, 1):.1f}")

# %% [markdown]
# (In chapter 05's layout `ptxas` merges four reads of `A`, and the ceiling is 11.2; a transposed tile gives it nothing
# to merge.) The last line is the same mistake *in the loop over `k`*, where it meets every multiply-add. **Predict**
# the order of the five, and then look:

# %%
sizes = (1024, 2048, 4096)
found = {kernel: [gl.measure(kernel, n, n, n) for n in sizes] for kernel in STUDY}
print(f"TFLOP/s at {sizes}, {found['k06_transposed'][0].label}")
for kernel, some in found.items():
    rates = [f"{m.tflops:6.2f}" if m.tflops else "  none" for m in some]
    print(f"{kernel:17}", *rates)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). `transposed` stands at 93 % of the 5.5 that its excess wavefronts allow: there the
# conflict *is* the limit. Padding gains 36 % at 4096, the swizzles, with their extra instructions, about half of that.
# All stay behind chapter 05's kernel, whose reads of `A` merge: 40 shared loads per tile in SASS, not 64.
#
# A cure has to be weighed with what it costs *this* kernel. For a scalar tile padding wins. The swizzle of chunks earns
# its place where padding cannot go: with 128-bit loads, and in the layouts that TMA and `wgmma` read.

# %% [markdown]
# On a GPU, Nsight Compute counts the same quantities:
#
# | here | `ncu --metrics …` |
# |---|---|
# | wavefronts of loads | `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum` |
# | excess of loads | `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum` |
# | … of stores | the same with `op_st` |
#
# At 4096³ the emulator expects 64³ times the excess of 64³:

# %%
from gemmlab.results import find

for name, c in counted.items():
    records = find(name, 4096, 4096, 4096)
    seen = records[0].get("profile", {}) if records else {}
    seen = seen.get("shared_store_conflicts")
    said = "not recorded" if seen is None else f"{seen:,.0f}"
    excess = 64**3 * c.total(space="shared", op="st").excess_wavefronts
    print(f"{name:17} stores: {excess:13,} counted, profiler on an H200: {said:>13}")

# %% [markdown]
# The profiler's counter can exceed what addresses explain: data from L2 competes for the same port. Prove a swizzle by
# its addresses, as here; then measure.

# %%
long = {name: gl.count(name, 64, 64, 4096) for name in STUDY[:3]}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=list(long), bytes="requested", counters=long
)

# %% [markdown]
# On the roofline nothing moves sideways: conflicts cost no bytes. Banks are a third limit, which only the wavefronts
# show.

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A request to shared memory costs as many wavefronts as the fullest bank has different words, for each
# > group of lanes that is served together. Padding is the cheapest cure, an XOR of 16-byte chunks keeps 128-bit access
# > and wastes nothing. A layout is right or wrong *for a request*.

# %% [markdown]
# | at 4096³ | excess of 64³ | predicted, at most | TFLOP/s | of cuBLAS | limit now |
# |---|---|---|---|---|---|
# | transposed | 7,936 | 5.5 | 5.1 | 0.10 | the conflict |
# | padded | 0 | 8.1 | 7.0 | 0.14 | two loads per multiply-add |
# | word XOR | 0 | 8.1 | 6.1 | 0.12 | the same, and instructions |
# | chunk XOR | 0 | 8.1 | 6.0 | 0.12 | the same, and instructions |
#
# (Recorded on an H200, 2026-11-30; ceilings modelled.)

# %% [markdown]
# Without a conflict two wavefronts still go with 32 multiply-adds, an eighth of what the arithmetic could take. The
# loads themselves are too many. How much work can be had per byte of shared memory? That is chapter 07.

# %% [markdown]
# ## Exercises
#
# In [exercises/06_bank_conflicts.ipynb](../exercises/06_bank_conflicts.ipynb): **06.1** wavefronts of a load,
# **06.2** a swizzle by words, **06.3** by chunks, **06.4** repair the padding.
#
# ## References
#
# - NVIDIA, [CUDA C++ Programming
#   Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#shared-memory-5-x), shared memory and banks.
# - NVIDIA, [Nsight Compute: kernel profiling
#   guide](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html), shared-memory metrics.
# - NVIDIA developer forum, [cp.async and bank
# conflicts](https://forums.developer.nvidia.com/t/cp-async-introduces-bank-conflict-than-naive-ldg-and-sts-ptx/245066):
#   what the counter includes.
# - S. Boehm, [SGEMM_CUDA](https://github.com/siboehm/SGEMM_CUDA): the table of its README.
# - M. Harris, [An efficient matrix transpose in CUDA
#   C/C++](https://developer.nvidia.com/blog/efficient-matrix-transpose-cuda-cc/): padding, shown on a transpose.
