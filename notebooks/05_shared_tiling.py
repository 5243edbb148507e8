# %% [markdown]
# # 05 · Tiling in shared memory
#
# **How often must a byte come from DRAM?** Once would do. A block now copies tiles of `A` and `B` into memory of its
# own and reads them from there: 32 times fewer bytes requested, and 2.5 times the speed at 4096.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [04](04_coalescing.ipynb): the coalesced kernel, sectors, requested and moved bytes.
# - **You will be able to:** write a tiled GEMM that is right at every shape; say what each of its two barriers is for;
#   derive the traffic of any tile and the limits on its size; tell why less traffic need not mean more speed.
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
# A product of size `n` needs `2·n²` numbers from DRAM. The coalesced kernel requests `2·n³`. **Predict:** how often did
# each byte of `A` and `B` cross the H200's memory bus, by the profiler, at 1024, 2048 and 4096? (At 2048 the two have
# 34 MB and fit in L2, at 4096 134 MB and do not.)

# %%
from gemmlab.results import find


def dram_read(kernel, n):  # bytes, by the profiler on an H200, or None
    records = find(kernel, n, n, n)
    return records[0].get("profile", {}).get("dram_read_bytes") if records else None


for n in (1024, 2048, 4096):
    once, moved = 2 * n * n * 4, dram_read("k04_coalesced", n)
    text = f"{moved / once:.1f} × once" if moved else "not recorded"
    asked = f"once {once / 1e6:5.1f} MB, requested {once * n / 1e9:5.1f} GB"
    print(f"{n}: {asked}, DRAM {text}")

# %% [markdown]
# While both matrices fit in L2, caches serve the reuse. But a cache guesses what is needed again; we *know*. Shared
# memory lets us say so: kilobytes on the SM that a block fills itself.

# %% [markdown]
# ## The idea
#
# Cut `C` into tiles of `BM × BN`, one per block, and walk along `K` in steps of `BK`. At each step the block copies a
# `BM × BK` tile of `A` and a `BK × BN` tile of `B` *together*; then each thread adds `BK` products from there.
#
# Step along `K`, then change one size at a time: which of them change the bytes that all blocks request?

# %%
gl.widgets.tile_explorer(BM=32, BN=32, BK=32)

# %% [markdown]
# How many bytes is that? A block copies `BM·BK + BK·BN` elements, `K/BK` times, and there are `M/BM · N/BN` blocks:
#
# $$\frac{M}{BM}\cdot\frac{N}{BN}\cdot\frac{K}{BK}\,(BM\cdot BK + BK\cdot BN) \;=\; M N K
# \left(\frac{1}{BM}+\frac{1}{BN}\right)$$
#
# `BK` cancels. `A` is served by the tile's *width*, `B` by its *height*. (Guides also give `MNK / min(BM, BN)`: half of
# what a square tile moves.)
#
# ## The kernel
#
# We begin with the textbook's case, one edge for all three sizes: each of 32 × 32 threads copies one element of each
# tile.

# %%
from numba import cuda, float32, uint32

TILE = 32


# %% tags=["kernel"] gemmlab={"kernel": "simt/k05_tiled_square.py"}
@cuda.jit
def tiled_square(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)

    for k0 in range(0, K, TILE):
        smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += smem_a[ty, k] * smem_b[k, tx]
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
gl.check(tiled_square, rule=rule)

# %% [markdown]
# - **`cuda.shared.array`** is one array per block, of a size known at compile time.
# - **Both copies are coalesced**: `tx`, the lane, runs along a row of `A` and along a row of `B`.
# - **Zeros beyond the edges** add nothing, so that the loop over `k` needs no guard.
# - **Nobody returns early.** A thread without an element of `C` still copies: others need what it brings.

# %% [markdown]
# ## Two barriers
#
# `cuda.syncthreads()` lets no thread of the block pass before all have arrived. First: nobody reads before all have
# written. Second: nobody overwrites, in the next step, what others still read.
#
# **Predict:** what does a check say if the first is missing? The second? If threads outside `C` return at the top?

