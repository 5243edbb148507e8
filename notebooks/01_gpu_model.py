# %% [markdown]
# # 01 · The machine
#
# **What does the machine look like, and how slow is each memory?** We take it apart with kernels of a few lines. Each
# measures one thing: a latency, a rate, a limit. Every later chapter comes back to these numbers.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** Python, NumPy and a little C.
# - **You will be able to:** place threads on warps, blocks and SMs; measure the latency of each memory; say how many
#   bytes must be under way to reach a bandwidth, and how many warps to fill an SM; compute how many blocks fit on one.
# - **Needs:** nothing. With an NVIDIA GPU the probes measure yours; without one they show what was recorded.
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
# ## Two kinds of processor
#
# A CPU core is built to finish *one* thread soon: 3 to 5 GHz, large caches, out-of-order execution. A GPU is built to
# finish many threads per second: an H200 has 132 **streaming multiprocessors** (SMs), each with 128 FP32 lanes, below
# 2 GHz. Caches could not feed them: 60 MB of L2 are 3.7 KB for each lane (derived). So it does not avoid waiting; it
# has other threads to run meanwhile. That is **latency hiding**, and this chapter measures how much there is to hide.

# %%
h200 = gl.hardware.gpu("H200")
lanes = h200.sms * h200.fp32_lanes
print(f"{h200.sms} SMs · {h200.fp32_lanes} lanes = {lanes:,} multiply-adds per cycle")
peak = 2 * lanes * h200.clock_mhz / 1e6
print(f"{peak:.1f} TFLOP/s at {h200.clock_mhz} MHz; DRAM {h200.bandwidth_gbs:,} GB/s")

# %% [markdown]
# ## Grid, block, warp, thread
#
# A launch is a **grid** of **blocks**; a block has up to 1,024 **threads**, stays on one SM, and its threads share that
# SM's shared memory and can wait for each other at a barrier. The SM cuts a block into **warps** of 32 lanes and
# issues one instruction for a whole warp. Each of its four schedulers picks one ready warp per cycle.
#
# Lanes of a warp usually run together, but since Volta each has its own program counter: lockstep must be asked for
# (`__syncwarp`).

# %%
gl.plots.machine_map(blocks=8, warps=8, sms=4)

# %% [markdown]
# Inside one Hopper SM, with what guides often get wrong:
#
# | unit | per SM | note |
# |---|---|---|
# | warp schedulers | 4 | one warp instruction per cycle each |
# | FP32 lanes | 128 | 32 per scheduler |
# | INT32 lanes | 64 | half as many, not "128 CUDA cores FP32/INT32" |
# | tensor cores | 4 | chapter 10 |
# | registers | 65,536 of 4 bytes | 256 KB, not "64 KB" |
# | L1 and shared memory | 256 KB together | up to 228 KB shared, 227 KB for one block |

# %% [markdown]
# ## The first kernel
#
# One thread per element. `@cuda.jit` makes a Python function a **kernel**: Numba compiles it to PTX, NVIDIA's portable
# assembly, and every thread of the launch runs it. `uint32` keeps indices at 32 bits (chapter 03 counts what that
# saves). The grid is rounded up to whole blocks, so the last threads have nothing to do.

# %%
from numba import cuda, uint32


# %% tags=["kernel"] gemmlab={"kernel": "simt/k01_stream.py"}
@cuda.jit
def add(x, y, out):
    i = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    if i < uint32(out.size):  # NOTE: the grid is rounded up to whole blocks
        out[i] = x[i] + y[i]


# %% [markdown]
# `gl.launch` runs a kernel, here on the emulator, which executes the PTX and counts.
#
# **Predict** for 1,000 elements in blocks of 256: how many blocks, how many warps have something to load, and how many
# 32-byte **sectors** does one warp's load of 32 neighbouring floats touch?

# %%
x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
out = np.zeros(1000, np.float32)
launch = gl.launch(add, x, y, out, grid=4, block=256, backend="emulator")
loads = launch.report.counters.total(space="global", op="ld")
print(launch, "·", "right" if (out == x + 1).all() else "wrong")
print(f"{loads.requests} load requests, {loads.sectors} sectors (counted)")

