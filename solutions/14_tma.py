# %% [markdown]
# # 14 · TMA: exercises
#
# Read [the lesson](../notebooks/14_tma.ipynb) first. The kernels here are small: two warps compute a tile of 64 × 128
# in bf16, `BK = 64`. `WarpTile` is the lesson's: it loads fragments with `ldmatrix` and multiplies. Its operands must
# lie in shared memory as a swizzle of 128 bytes leaves them. The check runs each kernel with copies that land late.

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
# ## 14.1 Refused
#
# **Goal.** For which of these does `cuTensorMapEncodeTiled` refuse to make a tensor map? The driver says only
# `CUDA_ERROR_INVALID_VALUE`; you say which, and know why. Boxes are (rows, columns), arrays are row-major unless said.
#
# | name | array | box | swizzle |
# |---|---|---|---|
# | narrow | fp16, 4096 × 100 | 64 × 64 | 128 |
# | square | bf16, 4096 × 4096 | 128 × 64 | 128 |
# | wide | bf16, 4096 × 4096 | 64 × 128 | 128 |
# | half | bf16, 4096 × 4096 | 64 × 32 | 128 |
# | tall | fp32, 4096 × 4096 | 300 × 32 | 128 |
# | bytes | int8, 4096 × 4096 | 64 × 24 | none |
# | larger | fp16, 33 × 40 | 64 × 64 | 128 |
# | turned | bf16, 4096 × 4096, column-major | 64 × 64 (its own rows and columns) | 128 |
# | plain | bf16, 4096 × 4096 | 64 × 128 | none |

# %% tags=["exercise"] gemmlab={"exercise": "14.1"}
### BEGIN SOLUTION
### SKELETON: refused = {...}
refused = {"narrow", "wide", "tall", "bytes", "turned"}
### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "14.1"}
gl.exercise("14.1").check(refused)

# %% [markdown] tags=["solution"]
# A row of `narrow` has 200 bytes, no multiple of 16. The inner box of `wide` has 256 bytes where the swizzle allows 128
# (`half` may have fewer, and without a swizzle `plain` may have 256). `tall` has more than 256 rows, `bytes` an inner
# box of 24 bytes, and in `turned` neighbours in a row do not lie side by side. A box may exceed its array.

# %% [markdown]
# ## 14.2 Ask for a stage
#
# **Goal.** Everything stands but the producer. Write `ask(step)`, which thread 0 calls one step ahead: the boxes of
# `A` (64 rows × 64 of `k`) and twice `B` (64 of `k` × 64 columns) go into the stage `step % STAGES`.
#
# **Target.** Right at every shape, ragged ones too, and no finding.
#
# **Hint.** Four things in this order: the stage must be empty; reads before, copies after (two proxies); the barrier
# must know how many bytes will come; three copies. Coordinates count elements, the innermost first.

# %% tags=["exercise"] gemmlab={"exercise": "14.2"}
# %%cuda asked
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/warp_tile.cuh"
#
# constexpr int BM = 64, BN = 128, BK = 64, STAGES = 2;
#
# struct Shared {
#     struct {
#         T a[BM][BK], b[BN / 64][BK][64];
#     } stage[STAGES];
#     mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void
#     asked(const __grid_constant__ CUtensorMap A,
#           const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
#     extern __shared__ __align__(1024) unsigned char raw[];
#     Shared& s = *reinterpret_cast<Shared*>(raw);
#     const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#     const int steps = (K + BK - 1) / BK;
#     const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     if (threadIdx.x == 0) {
#         for (int i = 0; i < STAGES; ++i) {
#             mbarrier_init(&s.full[i], 1);
#             mbarrier_init(&s.empty[i], 2);  // both warps
#         }
#         fence_mbarrier_init();
#     }
#     __syncthreads();
#
#     auto ask = [&](int step) {  // thread 0 only: fill the stage of this step
#         // ### BEGIN SOLUTION
#         // ### SKELETON: // wait until the stage is empty, order, announce, ask for three boxes
#         const int i = step % STAGES;
#         mbarrier_wait_parity(&s.empty[i], step / STAGES % 2 ^ 1);
#         fence_proxy_async_shared();
#         mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i]));
#         tma_load_2d(s.stage[i].a, &A, step * BK, m0, &s.full[i]);
#         for (int j = 0; j < BN / 64; ++j)
#             tma_load_2d(s.stage[i].b[j], &B, n0 + 64 * j, step * BK, &s.full[i]);
#         // ### END SOLUTION
#     };
#     if (threadIdx.x == 0) ask(0);
#
#     WarpTile<BK, BM> work(0, sizeof(s.stage[0].a) + warp * 128 * BK, lane);
#     for (int step = 0; step < steps; ++step) {
#         if (threadIdx.x == 0 && step + 1 < steps) ask(step + 1);
#         mbarrier_wait_parity(&s.full[step % STAGES], step / STAGES % 2);
#         for (int k = 0; k < BK / 16; ++k) {
#             work.fetch(0, shared_address(&s.stage[step % STAGES]), k);
#             work.multiply(0);
#         }
#         __syncwarp();
#         if (lane == 0) mbarrier_arrive(&s.empty[step % STAGES]);
#     }
#     work.store(C, M, N, m0, n0 + 64 * warp, lane);
# }