# %%
def broken(first=True, second=True, early=False):
    @cuda.jit
    def kernel(A, B, C):
        smem_a = cuda.shared.array((TILE, TILE), float32)
        smem_b = cuda.shared.array((TILE, TILE), float32)
        n, m = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        if early and (m >= M or n >= N):
            return
        acc = float32(0)
        for k0 in range(0, K, TILE):
            smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
            smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
            if first:
                cuda.syncthreads()
            for k in range(TILE):
                acc += smem_a[ty, k] * smem_b[k, tx]
            if second:
                cuda.syncthreads()
        if m < M and n < N:
            C[m, n] = acc

    return kernel


for fault in ({"first": False}, {"second": False}, {"early": True}):
    try:
        gl.check(broken(**fault), rule=rule)
    except gl.CheckError as error:
        print(fault, "→", error, end="\n\n")

# %% [markdown]
# - Without the first barrier the block reads words that nobody has written yet: the values are wrong.
# - Without the second **the values are right**, on many a GPU on most days. It is a race all the same: a warp that is
#   ahead overwrites what a slower one still reads. The check goes by the rules of ordering, not by numbers.
# - The early return leaves holes in the tiles. (Since Volta a barrier does not wait for threads that have left.)

# %% [markdown]
# And a barrier orders *one block*. Let two blocks share the sum over `k` of one tile of `C`:

# %%
@cuda.jit
def two_blocks(A, B, C):
    n, m = cuda.grid(2)
    half = A.shape[1] // 2
    acc = float32(0)
    for k in range(cuda.blockIdx.z * half, cuda.blockIdx.z * half + half):
        acc += A[m, k] * B[k, n]
    cuda.syncthreads()
    C[m, n] += acc


A, B = np.ones((2, 32, 32), np.float32)
sums = np.zeros((32, 32), np.float32)
launch = {"grid": (1, 1, 2), "block": (32, 32), "backend": "emulator"}
print(gl.launch(two_blocks, A, B, sums, **launch))

# %% [markdown]
# ## Predict, then count
#
# **Predict** for `M = N = K = 64`: how often is each element of `A` requested now, where the coalesced kernel asked
# 64 times? How many bytes in all? How many *shared* loads per multiply-add?

# %%
before = gl.count("k04_coalesced", 64, 64, 64)
after = gl.count(tiled_square, 64, 64, 64, rule=rule)
after

# %% [markdown]
# The intensity rises from 0.25 to 6.4 FLOP/byte; for large `K`, where `C` does not matter, to 8.

# %%
for kernel in ("k04_coalesced", "k05_tiled_square"):
    everywhere = gl.trace(kernel, 64, 64, 64, cta=None, warp=None)
    a, b = (gl.plots.count_reads(everywhere, name, (64, 64))[0].max() for name in "AB")
    print(f"{kernel:16}: each element of A is requested {a} times, of B {b} times")


# %% [markdown]
# Does the formula hold off the grid? At the edge a block copies only what exists: round the *number of blocks* up.