# %% [markdown]
# A **request** is one load of one warp: 64 for two arrays, since all 32 warps of the 4 blocks load. 250 sectors: four
# for each warp's 128 bytes, and one for the eight floats of the last. Memory moves in **sectors** of 32 bytes; a
# **cache line** has four. Neighbouring lanes reading neighbouring words is called *coalesced* (chapter 04).

# %% [markdown]
# ## How long does one load take?
#
# To measure latency, allow one load at a time. A **pointer chase** does that: each line of a ring holds the address of
# the next line, in random order, so that a load cannot start before the last one has arrived. The SM's own clock
# (`%clock64`) counts the cycles.
#
# Numba has no name for the clock, nor for a load from a bare address (`ring[i]` would add address arithmetic to every
# step), so both are one line of inline PTX in `kernels/simt/probes.py`.

# %%
from numba import float32, uint64

from kernels.simt.k01_chase import LINE
from kernels.simt.k01_issue import unroll
from kernels.simt.probes import clock64, follow, global_address


# %% tags=["kernel"] gemmlab={"kernel": "simt/k01_chase.py"}
@cuda.jit
def chase(ring, start, warm, steps, out):
    address = global_address(ring, start)
    for _ in range(warm):  # the first visits fill the caches
        address = follow(address)
    begin = clock64()
    for _ in range(steps):
        address = follow(address)
    line = (address - global_address(ring, uint32(0))) // uint64(8 * LINE)
    out[1] = line  # NOTE: needs the last load, so the clock cannot be read before it
    out[0] = clock64() - begin


# %% [markdown]
# It runs on the emulator too. There is no meaningful clock there, but we can see that the chain visits what it should,
# one sector per load.

# %%
from kernels.simt.k01_chase import link

order, following = gl.machine.ring_of(64, np.random.default_rng(1))
ring, out = np.zeros(64 * LINE, np.uint64), np.zeros(2, np.uint64)
gl.launch(link, ring, following, grid=2, block=32, backend="emulator")
start = np.uint32(order[0] * LINE)
args = ring, start, np.int32(0), np.int32(10), out
launch = gl.launch(chase, *args, grid=1, block=1, backend="emulator")
loads = launch.report.counters.total(space="global", op="ld")
print(f"after 10 steps at line {out[1]}, expected {order[10]}")
print(f"{loads.sectors_per_request:g} sector per load (counted)")

# %% [markdown]
# **Predict.** We let the ring grow from 4 KB to 1 GB. At which sizes does the time of a load jump? How many cycles do
# you expect from shared memory, L1, L2 and DRAM?

# %%
staircase = gl.machine.latency_staircase()
gl.plots.staircase(staircase)

# %% [markdown]
# The widely copied table of latencies beside ours. (On a GPU, the cell above measured yours.)

# %%
cycles = gl.machine.latencies(staircase)
print(f"{'level':8} {'a guide says':>14} {'here':>8}   cycles")
for level, claim in gl.machine.GUIDE_CYCLES.items():
    here = f"{cycles[level]:.0f}" if cycles else "–"
    print(f"{level:8} {claim:>14} {here:>8}")
print(staircase.label)

# %% [markdown]
# Latency differs by more than an order of magnitude between the ends; the *size* of each memory runs the other way:
# 256 KB of registers and 228 KB of shared memory per SM, 60 MB of L2, and 141 GB of DRAM on an H200. Registers are not
# in the table: an instruction reads them as part of its own execution. Beyond the GPU, NVLink and PCIe take
# microseconds.

# %% [markdown]
# ## How much must be under way?
#
# If a load takes 600 cycles and a warp has one of 128 bytes under way, it gets 128 bytes per 600 cycles. To reach a
# bandwidth, latency × bandwidth bytes must be under way at any moment (**Little's law**).
#
# **Predict:** how many warps per SM must read all the time, at one 4-byte load per lane? An SM holds 64 warps.

