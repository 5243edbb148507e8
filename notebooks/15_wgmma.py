# %% [markdown]
# # 15 · wgmma
#
# **How do 128 threads issue one multiply?** `wgmma` takes both operands from shared memory, described by two 64-bit
# words, and runs on its own while the threads go on. Fragments, `ldmatrix` and their registers disappear; what stays in
# registers are the accumulators.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [14](14_tma.ipynb): TMA, swizzles, proxies; [11](11_mma_and_ldmatrix.ipynb): fragments.
# - **You will be able to:** read and write matrix descriptors; step through a swizzled tile; tell K-major from
#   MN-major; place fence, commit and wait, and say what each orders; read what ptxas repairs behind your back.
# - **Needs:** nothing. Native on Hopper alone: `wgmma` exists on sm_90a, and on no Blackwell.
# - **Time:** 120 minutes.

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
# The best `mma.sync` kernel sends every operand through registers, once per warp: `ldmatrix` reads shared memory, `mma`
# reads registers. Its ceiling on an H200 lies about a quarter below that of `wgmma` (the roofline below shows both as
# recorded).
#
# **Predict:** a warpgroup multiplies 64 × 128 × 16 in one instruction. How many bytes of shared memory does that take
# per FLOP, against a warp's tile of 64 × 64 through `ldmatrix`?

# %%
for kernel in ("k14_tma_persistent", "k15_wgmma"):
    c = gl.count(kernel, 256, 256, 256)
    reads = [s for s in c.sites if s.opcode.startswith(("ldmatrix", "wgmma.mma_async"))]
    per_flop = 1000 * sum(s.bytes for s in reads) / (2 * 256**3)
    multiplies, loads = c.mix()["mma"], c.mix().get("ldsm", 0)
    print(f"{kernel:18} {multiplies:5,} warp-level multiplies, {loads:5,} ldmatrix,",
          f"{per_flop:.1f} bytes per 1,000 FLOP")

# %% [markdown]
# A quarter fewer bytes, a sixteenth of the instructions, and no loads into registers at all. (`wgmma` has no
# addresses per lane: bytes and bank conflicts are counted from its descriptors, in chunks of 16 bytes. In 64 recorded
# products of all layouts a profiler counted the same.)
#
# ## The idea: who holds what
#
# A **warpgroup** is four warps in a row, threads 128 *i* to 128 *i* + 127. M is always 64: warp *w* holds rows 16 *w*
# to 16 *w* + 15 of the accumulator, each laid out like chapter 11's `mma`, only wider. An `m64n128` accumulator is 64
# FP32 registers per thread, `m64n256` takes 128 (one guide says 64). Below: the first 16 columns, warp by warp.

# %%
gl.widgets.fragments("wgmma.m64n16k16", lane=5, operands=("C",))

# %% [markdown]
# K is always 32 bytes: 16 elements of 16 bits, 32 of FP8 or INT8, 8 of TF32. N is a multiple of 8 up to 256, for INT8
# of 16 above 32 (one guide gives it every multiple of 8). This is what reaches the assembler:

# %%
import re

call = re.search(r"wgmma\.mma_async.*", gl.compile("k15_wgmma").ptx)[0]
print(re.sub(r"(%f\d+),.*, (%f\d+)", r"\1, … \2", call))

# %% [markdown]
# 64 accumulators, two **descriptors**, five switches: `scale-d` (a predicate: add, or start anew), the signs of `A` and
# `B` (1 or −1), and which of the two is MN-major: here `B`. In the RS form `A` comes from four registers instead; `B`
# never does, and its last switch stays (a guide denies it).

# %% [markdown]
# ## A descriptor
#
# | bits | field | says; lengths in units of 16 bytes |
# |---|---|---|
# | 0–13 | start address | where the operand's first byte lies |
# | 16–29 | leading byte offset, LBO | see below |
# | 32–45 | stride byte offset, SBO | to the next group of 8 rows |
# | 49–51 | base offset | 0 if tiles start at multiples of 1,024 |
# | 62–63 | swizzle | 0 none, 1: 128, 2: 64, 3: 32 bytes |

