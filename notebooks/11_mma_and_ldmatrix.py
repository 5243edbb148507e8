# %% [markdown]
# # 11 · mma and ldmatrix
#
# **Which lane holds which element?** The PTX instruction `mma.sync` has a published seating plan. With it we choose the
# loads, the banks and the order ourselves, and three steps lead from WMMA to twice its speed and more.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [10](10_tensor_cores_wmma.ipynb): tensor cores; [06](06_bank_conflicts.ipynb): swizzling chunks;
#   [09](09_double_buffering.ipynb): `cp.async`.
# - **You will be able to:** name the element in any register of an `mma`; feed it with `ldmatrix`, transposed where
#   needed; swizzle a tile so that no load and no store conflicts; keep two sets of fragments and write `C` in whole
#   rows.
# - **Needs:** nothing; a GPU of compute capability 8.0 or more adds the stopwatch.
# - **Time:** 100 minutes.

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
# In chapter 10 the compiler chose how a fragment is loaded, well for FP16 and badly for BF16, and the sums had to pass
# through shared memory because nobody knew where they were. And WMMA ends with Ampere: it has no words for Hopper's
# instructions. What we hide from ourselves we cannot improve.

# %% [markdown]
# ## The idea: a seating plan
#
# `mma.sync.aligned.m16n8k16` multiplies `A` (16 × 16) by `B` (16 × 8). Lane `l` belongs to group `g = l / 4`, where it
# is number `t = l % 4`. Everything follows from these two:
#
# - **C, D:** rows `g` and `g + 8`, columns `2t` and `2t + 1`: four floats.
# - **A:** the same rows, columns `2t, 2t + 1` and eight further: eight elements, two per register.
# - **B:** column `g`, rows `2t, 2t + 1` and eight further: four elements, two per register.

# %%
gl.widgets.fragments("mma.m16n8k16.bf16", lane=5)

# %% [markdown]
# **Predict:** which lane holds `A[1, 0]`? One guide says lane 16.

# %% tags=["nbval-check-output"]
from gemmlab.plots.seats import seats