# %% tags=["check"] gemmlab={"exercise": "14.2"}
gl.exercise("14.2").check(asked)

# %% [markdown] tags=["solution"]
# In turn 0 nobody has released a stage yet. The wait for parity 1 of a new barrier returns at once, as the phase before
# its first one counts as complete. The announced bytes are those of whole boxes: zeros that TMA fills in are counted.

# %% [markdown]
# ## 14.3 Repair the ring
#
# **Goal.** The same kernel, with four faults in it: on hardware it hangs, and once that is mended it is wrong now and
# then. Find and mend them.
#
# **Hint.** Run the check first: it names one disease at a time, with the barrier's phase, arrivals and bytes. Each
# stage's barrier goes through one phase per turn of the ring.

# %% tags=["exercise"] gemmlab={"exercise": "14.3"}
# %%cuda ring
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/warp_tile.cuh"
#
# constexpr int BM = 64, BN = 128, BK = 64, STAGES = 2;
#
# struct Shared {
#     struct {
#         T a[BM][BK], b[BN / 64][BK][64];
#     } stage[STAGES];
#     mbarrier_t full[STAGES], empty[STAGES];
# };
#
# extern "C" __global__ void
#     ring(const __grid_constant__ CUtensorMap A,
#          const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
#     extern __shared__ __align__(1024) unsigned char raw[];
#     Shared& s = *reinterpret_cast<Shared*>(raw);
#     const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#     const int steps = (K + BK - 1) / BK;
#     const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     if (threadIdx.x == 0) {
#         for (int i = 0; i < STAGES; ++i) {
#             mbarrier_init(&s.full[i], 1);
#             // ### BEGIN SOLUTION
#             // ### SKELETON: mbarrier_init(&s.empty[i], 1);
#             mbarrier_init(&s.empty[i], 2);
#             // ### END SOLUTION
#         }
#         fence_mbarrier_init();
#     }
#     __syncthreads();
#
#     auto ask = [&](int step) {
#         const int i = step % STAGES;
#         mbarrier_wait_parity(&s.empty[i], step / STAGES % 2 ^ 1);
#         fence_proxy_async_shared();
#         // ### BEGIN SOLUTION
#         // ### SKELETON: mbarrier_arrive_expect_tx(&s.full[i], BM * BK + BK * BN);
#         mbarrier_arrive_expect_tx(&s.full[i], (BM * BK + BK * BN) * sizeof(T));
#         // ### END SOLUTION
#         tma_load_2d(s.stage[i].a, &A, step * BK, m0, &s.full[i]);
#         tma_load_2d(s.stage[i].b[0], &B, n0, step * BK, &s.full[i]);
#         tma_load_2d(s.stage[i].b[1], &B, n0 + 64, step * BK, &s.full[i]);
#     };
#     if (threadIdx.x == 0) ask(0);
#
#     WarpTile<BK, BM> work(0, sizeof(s.stage[0].a) + warp * 128 * BK, lane);
#     for (int step = 0; step < steps; ++step) {
#         const int i = step % STAGES;
#         if (threadIdx.x == 0 && step + 1 < steps) ask(step + 1);
#         // ### BEGIN SOLUTION
#         // ### SKELETON: mbarrier_wait_parity(&s.full[i], step % 2);
#         // ### SKELETON: if (lane == 0) mbarrier_arrive(&s.empty[i]);
#         mbarrier_wait_parity(&s.full[i], step / STAGES % 2);
#         // ### END SOLUTION
#         for (int k = 0; k < BK / 16; ++k) {
#             work.fetch(0, shared_address(&s.stage[i]), k);
#             work.multiply(0);
#         }
#         // ### BEGIN SOLUTION
#         // ### SKELETON: // the stage is free from here on
#         __syncwarp();
#         if (lane == 0) mbarrier_arrive(&s.empty[i]);
#         // ### END SOLUTION
#     }
#     work.store(C, M, N, m0, n0 + 64 * warp, lane);
# }