# %%
dram = cycles.get("DRAM", 600)
flight = gl.machine.bytes_in_flight(dram / h200.clock_mhz * 1e3, h200.bandwidth_gbs)
origin, per_sm = staircase.label if cycles else "assumed", flight / h200.sms
print(f"{dram:.0f} cycles, {origin}")
print(f"{flight / 1e6:.2f} MB under way, {per_sm / 1024:.1f} KB per SM")
print(f"{per_sm / 128:.0f} warps per SM with one load each")

# %% [markdown]
# More than there are: whoever reads one float per lane at a time cannot reach DRAM's bandwidth. A warp needs several
# loads in flight, or wider ones (chapter 08). A copy is better off, as it waits for its reads only, half of its
# traffic. Let us watch one climb:

# %%
rate = gl.machine.copy_rate()
per_warp = 2 * 128 * h200.sms * h200.clock_mhz / dram / 1e3  # GB/s, read and write
model = [(w, min(h200.bandwidth_gbs, w * per_warp)) for w in gl.machine.COPY_WARPS]
gl.plots.lines(
    rate.series, models={"Little's law": model}, x=rate.x, y=rate.y,
    title="Copy, one float per lane and step", caption=rate.label,
)


# %% [markdown]
# One warp per SM comes to 88 % of the law, 64 to 63 %, or 3.0 TB/s (recorded on an H200): the more requests are under
# way, the longer each one queues. With 16 bytes per lane a copy reaches 4.0 TB/s.
#
# ## How many warps fill the FP32 lanes?
#
# The same law holds for arithmetic. A multiply-add has a latency of a few cycles; a **chain** needs each result before
# the next step. Full lanes need latency × 128 multiply-adds under way: from many warps (*thread-level parallelism*) or
# from several independent chains per thread (*instruction-level parallelism*).

