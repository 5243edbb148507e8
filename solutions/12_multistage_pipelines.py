# %% [markdown]
# # 12 · Multistage pipelines: exercises
#
# Read [the lesson](../notebooks/12_multistage_pipelines.ipynb) first. The kernels here are small: two warps compute
# 32 × 32 elements, `BK = 16`, one step of `k` per tile. `Stage` and `Fragments` are those of
# `kernels/tile/stage.cuh`.

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
# ## 12.1 From two stages to four
#
# **Goal.** The skeleton is right, with two stages: while a tile is multiplied, one is on its way. Make it four stages,
# so that two tiles are still on their way when the wait for a third is over.
#
# **Target.** Right at every shape, no finding, one barrier per tile; two groups go on across each wait.
#
# **Hint.** Write down which groups are committed when the wait of turn `tile` is reached, and which of them the turn
# needs. `copy` makes no group; you do.

# %% tags=["exercise"] gemmlab={"exercise": "12.1"}
# %%cuda deep
# #include "tile/stage.cuh"
# #include "tile/store_mma.cuh"
#
# // ### BEGIN SOLUTION
# // ### SKELETON: constexpr int STAGES = 2;
# constexpr int STAGES = 4;
# // ### END SOLUTION
# constexpr int BM = 32, BN = 32, BK = 16, THREADS = 64;  // two warps of 16 x 32
# using Tiles = Stage<BM, BN, BK>;
#
# template <bool WIDE>
# __device__ void gemm(Tiles* stages, const T* A, const T* B, T* C, int M, int N, int K) {
#     Fragments<16, BN> frag;
#     float acc[1][BN / 8][4] = {};
#     int warp = threadIdx.x / 32, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     int tiles = (K + BK - 1) / BK;
#     auto copy = [&](int stage, int tile) {  // no group yet
#         stages[stage].copy<WIDE, THREADS>(A, B, M, N, K, m0, n0, tile * BK);
#     };
#
#     // ### BEGIN SOLUTION
#     // ### SKELETON: copy(0, 0);
#     // ### SKELETON: cp_async_commit_group();
#     // ### SKELETON: for (int tile = 0; tile < tiles; ++tile) {
#     // ### SKELETON:     cp_async_wait_group<0>();
#     // ### SKELETON:     __syncthreads();
#     // ### SKELETON:     copy((tile + 1) % 2, tile + 1);
#     // ### SKELETON:     cp_async_commit_group();
#     // ### SKELETON:     frag.fetch(stages[tile % 2], 16 * warp, 0, 0);
#     // ### SKELETON:     frag.multiply(acc);
#     // ### SKELETON: }
#     for (int stage = 0; stage < STAGES - 1; ++stage) {
#         copy(stage, stage);
#         cp_async_commit_group();
#     }
#     for (int tile = 0; tile < tiles; ++tile) {
#         cp_async_wait_group<STAGES - 2>();
#         __syncthreads();
#         copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);
#         cp_async_commit_group();
#         frag.fetch(stages[tile % STAGES], 16 * warp, 0, 0);
#         frag.multiply(acc);
#     }
#     // ### END SOLUTION
#
#     cp_async_wait_group<0>();
#     __syncthreads();
#     store_rows<WIDE>(C, M, N, m0 + 16 * warp, n0, acc[0], stages[0].a + 64 * warp);
# }
#
# extern "C" __global__ void deep(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ Tiles stages[STAGES];
#     if (N % 8 == 0 && K % 8 == 0)
#         gemm<true>(stages, A, B, C, M, N, K);
#     else
#         gemm<false>(stages, A, B, C, M, N, K);
# }

# %% tags=["check"] gemmlab={"exercise": "12.1"}
gl.exercise("12.1").check(deep)

# %% [markdown] tags=["solution"]
# Before the wait of turn `t` the groups `0 … t + STAGES − 2` are committed. Tile `t` must be there, so at most the
# `STAGES − 2` newest may be open. The stage that is filled next is that of tile `t − 1`: the barrier just passed says
# that everybody has read it.

# %% [markdown]
# ## 12.2 How many stages
#
# **Goal.** Write `stages_needed(latency, compute, steps, tile_bytes, shared_bytes)`. A tile takes `compute` cycles,
# in `steps` steps of `k`; the copy of a tile starts at the beginning of a tile's first step, `S − 1` tiles ahead, and
# must be over before the *last* step of the tile before its own. Return the least `S` of at least 2 with which a copy
# of `latency` cycles arrives in time; or, if that many tiles of `tile_bytes` do not fit into `shared_bytes`, as many
# as fit.

# %% tags=["exercise"] gemmlab={"exercise": "12.2"}
import math


