# %% [markdown]
# # 09 · Double buffering
#
# **Can loads hide behind arithmetic?** We move two lines: the next tile's loads are issued *before* the multiply and
# their values stored *after* it. With two buffers one barrier per tile is left, and the best kernel in Numba reaches
# 0.92 of cuBLAS.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [08](08_vectorised_access.ipynb): 128-bit access; [07](07_register_tiling.ipynb): a patch per thread.
# - **You will be able to:** say when a load makes a warp wait; build a pipeline through registers and one with
#   `cp.async`; argue which barriers it needs; predict from two times how many buffers help; weigh registers against
#   resident blocks.
# - **Needs:** nothing; a GPU adds the stopwatch (`cp.async` needs compute capability 8.0).
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
# The kernel of chapter 08 goes through a tile in four steps: load, wait, multiply, wait for the slowest. How much is
# lost? Its block multiplies for 8 warps · 512 multiply-adds, and an SM starts four such warp instructions per cycle,
# one per scheduler: 1,024 cycles per tile. Its load takes one latency, several hundred cycles (chapter 01).
#
# **Predict:** which share of the time does a lone block multiply, if its loads come from L2? From DRAM?

# %%
measured = gl.machine.latencies()
latency = {"L2": 250, "DRAM": 600} | {k: measured[k] for k in ("L2", "DRAM") if measured}
compute = 8 * 512 // 4
print("cycles:", "as measured" if measured else "assumed, nothing is recorded yet")
for level, load in latency.items():
    share = compute / (compute + load)
    print(f"{level:4} {load:4.0f}: {share:.0%} of the time multiplying (modelled)")

# %% [markdown]
# A second block on the same SM fills part of the gap, and chance decides which part. We want order instead.
#
# ## The idea
#
# A load does not stop a warp. `LDG` only *starts* a transfer; the warp goes on until an instruction **uses** the
# register that the value will arrive in. That first use waits. So the place of the use decides, not that of the load.
#
# Where does the use of a tile's load stand? It is the store to shared memory. Put it after the multiply, and 512
# multiply-adds run while the data travels. It must go to a second buffer, as the first is still being read.

# %%
load, compute = round(latency["DRAM"]), 8 * 512 // 4
gl.widgets.timeline(
    {
        "one buffer": gl.stages.pipeline(load, compute, 1, tiles=4),
        "two buffers": gl.stages.pipeline(load, compute, 2, tiles=4),
    },
    title="One block, four tiles (modelled)",
    source="Modelled: a load of one latency, 1,024 cycles of arithmetic per tile.",
)

# %% [markdown]
# ## The order that guides print
#
# Many texts have two buffers and this loop: *load the next tile to shared memory; multiply the current one; barrier*,
# and call the load asynchronous. It is not: with ordinary instructions "to shared memory" is a load **and** a store
# that uses it, and both stand before the multiply.
#
# `k09_early_store` is that loop. **Predict** for chapter 08's kernel, for this one, and for the kernel below: how
# many of a warp's shared loads (32 per tile) are issued while the next tile is on its way?

# %%
ORDERS = ("k08_vectorised", "k09_early_store", "k09_double_buffer")
traces = {kernel: gl.trace(kernel, 128, 128, 32) for kernel in ORDERS}
for kernel, trace in traces.items():
    beside = gl.stages.overlap(trace)
    print(f"{kernel:18} {beside:g} shared loads beside each global load (counted)")

# %%
gl.widgets.timeline(
    {kernel: gl.stages.issue_order(trace) for kernel, trace in traces.items()},
    unit="accesses",
    title="What warp 0 issues, in order",
    source="From the emulator's trace: the order of accesses, not their duration.",
)

# %% [markdown]
# The second buffer alone buys nothing but a barrier. What hides latency is the distance between load and use.
#
# ## The kernel
#
# Eight outer products stand between the loads (`a`, `b`) and the stores that use them. `multiply` comes from
# `kernels/simt/outer.py`: it loads fragments from shared memory and adds eight outer products to `acc`.

