# %% [markdown]
# # 09 · Double buffering
#
# **Can loads hide behind arithmetic?** We move two lines: the next tile's loads are issued *before* the multiply and
# their values stored *after* it. Then we search for what is left, and end with a kernel in Numba that keeps up with
# cuBLAS.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [08](08_vectorised_access.ipynb): 128-bit access; [07](07_register_tiling.ipynb): a patch per thread.
# - **You will be able to:** say when a load makes a warp wait; build a pipeline through registers and one with
#   `cp.async`; predict how many buffers help; weigh registers against resident blocks.
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
# The kernel of chapter 08 goes through a tile in four steps: load, wait, multiply, wait. Its block makes 8 warps · 512
# multiply-adds per tile, four per cycle: 1,024 cycles. Its load takes one latency (chapter 01). **Predict:** which
# share of the time does a lone block multiply, if its loads come from L2? From DRAM?

# %%
measured = gl.machine.latencies()
latency = {"L2": 250, "DRAM": 600}  # cycles
latency |= {level: measured[level] for level in latency if measured}
compute = 8 * 512 // 4
print("cycles:", "by chapter 01's probe" if measured else "assumed, nothing is recorded yet")
for level, load in latency.items():
    share = compute / (compute + load)
    print(f"{level:4} {load:4.0f}: {share:.0%} of the time multiplying (modelled)")

# %% [markdown]
# ## The idea
#
# `LDG` only *starts* a transfer; the warp goes on until an instruction **uses** the register that the value will arrive
# in: here the store to shared memory. Put it after the multiply, and 512 multiply-adds run while the data travels. It
# must go to a second buffer, as the first is still being read.
#
# Play both: when does nobody multiply?

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
# Many texts have two buffers and this loop: *load the next tile to shared memory; multiply the current one; barrier*.
# But "to shared memory" is a load **and** a store that uses it, and both stand before the multiply. `k09_early_store`
# is that loop. **Predict** for chapter 08's kernel, for this one, and for the kernel below: how many of a warp's 32
# shared loads are issued while the next tile is on its way?

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
# Eight outer products (`multiply`) stand between the loads of `a` and `b` and the stores that use them.

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
# - **Eight registers per thread** carry the next tile: that is the price.
# - **One barrier per tile** says two things: the new buffer is complete, and nobody reads the old one any more.
# - **`cuda.syncwarp()`** keeps ptxas from moving the loads down, next to their use.
# - **`launch_bounds=(256, 2)`**: two blocks per SM leave 65,536 / 512 = 128 registers.

# %%
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"],
    "block": [256, 1, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}
gl.check(double_buffer, rule=rule)

# %% [markdown]
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
# Half the barriers, the same traffic. What changed is the *order*.

# %%
gl.plots.bank_grid(traces["k09_double_buffer"])

# %% [markdown]
# ## How many buffers?
#
# With `T_l` for a tile's load and `T_c` for its arithmetic, one buffer takes `T_l + T_c` per tile. With `S` buffers the
# threads that multiply load `S − 1` tiles ahead: `max(T_c, T_l / (S − 1))`. If somebody else loads, `max(T_c, (T_l +
# T_c) / S)`. One guide says that `S` stages leave `T_l / S` exposed. **Predict** where the curves below reach zero.

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

# %% [markdown]
# Now with sliders: how many buffers hide a load of 400 behind a multiply of 100? With fewer buffers, which order waits
# less, that of the threads that multiply or that of a producer?

# %%
gl.widgets.stage_explorer(load=300, compute=100, stages=2)

# %% [markdown]
# If memory needs 300 for the *bytes* of a tile, no number of buffers helps beyond two. Our `T_c` exceeds `T_l`: two are
# enough. `k09_early_store` and `k09_double_buffer`, equal in all but order, let us fit both:

# %%
print(gl.stages.fit(4096, 4096, 4096))


# %% [markdown]
# **Outcome.** The order saves 55 ns of 892: two blocks on an SM had hidden most of the latency already. 837 ns are
# 1,657 cycles, where the arithmetic takes 1,024; the rest are other instructions and their waits.

# %% [markdown]
# ## cp.async: no registers
#
# Since Ampere (sm_80; not Hopper, as one text has it) `cp.async` copies from global to shared memory without a register
# in between. Each thread issues copies of 4, 8 or 16 bytes, closes them into a **group**, and later waits until at most
# `n` of *its own* groups are open (groups, not tiles: exercise 09.4); what others copied needs a barrier too. Numba has
# no name for it; `kernels/simt/async_copy.py` wraps one line of inline PTX each.

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
# A copy cannot turn its data, and our tile of `A` is stored transposed: so `A` travels in words of 4 bytes, `B` in 16.
# **Predict:** fewer or more instructions than the register version? Fewer registers?

# %%
gl.check("k09_cp_async")
for kernel in ("k09_double_buffer", "k09_cp_async"):
    registers, c = gl.compile(kernel).registers, gl.count(kernel, 128, 128, 64)
    moving = c.total(space="global", op="ld").executions / 8
    said = f"{registers} registers, {moving:g} global loads or copies per warp"
    print(f"{kernel:18} {said}")

