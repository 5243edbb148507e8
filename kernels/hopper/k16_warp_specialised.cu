// Change: one warpgroup copies, one multiplies; barriers full and empty are all that they share.
// Limit:  a tile of 128 x 128 asks L2 for 64 bytes per cycle and SM at full speed.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: A 128 x 64, B 64 x 64, both swizzled by 128 bytes.
// The loops are written out: they are the lesson.
// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/fence.cuh"
#include "ptx/registers.cuh"
#include "ptx/tma.cuh"
#include "tile/ring.cuh"
#include "tile/store_direct.cuh"
#include "tile/warpgroup.cuh"

constexpr int BM = 128, BN = 128, STAGES = 3;

struct Shared {
  struct alignas(1024) Stage {
    T a[BM * BK], b[BN / 64][BK * 64];
  } stage[STAGES];
  mbarrier_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(256, 2)
warp_specialised(const __grid_constant__ CUtensorMap A,
                 const __grid_constant__ CUtensorMap B, T* C,
                 int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int m = blockIdx.y * BM, n = blockIdx.x * BN;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&s.full[i], 1);   // the producer's arrival, and the bytes
      mbarrier_init(&s.empty[i], 4);  // one lane of each consumer warp
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  Ring<STAGES> ring;

  // Producer: one thread keeps the ring full.
  if (threadIdx.x < 128) {
    setmaxnreg_dec<24>();
    if (threadIdx.x < 32 && elect_sync()) {
      for (int k = 0; k < K; k += BK, ring.advance()) {
        auto& stage = s.stage[ring.stage];
        mbarrier_t* full = &s.full[ring.stage];
        mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
        mbarrier_arrive_expect_tx(full, sizeof(stage));
        tma_load_2d(stage.a, &A, k, m, full);
        for (int box = 0; box < BN / 64; ++box)
          tma_load_2d(stage.b[box], &B, n + box * 64, k, full);
      }
    }
    return;
  }

  // Consumer: one group stays under way; the stage before it is free.
  setmaxnreg_inc<232>();
  float acc[2][BN / 2];
  for (int k = 0; k < K; k += BK, ring.advance()) {
    auto& stage = s.stage[ring.stage];
    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
    multiply_stage<BN>(acc, stage.a, stage.b[0], k == 0);
    wgmma_wait_group<1>();
    __syncwarp();
    int before = (ring.stage + STAGES - 1) % STAGES;
    if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
  }
  wgmma_wait_group<0>(acc[0]);
  wgmma_wait_group<0>(acc[1]);
#pragma unroll
  for (int i = 0; i < 2; ++i)
    store_direct<BN>(acc[i], C, m + i * 64, n, M, N);
}
// endregion