# %%
from numba import cuda, float32, uint32

from kernels.simt.edge import edge_load4, edge_store4
from kernels.simt.outer import BK, outer_products
from kernels.simt.vector import load4, store4

BM, BN, WM, WN = 128, 128, 64, 32
PITCH = BM + 4
TILE_A, TILE_B = BK * PITCH, BK * BN
SIZE_A, SIZE_B = 2 * TILE_A, 2 * TILE_B
multiply = outer_products(8, 8, PITCH, BN, 32, 16)


# %% tags=["kernel"] gemmlab={"kernel": "simt/k09_double_buffer.py"}
@cuda.jit(launch_bounds=(256, 2))
def double_buffer(A, B, C):
    smem_a = cuda.shared.array(SIZE_A, float32, alignment=16)
    smem_b = cuda.shared.array(SIZE_B, float32, alignment=16)
    acc = cuda.local.array((8, 8), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    warp, lane = tid // uint32(32), tid % uint32(32)
    m0, n0 = uint32(cuda.blockIdx.y) * uint32(BM), uint32(cuda.blockIdx.x) * uint32(BN)
    row = warp % uint32(BM // WM) * uint32(WM) + lane // uint32(4) * uint32(4)
    col = warp // uint32(BM // WM) * uint32(WN) + lane % uint32(4) * uint32(4)
    am, ak = tid // uint32(2), tid % uint32(2) * uint32(4)  # its four elements of A
    bk, bn = tid // uint32(32), lane * uint32(4)  # and of B
    put_a, put_b = ak * uint32(PITCH) + am, bk * uint32(BN) + bn
    aligned = N % uint32(4) == uint32(0) and K % uint32(BK) == uint32(0)
    interior = aligned and m0 + uint32(BM) <= M and n0 + uint32(BN) <= N
    for i in range(8):
        for j in range(8):
            acc[i, j] = float32(0)

    # Prologue: the first tile goes to buffer 0.
    if interior:
        a = load4(A, (m0 + am) * K + ak)
        b = load4(B, bk * N + n0 + bn)
    else:
        a = edge_load4(A, m0 + am, ak)
        b = edge_load4(B, bk, n0 + bn)
    for i in range(4):
        smem_a[put_a + uint32(i * PITCH)] = a[i]
    store4(smem_b, put_b, b[0], b[1], b[2], b[3])
    cuda.syncthreads()

    # Main loop: load tile k0, multiply the tile before it, store what has arrived.
    buffer = uint32(0)
    for k0 in range(uint32(BK), K, uint32(BK)):
        if interior:
            a = load4(A, (m0 + am) * K + k0 + ak)
            b = load4(B, (k0 + bk) * N + n0 + bn)
        else:
            a = edge_load4(A, m0 + am, k0 + ak)
            b = edge_load4(B, k0 + bk, n0 + bn)
        cuda.syncwarp()  # NOTE: keeps ptxas from moving the loads down to their first use
        multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
        buffer ^= uint32(1)
        for i in range(4):
            smem_a[buffer * uint32(TILE_A) + put_a + uint32(i * PITCH)] = a[i]
        store4(smem_b, buffer * uint32(TILE_B) + put_b, b[0], b[1], b[2], b[3])
        cuda.syncthreads()
    multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)

    # Epilogue: 128-bit stores, row by row.
    for i in range(8):
        m = m0 + row + uint32(i // 4 * 32 + i % 4)
        for j in range(0, 8, 4):
            n = n0 + col + uint32(j * 4)
            if interior:
                store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
            else:
                edge_store4(C, m, n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])


# %% [markdown]
# - **Eight registers per thread** carry the next tile: that is the price. Nothing else holds it while it travels.
# - **One barrier per tile.** It says two things at once: the new buffer is complete, and nobody reads the old one any
#   more. With a single buffer these are two moments, hence two barriers.
# - **`cuda.syncwarp()`** computes nothing. Without it ptxas may move the loads down, next to their use.
# - **`launch_bounds=(256, 2)`** promises two blocks per SM, so ptxas must do with 65,536 / 512 = 128 registers.

# %%
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"],
    "block": [256, 1, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}
gl.check(double_buffer, rule=rule)

# %% [markdown]
# "No findings" carries weight here: the emulator's race check knows which barrier orders which accesses, and does not
# depend on a lucky schedule. Remove the barrier and the values may still come out right; the check does not (exercise
# 09.3).
#
# ## Predict, then count
#
# **Predict** against chapter 08, for a `K` of 8 tiles: barriers per warp, global bytes, shared wavefronts, registers.

# %%
print("kernel              barriers     bytes  wavefronts  excess  registers")
for kernel in ORDERS:
    c, registers = gl.count(kernel, 128, 128, 64), gl.compile(kernel).registers
    syncs = [s for s in c.sites if s.opcode.startswith(("bar.sync", "barrier.sync"))]
    barriers = sum(s.executions for s in syncs) / 8  # a block has eight warps
    shared = c.total(space="shared")
    waves, excess = shared.wavefronts, shared.excess_wavefronts
    moved = c.bytes("global")
    print(f"{kernel:18} {barriers:9g} {moved:9,} {waves:11,} {excess:7} {registers:10}")

# %% [markdown]
# Half the barriers, the same traffic. No counter of bytes or instructions shows what changed: it is the *order*. On a
# GPU the profiler does: the stall reason *long scoreboard* counts warps that wait for the first use of a global load.

# %%
gl.plots.bank_grid(traces["k09_double_buffer"])

# %% [markdown]
# ## How many buffers?
#
# Write `T_l` for a tile's load and `T_c` for its arithmetic. One buffer: `T_l + T_c` per tile. With `S` buffers the
# threads that multiply issue loads `S − 1` tiles ahead: `max(T_c, T_l / (S − 1))`. If somebody else loads whenever a
# buffer is free, `max(T_c, (T_l + T_c) / S)`.
#
# One guide says instead that `S` stages leave `T_l / S` exposed. **Predict** where the curves below reach zero.

# %%
def exposed(**order):
    return [(S, gl.stages.exposed(300, 100, S, **order)) for S in range(1, 9)]


models = {"own threads": exposed(), "a producer": exposed(producer=True)}
models["own threads, memory busy 300"] = exposed(transfer=300)
models["one guide: T_l / S"] = [(S, 300 / S) for S in range(1, 9)]
gl.plots.lines(
    {}, models=models, x="buffers S", y="exposed time per tile",
    title="Load 300, multiply 100: what stays exposed",
)

# %%
gl.widgets.stage_explorer(load=300, compute=100, stages=2)

# %% [markdown]
# Exposure reaches zero and stays there, or it never moves: if memory needs 300 for the *bytes* of a tile (bandwidth,
# not latency), no number of buffers helps beyond two. By the estimate above our kernel's `T_c` exceeds `T_l`, and
# two buffers are enough. `k09_early_store` and `k09_double_buffer`, equal in all but order, let us fit both times:

# %%
print(gl.stages.fit(4096, 4096, 4096))


# %% [markdown]
# **Outcome.** The order saves 55 ns of 893, 6 %. A lone block would lose a whole latency per tile, 687 cycles or 347 ns
# from DRAM; two blocks on an SM had hidden most of that already. And the 838 ns that remain are 1,659 cycles at 1.98
# GHz, where the arithmetic takes 1,024. The fit calls all of it compute; two fifths are other instructions and their
# waits, which a second buffer does not remove.

# %% [markdown]
# ## cp.async: no registers
#
# Since Ampere (sm_80; not Hopper, as one text has it) `cp.async` copies from global to shared memory without a
# register in between. Each thread issues copies of 4, 8 or 16 bytes, closes them into a **group** with
# `commit_group`, and later waits until at most `n` of its groups are open. Three things to know:
#
# - It is an instruction of the load/store pipe (`LDGSTS` in SASS), and the wait (`DEPBAR`) is no polling loop.
# - The wait covers *this thread's* copies. What others copied needs a barrier too.
# - `wait_group` counts groups, not tiles. With two commits per tile, a wait for "all but one" before the next copies
#   leaves half a tile open (exercise 09.4).

# %% [markdown]
# Numba has no name for it; `kernels/simt/async_copy.py` wraps one line of inline PTX each.

# %% tags=["kernel"] gemmlab={"kernel": "simt/k09_cp_async.py", "region": "copy"}
@cuda.jit(device=True, forceinline=True)
def copy_tiles(A, B, smem_a, smem_b, am, ak, bk, bn, put_a, put_b, interior):
    """Start the copies of A[am, ak … ak + 3] and B[bk, bn … bn + 3]; zeros come from beyond the edges."""
    M, N, K = uint32(A.shape[0]), uint32(B.shape[1]), uint32(A.shape[1])
    for i in range(4):
        k = ak + uint32(i)
        inside = am < M and k < K
        at = am * K + k if inside else uint32(0)
        copy_async4(smem_a, put_a + uint32(i * PITCH), A, at, uint32(1) if inside else uint32(0))
    if interior:
        copy_async16(smem_b, put_b, B, bk * N + bn, uint32(4))
    else:
        for j in range(4):
            n = bn + uint32(j)
            inside = bk < K and n < N
            at = bk * N + n if inside else uint32(0)
            copy_async4(smem_b, put_b + uint32(j), B, at, uint32(1) if inside else uint32(0))
    commit()


# %% [markdown]
# A copy cannot turn its data, and our tile of `A` is stored transposed: so `A` travels in words of 4 bytes, `B` in
# 16. At the edge `valid = 0` reads nothing and writes zeros; an `if` around the copy would split the warp's request.
#
# **Predict:** fewer or more instructions than the register version? Fewer registers?

# %%
gl.check("k09_cp_async")
for kernel in ("k09_double_buffer", "k09_cp_async"):
    registers, c = gl.compile(kernel).registers, gl.count(kernel, 128, 128, 64)
    moving = c.total(space="global", op="ld").executions / 8
    print(f"{kernel:18} {registers} registers, {moving:g} global loads or copies per warp")

# %% [markdown]
# **Outcome.** More copies, few registers saved, and 33.9 TFLOP/s against 41.3 at 4096 (recorded below). The cost of
# turning `A` can be counted, for one warp and tile:
#
# | | loads or copies | sectors of `A` | wavefronts, stores or copies | with the loads |
# |---|---|---|---|---|
# | through registers | 2 | 16 | 8 | 104 |
# | `cp.async` | 5 | 64 | 64 | 160 |

# %% [markdown]
# Each 4-byte copy touches the same 16 sectors again, and writes two words per wavefront. Eight warps make 1,280
# wavefronts per tile, one per cycle at best, where the arithmetic takes 1,024 cycles and the register version 832
# wavefronts: shared memory is the tighter limit again (modelled).

# %% [markdown]
# `cp.async` pays where tiles travel as they are, in chunks of 16 bytes: that is the case for tensor cores (chapters 11
# and 12). Published samples of it deserve care: `cuda::memcpy_async(thread_rank, As[next], src, bytes, pipe)` does
# not compile, a tile of a row-major matrix is not contiguous, and every stage needs an acquire and a release.
#
# ## The search
#
# Where does the time of a SIMT kernel go? Into instructions that are no multiply-add, and into waiting. Each step
# below was a prediction, a change, a counter and a measurement.

# %%
STEPS = {
    "k09_plain_ints": "8 × 8 patch, Python integers",
    "k07_register_2d": "unsigned 32-bit indices",
    "k08_vectorised": "128-bit access, no conflicts",
    "k09_rolled": "double buffer, loop over k",
    "k09_double_buffer": "eight products written out",
    "k09_wide_patch": "8 × 16 patch, one block per SM",
}
for kernel, change in STEPS.items():
    short, long = (gl.count(kernel, 128, 256, K).mix() for K in (64, 128))
    loop = {name: n - short[name] for name, n in long.items()}  # eight turns of the loop
    rest, lds = sum(loop.values()) / loop["fma"] - 1, loop["lds"] / loop["fma"]
    registers = gl.compile(kernel).registers
    print(f"{change:31} {rest:4.2f} others per FMA ({lds:5.3f} LDS), {registers} registers")

# %% [markdown]
# - **64-bit indices.** Signed Python integers cost two integer instructions per multiply-add (counted).
# - **Width.** A quarter of the shared loads, and none with a conflict (chapters 06 to 08).
# - **The loop over k.** LLVM and ptxas both keep `for k in range(8)`: 64 multiply-adds and a branch, where every turn
#   starts with loads it must wait for. Written out, SASS has 512 in one stretch, with each outer product's loads
#   ahead of its use (ptxas 12.9, nvdisasm).

# %% [markdown]
# - **The patch.** 8 × 16 needs six 128-bit loads per 128 multiply-adds, not four per 64, and 128 accumulators: one
#   block of 256 threads per SM.
# - **The tests.** Blocks inside the matrix run a main loop without a look at the edges. The same lines are compiled
#   twice, with another `load`:

# %%
BN, WM, WN = 256, 32, 128
TILE_B = BK * BN
multiply = outer_products(8, 16, PITCH, BN, 16, 32)


# %% tags=["kernel"] gemmlab={"kernel": "simt/k09_wide_patch.py", "region": "loop"}
@cuda.jit(device=True, forceinline=True)
def inside_load4(src, row, col):
    return load4(src, row * uint32(src.shape[1]) + col)


def main_loop(load):
    """Return the device function that adds a block's products to acc, its tiles fetched by `load`."""

    @cuda.jit(device=True, forceinline=True)
    def place(smem_a, smem_b, put_a, put_b, a, b, d):
        for i in range(4):
            smem_a[put_a + uint32(i * PITCH)] = a[i]
        store4(smem_b, put_b, b[0], b[1], b[2], b[3])
        store4(smem_b, put_b + uint32(4 * BN), d[0], d[1], d[2], d[3])

    @cuda.jit(device=True, forceinline=True)
    def run(acc, smem_a, smem_b, A, B, m, n, ak, bk, put_a, put_b, row, col):
        K = uint32(A.shape[1])
        a, b, d = load(A, m, ak), load(B, bk, n), load(B, bk + uint32(4), n)
        place(smem_a, smem_b, put_a, put_b, a, b, d)
        cuda.syncthreads()
        buffer = uint32(0)
        for k0 in range(uint32(BK), K, uint32(BK)):
            k0 = uint32(k0)
            a, b, d = load(A, m, k0 + ak), load(B, k0 + bk, n), load(B, k0 + bk + uint32(4), n)
            multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
            buffer ^= uint32(1)
            place(smem_a, smem_b, buffer * uint32(TILE_A) + put_a, buffer * uint32(TILE_B) + put_b, a, b, d)
            cuda.syncthreads()
        multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)

    return run