# %%
def requested_bytes(M, N, K, BM, BN):
    reads = M * K * -(-N // BN) + K * N * -(-M // BM)
    return 4 * (reads + M * N)


for shape in [(64, 64, 64), (33, 17, 40), (100, 70, 50)]:
    counted = gl.count(tiled_square, *shape, rule=rule).bytes("global")
    derived = requested_bytes(*shape, 32, 32)
    print(f"{shape}: {counted:,} bytes counted, {derived:,} by the formula")

# %% [markdown]
# ## Tiles of any size
#
# A loop over the copies unties the three sizes: `THREADS` elements at a time, in the order of the tile's memory.

# %%
BM, BN, BK = 16, 64, 32
THREADS = BM * BN


# %% tags=["kernel"] gemmlab={"kernel": "simt/k05_tiled.py"}
@cuda.jit(launch_bounds=(1024, 2))  # NOTE: two blocks per SM: at most 32 registers
def tiled(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    tid = ty * uint32(BN) + tx
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    acc = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        # Copy both tiles, THREADS elements at a time; beyond the edges, zeros.
        for i in range(uint32(0), uint32(BM * BK), uint32(THREADS)):
            m, k = (tid + i) // uint32(BK), (tid + i) % uint32(BK)
            if m < uint32(BM):
                inside = m0 + m < M and k0 + k < K
                smem_a[m, k] = A[m0 + m, k0 + k] if inside else float32(0)
        for i in range(uint32(0), uint32(BK * BN), uint32(THREADS)):
            k, n = (tid + i) // uint32(BN), (tid + i) % uint32(BN)
            if k < uint32(BK):
                inside = k0 + k < K and n0 + n < N
                smem_b[k, n] = B[k0 + k, n0 + n] if inside else float32(0)
        cuda.syncthreads()  # NOTE: nobody reads before all have written

        # Multiply out of shared memory.
        for k in range(uint32(BK)):
            acc += smem_a[ty, k] * smem_b[k, tx]
        cuda.syncthreads()  # NOTE: nobody overwrites before all have read

    if m0 + ty < M and n0 + tx < N:
        C[m0 + ty, n0 + tx] = acc


# %%
wide_rule = dict(rule, grid=["cdiv(N, 64)", "cdiv(M, 16)", "1"], block=[64, 16, 1])
gl.check(tiled, rule=wide_rule)
wide = gl.count(tiled, 64, 64, 64, rule=wide_rule)
for name, c in [("32 × 32", after), ("16 × 64", wide)]:
    print(f"{name}: {c.bytes('global'):,} bytes requested, {c.intensity:.2f} FLOP/byte")

# %% [markdown]
# What limits a tile?
#
# - **Threads.** One element of `C` per thread: `BM·BN ≤ 1024`.
# - **Shared memory.** `4·BK·(BM + BN)` bytes, at most 48 KiB in static arrays; what one block takes, others lack.
# - **Traffic** wants `1/BM + 1/BN` small. At 1,024 outputs the square wins: 2/32 against 1/16 + 1/64, by a quarter.
# - **`BK`** is free. A larger one means fewer barriers and more shared memory; the traffic stays.
#
# Constants are frozen when the kernel is compiled: change `BK` above and run the *kernel's* cell again.

# %% [markdown]
# ## Predict, then measure
#
# 32 times fewer bytes requested. How much faster? Count what the loop *does* first.

# %%
gl.plots.instruction_mix({"coalesced": before, "tiled": after})

# %% [markdown]
# Each multiply-add still waits for two loads, now `lds`, served by the same part of the SM, one wavefront per cycle.

# %%
def at_most(wavefronts, sms=132, ghz=1.98):
    return sms * 32 * 2 * ghz / wavefronts / 1e3  # TFLOP/s: 32 multiply-adds a step


per_step = after.total(space="shared", op="ld").wavefronts / (64**3 / 32)
ceiling = at_most(per_step)
print(f"{per_step:.0f} wavefronts per step: at most {ceiling:.1f} TFLOP/s (modelled)")
print(f"1.5 wavefronts per step: at most {at_most(1.5):.1f} TFLOP/s")

# %% [markdown]
# So the ceiling hardly moves: an eighth of the peak in chapter 04, an eighth or a sixth now. (The second line is a
# finer model: in SASS one `LDS.128` fetches four neighbours of the tile of `A`, a broadcast of two wavefronts: 1 + 2/4
# per step.) Tiling can also gain the distance that the coalesced kernel kept from its ceiling. **Predict** for each
# size which kernel wins.

# %%
sizes = (1024, 2048, 4096)
TILED = ("k05_tiled_square", "k05_tiled", "k05_tiled_unbounded")
kernels = ("k04_coalesced", *TILED)
found = {kernel: [gl.measure(kernel, n, n, n) for n in sizes] for kernel in kernels}
print(f"TFLOP/s at {sizes}, {found['k04_coalesced'][0].label}")
for kernel, some in found.items():
    rates = [f"{m.tflops:6.2f}" if m.tflops else "  none" for m in some]
    moved = dram_read(kernel, 4096)
    moved = f"{moved / 1e9:.2f} GB from DRAM at 4096" if moved else ""
    print(f"{kernel:19}", *rates, "  ", moved)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). The square tile gains 1.5, 1.4 and 2.5 times. Bytes promised 32, wavefronts 1 to 1.3,
# and these are the better guide: at 4096 the profiler counts 1.50 per step as modelled, and 7.8 TFLOP/s are 70 % of the
# ceiling. What exceeds 1.3 comes from chapter 04's kernel, which at 4096 stood at 37 % of its own ceiling.

# %% [markdown]
# At 4096 the tiled kernels take *twice* the bytes from DRAM. The profiler shows where the reuse went:
#
# | at 4096³ | sectors asked of L1 | hits in L1 | passed to L2 | hits in L2 |
# |---|---|---|---|---|
# | coalesced | 344 GB | 89 % | 39 GB | 74 % |
# | square tile | 17 GB | 0 % | 17 GB | 23 % |
#
# The coalesced kernel leaned on L1; tiling does that reuse by hand, and asks L2 for less than half, of which fewer hit.
# No harm: 8.4 GB in 17.6 ms are 0.48 TB/s, a ninth of what DRAM delivers.

# %% [markdown]
# ### Why is the wide tile slower?
#
# Bytes: a quarter more, as derived. Shared loads: the same 3.22 · 10⁹ wavefronts. What else does the profiler say?

# %%
print(f"{'':19} registers  blocks per SM  warps active  issue slots used")
for kernel in TILED:
    records = find(kernel, 4096, 4096, 4096)
    seen = records[0].get("profile", {}) if records else {}
    keys = ("warps_pct", "issue_pct")
    seen = [f"{seen[key]:.0f} %" if key in seen else "–" for key in keys]
    registers, blocks = gl.compile(kernel).registers, gl.occupancy_of(kernel).blocks
    print(f"{kernel:19} {registers:9} {blocks:14} {seen[0]:>13} {seen[1]:>17}")

# %% [markdown]
# Left alone, `ptxas` takes 39 registers. They are given out in units of 8, and 1,024 threads at 40 leave room for *one*
# block on an SM, where 32 allow two: half of the warps are active, and at each barrier the whole SM waits. The
# decorator's **launch bounds** (threads per block, blocks per SM) hold it to 31, without a spill (a register kept in
# memory), and make it faster by half. What it still lacks is instructions: 160 per tile, for 135 of the square (SASS).

# %%
counted = {name: gl.count(name, 64, 64, 4096) for name in kernels[:2]}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=kernels[:2], bytes="requested", counters=counted
)