# %% tags=["check"] gemmlab={"exercise": "14.3"}
gl.exercise("14.3").check(ring)

# %% [markdown] tags=["solution"]
# `expect_tx` counts bytes, not elements. The parity changes when the ring has gone round, not at every step. A stage is
# released after its last `ldmatrix`, by a lane that has met the others (`__syncwarp`). And it is empty when *both*
# warps say so: two arrivals per phase.

# %% [markdown]
# ## 14.4 Repair the way back
#
# **Goal.** Here C leaves through its own map (boxes of 64 × 64, swizzle 128 bytes). The values are scrambled, and even
# in the right order they would not be safe. Mend the epilogue.
#
# **Target.** Right at every shape, no finding, no bank conflict.
#
# **Hint.** TMA undoes the swizzle on its way out. Through which proxy are the values written, through which are they
# read? What happens to the block's shared memory when its threads are through?

# %% tags=["exercise"] gemmlab={"exercise": "14.4"}
# %%cuda boxed
# #include "ptx/fence.cuh"
# #include "ptx/tma.cuh"
# #include "tile/warp_tile.cuh"
#
# constexpr int BM = 64, BN = 128, BK = 64;
#
# struct Shared {
#     T a[BM][BK], b[BN / 64][BK][64];
#     mbarrier_t full;
# };
#
# extern "C" __global__ void
#     boxed(const __grid_constant__ CUtensorMap A,
#           const __grid_constant__ CUtensorMap B,
#           const __grid_constant__ CUtensorMap C, int M, int N, int K) {
#     extern __shared__ __align__(1024) unsigned char raw[];
#     Shared& s = *reinterpret_cast<Shared*>(raw);
#     const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#     const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     if (threadIdx.x == 0) {
#         mbarrier_init(&s.full, 1);
#         fence_mbarrier_init();
#     }
#     __syncthreads();
#
#     WarpTile<BK, BM> work(0, sizeof(s.a) + warp * 128 * BK, lane);
#     for (int k0 = 0; k0 < K; k0 += BK) {
#         if (threadIdx.x == 0) {
#             fence_proxy_async_shared();
#             mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
#             tma_load_2d(s.a, &A, k0, m0, &s.full);
#             tma_load_2d(s.b[0], &B, n0, k0, &s.full);
#             tma_load_2d(s.b[1], &B, n0 + 64, k0, &s.full);
#         }
#         mbarrier_wait_parity(&s.full, k0 / BK % 2);
#         for (int k = 0; k < BK / 16; ++k) {
#             work.fetch(0, shared_address(raw), k);
#             work.multiply(0);
#         }
#         __syncthreads();  // nobody reads the tiles any more
#     }
#
#     // Each warp's 64 x 64 elements of C, two at a time, then one box.
#     unsigned* box = reinterpret_cast<unsigned*>(s.b[warp]);
#     for (int i = 0; i < 8; ++i)
#         for (int j = 0; j < 8; ++j) {
#             const float* two = &work.acc[i / 2][j][i % 2 * 2];
#             const int row = 8 * i + lane / 4;
#             // ### BEGIN SOLUTION
#             // ### SKELETON: const int chunk = plain<8>(row, j);
#             const int chunk = swizzled<8>(row, j);
#             // ### END SOLUTION
#             box[4 * chunk + lane % 4] = pack(two[0], two[1]);
#         }
#     // ### BEGIN SOLUTION
#     // ### SKELETON: if (lane == 0) {
#     // ### SKELETON:     tma_store_2d(&C, n0 + 64 * warp, m0, box);
#     // ### SKELETON:     cp_async_bulk_commit_group();
#     // ### SKELETON: }
#     fence_proxy_async_shared();
#     __syncwarp();
#     if (lane == 0) {
#         tma_store_2d(&C, n0 + 64 * warp, m0, box);
#         cp_async_bulk_commit_group();
#         cp_async_bulk_wait_group_read<0>();
#     }
#     // ### END SOLUTION
# }

# %% tags=["check"] gemmlab={"exercise": "14.4"}
gl.exercise("14.4").check(boxed)

# %% [markdown] tags=["solution"]
# Chunk `j` of row `r` belongs to place `j ^ r % 8`, which also spreads a warp's stores over all banks. Each lane fences
# its own stores, then the warp meets, then one lane starts the copy. (The emulator lets a fence in lane 0, after the
# warp has met, pass with a warning: libraries fence where the data was written.) And that lane waits until the copy has
# read its source: the block's shared memory goes to another block afterwards.