# %% [markdown]
# What the two offsets mean depends on the layout; here for the 128-byte swizzle, 16-bit types:
#
# | operand | a row of 128 bytes holds | LBO | SBO | 16 steps of `k` further |
# |---|---|---|---|---|
# | K-major (`A` row-major) | 64 of `k`, one `m` | unused | next 8 rows of `m` | start + 32 bytes |
# | MN-major (`B` row-major) | 64 of `n`, one `k` | next 64 columns | next 8 of `k` | start + 16 rows = 2,048 bytes |

# %% [markdown]
# Texts that call LBO "row step" and SBO "column step" fit neither row. The swizzle XORs *address* bits, so moving the
# start by 32 bytes inside a swizzled row is right: the hardware adds first and XORs the sum.
#
# **Predict** the core matrices of both operands: where do rows 0 and 8 begin, and the second half of K?

# %%
from ptxemu import decode_wgmma_descriptor, encode_wgmma_descriptor

a = encode_wgmma_descriptor(0x400, 16, 1024, 128)
b = encode_wgmma_descriptor(0x4400, 8192, 1024, 128)
print(f"A {a:#018x}:", decode_wgmma_descriptor(a), sep="\n")
print(f"B {b:#018x}:", decode_wgmma_descriptor(b, "MN"), sep="\n")

# %%
gl.widgets.descriptor(a)

# %% [markdown]
# ## The kernel
#
# One warpgroup, two blocks of 64 rows, one stage: TMA brings a tile of `A` and two boxes of `B`, eight `wgmma` multiply
# them. No overlap yet; three CTAs per SM fill each other's gaps.

# %% tags=["kernel"] gemmlab={"kernel": "hopper/k15_wgmma.cu"}
# %%cuda wgmma
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "ptx/wgmma.cuh"
# #include "tile/store_direct.cuh"
#
# constexpr int BM = 128, BN = 128, BK = 64;
#
# struct Shared {
#   alignas(1024) T a[BM * BK];           // K-major: a row of 128 bytes per m
#   alignas(1024) T b[BN / 64][BK * 64];  // N-major: boxes of 64 columns
#   mbarrier_t full;
# };
#
# extern "C" __global__ void __launch_bounds__(128, 3)
# wgmma(const __grid_constant__ CUtensorMap A,
#       const __grid_constant__ CUtensorMap B, T* C,
#       int M, int N, int K) {
#   extern __shared__ __align__(1024) unsigned char raw[];
#   Shared& s = *reinterpret_cast<Shared*>(raw);
#   int m = blockIdx.y * BM, n = blockIdx.x * BN;
#   if (threadIdx.x == 0) {
#     mbarrier_init(&s.full, 1);
#     fence_mbarrier_init();
#   }
#   __syncthreads();
#
#   // Start, LBO, SBO, swizzle (1: 128 bytes). Eight rows are 1,024 bytes.
#   wgmma_desc_t a = wgmma_descriptor(s.a, 16, 1024, 1);
#   wgmma_desc_t b = wgmma_descriptor(s.b, sizeof(s.b[0]), 1024, 1);
#   float acc[2][BN / 2];  // two blocks of 64 rows
#   unsigned parity = 0;
#   for (int k0 = 0; k0 < K; k0 += BK, parity ^= 1) {
#     // Copy a tile of A and one of B.
#     if (threadIdx.x == 0) {
#       mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
#       tma_load_2d(s.a, &A, k0, m, &s.full);
#       for (int box = 0; box < BN / 64; ++box)
#         tma_load_2d(s.b[box], &B, n + box * 64, k0, &s.full);
#     }
#     mbarrier_wait_parity(&s.full, parity);
#
#     // Multiply: four steps of 16 along K. Descriptors count 16 bytes: a step
#     // is 32 bytes of a row of A, and 16 rows of B; 64 rows of A are 8,192.
#     wgmma_fence();
# #pragma unroll
#     for (int k = 0; k < BK / 16; ++k)
# #pragma unroll
#       for (int i = 0; i < 2; ++i)
#         wgmma_m64k16<BN, 0, 1>(acc[i], a + i * 512 + k * 2, b + k * 128,
#                                k0 + k > 0, T());
#     wgmma_commit_group();
#     wgmma_wait_group<0>(acc[0]);
#     wgmma_wait_group<0>(acc[1]);
#     __syncthreads();  // NOTE: a wait covers its warp; the copy needs all four
#   }
# #pragma unroll
#   for (int i = 0; i < 2; ++i)
#     store_direct<BN>(acc[i], C, m + i * 64, n, M, N);
# }