run_inside, run_edge = main_loop(inside_load4), main_loop(edge_load4)

# %%
gl.check("k09_wide_patch")

# %% [markdown]
# What it costs in resident blocks:

# %%
for kernel in ("k08_vectorised", "k09_double_buffer", "k09_wide_patch"):
    registers, held = gl.compile(kernel).registers, gl.occupancy_of(kernel)
    print(f"{kernel:18} {registers} registers: {held.blocks} per SM, {held.warps} warps of 64")

# %% [markdown]
# **Predict** from this table: which of the three is fastest? The one with the fewest warps has the most independent
# work per warp. Occupancy hides latency; so does instruction order, at the price of registers.
#
# ## Measure

# %%
LADDER = (*STEPS, "k09_early_store", "k09_cp_async")
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in LADDER}
for kernel, m in found.items():
    rate = f"{m.tflops:6.2f} TFLOP/s" if m.tflops else "not recorded yet"
    print(f"{kernel:18} {rate}", f"= {m.ratio:.2f} of cuBLAS" if m.ratio else "")
print("4096 × 4096 × 4096,", found["k09_wide_patch"].label)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). Every step of the search is faster than the one before, and in the order of the
# instructions that are no multiply-add, with one exception. "At most" is what their slots leave of 66.9 TFLOP/s
# (modelled from the count of PTX):
#
# | step | others | at most | TFLOP/s | of cuBLAS | limit now |
# |---|---|---|---|---|---|
# | Python integers | 2.30 | 20.3 | 7.0 | 0.14 | integer work |
# | unsigned indices | 0.64 | 40.8 | 22.6 | 0.44 | bank conflicts |
# | 128-bit access | 0.37 | 48.8 | 31.1 | 0.61 | waiting, loop over `k` |
# | double buffer, loop over `k` | 0.42 | 47.1 | 38.8 | 0.76 | loop over `k` |
# | written out | 0.14 | 58.7 | 41.3 | 0.81 | 128 registers |
# | 8 × 16 patch | 0.09 | 61.4 | 46.9 | 0.92 | 223 registers, 8 warps |

