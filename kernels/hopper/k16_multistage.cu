// Change: a ring of stages, filled STAGES - 1 tiles ahead; one group of multiplications stays under way.
// Limit:  all eight warps meet in every turn before one of them may refill a stage.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: A 128 x 64, B 64 x 64, both swizzled by 128 bytes.
#ifndef WIDTH
#define WIDTH 128
#endif
#ifndef DEPTH
#define DEPTH 4
#endif
#ifndef RESIDENT
#define RESIDENT 1
#endif

// region: kernel
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "tile/ring.cuh"
#include "tile/store_direct.cuh"
#include "tile/warpgroup.cuh"

constexpr int BM = 128, BN = WIDTH, STAGES = DEPTH;

struct Shared {
  struct alignas(1024) Stage {
    T a[BM * BK], b[BN / 64][BK * 64];
  } stage[STAGES];
  mbarrier_t full[STAGES];
};

__device__ void copy_tiles(Shared& s, int stage, const CUtensorMap* A,
                           const CUtensorMap* B, int m, int n, int k) {
  mbarrier_t* full = &s.full[stage];
  mbarrier_arrive_expect_tx(full, sizeof(s.stage[0]));
  tma_load_2d(s.stage[stage].a, A, k, m, full);
  for (int box = 0; box < BN / 64; ++box)
    tma_load_2d(s.stage[stage].b[box], B, n + box * 64, k, full);
}

extern "C" __global__ void __launch_bounds__(256, RESIDENT)
multistage(const __grid_constant__ CUtensorMap A,
           const __grid_constant__ CUtensorMap B, T* C,
           int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int m = blockIdx.y * BM, n = blockIdx.x * BN;
  int group = threadIdx.x / 128, steps = (K + BK - 1) / BK;

  // Prologue: all stages but one are on their way.
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) mbarrier_init(&s.full[i], 1);
    fence_mbarrier_init();
    for (int i = 0; i < STAGES - 1 && i < steps; ++i)
      copy_tiles(s, i, &A, &B, m, n, i * BK);
  }
  __syncthreads();

  float acc[1][BN / 2];
  Ring<STAGES> ring;
  for (int i = 0; i < steps; ++i, ring.advance()) {
    auto& stage = s.stage[ring.stage];
    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
    multiply_stage<BN>(acc, stage.a + group * 64 * BK, stage.b[0], i == 0);
    wgmma_wait_group<1>();  // the turn before this one is done
    __syncthreads();        // in every warp: its stage is free
    int next = i + STAGES - 1;
    if (threadIdx.x == 0 && next < steps)
      copy_tiles(s, next % STAGES, &A, &B, m, n, next * BK);
  }
  wgmma_wait_group<0>(acc[0]);
  store_direct<BN>(acc[0], C, m + group * 64, n, M, N);
}
// endregion
