# %% [markdown]
# # 08 · Wide loads
#
# **How wide is one load?** Up to 16 bytes per lane. A kernel that moves four neighbours at a time issues a quarter of
# its loads and stores for the same bytes, if every address is a multiple of 16.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [07](07_register_tiling.ipynb): patches, warp tiles; [04](04_coalescing.ipynb): sectors.
# - **You will be able to:** predict requests, sectors and instructions of 32-, 64- and 128-bit access; say when an
#   address is aligned, and what happens if not; treat ragged tails; use `float4` in CUDA C++ without its pitfalls.
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
# Each quarter of a Hopper SM issues one warp instruction per cycle, and has 32 FP32 lanes, which take just that one.
# So every instruction that is *not* a multiply-add takes the slot of one. **Predict:** what share of the warp tile's
# are multiply-adds?

# %%
import re

import ptxemu
from numba import cuda, float32, uint32


def issue(kernel):
    counters = gl.count(kernel, 128, 128, 512)
    mix = counters.mix()
    moves = sum(mix[kind] for kind in ("ldg", "stg", "lds", "sts"))
    total = sum(mix.values())
    print(f"{kernel}: {mix['fma'] / total:.0%} multiply-adds, ", end="")
    print(f"{moves / total:.0%} loads and stores (counted in PTX)")
    return counters


before = issue("k07_warp_tile")

# %% [markdown]
# ## The idea
#
# A load instruction names an address and a width: 4, 8 or 16 bytes per lane (`ld.v4.f32`; in SASS `LDG.128`): four
# floats, or eight halves. Here is a copy whose width is a macro:

# %%
# %%cuda copy VEC=float
# extern "C" __global__ void copy(const float* src, float* dst, int offset)
# {
#     int i = blockIdx.x * blockDim.x + threadIdx.x;
#     ((VEC*)(dst + offset))[i] = ((const VEC*)(src + offset))[i];
# }

# %% [markdown]
# **Predict** for 2 KB: how many requests and how many sectors take `float`, `float2` and `float4`? And if the copy
# begins four floats later?

# %%
WIDTHS = {"float": 4, "float2": 8, "float4": 16}
variants = {name: gl.cuda_source(copy.text, "copy", VEC=name) for name in WIDTHS}


def copied(name, offset):
    src, dst = np.zeros((2, 1024), np.float32)
    trace, blocks = ptxemu.Trace(), 512 * 4 // (32 * WIDTHS[name])
    how = {"grid": blocks, "block": 32, "backend": "emulator", "trace": trace}
    return gl.launch(variants[name], src, dst, np.int32(offset), **how).report


for name in WIDTHS:
    for offset in (0, 4):
        loads = copied(name, offset).counters.total(space="global", op="ld")
        said = f"{loads.requests:2} requests, {loads.sectors} sectors"
        print(f"{name:6} offset {offset}: {said}")

# %%
gl.plots.sector_map({name: copied(name, 0).trace for name in WIDTHS}, arrays=("src",))

# %% [markdown]
# Wide access moves *the same sectors* in a quarter of the instructions. It does not align anything to cache lines, as
# one can read: 16 bytes further, a request of 512 bytes straddles a 17th sector.

# %% [markdown]
# ## load4 and store4
#
# Numba has no vector types for arrays. `load4(array, index)` and `store4(array, index, x0, x1, x2, x3)` are
# *intrinsics* (`kernels/simt/vector.py`): they hand LLVM, the compiler below Numba, "a load of `<4 x float>` with
# alignment 16". Indices count elements in memory order. What comes out:

# %%
from kernels.simt.edge import edge_load4, edge_store4
from kernels.simt.vector import load4, store4


@cuda.jit
def one_row(src, dst):
    i = uint32(4 * cuda.threadIdx.x)
    x = load4(src, i)
    store4(dst, i, x[0], x[1], x[2], x[3])


ptx = gl.compile(one_row, signature=[np.zeros(128, np.float32)] * 2).ptx
print(*re.findall(r"(?:ld|st)\.global[^;]*;", ptx), sep="\n")

# %% [markdown]
# ## The kernel
#
# The warp tile of chapter 07, with every access to global and shared memory 16 bytes wide, but one: `A` turns by 90
# degrees on its way into shared memory, and its four neighbours go to four rows.