# %% tags=["kernel"] gemmlab={"kernel": "simt/k01_issue.py"}
def issue_kernel(CHAINS, THREE=False):
    """Return the kernel: CHAINS chains per thread, of two or THREE registers."""
    UNROLL = unroll(CHAINS)

    @cuda.jit
    def issue(a, b, loops, out, clocks):
        x = cuda.local.array(CHAINS, float32)
        tid = uint32(cuda.threadIdx.x)
        for j in range(CHAINS):
            x[j] = float32(tid + uint32(j))
        cuda.syncthreads()
        begin, left = clock64(), uint32(loops)
        while left > uint32(0):
            left -= uint32(1)
            for _ in range(UNROLL):
                for j in range(CHAINS):
                    x[j] = x[j] * a + (b if THREE else a)
        total = float32(0)
        for j in range(CHAINS):
            total += x[j]
        out[tid] = total  # NOTE: needs every chain's end: no clock is read before
        end, slot = clock64(), uint32(2) * (tid // uint32(32))
        if tid % uint32(32) == uint32(0):
            clocks[slot], clocks[slot + uint32(1)] = begin, end

    return issue


# %% [markdown]
# Each warp notes when it began and when it ended; the block's time is last end minus first begin. The longest time of a
# single warp would flatter: when the lanes are full, some warps read their first clock only after others are done.
#
# **Predict:** with a latency of 4 cycles, how many warps of one chain fill an SM? How many of four chains?

# %%
issue_rate = gl.machine.issue_rate()
SHOWN = ("1 chain per thread", "4 chains per thread", "1 chain, three registers")
shown = {name: issue_rate.series[name] for name in SHOWN if issue_rate.series}
model = {
    f"chains: {n}, latency: 4": [
        (warps, min(128, warps * 32 * n / 4)) for warps in gl.machine.WARPS
    ]
    for n in (1, 4)
}
gl.plots.lines(
    shown, models=model, x=issue_rate.x, y=issue_rate.y,
    title="FP32 issue rate of one SM", caption=issue_rate.label,
)

# %% [markdown]
# Sixteen warps with one chain, or four warps with four. A warp sits on one scheduler, so four warps are the least that
# can fill four schedulers. So the fastest kernel of chapter 09 can make do with eight warps per SM. (One line stays at
# half: its chain multiplies and adds *three* registers. Why that matters, chapter 09 finds out.)

# %% [markdown]
# ## How many blocks fit?
#
# An SM takes blocks as long as *all* of its resources last: 65,536 registers, 228 KB of shared memory (1 KB per block
# goes to the system), 2,048 threads, 32 blocks. Resident warps as a share of 64 are called **occupancy**.
#
# **Predict:** blocks of 256 threads with 128 registers each. How many fit? And with 40 KB of shared memory?

# %%
for registers, shared in ((32, 0), (128, 0), (128, 40 << 10), (255, 0)):
    found = gl.occupancy(256, registers, shared)
    print(f"{registers:3} registers, {shared >> 10:2} KB: {found}")
for kernel in ("k04_coalesced", "k09_double_buffer", "k09_wide_columns"):
    print(f"{kernel}: {gl.occupancy_of(kernel)}")

# %% [markdown]
# Turn one slider at a time: which steps cost a whole block?

# %%
gl.widgets.occupancy_explorer(threads=256, registers=128, shared_kb=16)

# %% [markdown]
# More is not always better. Kernels 04 and 09 above: the faster one has fewer resident warps, because each
# thread keeps more in registers. Occupancy is a means to hide latency, not a goal.
#
# Is the arithmetic right? Blocks can tell: each notes its SM (`%smid`), and the SM's clock when it comes and leaves.
# How many were there at once?

# %%
for case, ((predicted, seen),) in gl.machine.residency().series.items():
    print(f"{case:26} predicted {predicted:2}, seen {seen:2}")
print(gl.machine.residency().label)

# %% [markdown]
# ## A checklist for any kernel
#
# Four questions that later chapters answer one by one:
#
# - **Coalescing:** do neighbouring lanes touch neighbouring words? (`A[tid * stride]` with a stride above 1 does not.)
# - **Banks:** shared memory has 32 banks of one word; do two lanes want different words of one bank?
# - **Intensity:** how many FLOP for each byte moved?
# - **Occupancy:** enough warps, or enough independent work per warp, to cover the latency?

# %%
from ptxemu import Trace


@cuda.jit
def strided(stride, out):
    smem = cuda.shared.array(1024, uint32)
    lane = cuda.threadIdx.x
    smem[lane * stride] = lane
    out[lane] = smem[lane * stride]


def banks(stride):
    args, trace = (stride, np.zeros(32, np.uint32)), Trace(spaces=("shared",))
    run = gl.launch(strided, *args, grid=1, block=32, backend="emulator", trace=trace)
    return [access for access in run.report.trace if access.kind == "st"]


gl.plots.bank_grid({f"stride {stride}": banks(stride) for stride in (1, 2, 8)})

# %%
# One addition for two floats read and one written.
gl.plots.roofline("H200", points=[("vector add", 1 / 12)], span=(1 / 32, 64))

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A GPU is 132 SMs that wait well. A load takes tens to hundreds of cycles; bandwidth needs latency ×
# > bandwidth bytes under way, and full FP32 lanes need latency × 128 multiply-adds per SM.
#
# The vector add makes one addition for twelve bytes: 0.08 FLOP/byte, far left on the roof above. A matrix product can
# use each element thousands of times. How fast can it be? That is chapter 02.

# %% [markdown]
# ## Exercises
#
# In [exercises/01_gpu_model.ipynb](../exercises/01_gpu_model.ipynb): **01.1** a vector kernel, **01.2** blocks per SM,
# **01.3** bytes under way.
#
# ## References
#
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): thread hierarchy,
#   independent thread scheduling, compute capabilities.
# - NVIDIA, [H100 architecture white paper](https://resources.nvidia.com/en-us-tensor-core/gtc22-whitepaper-hopper).
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `%clock64`, `%smid`, `ld`, `cvta`.
# - V. Volkov, [Understanding latency hiding on
#   GPUs](https://www2.eecs.berkeley.edu/Pubs/TechRpts/2016/EECS-2016-143.html), 2016.