# %% [markdown]
# The exception is the double buffer: more instructions and yet 25 % more speed, since it removes waiting. The studies
# take the step from 31.1 to 41.3 apart: order alone (`k09_rolled`) gives 38.8, products written out without order
# (`k09_early_store`) 38.8, both 41.3. They do not add up, as both fill the same gap: independent work beside a load.

# %% [markdown]
# The last step wins with *half* the warps, as predicted. It is no free lunch: a tile of 128 × 256 makes 32 blocks at
# 1024³, for 132 SMs, and gets 11.4 TFLOP/s where the smaller tile gets 18.5; at 512 × 4096 × 4096 it is 23.5 against
# 37.5, and at 4095 × 4097 × 1023, on the edge path, 33.6 against 34.4 (recorded). Libraries choose a tile by shape.
#
# (The bars show the rungs. The studies were measured while this page was made.)

# %%
best = [r for kernel in STEPS for r in gl.results.find(kernel, 4096, 4096, 4096)]
gl.plots.ladder_bars(best, title="The search at 4096 × 4096 × 4096")

# %%
kernels = ["k08_vectorised", "k09_double_buffer", "k09_wide_patch"]
counters = {kernel: gl.count(kernel, 128, 256, 64) for kernel in kernels}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=kernels, bytes="requested", counters=counters
)

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A load waits at its first use. Put a tile's worth of arithmetic between the two and the latency is
# > gone, for a second buffer, eight registers and one barrier per tile. Then count what is left per multiply-add.

