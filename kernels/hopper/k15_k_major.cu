// Change: B is stored by columns, as an array (N, K): both operands are K-major, and B's tile is one box.
// Limit:  as k15_wgmma.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: of A and B 128 x 64, both swizzled by 128 bytes.
// region: kernel
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/store_direct.cuh"

constexpr int BM = 128, BN = 128, BK = 64;

struct Shared {
  alignas(1024) T a[BM * BK];  // K-major: a row of 128 bytes per m
  alignas(1024) T b[BN * BK];  // K-major: a row of 128 bytes per n
  mbarrier_t full;
};

extern "C" __global__ void __launch_bounds__(128, 3)
k_major(const __grid_constant__ CUtensorMap A,
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
  wgmma_desc_t b = wgmma_descriptor(s.b, 16, 1024, 1);
  float acc[2][BN / 2];  // two blocks of 64 rows
  unsigned parity = 0;
  for (int k0 = 0; k0 < K; k0 += BK, parity ^= 1) {
    // Copy a tile of A and one of B.
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
      tma_load_2d(s.a, &A, k0, m, &s.full);
      tma_load_2d(s.b, &B, k0, n, &s.full);
    }
    mbarrier_wait_parity(&s.full, parity);

    // Multiply: four steps of 16 along K. Descriptors count 16 bytes: a step
    // is 32 bytes of a row of A or of B; 64 rows of A are 8,192.
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < BK / 16; ++k)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        wgmma_m64k16<BN, 0, 0>(acc[i], a + i * 512 + k * 2, b + k * 2,
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
