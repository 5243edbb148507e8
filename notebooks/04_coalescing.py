# %% [markdown]
# # 04 · Coalescing
#
# **Which 32 addresses does a warp ask for?** We swap two names. The kernel does the same sums and requests the same
# bytes, but the addresses of a warp now lie side by side: 5 sectors per step instead of 33.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [03](03_naive.ipynb): the naive kernel and its counters.
# - **You will be able to:** say for any load which sectors a warp touches; choose a mapping from threads to elements;
#   predict sectors per request for a stride, an offset and a block shape; tell requested bytes, sectors and DRAM
#   bytes apart.
# - **Needs:** nothing; a GPU adds the stopwatch.
# - **Time:** 60 minutes.

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
# Memory does not deliver single floats. It delivers **sectors** of 32 aligned bytes, four to a 128-byte cache line. A
# *request*, one load by one warp, is served by as many sectors as its 32 addresses touch; what no lane uses of them
# was moved for nothing, unless somebody uses it soon. (Guides that speak of 128-byte transactions mean the line.)
#
# So the cost of a load is decided by 32 addresses together, and one line computes it:

# %% tags=["nbval-check-output"]
from numba import cuda, float32, uint32


def sectors(addresses):
    return len({address // 32 for address in addresses})


lane = np.arange(32)
for name, stride in [("32 neighbours", 4), ("a column", 4 * 1024), ("one address", 0)]:
    print(f"{name:13} {sectors(stride * lane):2} sectors")

# %% [markdown]
# 32 neighbouring floats are four sectors, the least for 128 different bytes. A column is 32 sectors: 1,024 bytes
# moved, 128 used. And one address for all lanes is a **broadcast**: one sector, of which an eighth is used.
#
# **Predict.** In the naive kernel `m` runs along the lanes, and `n` is the same for all of them. How many sectors do
# `A[m, k]`, `B[k, n]` and the store of `C[m, n]` take?

# %%
before = gl.count("k03_naive", 64, 64, 64)
before

# %% [markdown]
# 32, 1 and 32 (counted): 33 sectors for each step of `k`, where the 132 bytes in use would fit in five.
#
# ## The idea
#
# Which index should run along the lanes? The one that is contiguous in memory for as many operands as possible. In
# row-major storage that is `n`, for `B[k, n]` and for `C[m, n]`. No choice makes `A[m, k]` contiguous, since `k` is
# the loop; but then all lanes want the *same* element of `A`, a broadcast.

# %%
gl.plots.thread_map(block=(32, 8), x="n")

# %% [markdown]
# ## The kernel
#
# One line changes: `m, n` becomes `n, m`. In the launch rule `M` and `N` change places too, as the grid's `x` now
# counts columns.

# %% tags=["kernel"] gemmlab={"kernel": "simt/k04_coalesced.py"}
@cuda.jit
def coalesced(A, B, C):
    n, m = cuda.grid(2)  # NOTE: x counts columns: a warp runs along a row of C
    if m < C.shape[0] and n < C.shape[1]:
        m, n, K = uint32(m), uint32(n), uint32(A.shape[1])
        acc = float32(0)
        k = uint32(0)
        while k < K:
            acc += A[m, k] * B[k, n]
            k += uint32(1)
        C[m, n] = acc


# %%
rule = {
    "grid": ["cdiv(N, 32)", "cdiv(M, 8)", "1"],
    "block": [32, 8, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}
gl.check(coalesced, rule=rule)

# %% [markdown]
# - A grid that was not swapped goes unnoticed on square matrices; where `M` and `N` differ, part of `C` is never
#   written. The check has such shapes.
# - Many guides call *this* kernel naive, and then blame uncoalesced access for its slowness. It has none.
# - Column-major matrices turn the argument around: there `m` belongs on the lanes.
#
# ## Predict, then count
#
# **Predict** the three figures of the new kernel. What happens to the requested bytes and to the intensity?

# %%
after = gl.count(coalesced, 64, 64, 64, rule=rule)
for name, c in [("naive", before), ("coalesced", after)]:
    moved = f"{c.bytes('global'):,} bytes requested"
    print(f"{name:9} {moved}, {c.intensity:.3f} FLOP/byte")
after

# %% [markdown]
# `A` takes 1 sector, `B` 4, the store 4: five per step of `k` instead of 33, a factor of 6.6. Bytes requested and
# intensity are what they were.
#
# Here are the addresses of one warp, as the emulator recorded them. Each row is a cache line; coloured words were
# asked for, grey ones moved along.

# %%
traces = {
    "naive": gl.trace("k03_naive", 64, 64, 64),
    "coalesced": gl.trace(coalesced, 64, 64, 64, rule=rule),
}
gl.plots.sector_map(traces, arrays=("A", "B"), shapes={"A": (64, 64), "B": (64, 64)})

# %% [markdown]
# Step through `k`: the naive kernel comes back to the *same* 32 sectors of `A` seven more times.

# %%
gl.widgets.sector_explorer(naive="k03_naive", coalesced="k04_coalesced")

# %% [markdown]
# ## Strides and offsets
#
# Coalescing is no yes-or-no property. A copy kernel that reads `src[offset + stride · i]` shows the range between.
#
# **Predict:** at which stride does a load of floats reach 32 sectors? What does an offset of one element cost at
# stride 1?

# %% tags=["nbval-check-output"]
@cuda.jit
def strided_copy(src, dst, stride, offset):
    i = cuda.grid(1)
    dst[i] = src[offset + stride * i]


def load_sectors(stride, offset=0):
    src = np.zeros(32 * stride + offset + 1, np.float32)
    args = src, np.zeros(32, np.float32), stride, offset
    run = gl.launch(strided_copy, *args, grid=1, block=32, backend="emulator")
    return run.report.counters.total(space="global", op="ld").sectors


STRIDES = (0, 1, 2, 3, 4, 8, 9, 32)
print("stride: sectors", {stride: load_sectors(stride) for stride in STRIDES})
print("offset: sectors", {offset: load_sectors(1, offset) for offset in (0, 1, 8)})

# %% [markdown]
# Four more sectors per unit of stride, until at 8 every lane has a sector of its own (counted). Stride 2 costs twice
# as much as stride 1, not 32 times. Offset 1 straddles a fifth sector, offset 8 does not. The *order* of the lanes is
# free: 32 neighbours read backwards are four sectors too.
#
# ## The shape of the block
#
# A warp was one row of our block because the block is 32 wide. In a block of 16 × 16, popular in textbooks, it covers
# two rows of 16.
#
# **Predict** for both mappings: how many sectors does a step of `k` take then? And how many 128-byte lines?

# %% tags=["nbval-check-output"]
STUDY = ("k03_naive", "k03_naive_16x16", "k04_coalesced_16x16", "k04_coalesced")


def touched(kernel, size):
    loads = [access for access in gl.trace(kernel, 64, 64, 64) if access.kind == "ld"]
    return sum(len(set(load.addresses // size)) for load in loads[:2])


lines = {kernel: touched(kernel, 128) for kernel in STUDY}
for kernel in STUDY:
    moved = f"{touched(kernel, 32):2} sectors, {lines[kernel]:2} lines"
    print(f"{kernel:20} {moved} per step of k")

# %% [markdown]
# A warp of `r` rows and `c` columns needs `r` elements of `A` and `c` of `B`: the perimeter of its rectangle, while
# its work is the area. So 2 × 16 takes 4 sectors where 1 × 32 takes 5. But it takes 3 lines, not 2. Which of them
# decides?
#
# A sector is no trip to DRAM: each sector of `A` holds the next seven `k` of its lane, and the 8 · 32 lines that an
# SM's eight blocks touch at a time, 32 KB, fit in L1 (derived). What no cache hides is its own work: a request over
# many lines passes through L1 in several **wavefronts**. How many lines one takes is not documented. Suppose one:

# %% tags=["nbval-check-output"]
def one_line_per_cycle(lines, sms=132, ghz=1.98):
    return sms * 32 * 2 * ghz / lines / 1e3  # TFLOP/s: 32 multiply-adds per step


for kernel in STUDY:
    ceiling = one_line_per_cycle(lines[kernel])
    print(f"{kernel:20} at most {ceiling:.2f} TFLOP/s (modelled, H200)")

# %% [markdown]
# ## Measure
#
# **Predict** the gain of the swap from three models: sectors say 33/5 = 6.6, lines 33/2 = 16.5, requested bytes 1.

# %%
sizes = (1024, 2048, 4096)
found = {kernel: [gl.measure(kernel, n, n, n) for n in sizes] for kernel in STUDY}
print(f"TFLOP/s at {sizes}, {found['k04_coalesced'][0].label}")
for kernel in STUDY:
    rates = [f"{m.tflops:6.2f}" if m.tflops else "     –" for m in found[kernel]]
    print(f"{kernel:20}", *rates)

# %% [markdown]
# Recorded: the model is right within 5 % for both naive kernels at every size. In the coalesced kernel 16 × 16 is
# slower than 32 × 8 at 1024 and 2048, although it moves fewer sectors: **lines decide**, and not sectors. At 2048 the
# swap gains a factor of 11.8, and the kernel reaches 70 % of its ceiling of two lines. At 4096 both shapes come to 3.1
# and 3.2 TFLOP/s: there something else decides.
#
# (For this kernel on an A100 a figure of 80 GFLOP/s circulates. With no cache at all, 1,555 GB/s would allow 389.)

# %%
counters = {"k03_naive": before, "k04_coalesced": after}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=list(counters), bytes="requested", counters=counters
)

# %% [markdown]
# Both kernels stand at one intensity, as they request the same bytes: the naive one below the slope, the coalesced
# one above it. Above the slope means that caches served most of the bytes.
#
# At 4096³ `B` alone has 67.1 million bytes, and the H200 reports an L2 of 62.9 million. The blocks that fit on its SMs
# at once cover 66 rows of `C`, so `B` must come 62 times, 4.2 GB (derived); the profiler saw 4.3 GB come from DRAM
# (recorded). In 44 ms that is 0.1 TB/s, far below what DRAM can do: it is the longer wait for each load that lowers
# the rate. Shared memory is still unused:

# %%
gl.plots.bank_grid(traces["coalesced"])

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A load costs the sectors and the cache lines behind a warp's 32 addresses. Put the index that is
# > contiguous in memory on the lanes: one swapped pair of names takes the naive kernel from 33 lines per step to 2.
#
# At one line per cycle, two loads for each multiply-add feed 16 of an SM's 128 FP32 lanes, an eighth of the peak. And
# each element is still requested thousands of times. One memory on the chip is ours to control, seven times as fast as
# DRAM (132 SMs × 128 B × 1.98 GHz = 33 TB/s, derived; H200). How often must a byte come from DRAM? That is chapter 05.

# %% [markdown]
# ## Exercises
#
# In [exercises/04_coalescing.ipynb](../exercises/04_coalescing.ipynb): **04.1** turn the mapping, **04.2** sectors of
# a strided load, **04.3** `C = A·Bᵀ`, where no mapping is coalesced.
#
# ## References
#
# - NVIDIA, [CUDA C++ Best Practices
#   Guide](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#coalesced-access-to-global-memory), coalesced
#   access to global memory.
# - NVIDIA, [Nsight Compute: kernel profiling
#   guide](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html), metrics of the L1/TEX cache.
# - NVIDIA developer forum, [wavefronts and sectors per
#   request](https://forums.developer.nvidia.com/t/wahts-the-difference-between-wavefronts-and-sectors-req/165293/4).
# - S. Boehm, [How to optimize a CUDA matmul kernel](https://siboehm.com/articles/22/CUDA-MMM), kernel 2: the same
#   swap on an A6000.