# %%
BM, BN, BK = 128, 128, 8
WM, WN = 64, 32
PITCH = BM + 4
SIZE_A, SIZE_B = BK * PITCH, BK * BN


# %% tags=["kernel"] gemmlab={"kernel": "simt/k08_vectorised.py"}
@cuda.jit
def vectorised(A, B, C):
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
    aligned = N % uint32(4) == uint32(0) and K % uint32(BK) == uint32(0)
    interior = aligned and m0 + uint32(BM) <= M and n0 + uint32(BN) <= N
    for i in range(8):
        for j in range(8):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        # Load four neighbours of A, turned by 90 degrees, and four of B.
        if interior:
            a = load4(A, (m0 + am) * K + k0 + ak)
            b = load4(B, (k0 + bk) * N + n0 + bn)
        else:
            a = edge_load4(A, m0 + am, k0 + ak)
            b = edge_load4(B, k0 + bk, n0 + bn)
        put = ak * uint32(PITCH) + am
        smem_a[put] = a[0]
        smem_a[put + uint32(PITCH)] = a[1]
        smem_a[put + uint32(2 * PITCH)] = a[2]
        smem_a[put + uint32(3 * PITCH)] = a[3]
        store4(smem_b, bk * uint32(BN) + bn, b[0], b[1], b[2], b[3])
        cuda.syncthreads()

        # Multiply: four 128-bit shared loads feed 64 multiply-adds.
        for k in range(uint32(0), uint32(BK)):
            at, bt = k * uint32(PITCH) + row, k * uint32(BN) + col
            a_low, a_high = load4(smem_a, at), load4(smem_a, at + uint32(32))
            b_low, b_high = load4(smem_b, bt), load4(smem_b, bt + uint32(16))
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a_low[i] * b_low[j]
                    acc[i, j + 4] += a_low[i] * b_high[j]
                    acc[i + 4, j] += a_high[i] * b_low[j]
                    acc[i + 4, j + 4] += a_high[i] * b_high[j]
        cuda.syncthreads()

    for i in range(8):
        m = m0 + row + uint32(i // 4 * 32 + i % 4)
        for j in range(0, 8, 4):
            n = n0 + col + uint32(j * 4)
            if interior:
                store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
            else:
                edge_store4(C, m, n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
# %% [markdown]
# - **`aligned`, `interior`**: does every row start at a multiple of 16 bytes, and does no tile stick out? The base
#   addresses are trusted: allocations begin at multiples of 256 bytes, slices such as `x[1:]` do not.
# - **`edge_load4`, `edge_store4`** look at each element. They serve the ragged tiles, and *all* tiles if the rows are
#   not aligned.
# - **`alignment=16`** for the shared arrays; a float array alone promises 4.

# %%
rule = {
    "grid": ["cdiv(N, 128)", "cdiv(M, 128)", "1"],
    "block": [256, 1, 1],
    "shared": 0,
    "args": ["A", "B", "C"],
}
gl.check(vectorised, rule=rule)

# %% [markdown]
# ## Predict, then count
#
# **Predict:** requests and sectors per request of `A`, `B` and `C`; wavefronts in shared memory; share of
# multiply-adds.

# %%
after = issue("k08_vectorised")
for name, counters in {"warp tile": before, "vectorised": after}.items():
    for array, site in sorted(counters.arrays.items()):
        each = f"{site.sectors_per_request:4.1f} sectors each"
        print(f"{name:10} {array}: {site.requests:5,} requests, {each}")
    shared = counters.total(space="shared")
    each = f"{shared.wavefronts:,} wavefronts, {shared.excess_wavefronts} in excess"
    print(f"{name:10} shared: {shared.requests:,} requests, {each}")

# %% [markdown]
# Inputs: a quarter of the requests, four times the sectors in each. `C` is another matter: the warp tile's scalar
# stores had lanes 16 bytes apart, four instructions for each sector; now one fills it. Shared memory takes fewer
# wavefronts, too; why?

# %%
gl.plots.instruction_mix({"warp tile": before, "vectorised": after})

# %%
trace = gl.trace("k08_vectorised", 128, 128, 8)
gl.plots.bank_grid([access for access in trace if access.kind == "ld"], limit=2)

# %% [markdown]
# ## Lanes that share
#
# Two wavefronts for a load of `A`, four for one of `B`, and neither has a conflict. A 128-bit load is served by
# quarters of a warp. But an H200 serves two neighbouring quarters *together* where all lanes `i` and `i ^ 1` want the
# same address, or all `i` and `i ^ 2` (undocumented; it follows from access patterns recorded with Nsight Compute, and
# the emulator counts so). In our warp neighbours share their row of `A`, none a column of `B`.

# %% [markdown]
# The lane's five bits choose one of 8 rows and one of 4 columns. **Predict:** which bit should go where, so that
# *both* loads are shared?

# %%
for kernel in ("k08_vectorised", "k08_lane_pairs"):
    counters = gl.count(kernel, 128, 128, 512)
    loads = counters.total(space="shared", op="ld")
    each = 64 * loads.wavefronts / counters.mix()["fma"]
    print(f"{kernel}: {each:.0f} wavefronts for 64 multiply-adds")

# %% [markdown]
# `k08_lane_pairs` differs in the lines for `row` and `col` alone: bit 0 chooses among columns, bit 1 among rows. Lanes
# `i` and `i ^ 1` share `A`, `i` and `i ^ 2` share `B`: a third of the wavefronts is gone.
#
# ## Misaligned
#
# "A misaligned `float4` degrades to scalar loads." **Predict:** what happens to `copy` with `float4` at offset 1?

# %%
report = copied("float4", 1)
print(report.findings[0])
ptx = gl.compile(variants["float4"]).ptx
print("in the PTX:", *re.findall(r"(?:ld|st)\.global[.\w]*", ptx))

# %% [markdown]
# Nothing degrades. A GPU *stops the kernel* with a misaligned-address error, and every later call in that process
# fails, too. Such offsets come from slices (`x[1:]`), odd row lengths, and small headers before the data.

# %% [markdown]
# ### Rows and padding
#
# A matrix is aligned if its first element is and its **pitch**, the distance of its rows, is a multiple of 16 bytes, in
# shared memory too, where the guides' padding of *one* word meets their `float4`. **Predict** which of three pitches is
# aligned, and which lets lanes `2r` and `2r + 1` store to rows 0 and 4 without a conflict:

# %%
def ways(words):
    return max(len({word for word in words if word % 32 == bank}) for bank in range(32))


for pitch in (128, 129, 132):
    rows = [row * pitch * 4 % 16 for row in range(4)]
    stores = [4 * (lane % 2) * pitch + lane // 2 for lane in range(32)]
    print(f"pitch {pitch}: rows at {rows} modulo 16 bytes, stores {ways(stores)}-way")

# %% [markdown]
# Pad by four words: the least that keeps the alignment (derived).
#
# ## What the compiler does by itself
#
# Must we write vectors at all? Four neighbours, copied one by one; the next cell fills in `Q` and `ALIGNED` in four
# ways. **Predict** which becomes 128-bit.

# %%
# %%cuda four
# extern "C" __global__ void four(const float* Q X, float* Q Y)
# {
#     int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
#     const float* x = ALIGNED(X);
#     float* y = ALIGNED(Y);
#     y[i] = x[i], y[i + 1] = x[i + 1], y[i + 2] = x[i + 2], y[i + 3] = x[i + 3];
# }

# %%
ALIGN = {"nothing": "(p)", "16 bytes": "(decltype(p))__builtin_assume_aligned(p, 16)"}
for qualifier in ("", "__restrict__"):
    for promise, macro in ALIGN.items():
        source = f"#define Q {qualifier}\n#define ALIGNED(p) {macro}\n" + four.text
        ptx = gl.compile(gl.cuda_source(source, "four")).ptx
        print(f"{qualifier or 'plain pointers'}, alignment promised: {promise}")
        print("   ", *re.findall(r"(?:ld|st)\.global[.\w]*", ptx))

# %% [markdown]
# The compiler needs two proofs. **No aliasing**: without `__restrict__` the store to `y[i]` might change `x[i + 1]`.
# **Alignment**: a `float*` promises 4 bytes. For a shared array it knows the address, and often merges by itself
# (chapter 07). A `float4` is both promises.

# %% [markdown]
# ### The read-only path
#
# `.nc` in the listing is the *non-coherent* load, `__ldg(p)` in CUDA C++: nobody writes the data while the kernel runs.
# On Kepler it led to a cache of its own; since Volta all data lie in the same L1. With `const` and `__restrict__` the
# compiler uses it unasked; Numba, which cannot know, does not:

# %%
ptx = gl.compile("k08_vectorised").ptx
print("Numba:", *sorted(set(re.findall(r"ld\.global[.\w]*", ptx))))

# %% [markdown]
# ## The same kernel in CUDA C++

# %% tags=["kernel"] gemmlab={"kernel": "simt/k08_vectorised_cuda.cu"}
# %%cuda vectorised_cuda
# constexpr int BM = 128, BN = 128, BK = 8, WM = 64, WN = 32, PITCH = BM + 4;
#
# // Four neighbours of a row: one 128-bit load where `wide` says that they exist and are
# // aligned, else one by one.
# __device__ float4 fetch(
#     const float* src, int rows, int cols, int row, int col, bool wide) {
#     const float* from = src + (size_t)row * cols + col;
#     if (wide) return *reinterpret_cast<const float4*>(from);
#     float x[4];
#     for (int i = 0; i < 4; ++i) x[i] = row < rows && col + i < cols ? from[i] : 0.0f;
#     return make_float4(x[0], x[1], x[2], x[3]);
# }
#
# extern "C" __global__ void vectorised(
#     const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
#     int M, int N, int K) {
#     __shared__ alignas(16) float smem_a[BK][PITCH], smem_b[BK][BN];
#     float acc[8][8] = {};
#     int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
#     int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     int row = warp % (BM / WM) * WM + lane / 4 * 4;
#     int col = warp / (BM / WM) * WN + lane % 4 * 4;
#     int am = tid / 2, ak = tid % 2 * 4, bk = tid / 32, bn = lane * 4;
#     bool wide = N % 4 == 0 && K % BK == 0 && m0 + BM <= M && n0 + BN <= N;
#
#     for (int k0 = 0; k0 < K; k0 += BK) {
#         float4 a = fetch(A, M, K, m0 + am, k0 + ak, wide);
#         float4 b = fetch(B, K, N, k0 + bk, n0 + bn, wide);
#         smem_a[ak][am] = a.x;
#         smem_a[ak + 1][am] = a.y;
#         smem_a[ak + 2][am] = a.z;
#         smem_a[ak + 3][am] = a.w;
#         *reinterpret_cast<float4*>(&smem_b[bk][bn]) = b;
#         __syncthreads();
#
#         // Multiply: four 128-bit shared loads feed 64 multiply-adds.
#         for (int k = 0; k < BK; ++k) {
#             float frag_a[8], frag_b[8];
#             for (int h = 0; h < 2; ++h) {
#                 auto x = *reinterpret_cast<const float4*>(&smem_a[k][row + 32 * h]);
#                 auto y = *reinterpret_cast<const float4*>(&smem_b[k][col + 16 * h]);
#                 float *a4 = frag_a + 4 * h, *b4 = frag_b + 4 * h;
#                 a4[0] = x.x, a4[1] = x.y, a4[2] = x.z, a4[3] = x.w;
#                 b4[0] = y.x, b4[1] = y.y, b4[2] = y.z, b4[3] = y.w;
#             }
#             for (int i = 0; i < 8; ++i)
#                 for (int j = 0; j < 8; ++j) acc[i][j] += frag_a[i] * frag_b[j];
#         }
#         __syncthreads();
#     }
#
#     for (int i = 0; i < 8; ++i) {
#         int m = m0 + row + i / 4 * 32 + i % 4;
#         for (int j = 0; j < 8; j += 4) {
#             int n = n0 + col + j * 4;
#             float *x = acc[i] + j, *to = C + (size_t)m * N + n;
#             if (wide) {
#                 *reinterpret_cast<float4*>(to) = make_float4(x[0], x[1], x[2], x[3]);
#             } else {
#                 for (int e = 0; e < 4; ++e)
#                     if (m < M && n + e < N) to[e] = x[e];
#             }
#         }
#     }
# }
# %% [markdown]
# - **`reinterpret_cast<const float4*>`**: without the `const` it does not compile, since `A` points to `const float`
#   (many samples show it so).
# - **Address first, cast last.** Arithmetic on a `float4*` counts in steps of 16 bytes.
# - **`alignas(16)`** on the shared arrays; `(size_t)` before a product of sizes.

# %%
gl.check(vectorised_cuda, rule=dict(rule, args=["A", "B", "C", "M", "N", "K"]))
no_const = vectorised_cuda.text.replace("<const float4*>", "<float4*>")
try:
    gl.compile(gl.cuda_source(no_const, "vectorised"))
except gl.GemmlabError as error:
    print(str(error).splitlines()[1])

# %% [markdown]
# ## Measure
#
# **Predict** the gain over the warp tile, whose shared loads the assembler had already merged. And what does one
# column more cost, 4097 instead of 4096?

# %%
KERNELS = ("k07_warp_tile", "k08_vectorised", "k08_lane_pairs", "k08_vectorised_cuda")
SHAPES = [(n, n, n) for n in (1024, 2048, 4096)] + [(4095, 4097, 1023)]
found = {name: [gl.measure(name, *shape) for shape in SHAPES] for name in KERNELS}
print("TFLOP/s at", *("×".join(map(str, shape)) for shape in SHAPES))
for name, row in found.items():
    print(f"{name:20}", *(f"{m.tflops:6.2f}" if m.tflops else "     –" for m in row))
print(found["k08_vectorised"][2].label)

# %%
counted = {"k07_warp_tile": before, "k08_vectorised": after}
gl.plots.recorded_roofline(
    "H200", "float32", kernels=list(counted), bytes="requested", counters=counted
)

# %% [markdown]
# Both stand at one intensity: the same bytes, fewer instructions.

# %% [markdown]
# ### What the counters say
#
# Four per cent over the warp tile. The profiler shows why it is no more (4096³, millions):
#
# | | warp tile | vectorised |
# |---|---|---|
# | global load requests | 33.6 | 8.4 |
# | sectors of the stores | 8.4 | 2.1 |
# | wavefronts of shared loads | 403 | 403 |
#
# Global access shrank as predicted. In shared memory nothing changed: `ptxas` had merged the warp tile's loads already.
# Nor is it the limit any more: `k08_lane_pairs` drops a third of its wavefronts and gains less than 1 %. At 1024 all
# four starve: 64 blocks for 132 SMs.

# %% [markdown]
# ### Is Numba the limit?
#
# The twin is 22 % faster with the same algorithm. SASS shows one difference of that size (ptxas 12.9). NVRTC unrolls
# the loop over `k` four times: 277 instructions for 256 multiply-adds, and at most 69 more per tile. Numba's stays a
# loop: 84 for 64, and at most 111 more. Per tile that is 623 against 783 instructions, a factor of 1.26. So the gap is
# the loop's shape, and chapter 09 closes it in Numba.

# %% [markdown]
# At 4095 × 4097 × 1023 no row is aligned, and every block takes the scalar path: Numba loses 12 %, the twin 18 %, and
# the warp tile, which never was vectorised, 6 %.

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A lane can move 16 bytes per instruction: same sectors, a quarter of the instructions, if base and
# > pitch are multiples of 16 bytes. Misaligned access does not degrade, it stops the kernel. The compiler widens on
# > its own only what it can prove.

# %% [markdown]
# | at 4096³ | predicted | TFLOP/s | of cuBLAS | limit now |
# |---|---|---|---|---|
# | warp tile | – | 29.9 | 0.58 | slots for instructions, waiting |
# | vectorised | a quarter of the global requests | 31.2 | 0.61 | the same |
# | lane pairs | two thirds of the wavefronts | 31.3 | 0.61 | the same |
# | CUDA C++ twin | – | 38.0 | 0.74 | waiting |
#
# (Recorded on an H200, 2026-11-30.)
#
# Look at the main loop once more: load a tile, barrier, multiply, barrier. While the block waits for memory nobody
# multiplies; while it multiplies, nobody loads. Can loads hide behind arithmetic? That is chapter 09.

# %% [markdown]
# ## Exercises
#
# In [exercises/08_vectorised_access.ipynb](../exercises/08_vectorised_access.ipynb): **08.1** the widest aligned
# load, **08.2** four columns per thread, **08.3** repair a `float4` kernel, **08.4** lanes that share.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): vectors and their alignment;
#   `ld.global.nc`.
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): device memory
#   accesses, size and alignment; `__ldg`; `__restrict__` in the Best Practices Guide.
# - J. Luitjens, [CUDA Pro Tip: increase performance with vectorized memory
#   access](https://developer.nvidia.com/blog/cuda-pro-tip-increase-performance-with-vectorized-memory-access/),
#   NVIDIA 2013.
# - [Numba for CUDA: extending](https://nvidia.github.io/numba-cuda/): intrinsics.