# %% [markdown]
# The profiler finds no other limit: DRAM delivers 0.34 GB in 2.9 ms, 0.12 TB/s of more than 4, and shared memory serves
# 0.16 wavefronts per multiply-add of the 0.25 that it could.
#
# In the main loop of the last kernel fewer than one instruction in ten is no multiply-add (counted), and there are no
# registers left to lower that share. What more could an FP32 lane do? More speed needs another unit, one that
# multiplies small matrices in one instruction. What is a tensor core? That is chapter 10.

# %% [markdown]
# ## Exercises
#
# In [exercises/09_double_buffering.ipynb](../exercises/09_double_buffering.ipynb): **09.1** hide the load, **09.2**
# time per tile, **09.3** a repair, **09.4** groups and waits.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `cp.async`, `cp.async.commit_group`,
#   `cp.async.wait_group`.
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): launch bounds;
#   asynchronous data copies.
# - NVIDIA, [Nsight Compute: kernel profiling
#   guide](https://docs.nvidia.com/nsight-compute/ProfilingGuide/index.html): warp stall reasons.
# - S. Boehm, [How to optimize a CUDA matmul kernel](https://siboehm.com/articles/22/CUDA-MMM).
# - V. Volkov, [Better performance at lower
#   occupancy](https://www.nvidia.com/content/GTC-2010/pdfs/2238_GTC2010.pdf), GTC 2010.
