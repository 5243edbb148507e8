# %% [markdown]
# # 04 · Coalescing
#
# **Which 32 addresses does a warp ask for?** We swap two names. The kernel does the same sums with the same instructions and requests the
# same bytes, but the addresses of a warp now lie side by side: 5 sectors per step instead of 33.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [03](03_naive.ipynb): the naive kernel and its counters.
# - **You will be able to:** say for any load which sectors a warp touches; choose a thread-to-element mapping; predict sectors per request
#   for a stride, an offset and a block shape; tell requested bytes, sectors and DRAM bytes apart.
# - **Needs:** nothing; a GPU adds the stopwatch.
# - **Time:** 60 minutes.

# %% tags=["setup"]
import gemmlab as gl

# %% [markdown]
# ## The limit
#
# The naive kernel of chapter 03 loads 32 different rows of `A` with each request. Memory does not deliver single floats. It delivers **sectors**
# of 32 aligned bytes, four to a 128-byte cache line, and a *request*, one load by one warp, is served by as many sectors as its addresses touch.
# What a lane does not use of a sector is moved for nothing, unless somebody uses it soon.
#
# So the cost of a load is decided by 32 addresses together. One line computes it:

# %%
def sectors(addresses):
    return len({address // 32 for address in addresses})


lanes = range(32)
print(sectors(4 * lane for lane in lanes), sectors(4 * 1024 * lane for lane in lanes), sectors(0 for lane in lanes))

# %% [markdown]
# 32 neighbouring floats take 4 sectors, the least possible for 128 different bytes. A column of a matrix with rows of 1,024 floats takes 32: of
# the 1,024 bytes moved, 128 are used, one eighth. And one address for all lanes takes a single sector: a **broadcast**, which is cheap.
#
# **Predict.** In the naive kernel, `m` runs along the lanes and `n` is the same for all. How many sectors do `A[m, k]`, `B[k, n]` and the store
# of `C[m, n]` take?

# %%
before = gl.count("k03_naive", 64, 64, 64)
before

# %% [markdown]
# 32, 1 and 32 (counted): 33 sectors for each step of `k` where the 132 bytes that are used would fit in five.
#
# ## The idea
#
# Which of the two indices should run along the lanes? The one that is the *last*, contiguous index of as many operands as possible. In row-major
# storage that is `n` for `B[k, n]` and `C[m, n]`; no choice makes `A[m, k]` contiguous, as `k` is the loop. But then all lanes want the same
# element of `A`.

# %%
gl.plots.thread_map(block=(32, 8), x="n")

# %% [markdown]
# ## The kernel
#
# One line changes: `m, n` becomes `n, m`. In the launch rule `N` and `M` change places too, since the grid's `x` now runs along columns.

# %%
from numba import cuda, float32

# %% tags=["kernel"] gemmlab={"kernel": "simt/k04_coalesced.py"}

# %%
rule = {"grid": ["cdiv(N, 32)", "cdiv(M, 8)", "1"], "block": [32, 8, 1], "shared": 0, "args": ["A", "B", "C"]}
gl.check(coalesced, rule=rule)

# %% [markdown]
# - Forgetting the swap in the grid is not seen on square matrices; at `M ≠ N` a part of `C` is never written. The check uses such shapes.
# - Many guides call *this* kernel naive, and then explain its slowness with uncoalesced access. It has none: what slows it is chapter 05's matter.
# - Column-major matrices, as in cuBLAS, turn the argument around: there `m` should run along the lanes.
#
# ## Predict, then count
#
# **Predict** the three figures for the new kernel, and the sum per step of `k`.

# %%
after = gl.count(coalesced, 64, 64, 64, rule=rule)
after

# %% [markdown]
# `A` takes 1 sector (broadcast), `B` 4, the store 4: five sectors per step instead of 33, a factor of 6.6. The requested bytes and the
# instruction mix are unchanged, so is the intensity by requested bytes:

# %%
for name, c in [("naive", before), ("coalesced", after)]:
    print(f"{name:10} requested {c.bytes('global'):,} B   {c.intensity:.3f} FLOP/byte   mix {c.mix()['ldg']} ldg, {c.mix()['fma']} fma")

# %% [markdown]
# The picture below draws the real addresses of one warp in both kernels, as the emulator recorded them: each cell is a byte range of 4 bytes, each box
# a sector.

# %%
gl.plots.sector_map({"naive": gl.trace("k03_naive", 64, 64, 64), "coalesced": gl.trace(coalesced, 64, 64, 64, rule=rule)})

# %% [markdown]
# Step through `k`, and watch the naive kernel come back to the *same* 32 sectors seven more times.

# %%
gl.widgets.sector_explorer({"naive": "k03_naive", "coalesced": "k04_coalesced"})

# %% [markdown]
# ## Strides and offsets
#
# Coalescing is no yes-or-no property. A copy kernel that reads `src[offset + stride · i]` shows the whole range.
#
# **Predict:** at which stride does a load of floats reach 32 sectors? What does an offset of one element cost at stride 1?

# %%
@cuda.jit
def strided_copy(src, dst, stride, offset):
    i = cuda.grid(1)
    dst[i] = src[offset + stride * i]


def load_sectors(stride, offset=0):
    src, dst = np.zeros(32 * stride + offset + 1, np.float32), np.zeros(32, np.float32)
    run = gl.launch(strided_copy, src, dst, stride, offset, grid=1, block=32, backend="emulator")
    return run.report.counters.total(space="global", op="ld").sectors


strides = range(17)
counted = [load_sectors(stride) for stride in strides]
print("offset 1:", load_sectors(1, offset=1), "sectors")

# %%
gl.plots.sectors_by_stride(strides, counted)

# %% [markdown]
# Four more sectors per unit of stride, until at stride 8 every lane has a sector of its own (counted). Stride 2 costs twice as much as stride 1 and not
# 32 times; stride 0 is the broadcast; an offset that is no multiple of 8 floats adds one sector. The *order* of the lanes does not matter: 32
# neighbours read backwards are 4 sectors too.

# %% [markdown]
# ## Block shape
#
# A warp was one row of the block because the block is 32 wide. In a block of 16 × 16, popular in textbooks, a warp covers *two* rows of `C`.
#
# **Predict:** does that take more sectors per step of `k`, or fewer?

# %%
for x, y in [(32, 8), (16, 16), (8, 32)]:
    shape = dict(rule, block=[x, y, 1], grid=[f"cdiv(N, {x})", f"cdiv(M, {y})", "1"])
    loads = gl.count(coalesced, 64, 64, 64, rule=shape).total(space="global", op="ld")
    print(f"block {x:2} × {y:2}: {2 * loads.sectors_per_request:g} sectors per step of k")

# %% [markdown]
# Fewer: two addresses of `A` and 64 bytes of `B`, 2 + 2 sectors (counted). A warp of `r` rows and `c` columns needs `r` elements of `A` and `c` of `B`: the
# perimeter of its rectangle, while its work is the area. Keep the thought; it grows into the tiles of chapters 05 and 07.

# %% [markdown]
# ## What the caches hide
#
# A sector is no trip to DRAM. The eight floats of a sector of `A` are used by the same lane in eight successive steps; in the naive kernel a block's eight
# warps share their 32 rows, and eight resident blocks of an SM keep 8 · 32 lines of 128 bytes busy: 32 KB, which fits in the L1 cache (derived). So the
# bytes that leave DRAM are far fewer than the bytes requested, in *both* kernels.
#
# What no cache hides is the work of the cache itself. Its tag stage looks up four lines per cycle. The load of `A` touches 32 lines: 8 cycles; a
# coalesced or broadcast load: one. An SM therefore spends 9 cycles per 32 multiply-adds in the naive kernel and 2 in the coalesced one.

# %%
def l1_ceiling(cycles, sms=132, ghz=1.98):
    return sms * 32 / cycles * 2 * ghz / 1e3


print(f"modelled ceilings on an H200: naive {l1_ceiling(8 + 1):.1f}, coalesced {l1_ceiling(1 + 1):.1f} TFLOP/s")

# %% [markdown]
# ## Measure
#
# **Predict** the gain from three models: sectors (33/5), tag cycles (9/2), requested bytes (none). Which one comes closest to the clock?

# %%
for size in (1024, 2048, 4096):
    print(gl.measure("k03_naive", size, size, size))
    print(gl.measure("k04_coalesced", size, size, size))

# %%
gl.plots.roofline("H200", "float32", points=gl.roofline.recorded(["k03_naive", "k04_coalesced"], 4096, 4096, 4096))

# %% [markdown]
# The points stand at one intensity, since the requested bytes did not change, and both stand *above* the bandwidth slope: more bytes are requested per
# second than DRAM could deliver, which proves that caches served most of them.
#
# Shared memory is still unused, so the bank-conflict panel stays empty.

# %%
gl.plots.bank_grid(gl.trace(coalesced, 64, 64, 64, rule=rule))

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A warp's load costs the number of 32-byte sectors and 128-byte lines behind its 32 addresses. Put the index that is contiguous in memory
# > on the lanes. One swapped pair of names takes the naive kernel from 33 sectors per step to 5.
#
# Coalesced or not, every multiply-add still loads two numbers, and each element of `A` and `B` is still requested thousands of times: 0.25 FLOP/byte. That the
# caches catch much of it is luck that we do not control, and even a perfect hit occupies the load path. There is a memory on the chip that we *can* control; on an
# H100 it is about nine times as fast as DRAM (132 SMs × 128 B × 1.83 GHz = 31 TB/s against 3.35, derived). How often must a byte come from DRAM? That is chapter 05.

# %% [markdown]
# ## Exercises
#
# In [exercises/04_coalescing.ipynb](../exercises/04_coalescing.ipynb):
#
# - **04.1** turn the mapping: at most 1, 4 and 4 sectors per request;
# - **04.2** sectors per request as a function of stride and width;
# - **04.3** `C = A·Bᵀ`, where no mapping is coalesced: choose the block's shape.
#
# ## References
#
# - NVIDIA, [CUDA C++ Best Practices Guide](https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/#coalesced-access-to-global-memory), coalesced access to global memory: 32-byte transactions.
# - NVIDIA, [Nsight Compute: kernel profiling guide](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html), metrics of the L1/TEX cache.
# - NVIDIA developer forum, [L1/TEX sectors per request](https://forums.developer.nvidia.com/t/understanding-l1-tex-cache-sectors-req/312884): four tags per cycle.
# - S. Boehm, [How to optimize a CUDA matmul kernel](https://siboehm.com/articles/22/CUDA-MMM): the same swap, measured on an A6000.
