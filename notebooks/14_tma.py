# %% [markdown]
# # 14 · TMA
#
# **Who computes addresses now?** One thread names a box by its coordinates, and a unit of its own fetches it, swizzles
# it, fills what lies outside the matrix with zeros, and counts the bytes. The multiply stays that of chapter 12.

# %% [markdown]
# ## At a glance
#
# - **Builds on:** [12](12_multistage_pipelines.ipynb): stages; [11](11_mma_and_ldmatrix.ipynb): `ldmatrix`, the
#   swizzle.
# - **You will be able to:** describe a matrix to TMA; drive a ring of stages with two mbarriers each; read a barrier
#   that hangs; tell when a proxy fence is missing; store C as boxes; let CTAs stay.
# - **Needs:** nothing. Native from compute capability 9.0 (the 99 KB of a block on RTX 50 cards hold two of these
#   stages; the last kernel is Hopper's alone).
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
# `cp.async` needs no registers for data in flight, but every 16 bytes take an instruction and an address: a stage of
# 48 KB is 3,072 copies. **Predict:** how many instructions beside `mma` and `ldmatrix` does chapter 12's kernel execute
# per `mma`? How many are left if five per stage do all the moving?

# %%
from kernels import ROOT

KERNELS = ("k12_tile_order", "k14_tma")
for kernel in KERNELS:
    short, long = (gl.count(kernel, 128, 256, K).mix() for K in (512, 768))
    loop = {name: count - short.get(name, 0) for name, count in long.items()}
    rest = (sum(loop.values()) - loop["mma"] - loop["ldsm"]) / loop["mma"]
    print(f"{kernel:15} {rest:.2f} other PTX instructions per mma,", end=" ")
    print(f"{gl.compile(kernel).registers} registers")

# %% [markdown]
# ## The idea: a map, boxes, coordinates
#
# The host describes a matrix once, in 128 bytes: address, extents, strides *in bytes*, the box that one copy moves, a
# swizzle. The kernel gets this **tensor map** as a parameter and asks for "the box at row 88, column 64". Coordinates
# count elements, the innermost dimension first; they may lie outside.

# %%
gl.widgets.tensor_map_explorer(box=(16, 64), columns=96, at=(88, 64))

# %% [markdown]
# Without `__grid_constant__`, taking a parameter's address makes a copy in local memory, where TMA cannot read it.
#
# `cuTensorMapEncodeTiled` refuses with `CUDA_ERROR_INVALID_VALUE` and no more; `gl.tensor_map` says which rule.
# **Predict** which of these five pass.

# %%
half = np.zeros((4096, 4096), np.float16)
TRIES = {
    "box 64 x 128, swizzle 128": (half, (64, 128), 128),
    "box 64 x 32, swizzle 128": (half, (64, 32), 128),
    "box 300 x 64": (half, (300, 64), 0),
    "rows of 100 elements": (np.zeros((64, 100), np.float16), (64, 64), 128),
    "box larger than the array": (np.zeros((33, 40), np.float16), (64, 64), 128),
}
for what, (array, box, swizzle) in TRIES.items():
    try:
        tensor = gl.tensor_map(array, box, swizzle=swizzle)
        print(f"{what}: {tensor.box_bytes} bytes per copy")
    except gl.GemmlabError as error:
        print(f"{what}: {error}")

# %% [markdown]
# With the 128-byte swizzle a box has rows of *at most* 128 bytes (not exactly, as one guide demands): `B`'s 256 columns
# travel as four boxes of 64. A matrix with rows of 100 elements our host helper copies into padded rows, and says so.
#
# ## Look at a box
#
# This kernel fetches one box and copies shared memory out as it lies.