# %%
gl.plots.bank_grid(gl.trace(tiled_square, 64, 64, 64, rule=rule))

# %% [markdown]
# The point moves to 8 FLOP/byte, where DRAM would allow 38 TFLOP/s (derived): **memory traffic is no longer the
# limit**.

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A tile of `BM × BN` outputs requests `M·N·K·(1/BM + 1/BN)` elements: memory traffic falls with the
# > tile's edge. Two barriers per step, zeros beyond the edges, no early return. The loop still loads two numbers per
# > multiply-add, now from shared memory.

# %% [markdown]
# | at 4096³ | predicted, at most | TFLOP/s | of cuBLAS | limit now |
# |---|---|---|---|---|
# | coalesced | 8.4 | 3.1 | 0.06 | L1 and L2 |
# | square tile, 32 × 32 | 11.2 | 7.8 | 0.15 | wavefronts of shared loads |
# | tile 16 × 64 | 11.2 | 6.6 | 0.13 | the same, and instructions |
# | the same, unbounded | 11.2 | 4.3 | 0.08 | one block per SM |
#
# (Recorded on an H200, 2026-11-30; ceilings modelled.)

# %% [markdown]
# Every request to shared memory took one wavefront: the luck of this layout. Chapter 07 will want `A` stored the other
# way round, and then one store takes 32. Why is on-chip memory slow sometimes? That is chapter 06.

# %% [markdown]
# ## Exercises
#
# In [exercises/05_shared_tiling.ipynb](../exercises/05_shared_tiling.ipynb): **05.1** build the tiled kernel, **05.2**
# its traffic, **05.3** repair one with three faults, **05.4** the tile that would reach the ridge.
#
# ## References
#
# - NVIDIA, [CUDA C++ Programming
#   Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/#shared-memory), shared memory: the tiled product.
# - [Numba for CUDA](https://nvidia.github.io/numba-cuda/): shared memory and synchronisation.
# - S. Boehm, [How to optimize a CUDA matmul kernel](https://siboehm.com/articles/22/CUDA-MMM), kernel 3.
# - H. T. Kung, J.-W. Hong, [I/O complexity: the red-blue pebble game](https://doi.org/10.1145/800076.802486), STOC
#   1981: why no schedule with that much fast memory can move less.