# %% [markdown]
# **Outcome.** More copies, few registers saved, and shared memory is the tighter limit again: a warp spends 160
# wavefronts per tile, not 104 (counted), so that eight warps need 1,280 cycles where the arithmetic
# takes 1,024 (modelled). `cp.async` pays where tiles travel as they are, in chunks of 16 bytes: for tensor cores
# (chapters 11 and 12).

# %% [markdown]
# ## The search
#
# Where does the time of a SIMT kernel go? Into instructions that are no multiply-add, and into waiting. First the
# instructions, step by step:

# %%
STEPS = {
    "k09_plain_ints": "8 × 8 patch, Python integers",
    "k07_register_2d": "unsigned 32-bit indices",
    "k08_vectorised": "128-bit access, no conflicts",
    "k09_rolled": "double buffer, loop over k",
    "k09_double_buffer": "eight products written out",
    "k09_wide_patch": "8 × 16 patch per thread",
    "k09_wide_columns": "multiplied column by column",
}
rest = {}
for kernel, change in STEPS.items():
    short, long = (gl.count(kernel, 128, 256, K).mix() for K in (64, 128))
    loop = {name: n - short[name] for name, n in long.items()}  # eight turns
    rest[kernel], lds = sum(loop.values()) / loop["fma"] - 1, loop["lds"] / loop["fma"]
    more = f"({lds:5.3f} LDS), {gl.compile(kernel).registers} registers"
    print(f"{change:31} {rest[kernel]:4.2f} others per FMA {more}")

# %% [markdown]
# - **64-bit indices** cost two integer instructions per multiply-add (counted).
# - **Width.** A quarter of the shared loads, and none with a conflict (chapters 06 to 08).
# - **The loop over k.** LLVM and ptxas keep `for k in range(8)`: every turn starts with loads it must wait for.
# - **The patch.** 8 × 16 needs six 128-bit loads per 128 multiply-adds, not four per 64.
# - **The tests.** Blocks inside the matrix run a main loop without a look at the edges: the same lines, compiled twice.
#
# ## Two stalls
#
# `k09_wide_patch` issues nine multiply-adds in ten instructions, and yet leaves a fifth of its slots empty. The
# profiler names two reasons. *Short scoreboard*: a multiply-add waits for a shared load, which takes 29 cycles (chapter
# 01), and there are just two warps per scheduler to take turns. *Dispatch stall*: **registers have banks, too**.

# %% [markdown]
# A scheduler's registers lie in two banks, even and odd numbers; each delivers one operand per cycle, and a
# multiply-add reads three. One must come from the **operand cache**, which keeps what the instruction before has read
# in the same place (`.reuse` in SASS), the other two from different banks. Otherwise it takes a second cycle. (Not
# documented; chapter 01's probe shows it.)

# %%
for name, points in gl.machine.issue_rate().series.items():
    if name.startswith("1 chain"):
        print(f"{name}: {points[-1][1]:.0f} multiply-adds per cycle, of 128")


# %% [markdown]
# Three changes: pairs of lanes share what they load (chapter 08); each step loads the values of the *next* outer
# product before it multiplies those that it has, double buffering once more;

# %% tags=["kernel"] gemmlab={"kernel": "simt/patch_kernel.py", "region": "ahead"}
def one_ahead(fetch, multiply, TM, TN):
    """Return step(…): load the values of row k, multiply those of row k - 1."""

    @cuda.jit(device=True, forceinline=True)
    def step(acc, frag_a, frag_b, smem_a, smem_b, a, b):
        next_a = cuda.local.array(TM, float32)
        next_b = cuda.local.array(TN, float32)
        fetch(next_a, next_b, smem_a, smem_b, a, b)
        multiply(acc, frag_a, frag_b)
        for i in range(TM):
            frag_a[i] = next_a[i]
        for j in range(TN):
            frag_b[j] = next_b[j]

    return step


# %% [markdown]
# and the order of the 128 multiply-adds. **Predict:** should the loop over the 8 rows of the patch be outside, or the
# one over its 16 columns?

