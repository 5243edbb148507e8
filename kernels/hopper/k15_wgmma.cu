// Change: one instruction of 128 threads multiplies 64 x 128 x 16, both operands straight from shared memory.
// Limit:  copy, wait, multiply, wait: only the SM's other CTAs fill the gaps.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: A 128 x 64, B 64 x 64, both swizzled by 128 bytes.
// region: kernel
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/store_direct.cuh"

constexpr int BM = 128, BN = 128, BK = 64;

struct Shared {
  alignas(1024) T a[BM * BK];           // K-major: a row of 128 bytes per m
  alignas(1024) T b[BN / 64][BK * 64];  // N-major: boxes of 64 columns
  mbarrier_t full;
};

extern "C" __global__ void __launch_bounds__(128, 3)
wgmma(const __grid_constant__ CUtensorMap A,
      const __grid_constant__ CUtensorMap B, T* C,
      int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int m = blockIdx.y * BM, n = blockIdx.x * BN;
  if (threadIdx.x == 0) {
    mbarrier_init(&s.full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();

  // Start, LBO, SBO, swizzle (1: 128 bytes). Eight rows are 1,024 bytes.
  wgmma_desc_t a = wgmma_descriptor(s.a, 16, 1024, 1);
  wgmma_desc_t b = wgmma_descriptor(s.b, sizeof(s.b[0]), 1024, 1);
  float acc[2][BN / 2];  // two blocks of 64 rows
  unsigned parity = 0;
  for (int k0 = 0; k0 < K; k0 += BK, parity ^= 1) {
    // Copy a tile of A and one of B.
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
      tma_load_2d(s.a, &A, k0, m, &s.full);
      for (int box = 0; box < BN / 64; ++box)
        tma_load_2d(s.b[box], &B, n + box * 64, k0, &s.full);
    }
    mbarrier_wait_parity(&s.full, parity);

    // Multiply: four steps of 16 along K. Descriptors count 16 bytes: a step
    // is 32 bytes of a row of A, and 16 rows of B; 64 rows of A are 8,192.
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK / 16; ++k)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        wgmma_m64k16<BN, 0, 1>(acc[i], a + i * 512 + k * 2, b + k * 128,
                               k0 + k > 0, T());
    wgmma_commit_group();
    wgmma_wait_group<0>(acc[0]);
    wgmma_wait_group<0>(acc[1]);
    __syncthreads();  // NOTE: a wait covers its warp; the copy needs all four
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
    store_direct<BN>(acc[i], C, m + i * 64, n, M, N);
}
// endregion