# %% [markdown]
# - **`wgmma_fence`** orders the registers: what the threads did with `acc` before, the tensor core sees.
# - **`commit_group`, `wait_group`** work as for `cp.async`, with groups of multiplies. Until the wait, the accumulators
#   *and the tiles in shared memory* belong to the hardware.
# - **The barrier after the wait** is needed: a wait speaks for its own warp, and the copy overwrites what all four
#   read.
# - **No proxy fence**: TMA wrote and `wgmma` reads, both through the async proxy. Tiles that *threads* write need one.
# - **`k0 + k > 0`** is `scale-d`: the first multiply ignores what the accumulators hold.

# %%
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"],
    "block": [128, 1, 1],
    "shared": 32 * 1024 + 64,
    "args": ["map(A, 128, 64, 128)", "map(B, 64, 64, 128)", "C", "M", "N", "K"],
    **dict.fromkeys(("a_dtype", "b_dtype", "c_dtype"), "bfloat16"),
}
gl.check(wgmma, rule=rule)

# %% [markdown]
# ## Break it
#
# Four single changes. **Predict:** which give wrong values, and what does the compiler say to each?

# %%
WAITS = "    wgmma_wait_group<0>(acc[0]);\n    wgmma_wait_group<0>(acc[1]);\n"
BREAKS = {
    "a step of 16 elements, not 2 units": ("i * 512 + k * 2,", "i * 512 + k * 16,"),
    "groups of A 512 bytes apart": ("(s.a, 16, 1024, 1)", "(s.a, 16, 512, 1)"),
    "no fence": ("    wgmma_fence();\n", ""),
    "no wait": (WAITS, ""),
}
for what, (old, new) in BREAKS.items():
    broken = gl.cuda_source(wgmma.text.replace(old, new), "wgmma")
    lines = [line for line in gl.compile(broken).messages if "(C75" in line]
    said = [line.partition("in function")[0] for line in lines]
    try:
        gl.check(broken, [(128, 128, 256)], "emulator", rule, quiet=True)
    except gl.CheckError as error:
        print(f"{what}:", *str(error).splitlines()[:2], *said, sep="\n  ", end="\n\n")

# %% [markdown]
# Look at the last two. Without the fence ptxas injects a `warpgroup.arrive` (C7519), without the wait a
# `warpgroup.wait` (C7517), where *it* needs them for registers. So a missing fence gives right values on a GPU, and the
# message is an `info` that most builds never print. The tiles in shared memory are nobody's care but yours: the
# injected wait comes too late for the next copy. C7510 is worse: ptxas serialises every `wgmma`. `gl.verdict` shows
# them all.

# %% [markdown]
# ## Two variants
#
# **RS**: `A` goes through registers (`ldmatrix`, as in chapter 11), so that threads can change it on the way: scale
# it, widen FP8 or INT4 weights, keep attention's P there, or use one fragment for several `wgmma`. **K-major B**: with
# `B` stored by columns both operands look alike, one box each; types of 8 bits know no other way.
#
# **Predict** for each: instructions, registers, bytes read by `wgmma`.

# %%
for kernel in ("k15_wgmma", "k15_wgmma_rs", "k15_k_major"):
    gl.check(kernel, [(128, 128, 128), (130, 264, 200)], quiet=True)
    c, registers = gl.count(kernel, 128, 128, 256), gl.compile(kernel).registers
    read = sum(s.bytes for s in c.sites if s.opcode.startswith("wgmma.mma_async"))
    excess, loads = c.total(space="shared").excess_wavefronts, c.mix().get("ldsm", 0)
    print(f"{kernel:13} {registers} registers, {loads:4} ldmatrix,",
          f"{read:,} bytes by wgmma, {excess} excess wavefronts")