def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    stages = max(2, math.ceil(latency / compute + 1 + 1 / steps))
    return min(stages, shared_bytes // tile_bytes)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "12.2"}
gl.exercise("12.2").check(stages_needed)

# %% [markdown] tags=["solution"]
# The copy has `S − 2` whole tiles and all but one step of another: `(S − 1 − 1 / steps) · compute ≥ latency`.

# %% [markdown]
# ## 12.3 Repair
#
# **Goal.** Three things are wrong with this queue. On a GPU it is right most of the time, and always for a short `K`.
# Find and mend them; keep four stages.
#
# **Hint.** Run the check; it names one disease at a time. Who may still read the stage that a copy fills? Which groups
# are the newest in the last turns?

# %% tags=["exercise"] gemmlab={"exercise": "12.3"}
# %%cuda mended
# #include "tile/stage.cuh"
# #include "tile/store_mma.cuh"
#
# constexpr int STAGES = 4;
# constexpr int BM = 32, BN = 32, BK = 16, THREADS = 64;  // two warps of 16 x 32
# using Tiles = Stage<BM, BN, BK>;
#
# template <bool WIDE>
# __device__ void gemm(Tiles* stages, const T* A, const T* B, T* C, int M, int N, int K) {
#     Fragments<16, BN> frag;
#     float acc[1][BN / 8][4] = {};
#     int warp = threadIdx.x / 32, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
#     int tiles = (K + BK - 1) / BK;
#     auto copy = [&](int stage, int tile) {  // no group yet
#         stages[stage].copy<WIDE, THREADS>(A, B, M, N, K, m0, n0, tile * BK);
#     };
#
#     // ### BEGIN SOLUTION
#     // ### SKELETON: for (int stage = 0; stage < STAGES - 1; ++stage) {
#     // ### SKELETON:     copy(stage, stage);
#     // ### SKELETON:     cp_async_commit_group();
#     // ### SKELETON: }
#     // ### SKELETON: for (int tile = 0; tile < tiles; ++tile) {
#     // ### SKELETON:     cp_async_wait_group<STAGES - 1>();
#     // ### SKELETON:     if (tile + STAGES - 1 < tiles) {
#     // ### SKELETON:         copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);
#     // ### SKELETON:         cp_async_commit_group();
#     // ### SKELETON:     }
#     // ### SKELETON:     __syncthreads();
#     // ### SKELETON:     frag.fetch(stages[tile % STAGES], 16 * warp, 0, 0);
#     // ### SKELETON:     frag.multiply(acc);
#     // ### SKELETON: }
#     for (int stage = 0; stage < STAGES - 1; ++stage) {
#         copy(stage, stage);
#         cp_async_commit_group();
#     }
#     for (int tile = 0; tile < tiles; ++tile) {
#         cp_async_wait_group<STAGES - 2>();
#         __syncthreads();
#         copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);
#         cp_async_commit_group();
#         frag.fetch(stages[tile % STAGES], 16 * warp, 0, 0);
#         frag.multiply(acc);
#     }
#     // ### END SOLUTION
#
#     cp_async_wait_group<0>();
#     __syncthreads();
#     store_rows<WIDE>(C, M, N, m0 + 16 * warp, n0, acc[0], stages[0].a + 64 * warp);
# }
#
# extern "C" __global__ void mended(const T* A, const T* B, T* C, int M, int N, int K) {
#     __shared__ Tiles stages[STAGES];
#     if (N % 8 == 0 && K % 8 == 0)
#         gemm<true>(stages, A, B, C, M, N, K);
#     else
#         gemm<false>(stages, A, B, C, M, N, K);
# }

# %% tags=["check"] gemmlab={"exercise": "12.3"}
gl.exercise("12.3").check(mended)

# %% [markdown] tags=["solution"]
# - `STAGES - 1` groups are committed when the wait comes, so that a wait that lets as many go on waits for none.
# - The copy stood before the barrier: other warps may still read the stage that it fills, that of the tile before.
# - The commit was skipped with the last copies. From then on the newest groups are those of tiles that are read
#   *now*. An empty group costs nothing.

# %% [markdown]
# ## 12.4 An order for every grid
#
# **Goal.** Write `tile_of(i, tiles_m, tiles_n)`, the tile `(m, n)` of `C` that CTA number `i` computes. Each tile
# must be taken once, whatever the grid, and CTAs with neighbouring numbers must share rows of `A` and columns of `B`.
#
# **Target.** With tiles of 128 × 256 and 132 CTAs at a time, the waves of 32 × 64 tiles touch at most 720 strips of
# `A` and `B`, a column of `B` counted twice as it is twice as wide, and those of 128 × 16 tiles at most 760. (Along
# the rows of `C`: 2,095 and 652. Down the columns: 668 and 2,050.)

# %% tags=["exercise"] gemmlab={"exercise": "12.4"}
def tile_of(i, tiles_m, tiles_n):
    ### BEGIN SOLUTION
    ### SKELETON: width = 8  # one guide: right where tiles_n is a multiple of 8
    ### SKELETON: return i // width % tiles_m, i % width + i // (width * tiles_m) * width
    rows = 8
    first, inside = i // (rows * tiles_n) * rows, i % (rows * tiles_n)
    height = min(rows, tiles_m - first)
    return first + inside % height, inside // height
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "12.4"}
gl.exercise("12.4").check(tile_of)

# %% [markdown] tags=["solution"]
# All groups but the last have the same number of tiles, so a division finds the group; inside it the height decides.
# The guide's widths of columns work just as well, if the last one is made narrower.