# %% tags=["kernel"] gemmlab={"kernel": "simt/patch_kernel.py", "region": "order"}
def outer_product(TM, TN):
    """Return multiply(acc, frag_a, frag_b), which adds one outer product to a patch."""

    @cuda.jit(device=True, forceinline=True)
    def multiply(acc, frag_a, frag_b):
        for q in range(4):  # NOTE: one column of each group of four, then the next one
            for g in range(TN // 4):
                j = 4 * g + q
                for r in range(TM):  # NOTE: down one column, up the next
                    i = r if (q * (TN // 4) + g) % 2 == 0 else TM - 1 - r
                    acc[i, j] += frag_a[i] * frag_b[j]

    return multiply


# %%
from gemmlab.operands import bank_conflicts, load_uses

WIDE = ("k09_wide_patch", "k09_wide_columns")
for kernel in WIDE:
    try:
        sass = gl.compile(kernel, target="sm_90").sass()
    except gl.GemmlabError as error:
        print(error)
        break
    (total, met), uses = bank_conflicts(sass), load_uses(sass)
    soon = sum(distance < 15 for distance in uses) / len(uses)
    print(f"{kernel}: {met / total:.0%} of the multiply-adds meet a bank,")
    print(f"    {soon:.0%} of the shared loads are used within 15 instructions (SASS)")

# %% [markdown]
# (Two warps that take turns cover 29 cycles with 15 instructions each.) What the profiler saw, per instruction issued:

# %%
gl.check("k09_wide_columns")
COUNTERS = {
    "slots used, %": "issue_pct",
    "short scoreboard": "stall_short_scoreboard",
    "dispatch stall": "stall_dispatch_stall",
    "shared-load wavefronts, millions": "shared_load_wavefronts",
}
profiles = [gl.results.find(k, 4096, 4096, 4096)[0].get("profile", {}) for k in WIDE]
print(f"{'':33}", *(f"{kernel:>17}" for kernel in WIDE))
for what, key in COUNTERS.items():
    scale = 1e6 if "millions" in what else 1
    seen = [f"{p[key] / scale:.2f}" if key in p else "–" for p in profiles]
    print(f"{what:33}", *(f"{value:>17}" for value in seen))

# %% [markdown]
# Down a column an element of `frag_b` stays in the operand cache. One column from each group of four in turn: so no
# load is used early. But our order is a hint: ptxas chooses registers and moves instructions as it sees fit, and
# orders with half as many bank conflicts were *slower* (exploratory runs, some twenty orders). What it makes of a
# source can be counted and timed, hardly foreseen.

# %% [markdown]
# What it costs in resident blocks:

# %%
for kernel in ("k08_vectorised", "k09_double_buffer", "k09_wide_columns"):
    registers, held = gl.compile(kernel).registers, gl.occupancy_of(kernel)
    room = f"{held.blocks} per SM, {held.warps} warps of 64"
    print(f"{kernel:18} {registers} registers: {room}")

# %% [markdown]
# **Predict** which of the three is fastest.
#
# ## Measure

# %%
LADDER = (*STEPS, "k09_early_store", "k09_cp_async")
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in LADDER}
print(f"{'':18} others  at most  TFLOP/s  of cuBLAS")
for kernel, m in found.items():
    bound = seen = ""
    if kernel in rest:
        bound = f"{rest[kernel]:6.2f} {66.9 / (1 + rest[kernel]):8.1f}"
    if m.tflops and m.ratio:
        seen = f"{m.tflops:8.2f} {m.ratio:9.2f}"
    print(f"{kernel:18} {bound:15} {seen or 'not recorded yet'}")
print("4096 × 4096 × 4096,", found["k09_wide_columns"].label)

# %% [markdown]
# "At most" is what the slots of other instructions leave of 66.9 TFLOP/s (modelled from the count of PTX). Recorded
# rates rise with every step; two steps, `k09_rolled` and the last, save no instruction but waiting. What
# `k09_early_store` lacks to `k09_double_buffer` is what the order of load and store buys.

# %% [markdown]
# ## A tile for each shape
#
# A tile of 128 × 256 makes 32 blocks at 1024³, for 132 SMs. The same code with a patch of 8 × 8 makes tiles of 128 ×
# 128 (`k09_square_tile`), with 4 × 8 of 64 × 128 (`k09_small_tile`). **Predict** where each wins, from the share of
# the SMs that have work:

# %%
gl.check("k09_square_tile")
gl.check("k09_small_tile")
TILES = {"wide_columns": (128, 256), "square_tile": (128, 128), "small_tile": (64, 128)}
for M, N, K in [(1024,) * 3, (512, 4096, 4096), (2048,) * 3, (4096,) * 3, (8192,) * 3]:
    print(f"{M} × {N} × {K}:")
    for name, (height, width) in TILES.items():
        blocks = -(-M // height) * -(-N // width)
        busy = blocks / 132 / -(-blocks // 132)
        m = gl.measure(f"k09_{name}", M, N, K)
        rate = f"{m.ratio:.2f} of cuBLAS" if m.ratio else "not recorded yet"
        print(f"    {name:13} {blocks:5} blocks, {busy:4.0%} of the SMs busy, {rate}")

# %% [markdown]
# The largest tile that keeps the SMs busy wins; libraries choose by shape in the same way.

# %%
best = [r for kernel in STEPS for r in gl.results.find(kernel, 4096, 4096, 4096)]
gl.plots.ladder_bars(best, title="The search at 4096 × 4096 × 4096")

# %%
kernels = ["k08_vectorised", "k09_double_buffer", "k09_wide_columns"]
counters = {kernel: gl.count(kernel, 128, 256, 64) for kernel in kernels}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=kernels, bytes="requested", counters=counters
)

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A load waits at its first use. Put a tile's worth of arithmetic between the two and the latency is
# > gone, for a second buffer, eight registers and one barrier per tile. Do the same in registers for shared loads; then
# > count what is left per multiply-add, and time it.

# %% [markdown]
# In the last main loop fewer than one instruction in ten is no multiply-add (counted), and no registers are left to
# lower that share. More speed needs another unit, one that multiplies small matrices in one instruction. What is a
# tensor core? That is chapter 10.

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