# %%
gl.plots.bank_grid(gl.trace("k15_wgmma", 128, 128, 64))

# %% [markdown]
# Whoever writes and whoever reads, eight chunks of 16 bytes fall into eight groups of banks. So a `B` that is stored
# the way the instruction likes best buys nothing here: 16-bit `wgmma` reads both layouts without a conflict.
#
# ## Where it runs
#
# One text calls `wgmma` "deprecated, but still running" on Blackwell. **Predict** what the assembler says.

# %%
for target in ("sm_90", "sm_100a", "sm_120a"):
    try:
        gl.compile(wgmma, target=target)
    except gl.GemmlabError as error:
        print(f"{target}: {str(error).splitlines()[1].partition('error   : ')[2]}")

# %% [markdown]
# Blackwell's data-centre GPUs have `tcgen05` instead (chapter 22), its consumer cards stay with `mma.sync` (chapter
# 24).
#
# ## Predict, then measure
#
# **Predict:** the tensor core is fed at last, but nothing overlaps. Faster or slower than chapter 14's pipeline?

# %%
KERNELS = ("k14_tma_persistent", "k15_wgmma_rs", "k15_k_major", "k15_wgmma")
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in KERNELS}
for kernel, m in found.items():
    rate = f"{m.tflops:6.1f} TFLOP/s" if m.tflops else "not recorded yet"
    print(f"{kernel:18} {rate}", f"= {m.ratio:.2f} of cuBLAS" if m.ratio else "")
print("4096 × 4096 × 4096, bf16,", found["k15_wgmma"].label)

# %% [markdown]
# **Outcome** (H200, 2026-11-30). `wgmma` without a pipeline is just behind the best `mma.sync` kernel, which has one
# and never ends a CTA: 0.67 and 0.68 of cuBLAS in one comparison. It could be far more, for the tensor pipe works 58 %
# of the time, against 88 %. (`k15_k_major` has another layout, rival and run.) `A` through registers costs a quarter of
# the rate: 186 registers leave two CTAs to an SM instead of three, and nothing multiplies while `ldmatrix` loads. The
# profiler's wavefronts of `wgmma` are 25.2 million of 128 bytes, 23.4 bytes per 1,000 FLOP: what the emulator counts,
# and no bank conflict either.

# %%
gl.verdict("k15_wgmma")

# %%
rungs = ["k14_tma_persistent", "k15_wgmma"]
counters = {kernel: gl.count(kernel, 256, 256, 512) for kernel in rungs}
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=rungs, bytes="requested", counters=counters
)

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A descriptor replaces fragments, a group replaces the wait inside each `mma`, and until that group is
# > waited for, registers and tiles are not yours. What ptxas repairs silently is still a bug.

# %%
gl.plots.ladder_table({
    "k14_tma_persistent": ("last rung of mma.sync", "the rate of mma.sync"),
    "k15_wgmma": ("faster, no pipeline", "waits for its copies"),
})

# %% [markdown]
# A CTA copies, waits, multiplies, waits; the tensor cores rest whenever all three CTAs of an SM wait at once. The
# remedy is chapter 14's ring, but who should fill it? With `wgmma` a warpgroup has almost nothing to do between two
# tiles. Who loads, who multiplies? That is chapter 16.

# %% [markdown]
# ## Exercises
#
# In [exercises/15_wgmma.ipynb](../exercises/15_wgmma.ipynb): **15.1** where a descriptor looks, **15.2** multiply a
# stage, **15.3** a repair, **15.4** which shapes exist.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): "Asynchronous Warpgroup Level Matrix
#   Instructions": `wgmma.mma_async`, shared memory matrix layout, matrix descriptor format, `wgmma.fence`.
# - NVIDIA, [CUTLASS](https://github.com/NVIDIA/cutlass): `include/cute/arch/mma_sm90_desc.hpp`,
#   `include/cute/atom/mma_traits_sm90_gmma.hpp`; CuTe names each form, such as `SM90_64x128x16_F32BF16BF16_SS`.
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): compute capability
#   9.0, architecture-specific features.
