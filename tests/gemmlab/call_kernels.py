"""Small CUDA C++ kernels for the tests of calls: each shows one thing that a launch rule must provide."""

# C = A·B by 16 × 16 tiles that TMA brings and takes away, FP32, one warp.
TMA = r"""
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
extern "C" __global__ void tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                               const __grid_constant__ CUtensorMap c, int K) {
  __shared__ alignas(128) float sa[16][16], sb[16][16], sc[16][16];
  __shared__ mbarrier_t bar;
  int x = blockIdx.x * 16, y = blockIdx.y * 16, column = threadIdx.x % 16, row = threadIdx.x / 16;
  float acc[8] = {};
  if (threadIdx.x == 0) { mbarrier_init(&bar, 1); fence_mbarrier_init(); }
  __syncthreads();
  for (int k = 0; k < K; k += 16) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&bar, 2 * 16 * 16 * 4);
      tma_load_2d(sa, &a, k, y, &bar);
      tma_load_2d(sb, &b, x, k, &bar);
    }
    mbarrier_wait_parity(&bar, k / 16 % 2);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 16; ++j) acc[i] += sa[row + 2 * i][j] * sb[j][column];
    fence_proxy_async_shared();
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) sc[row + 2 * i][column] = acc[i];
  fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_store_2d(&c, x, y, sc);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  }
  EXTRA
}
"""
PAST = TMA.replace("void tma(", "void past(").replace("int K)", "int K, float* C, int ldc)")
PAST = PAST.replace("EXTRA", "C[ldc - 1] = 7;")
TMA = TMA.replace("EXTRA", "")

# Adds products into zeros in global memory; the last block converts. CLEAN: it zeroes the sums again.
SPLIT = r"""
extern "C" __global__ void split(const float* A, const float* B, float* C, float* sums, int M, int N, int K) {
  unsigned* done = (unsigned*)(sums + M * N);
  for (int i = blockIdx.x * 32 + threadIdx.x; i < M * N; i += gridDim.x * 32)
    for (int k = 0; k < K; ++k) atomicAdd(sums + i, A[i / N * K + k] * B[k * N + i % N]);
  __shared__ unsigned last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  for (int i = threadIdx.x; i < M * N; i += 32) {
    C[i] = __ldcg(sums + i);
#ifdef CLEAN
    sums[i] = 0;
#endif
  }
}
"""

# A thread per row of C; STEP is how far a block's next group of rows is.
ROWS = r"""
extern "C" __global__ void rows(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int m = blockIdx.x * 32 + threadIdx.x; m < M; m += STEP)
    for (int n = 0; n < N; ++n) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += A[m * K + k] * B[k * N + n];
      C[m * N + n] = sum;
    }
}
"""

CLUSTER = r"""
#include "ptx/cluster.cuh"
extern "C" __global__ void cluster(int* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = cluster_ctarank();
}
"""

SCALED = r"""
#ifndef VALUE
#define VALUE 1
#endif
extern "C" __global__ void scaled(float* C) { if (threadIdx.x == 0) C[0] = VALUE; }
"""

# C = A·B like tma, but a tile is fetched again before all threads have read it: right when copies land late.
EARLY = TMA.replace("void tma(", "void early(").replace(
    """    fence_proxy_async_shared();
    __syncthreads();
  }""",
    "  }",
)

FLAG = """
#include "ptx/flag.cuh"

extern "C" __global__ void flagged(const float* A, const float* B, float* C, unsigned char* W, int M, int N, int K) {
  unsigned* flag = reinterpret_cast<unsigned*>(W);
  float* part = reinterpret_cast<float*>(W) + 1;
  if (threadIdx.x != 0) return;
  float product = A[blockIdx.x] * B[blockIdx.x];
  if (blockIdx.x == 1) {
    *part = product;
    st_release_gpu(flag, 1);
  } else {
    while (ld_acquire_gpu(flag) == 0) {
    }
    C[0] = product + *part;
    st_release_gpu(flag, 0);
  }
}
"""