# %%
# %%cuda look DIMS=2
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
#
# extern "C" __global__ void look(const __grid_constant__ CUtensorMap map,
#                                 short* out, int bytes, int x, int y, int z, int w) {
#     __shared__ __align__(1024) short box[4096];
#     __shared__ mbarrier_t full;
#     if (threadIdx.x == 0) {
#         mbarrier_init(&full, 1);
#         fence_mbarrier_init();
#         mbarrier_arrive_expect_tx(&full, bytes);
#         if (DIMS == 2) tma_load_2d(box, &map, x, y, &full);
#         if (DIMS == 3) tma_load_3d(box, &map, x, y, z, &full);
#         if (DIMS == 4) tma_load_4d(box, &map, x, y, z, w, &full);
#     }
#     __syncthreads();
#     mbarrier_wait_parity(&full, 0);
#     for (int i = threadIdx.x; i < bytes / 2; i += 32) out[i] = box[i];
# }


# %%
def fetch(array, box, at, kernel=look, swizzle=0, backend=None):
    """Return shared memory after copying a box; `at`: innermost coordinate first."""
    if at[0] % 8:
        raise ValueError("the innermost coordinate is no multiple of 8 elements")
    tensor, at = gl.tensor_map(array, box, swizzle=swizzle), (*at, 0, 0, 0)[:4]
    size = tensor.box_bytes
    out = np.zeros(size // 2, np.int16)
    gl.launch(kernel, tensor, out, size, *at, grid=1, block=32, backend=backend)
    return out


numbers = np.arange(12 * 64, dtype=np.int16).reshape(12, 64)
corner = fetch(numbers, (4, 16), at=(-8, 10), backend="emulator")
print(corner.reshape(4, 16))  # rows 10 to 13, columns -8 to 7

# %% [markdown]
# Zeros on the left and below: edges need no test *when loading*. Stores are clipped past the end (at whole 16 bytes),
# but take no negative coordinate. And no encoder can check that the innermost coordinate is a multiple of 16 bytes, so
# `fetch` does. Either breach stops an H200 with an *illegal instruction*; the emulator reports both.
#
# Now the swizzle. A row holds chunks 0 to 7 of 16 bytes. **Predict** where they land with 128 bytes, and with 64.

# %%
for swizzle in (128, 64):
    lies = fetch(numbers, (8, swizzle // 2), at=(0, 0), swizzle=swizzle)
    print(f"swizzle {swizzle}: chunk of the row, by place in shared memory")
    print(lies.reshape(8, swizzle // 16, 8)[..., 0] % 64 // 8)

# %%
gl.plots.swizzle(32, 64, 128)

# %% [markdown]
# Bits 4 to 6 of the address are XORed with bits 7 to 9 (64 bytes: 4–5 with 7–8; 32 bytes: 4 with 7): chapter 11's
# swizzle, but of the *absolute* address. So tiles start at multiples of 1,024 bytes (512, 256).
#
# ## Who says that it has arrived?
#
# An **mbarrier** (8 bytes in shared memory, no "memory barrier") counts arrivals and bytes still missing. When both
# reach zero, the phase is over and the next begins.

# %% [markdown]
# - `mbarrier.init` sets the arrivals per phase: here 1, *the thread's*, with `arrive.expect_tx(bytes)`. TMA never
#   arrives; it only takes its bytes off. Announced are whole boxes, filled zeros included.
# - `try_wait.parity(p)` succeeds when the phase of parity `p` is *complete*. On a new barrier a wait for parity 1
#   passes: the phase before the first counts as over.
#
# **Predict** what happens if too few bytes are announced, or too many.

# %%
tensor, out = gl.tensor_map(numbers, (4, 16)), np.zeros(64, np.int16)
for announced in (64, 256):
    there = {"grid": 1, "block": 32, "backend": "emulator"}
    hung = gl.launch(look, tensor, out, announced, 0, 0, 0, 0, **there)
    print(hung.report.errors[0].message, end="\n\n")

# %% [markdown]
# On a GPU both hang without a word.
#
# ## The kernel
#
# A ring of four stages, each with two barriers: `full` (bytes have come) and `empty` (every warp has read). Eight warps
# consume; one lane asks, three steps ahead. `WarpTile` is chapter 11's.

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k14_tma.cu"}
# %%cuda tma BK=64 STAGES=4 PRODUCER=step%WARPS
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/tile_order.cuh"
# #include "tile/warp_tile.cuh"
#
# constexpr int BM = 128, BN = 256, WM = 64, WARPS = BM / WM * (BN / 64);
#
# struct Stage {
#     T a[BM][BK], b[BN / 64][BK][64];  // B as boxes of 64 columns
# };
# struct Shared {
#     Stage stage[STAGES];
#     mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void __launch_bounds__(32 * WARPS, 1)
#     tma(const __grid_constant__ CUtensorMap A,
#         const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
#     extern __shared__ __align__(1024) unsigned char raw[];
#     Shared& s = *reinterpret_cast<Shared*>(raw);
#     const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#     const int steps = (K + BK - 1) / BK, rows = (M + BM - 1) / BM;
#     const Tile tile = grouped_tile<8>(blockIdx.x, rows, (N + BN - 1) / BN);
#     const int m0 = tile.m * BM, n0 = tile.n * BN;
#
#     if (threadIdx.x == 0) {
#         for (int i = 0; i < STAGES; ++i) {
#             mbarrier_init(&s.full[i], 1);  // the producer's arrival, and bytes
#             mbarrier_init(&s.empty[i], WARPS);  // an arrival of each warp
#         }
#         fence_mbarrier_init();
#     }
#     __syncthreads();
#
#     auto produce = [&](int step) {  // one thread fills this step's stage
#         const int i = step % STAGES, turn = step / STAGES, k0 = step * BK;
#         // NOTE: a new barrier lets parity 1 pass: the phase before is over.
#         mbarrier_wait_parity(&s.empty[i], turn % 2 ^ 1);
#         fence_proxy_async_shared();  // ldmatrix before, copies after
#         mbarrier_arrive_expect_tx(&s.full[i], sizeof(Stage));
#         tma_load_2d(s.stage[i].a, &A, k0, m0, &s.full[i]);
#         for (int j = 0; j < BN / 64; ++j)
#             tma_load_2d(s.stage[i].b[j], &B, n0 + 64 * j, k0, &s.full[i]);
#     };
#     for (int step = 0; step < min(steps, STAGES - 1); ++step)
#         if (threadIdx.x == 0) produce(step);
#
#     const int wm = warp % (BM / WM) * WM, box = warp / (BM / WM);
#     WarpTile<BK, WM> work(wm, sizeof(Stage::a) + box * 128 * BK, lane);
#     mbarrier_wait_parity(&s.full[0], 0);
#     work.fetch(0, shared_address(&s.stage[0]), 0);
#     for (int step = 0; step < steps; ++step) {
#         const int i = step % STAGES, next = (step + 1) % STAGES;
# #pragma unroll
#         for (int k = 0; k < BK / 16; ++k) {  // fragments come one k ahead
#             if (k + 1 < BK / 16) {
#                 work.fetch((k + 1) % 2, shared_address(&s.stage[i]), k + 1);
#             } else if (step + 1 < steps) {
#                 mbarrier_wait_parity(&s.full[next], (step + 1) / STAGES % 2);
#                 work.fetch(0, shared_address(&s.stage[next]), 0);
#             }
#             const bool due = k == BK / 32 && step + STAGES - 1 < steps;
#             if (due && warp == PRODUCER && lane == 0)
#                 produce(step + STAGES - 1);
#             work.multiply(k % 2);
#         }
#         __syncwarp();
#         if (lane == 0) mbarrier_arrive(&s.empty[i]);
#     }
#     work.store(C, M, N, m0 + wm, n0 + 64 * box, lane);
# }

# %% [markdown]
# - **`fence_mbarrier_init`**: the copy engine reads the barrier by another path than `init` wrote it, the *async
#   proxy*. `__syncthreads` alone does not connect the two.
# - **`fence_proxy_async_shared`** orders the warps' `ldmatrix` (generic proxy) before the copy that overwrites the
#   stage. The emulator warns where it is missing.
# - **A stage is released after its last read**, behind `__syncwarp`: one arrival speaks for 32 lanes.
# - **Asking goes round** (`PRODUCER` is `step % WARPS`): a warp that always asks is always late, and all wait.

# %%
rule = {
    "grid": ["cdiv(M, 128) * cdiv(N, 256)", "1", "1"],
    "block": [256, 1, 1],
    "shared": "4 * (49152 + 16)",
    "args": ["map(A, 128, 64, 128)", "map(B, 64, 64, 128)", "C", "M", "N", "K"],
    **dict.fromkeys(("a_dtype", "b_dtype", "c_dtype"), "bfloat16"),
}
gl.check(tma, rule=rule)

# %% [markdown]
# The swizzle does its work: eight row addresses cover all 32 banks, in A and in B.

# %%
trace = gl.trace("k14_tma", 128, 256, 64)
loads = [a for a in trace if a.site.opcode.startswith("ldmatrix")]
of_a = next(a for a in loads if ".trans" not in a.site.opcode)
of_b = next(a for a in loads if ".trans" in a.site.opcode)
gl.plots.matrix_rows({"A, rows of 64 k": [of_a], "B, boxes of 64 columns": [of_b]})

# %% [markdown]
# One stage's two barriers, each phase with the arrivals and bytes that it waits for (copies land as *late* as allowed):

# %%
events = gl.trace_events("k14_tma", 128, 256, 512)
gl.plots.phases(events, ("full 0", "empty 0"), title="Stage 0 of 4, eight steps of k")

# %%
gl.widgets.roles(events)

# %% [markdown]
# ## Break it
#
# Three single changes. **Predict** for each: does it hang, is it wrong at once, or wrong once a week?

# %%
release = "        if (lane == 0) mbarrier_arrive(&s.empty[i]);\n"
unroll = "#pragma unroll\n"
flat = {"args": ["map(A, 128, 64, 0)", *rule["args"][1:]]}
parity = [("(step + 1) / STAGES % 2", "(step + 1) % 2")]
BREAKS = {
    "A arrives without a swizzle": ([], flat),
    "parity of the step, not the turn": (parity, {}),
    "released before it is read": ([(release, ""), (unroll, release + unroll)], {}),
}
for what, (edits, change) in BREAKS.items():
    broken = tma.text
    for old, new in edits:
        broken = broken.replace(old, new)
    broken = gl.cuda_source(broken, "tma", **dict(tma.defines))
    try:
        gl.check(broken, [(128, 256, 512)], "emulator", rule | change, quiet=True)
    except gl.CheckError as error:
        print(f"{what}:", *str(error).splitlines()[:2], sep="\n  ", end="\n\n")

# %% [markdown]
# The first is wrong at once. The others are races: usually data arrives, and is read, in time.
#
# ## C on the way back
#
# `k14_tma` stores 4 bytes per lane. A box can travel the other way, too: write it to shared memory, swizzled, and let
# one lane start the copy. The ring's bytes are free for it once all warps have read: one `__syncthreads`.

# %%
header = (ROOT / "tile" / "store_box.cuh").read_text()
print(header[header.index("template") :])

# %% [markdown]
# - Each lane fences **its own** stores, then the warp meets, then one lane starts the copy. A barrier orders threads;
#   only the proxy fence orders their stores before the copy engine's reads.
# - The map clips the box at the edges of C: no test. In exchange C's rows are multiples of 16 bytes.
# - Shared memory must not end, or be used again, before it is read: lane 0 waits (`wait_group.read`).
#
# **Predict:** requests for a tile of 128 × 256, and bank conflicts of the stores.

# %%
for kernel in ("k14_tma", "k14_tma_store"):
    c = gl.count(kernel, 128, 256, 128)
    out, shared = c.total(space="global", op="st"), c.total(space="shared")
    print(f"{kernel:14} {out.requests:4} store requests,", end=" ")
    print(f"{out.bytes:,} bytes in {out.sectors:,} sectors;", end=" ")
    print(f"{shared.excess_wavefronts} excess wavefronts")

# %% [markdown]
# ## CTAs that stay
#
# A CTA of `k14_tma_store` has its SM to itself: while its ring is empty, and while it stores, nobody multiplies. Nor
# does whoever asks. (The ring below is the one above, as
# [tile/tma_ring.cuh](https://github.com/gemm-ladder/gemm-ladder/blob/main/kernels/tile/tma_ring.cuh).)
#
# **Predict:** an SM gets four tiles at 4096, 64 steps each. If beginning and end cost three steps per tile, what do
# they cost in all?

# %% tags=["kernel"] gemmlab={"kernel": "tensor/k14_tma_persistent.cu"}
# %%cuda tma_persistent
# #include "ptx/barrier.cuh"
# #include "ptx/registers.cuh"
# #include "tile/store_box.cuh"
# #include "tile/tile_order.cuh"
# #include "tile/tma_ring.cuh"
#
# constexpr int BM = 256, BN = 128, BK = 64, STAGES = 3, WM = 64;
# constexpr int WARPS = BM / WM * (BN / 64);  // that multiply
#
# using Stages = TmaRing<BM, BN, BK, STAGES>;
#
# struct Shared {
#     Stages ring;
#     alignas(1024) T c[WARPS][WM][64];
# };
#
# extern "C" __global__ void __launch_bounds__(32 * WARPS + 128, 1)
#     tma_persistent(const __grid_constant__ CUtensorMap A,
#                    const __grid_constant__ CUtensorMap B,
#                    const __grid_constant__ CUtensorMap C, int M, int N, int K) {
#     extern __shared__ __align__(1024) unsigned char raw[];
#     Shared& s = *reinterpret_cast<Shared*>(raw);
#     const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);  // NOTE: uniform
#     const int lane = threadIdx.x % 32, steps = (K + BK - 1) / BK;
#     const int rows = (M + BM - 1) / BM, columns = (N + BN - 1) / BN;
#     const int tiles = rows * columns;
#     Ring<STAGES> at;
#
#     if (threadIdx.x == 0) s.ring.init(WARPS);
#     __syncthreads();
#
#     if (warp >= WARPS) {  // one thread asks; four warps give registers back
#         setmaxnreg_dec<40>();
#         if (warp > WARPS || !elect_sync()) return;
#         for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#             const Tile tile = grouped_tile<8>(t, rows, columns);
#             for (int k0 = 0; k0 < K; k0 += BK, at.advance())
#                 s.ring.produce(at, A, B, tile.m * BM, tile.n * BN, k0);
#         }
#         return;
#     }
#
#     setmaxnreg_inc<232>();
#     const int wm = warp % (BM / WM) * WM, box = warp / (BM / WM);
#     WarpTile<BK, WM> work(wm, sizeof(Stages::Stage::a) + box * 128 * BK, lane);
#     s.ring.start(at, work);
#     for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
#         const bool last = t + gridDim.x >= tiles;
#         work.clear();
#         for (int step = 0; step < steps; ++step) {
#             const Ring<STAGES> now = at;
#             at.advance();
#             s.ring.consume(now, at, work, lane, !last || step + 1 < steps, [] {});
#         }
#         const Tile tile = grouped_tile<8>(t, rows, columns);
#         if (lane == 0) cp_async_bulk_wait_group_read<0>();  // of the tile before
#         __syncwarp();
#         store_box(work, s.c[warp], &C, tile.m * BM + wm, tile.n * BN + 64 * box,
#                   lane);
#     }
#     if (lane == 0) cp_async_bulk_wait_group_read<0>();
# }

# %% [markdown]
# - **One CTA per SM** takes tile after tile. The ring goes on across tiles: the next one's first stages arrive while
#   this one's last are multiplied.
# - **A warp of its own asks.** It is the third on one of the SM's four register files, which leaves 168 registers to a
#   thread: too few. `setmaxnreg` takes them from the producer and three idle neighbours (chapter 16).
# - **Staging of its own** lets C leave while the next tile is multiplied. Its 64 KB cost the fourth stage.
# - **A tile of 256 × 128** takes three boxes instead of five.

# %%
stay = rule | {
    "grid": ["min(SMS, cdiv(M, 256) * cdiv(N, 128))", "1", "1"],
    "block": [384, 1, 1],
    "shared": "3 * 49152 + 1024 + 65536",
    "args": ["map(A, 256, 64, 128)", "map(B, 64, 64, 128)", "map(C, 64, 64, 128)"],
}
stay["args"] += ["M", "N", "K"]
gl.check(tma_persistent, rule=stay)

# %% [markdown]
# ## One dimension, and up to five
#
# Without a map, `cp.async.bulk` moves a run of bytes (a vector, packed scales) either way, in multiples of 16.

# %%
# %%cuda through
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
#
# extern "C" __global__ void through(const float* from, float* to, int bytes) {
#     extern __shared__ __align__(16) float line[];
#     __shared__ mbarrier_t full;
#     if (threadIdx.x > 0) return;
#     mbarrier_init(&full, 1);
#     fence_mbarrier_init();
#     mbarrier_arrive_expect_tx(&full, bytes);
#     cp_async_bulk_load(line, from, bytes, &full);
#     mbarrier_wait_parity(&full, 0);
#     cp_async_bulk_store(to, line, bytes);  // no generic store: no proxy fence
#     cp_async_bulk_commit_group();
#     cp_async_bulk_wait_group<0>();
# }


# %%
line = np.arange(256, dtype=np.float32)
there = np.zeros_like(line)
size = line.nbytes
done = gl.launch(through, line, there, size, grid=1, block=32, shared=size)
print(done, (there == line).all())

# %% [markdown]
# With a map a box has up to five dimensions, *each* with its own bounds. A stack of matrices read as one tall matrix
# bleeds from one into the next; as three dimensions it does not. Four: the neighbourhood of a pixel (batch, row,
# column, channel), zeros beyond the border.

# %%
stack = np.arange(1, 1 + 2 * 3 * 8, dtype=np.int16).reshape(2, 3, 8)
three = gl.cuda_source(look.text, "look", DIMS=3)
rows = fetch(stack.reshape(6, 8), (4, 8), at=(0, 1)).reshape(4, 8)
print(rows[:, 0], "as rows: the next matrix bleeds in")
rows = fetch(stack, (1, 4, 8), at=(0, 1, 0), kernel=three).reshape(4, 8)
print(rows[:, 0], "as a stack")

# %%
image = np.arange(1, 1 + 4 * 5 * 8, dtype=np.int16).reshape(1, 4, 5, 8)
four = gl.cuda_source(look.text, "look", DIMS=4)
around = fetch(image, (1, 3, 3, 8), at=(0, -1, -1, 0), kernel=four, backend="emulator")
print(around.reshape(3, 3, 8)[..., 0])  # around pixel (0, 0)

# %% [markdown]
# Each of these copies can also go to several CTAs at once (`.multicast::cluster`, chapter 17).
#
# ## Predict, then measure
#
# **Predict:** how much do two, three and four stages of 48 KB differ? Eight of 24 KB (`BK = 32`, 64-byte swizzle)? One
# warp that always asks? TMA and `cp.async`? And what do CTAs that stay bring?

# %%
STUDIES = ("k14_tma_2_stages", "k14_tma_3_stages", "k14_tma_64b_4_stages")
STUDIES += ("k14_tma_64b", "k14_tma_one_producer")
STUDIES += ("k12_tile_order", "k14_tma", "k14_tma_store", "k14_tma_persistent")
found = {kernel: gl.measure(kernel, 4096, 4096, 4096) for kernel in STUDIES}
rows = []
for kernel, m in found.items():
    measured = (f"{m.tflops:.0f}", f"{m.ratio:.2f}") if m.ratio else ("-", "-")
    rows.append((kernel, *measured))
columns = ("kernel", "TFLOP/s", "of cuBLAS")
title = f"4096 × 4096 × 4096, {found['k14_tma'].label}"
gl.plots.table.Table(title, columns, tuple(rows))

# %% [markdown]
# **Outcome** (H200, 2026-11-30). With two stages a copy has less than one step to land; the third brings half as much
# again, the fourth nothing. A warp that always asks costs some 4 %, `BK = 32` some 7 %. TMA alone hardly passes
# `cp.async`; storing C by TMA brings more; CTAs that stay, and a warp that only asks, half as much once more: about
# three steps of 67. **Predict** the same for `K = 512`: eight steps per tile.

# %%
for kernel in ("k14_tma_store", "k14_tma_persistent"):
    m = gl.measure(kernel, 4096, 4096, 512)
    print(kernel, f"{m.tflops:.0f} TFLOP/s" if m.tflops else "not recorded yet")

# %% [markdown]
# Beginnings and ends weigh eight times as much there.
#
# On an RTX 5060 one guide found `BK = 32` faster: a second block fits. Here registers allow one, and what remains is
# twice as many barriers.

# %%
gl.verdict("k14_tma_persistent")

# %%
rungs = ["k12_tile_order", "k14_tma_persistent"]
counters = {kernel: gl.count(kernel, 256, 256, 512) for kernel in rungs}
gl.plots.recorded_roofline(
    "H200", "bfloat16", kernels=rungs, bytes="requested", counters=counters
)

# %% [markdown]
# ## What limits us now?
#
# > **Takeaway.** A tensor map replaces address arithmetic by coordinates, an mbarrier counts bytes where groups were
# > counted, and a proxy fence stands wherever threads and the copy engine touch the same memory.

# %%
gl.plots.ladder_table({
    "k12_tile_order": ("copies by every thread", "copies, addresses between the mma"),
    "k14_tma": ("faster: half of what is no mma", "stores of C: nothing overlaps them"),
    "k14_tma_store": ("a little faster: fewer stores", "beginnings, ends, and turns to ask"),
    "k14_tma_persistent": ("some 5 % faster", "mma.sync's rate"),
})

# %% [markdown]
# What is left?

# %%
profile = (found["k14_tma_persistent"].record or {}).get("profile", {})
for name, what in ("tensor_pct", "tensor pipe busy"), ("issue_pct", "issue slots"):
    print(what, f"{profile[name]:.0f} %" if name in profile else "not recorded yet")
ceilings = gl.results.load_all()["nvidia_h200"]["ceilings"]
for name in ("mma_ldmatrix_bf16", "wgmma_bf16"):
    print(f"{name}: {ceilings[name]['value']:.0f} TFLOP/s")

# %% [markdown]
# The tensor pipe is busy; 3 of the missing points are SMs without a fourth tile (chapter 18). The first ceiling,
# `mma.sync` fed from shared memory, is the wall; the second is the same tensor cores' when they read it themselves. How
# do 128 threads issue one multiply? That is chapter 15.

# %% [markdown]
# ## Exercises
#
# In [exercises/14_tma.ipynb](../exercises/14_tma.ipynb): **14.1** which maps are refused, **14.2** ask for a stage,
# **14.3** repair the ring, **14.4** repair the way back.
#
# ## References
#
# - NVIDIA, [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/): `cp.async.bulk.tensor`, `mbarrier`,
#   `fence.proxy.async`, "Tensors".
# - NVIDIA, [CUDA C++ Programming Guide](https://docs.nvidia.com/cuda/cuda-c-programming-guide/): asynchronous data
#   copies, tensor memory access, swizzle modes.
# - NVIDIA, [CUDA driver API](https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TENSOR__MEMORY.html):
#   `cuTensorMapEncodeTiled`.
# - NVIDIA, [CUTLASS](https://github.com/NVIDIA/cutlass): `include/cute/arch/copy_sm90_tma.hpp`, the pipeline classes.
