# %% [markdown]
# # 19 · Split-K and Stream-K: exercises
#
# Read [the lesson](../notebooks/19_split_k_stream_k.ipynb) first. Two functions that plan, and a sum that must not
# depend on who comes first.

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
# ## 19.1 How much of the machine works?
#
# **Goal.** Write `share(tiles, sms, parts, steps)`: the share of all SMs' time that is multiplying, if each of `tiles`
# equal tiles of `steps` k steps is cut into `parts` along K (1: not at all), as evenly as whole steps allow. One CTA
# per SM; a round lasts as long as its longest part; the sum of the parts costs nothing here.

# %% tags=["exercise"] gemmlab={"exercise": "19.1"}
def share(tiles, sms, parts, steps):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    rounds = -(-tiles * parts // sms)
    longest = -(-steps // parts)
    return tiles * steps / (sms * rounds * longest)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "19.1"}
gl.exercise("19.1").check(share)

# %% [markdown]
# ## 19.2 Deal out the steps
#
# **Goal.** Stream-K lays the k steps of all tiles in one row, tile after tile, and cuts it into `workers` shares:
# worker *w* has the steps from `total * w // workers` on, up to `total * (w + 1) // workers`. Write `helpers(tile,
# tiles, steps, workers)`: how many workers *other than the owner of its step 0* have steps of that tile.
#
# **Hint.** Which worker has step number `p` of the row? The smallest *w* whose share ends beyond `p`.

# %% tags=["exercise"] gemmlab={"exercise": "19.2"}
def helpers(tile, tiles, steps, workers):
    ### BEGIN SOLUTION
    ### SKELETON: ...
    total = tiles * steps

    def worker_of(p):
        return ((p + 1) * workers - 1) // total

    return worker_of((tile + 1) * steps - 1) - worker_of(tile * steps)
    ### END SOLUTION

# %% tags=["check"] gemmlab={"exercise": "19.2"}
gl.exercise("19.2").check(helpers)

# %% [markdown]
# ## 19.3 Add up the parts
#
# **Goal.** Four CTAs share the K of each tile (FP32, no tensor cores: the sum is the point). Each leaves its part in
# the workspace `W`, and the CTA of part 0 adds them and stores. As it stands the sum reads parts that may not be there
# yet. Mend it: flags that are set *after* the data and seen *before* it, and left as zeros for the next launch.
#
# **Target.** Right at every shape, no race, the same bits whatever the schedule, and all flags zero at the end.
#
# **Hint.** `st_release_gpu(flag, 1)` publishes what its thread knows to be written; a barrier tells it of the others.
# `ld_acquire_gpu(flag)` is the other half. W starts as zeros.

# %% tags=["exercise"] gemmlab={"exercise": "19.3"}
# %%cuda summed
# #include "ptx/flag.cuh"
#
# constexpr int SPLIT = 4, EDGE = 32, THREADS = 256;
#
# extern "C" __global__ void summed(const float* A, const float* B, float* C, unsigned char* W, int M, int N, int K) {
#   const int rank = blockIdx.x, n = blockIdx.y * EDGE + threadIdx.x, m = blockIdx.z * EDGE + threadIdx.y;
#   const int t = threadIdx.y * EDGE + threadIdx.x, tile = blockIdx.z * gridDim.y + blockIdx.y;
#   float acc[4] = {};  // rows m, m + 8, m + 16, m + 24
#   for (int k = K * rank / SPLIT; k < K * (rank + 1) / SPLIT; ++k)
#     for (int i = 0; i < 4; ++i)
#       if (m + 8 * i < M && n < N) acc[i] += A[(m + 8 * i) * K + k] * B[k * N + n];
#
#   // In W: a flag for each part of each tile, then 1,024 floats for each.
#   unsigned* flag = reinterpret_cast<unsigned*>(W) + tile * SPLIT;
#   float* part = reinterpret_cast<float*>(W) + gridDim.y * gridDim.z * SPLIT + tile * SPLIT * 4 * THREADS + t;
#   // ### BEGIN SOLUTION
#   // ### SKELETON: if (t == 0) flag[rank] = 1;
#   // ### SKELETON: for (int i = 0; i < 4; ++i) part[(rank * 4 + i) * THREADS] = acc[i];
#   // ### SKELETON: if (rank > 0) return;
#   // ### SKELETON: for (int from = 1; from < SPLIT; ++from)
#   // ### SKELETON:   for (int i = 0; i < 4; ++i) acc[i] += part[(from * 4 + i) * THREADS];
#   if (rank > 0) {
#     for (int i = 0; i < 4; ++i) part[(rank * 4 + i) * THREADS] = acc[i];
#     __syncthreads();
#     if (t == 0) st_release_gpu(flag + rank, 1);
#     return;
#   }
#   for (int from = 1; from < SPLIT; ++from) {
#     if (t == 0) {
#       while (ld_acquire_gpu(flag + from) == 0) {
#       }
#       st_release_gpu(flag + from, 0);
#     }
#     __syncthreads();
#     for (int i = 0; i < 4; ++i) acc[i] += part[(from * 4 + i) * THREADS];
#   }
#   // ### END SOLUTION
#   for (int i = 0; i < 4; ++i)
#     if (m + 8 * i < M && n < N) C[(m + 8 * i) * N + n] = acc[i];
# }

# %% tags=["check"] gemmlab={"exercise": "19.3"}
gl.exercise("19.3").check(summed)

# %% [markdown] tags=["solution"]
# Data, barrier, release; acquire, barrier, data. The parts are added in the order of k, not of arrival, so the result
# has the same bits every time; `atomicAdd` would not give that. And somebody must put the flags back: if they are left
# set, the next launch does not wait.