plan = seats("mma.m16n8k16.bf16")
lane = np.arange(32)
g, t = lane // 4, lane % 4
print("A[1, 0] belongs to lane", plan["A"].lane[1, 0])
for i in range(4):
    assert (plan["C"].lane[g + 8 * (i // 2), 2 * t + i % 2] == lane).all()
print("C: 4 elements of 32 lanes as derived")


# %% [markdown]
# Registers are 32 bits wide: `A` takes four, `B` two, the sums four. (Comments like "16 FP16 in 4 registers" do not add
# up; ptxas refuses 8 + 4 registers.) Of two neighbours in `k` the first lies in the lower half. Here is one
# instruction, fed by hand:

# %%
# %%cuda one_mma
# #include "ptx/mma.cuh"
#
# extern "C" __global__ void one_mma(const unsigned short* A,
#                                    const unsigned short* B, float* D) {
#     int g = threadIdx.x / 4, t = threadIdx.x % 4;
#     unsigned a[4], b[2];
#     float d[4] = {};
#     for (int i = 0; i < 4; ++i) {
#         const unsigned short* x = A + (g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8;
#         a[i] = x[0] | x[1] << 16;
#     }
#     for (int i = 0; i < 2; ++i) {
#         const unsigned short* y = B + (2 * t + i * 8) * 8 + g;
#         b[i] = y[0] | y[8] << 16;
#     }
#     mma_m16n8k16_f32_f16(d, a, b);
#     for (int i = 0; i < 4; ++i) D[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = d[i];
# }

# %%
def multiply(kernel):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((16, 16)).astype(np.float16)
    B = rng.standard_normal((16, 8)).astype(np.float16)
    D = np.full((16, 8), np.nan, np.float32)
    gl.launch(kernel, A.view(np.uint16), B.view(np.uint16), D, grid=1, block=32)
    return np.abs(D - A.astype(float) @ B.astype(float)).max()


print(f"largest error {multiply(one_mma):.1e}")

# %% [markdown]
# **Predict:** swap the halves of every register of `A` (`x[1] | x[0] << 16`). Then those of `B` as well.

# %%
def swapped(*pairs):
    text = one_mma.text
    for x, y in pairs:
        text = text.replace(f"{x} | {y} << 16", f"{y} | {x} << 16")
    return gl.cuda_source(text, "one_mma")


print(f"A swapped: {multiply(swapped(('x[0]', 'x[1]'))):.1f}")
print(f"A and B:   {multiply(swapped(('x[0]', 'x[1]'), ('y[0]', 'y[8]'))):.1e}")

# %% [markdown]
# Both swapped is *right*: `k` is permuted alike in both factors. A test of the product alone cannot see which layout it
# proves; compare operands one by one.
#
# The wrapper that the call goes through is one line of assembly
# ([ptx/mma.cuh](https://github.com/gemm-ladder/gemm-ladder/blob/main/kernels/ptx/mma.cuh)):
#
# ```
# mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0…d3}, {a0…a3}, {b0, b1}, {d0…d3};
# ```
#
# `.row.col` belongs to the instruction: `B` is wanted column by column, and there is no other form. `.sync` makes the
# threads of the warp arrive together; it does *not* make them wait for the result, as one guide has it.

# %% [markdown]
# ## ldmatrix
#
# By hand a lane needs four 32-bit loads for `A`, and four of 16 bits for `B`, whose neighbours in `k` lie a row apart.
# `ldmatrix.x4` does either in one instruction: each lane gives the address of one *row* of eight elements, 16 bytes;
# lanes 0–7 those of matrix 0, 8–15 of matrix 1, and so on. The hardware deals the elements out by the seating plan.
# With `.trans` it deals out columns: that turns our row-major `B` into what `.col` wants.

# %% [markdown]
# One `.x4` is all of `A`, half a `.x4` (or one `.x2`) all of `B`: 1.5 loads per `mma`, fewer when fragments are used
# again. (A mangled "24 ldmatrix and 01 mma" is making the rounds.) With `.trans` each 8 × 8 matrix of shared memory is
# dealt out like this, and registers 0 and 1 are a fragment of `B`:

# %%
gl.plots.fragments("ldmatrix.x4.trans", lane=5)

# %% [markdown]
# ## The kernel

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k11_mma.cu"}
# %%cuda mma PLACE=plain
# #include "ptx/address.cuh"
# #include "ptx/ldmatrix.cuh"
# #include "tile/chunk.cuh"
# #include "tile/store_mma.cuh"
# #include "tile/swizzle.cuh"
#
# constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 32, THREADS = 256;
#
# extern "C" __global__ void __launch_bounds__(THREADS, 2)
#     mma(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ uint4 smem_a[BM * BK / 8], smem_b[BK * BN / 8];
#     float acc[WM / 16][WN / 8][4] = {};
#     int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
#     int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;
#
#     for (int k0 = 0; k0 < K; k0 += BK) {
#         // Copy both tiles, a chunk of eight elements at a time.
#         for (int i = 0; i < BM * BK / 8 / THREADS; ++i) {
#             int at = i * THREADS + tid, m = at / (BK / 8), c = at % (BK / 8);
#             uint4& to = smem_a[PLACE<BK / 8>(m, c)];
#             copy_chunk(to, A, M, K, m0 + m, k0 + c * 8);
#         }
#         for (int i = 0; i < BK * BN / 8 / THREADS; ++i) {
#             int at = i * THREADS + tid, k = at / (BN / 8), c = at % (BN / 8);
#             uint4& to = smem_b[PLACE<BN / 8>(k, c)];
#             copy_chunk(to, B, K, N, k0 + k, n0 + c * 8);
#         }
#         cp_async_wait_all();
#         __syncthreads();
#
#         // Fetch the fragments of 16 steps of k: a row of 16 bytes per lane.
#         for (int k = 0; k < BK; k += 16) {
#             unsigned frag_a[WM / 16][4], frag_b[WN / 16][2][2];
#             for (int i = 0; i < WM / 16; ++i) {
#                 int m = wm + 16 * i + lane % 16, c = k / 8 + lane / 16;
#                 ldmatrix_x4(frag_a[i], shared_address(&smem_a[PLACE<BK / 8>(m, c)]));
#             }
#             for (int j = 0; j < WN / 16; ++j) {
#                 int row = k + lane % 16, c = wn / 8 + 2 * j + lane / 16;
#                 const uint4& from = smem_b[PLACE<BN / 8>(row, c)];
#                 ldmatrix_x4_trans(frag_b[j], shared_address(&from));
#             }
#             for (int i = 0; i < WM / 16; ++i)
#                 for (int j = 0; j < WN / 8; ++j)
#                     mma_m16n8k16_f32_T(acc[i][j], frag_a[i], frag_b[j / 2][j % 2]);
#         }
#         __syncthreads();
#     }
#
# #pragma unroll
#     for (int i = 0; i < WM / 16; ++i)
# #pragma unroll
#         for (int j = 0; j < WN / 8; ++j)
#             store_pairs(C, M, N, m0 + wm + 16 * i, n0 + wn + 8 * j, acc[i][j]);
# }

# %%
BF16 = {"a_dtype": "bfloat16", "b_dtype": "bfloat16", "c_dtype": "bfloat16"}
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"],
    "block": [256, 1, 1],
    "args": ["A", "B", "C", "M", "N", "K"],
} | BF16
gl.check(mma, rule=rule)

# %% [markdown]
# - **The tile is that of chapter 10**, 128 × 128 × 64 for eight warps: what differs is who deals out the elements. Six
#   `ldmatrix.x4` feed 16 `mma`, and the sums take 64 registers.
# - **A chunk is the unit everywhere:** eight elements, 16 bytes, one row of a matrix. `copy_chunk` starts its
#   `cp.async`, with zeros from outside; where rows do not start at multiples of 16 bytes it goes by elements.
# - **`PLACE` says where in the tile a chunk lies**: `plain`, row after row.
# - **The sums go straight to `C`,** in pairs of neighbours: no detour, because we know where they are.

# %% [markdown]
# **Predict:** `ldmatrix` is said to be free of bank conflicts. Rows of our tiles lie 128 bytes (`A`) and 256 bytes
# (`B`) apart. How many of eight rows meet on the same banks?

# %%
def loads(kernel):
    trace = gl.trace(kernel, 128, 128, 64)
    return [a for a in trace if a.site.opcode.startswith("ldmatrix")]


def loads_of_b(kernel):
    return [a for a in loads(kernel) if ".trans" in a.site.opcode]


gl.plots.matrix_rows(loads("k11_mma")[0])

# %%
gl.plots.matrix_rows(loads_of_b("k11_mma")[0])

# %% [markdown]
# All eight, both times. A row of 16 bytes covers four banks; eight rows are free of conflicts only if they start on
# eight different groups of four.
#
# ## A swizzle for rows of 16 bytes
#
# Chapter 06 ended with the cure: chunk `c` of row `r` goes to place `c ^ (r % 8)`. Both tiles have rows of eight
# chunks or more, so that one formula serves (shorter rows: exercise 11.3). Only what `PLACE` stands for changes, in two
# stores and two loads:

# %%
from kernels import ROOT

header = (ROOT / "tile" / "swizzle.cuh").read_text()
print(header[header.index("// The chunk index") :])

swizzled = gl.cuda_source(mma.text, "mma", PLACE="swizzled")
gl.check(swizzled, rule=rule)

# %%
gl.plots.matrix_rows(loads_of_b("k11_swizzled")[0])

# %% [markdown]
# Stores of chunks and both kinds of `ldmatrix` are free now. What may that buy? A wavefront takes one cycle of an SM:

# %%
KERNELS = ("k11_mma", "k11_swizzled", "k11_double_buffer")
counted = {kernel: gl.count(kernel, 256, 256, 256) for kernel in KERNELS}
for kernel, c in counted.items():
    shared = c.total(space="shared")
    most = c.flops / shared.wavefronts * 132 * 1.98e9 / 1e12
    excess = shared.excess_wavefronts
    print(f"{kernel:18} {excess:6,} excess wavefronts;", end=" ")
    print(f"banks allow {most:4.0f} TFLOP/s (modelled)")

# %% [markdown]
# ## Two of everything
#
# Still the block copies, waits, and multiplies. The last kernel keeps two stages and two sets of fragments:
# `cp.async` fills the next stage while this one is multiplied, and `ldmatrix` fetches the next fragments while `mma`
# works on these. Four warps own 64 × 64 each, since eight loads then feed 32 `mma` instead of 16 by six. A stage and
# its copy, fetch and multiply are those of the kernel above, in
# [tile/stage.cuh](https://github.com/gemm-ladder/gemm-ladder/blob/main/kernels/tile/stage.cuh).

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k11_double_buffer.cu"}
# %%cuda double_buffer
# #include "tile/stage.cuh"
# #include "tile/store_mma.cuh"
#
# constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 64, THREADS = 128;
# using Tiles = Stage<BM, BN, BK>;
#
# template <bool WIDE>  // N and K are multiples of 8: 16-byte copies
# __device__ void gemm(Tiles* stages, const T* A, const T* B, T* C,
#                      int M, int N, int K) {
#     Fragments<WM, WN> frag[2];
#     float acc[WM / 16][WN / 8][4] = {};
#     int warp = threadIdx.x / 32, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN, now = 0;
#     auto copy = [&](int stage, int k0) {
#         stages[stage].copy<WIDE, THREADS>(A, B, M, N, K, m0, n0, k0);
#         cp_async_commit_group();
#     };
#
#     // Prologue: the first tiles, the first fragments.
#     copy(0, 0);
#     cp_async_wait_group<0>();
#     __syncthreads();
#     frag[0].fetch(stages[0], wm, wn, 0);
#
#     // Main loop: the next fragments, the next tiles, then multiply these.
#     for (int k0 = 0; k0 < K; k0 += BK)
# #pragma unroll
#         for (int k = 0; k < BK; k += 16) {
#             if (k + 16 == BK) {  // the next fragments are of the next tiles
#                 cp_async_wait_group<0>();
#                 __syncthreads();
#                 now ^= 1;
#             }
#             int next = (k / 16 + 1) % 2;
#             frag[next].fetch(stages[now], wm, wn, (k + 16) % BK);
#             if (k == 0) copy(now ^ 1, k0 + BK);
#             frag[next ^ 1].multiply(acc);
#         }
#
#     // Epilogue: 16 rows of a warp at a time, turned in shared memory.
#     __syncthreads();
#     uint4* staging = stages[0].a + warp * 16 * WN / 8;
# #pragma unroll
#     for (int i = 0; i < WM / 16; ++i)
#         store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, acc[i], staging);
# }
#
# // NOTE: two copies of the loop, so that the fast one has no branch in it.
# extern "C" __global__ void __launch_bounds__(THREADS, 2)
#     double_buffer(const T* A, const T* B, T* C, int M, int N, int K) {
#     extern __shared__ Tiles stages[];
#     if (N % 8 == 0 && K % 8 == 0)
#         gemm<true>(stages, A, B, C, M, N, K);
#     else
#         gemm<false>(stages, A, B, C, M, N, K);
# }

# %%
rule |= {"block": [128, 1, 1], "shared": "2*2*64*(128+128)"}
gl.check(double_buffer, rule=rule)

# %% [markdown]
# - **The order in the loop is the point.** The fetch for step `k + 16` stands before the products of step `k`. At the
#   last step of a tile it needs the *next* tile: there is the one wait, and the one barrier.
# - **Past the last tile** the copies read nothing and write zeros (`bytes = 0`). Simpler than a tail of its own.
# - **`cp.async` wants 16-byte alignment**: rows of a multiple of 8 elements. Other sizes take the same loop with
#   element loads, compiled beside it.

# %% [markdown]
# **Predict:** pairs of neighbours are stored four bytes per lane, four lanes to a row. How many sectors does a
# request of the first two kernels touch, and how many would its 128 bytes need? `store_rows` passes 16 rows at a time
# through shared memory, swizzled, and stores 16 bytes per lane.

# %%
for kernel, c in counted.items():
    stores = c.total(space="global", op="st")
    needed = stores.bytes // 32
    requests, sectors = stores.requests, stores.sectors
    print(f"{kernel:18} {requests:5,} requests, {sectors:5,} sectors of {needed:,}")

# %%
gl.verdict("k11_double_buffer")

# %% [markdown]
# Two in five instructions of the loop are `HMMA`, and independent ones follow one another without waiting for a result:
# fetches, copies and their addresses stand in between. The registers leave room for two blocks of four warps, half of
# what the kernels above had. This one does not hide latency by warps; it hides it by order.

# %% [markdown]
# ## Measure
#
# **Predict** the ratios from row to row. Which step brings most: knowing the seats, the swizzle, or the order?
# `k11_two_stages` has two stages but one set of fragments: what does the second set add?

# %%
rows = []
for kernel in ("k10_wmma_shared", *KERNELS[:2], "k11_two_stages", *KERNELS[2:]):
    m = gl.measure(kernel, 4096, 4096, 4096)
    measured = (f"{m.tflops:.0f}", f"{m.ratio:.2f}") if m.tflops else ("-", "-")
    rows.append((kernel, *measured))
columns = ("kernel", "TFLOP/s", "of cuBLAS")
gl.plots.table.Table(f"4096 × 4096 × 4096, {m.label}", columns, tuple(rows))

# %% [markdown]
# **Outcome.** `ldmatrix` on a plain tile is *slower* than the padded WMMA kernel: its banks stop it, close to what the
# count allows. The swizzle is the largest step, about fourfold. Overlap brings another half, with half as many warps;
# no counter of bytes or wavefronts shows that one.
#
# The second set of fragments adds *nothing* here. Within a tile ptxas moves a fetch ahead of products that do not
# need it, set or no set. Across tiles the set has a price: the next tile must have arrived a quarter of a tile
# earlier. With only two stages that is time the copy lacks; with more (chapter 12) the price goes.

# %%
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=list(KERNELS), bytes="requested", counters=counted
)

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** `mma.sync` has a seating plan, `ldmatrix` deals it out, and a swizzle of chunks makes both of them,
# > and the copies, free of conflicts. Then speed is a matter of order: fetch the next while you multiply these.

# %% [markdown]
# | step | limit, and the counter that shows it |
# |---|---|
# | plain tiles | banks: 32 wavefronts per `ldmatrix.x4` where four would do |
# | swizzled | order: two barriers per tile, nothing moves while the warps multiply |
# | two stages | latency: one tile's time, or less, is all that a copy has to arrive |
#
# More stages give it more time (chapter 12). Beyond that, on Hopper, `mma.sync` is the *old* instruction: even with
# operands in registers and nothing else to do, it stays far below `wgmma`:

# %%
recorded = gl.results.load_all()["nvidia_h200"]["ceilings"]
for name in ("mma_bf16", "mma_ldmatrix_bf16", "wgmma_bf16"):
    found = recorded.get(name)
    value = f"{found['value']:.0f} TFLOP/s (recorded)" if found else "not recorded yet"
    print(f"{name:18} {value}")

# %% [markdown]
# How deep must the queue of copies be? That is chapter 12; how to issue the new instruction, chapter 15.
#
# ## Exercises
#
# In [exercises/11_mma_and_ldmatrix.ipynb](../exercises/11_mma_and_ldmatrix.ipynb): **11.1** the seats of `A`, **11.2**
# repair fragments, **11.3** a swizzle, **11.4** repair a pipeline.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `mma`, matrix fragments for m16n8k16,
#   `ldmatrix`, `cp.async`.
# - NVIDIA, [CUTLASS: efficient GEMM](https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md):
#   warp tiles and software pipelining.
# - A. Kerr and others, [Developing CUDA kernels to push tensor cores to the absolute limit on NVIDIA
#   A100](https://www.nvidia.com/en-us/on-demand/session/gtcsj20-s21745/), GTC 2020.
# - WingEdge777, HGEMM on sm_120 ([sources](../book/sources.md)): the double-buffered kernel that this one answers.
