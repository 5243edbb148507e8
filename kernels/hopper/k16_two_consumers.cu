// Change: two warpgroups multiply, one copies: a tile of 128 x 256, and a third more work per byte from L2.
// Limit:  48 bytes per cycle and SM from L2 at full speed; nobody multiplies during the epilogue.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: A 128 x 64, B 64 x 64, both swizzled by 128 bytes.
// The loops are written out, as in all kernels of chapters 15 to 17: they are the lesson. From 18 on they are in
// tile/mainloop.cuh.
// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/fence.cuh"
#include "ptx/registers.cuh"
#include "ptx/tma.cuh"
#include "tile/ring.cuh"
#include "tile/store_direct.cuh"
#include "tile/warpgroup.cuh"

constexpr int BM = 128, BN = 256, STAGES = 4, CONSUMERS = 2;

struct Shared {
  struct alignas(1024) Stage {
    T a[BM * BK], b[BN / 64][BK * 64];
  } stage[STAGES];
  mbarrier_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __launch_bounds__(384, 1)
two_consumers(const __grid_constant__ CUtensorMap A,
              const __grid_constant__ CUtensorMap B, T* C,
              int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int m = blockIdx.y * BM, n = blockIdx.x * BN;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&s.full[i], 1);
      mbarrier_init(&s.empty[i], 4 * CONSUMERS);  // one lane per consumer warp
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

  // Consumers: 64 rows each, 128 accumulators per thread.
  setmaxnreg_inc<240>();
  int row = (threadIdx.x / 128 - 1) * 64;
  float acc[1][BN / 2];
  for (int k = 0; k < K; k += BK, ring.advance()) {
    auto& stage = s.stage[ring.stage];
    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
    multiply_stage<BN>(acc, stage.a + row * BK, stage.b[0], k == 0);
    wgmma_wait_group<1>();
    __syncwarp();
    int before = (ring.stage + STAGES - 1) % STAGES;
    if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);
  }
  wgmma_wait_group<0>(acc[0]);
  store_direct<BN>(acc[0], C, m + row, n, M, N);
}
// endregion
