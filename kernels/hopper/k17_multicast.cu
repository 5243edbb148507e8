// Change: two CTAs, one above the other, share their tile of B: each copies half of it to both.
// Limit:  a pair starts and ends together, once per tile, and nobody multiplies then.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: A 128 x 64, B 64 x 64, both swizzled by 128 bytes.
// The loops are written out once more, for the three lines in them that a cluster changes; then tile/mainloop.cuh.
// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/cluster.cuh"
#include "ptx/fence.cuh"
#include "ptx/registers.cuh"
#include "ptx/tma.cuh"
#include "tile/ring.cuh"
#include "tile/store_direct.cuh"
#include "tile/warpgroup.cuh"

constexpr int BM = 128, BN = 256, STAGES = 4, CONSUMERS = 2, CTAS = 2;

struct Shared {
  struct alignas(1024) Stage {
    T a[BM * BK], b[BN / 64][BK * 64];
  } stage[STAGES];
  mbarrier_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void
__cluster_dims__(1, CTAS, 1) __launch_bounds__(384, 1)
multicast(const __grid_constant__ CUtensorMap A,
          const __grid_constant__ CUtensorMap B, T* C,
          int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int m = blockIdx.y * BM, n = blockIdx.x * BN;
  int lane = threadIdx.x % 32, rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&s.full[i], 1);
      mbarrier_init(&s.empty[i], 4 * CONSUMERS * CTAS);  // of both CTAs
    }
    fence_mbarrier_init();
  }
  barrier_cluster_arrive();  // the other's barriers exist before we use them
  barrier_cluster_wait();
  Ring<STAGES> ring;

  if (threadIdx.x < 128) {
    // Producer: our A to us, our half of B to both CTAs.
    setmaxnreg_dec<24>();
    if (threadIdx.x < 32 && elect_sync()) {
      for (int k = 0; k < K; k += BK, ring.advance()) {
        auto& stage = s.stage[ring.stage];
        mbarrier_t* full = &s.full[ring.stage];
        mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
        mbarrier_arrive_expect_tx(full, sizeof(stage));  // the other's half too
        tma_load_2d(stage.a, &A, k, m, full);
#pragma unroll
        for (int i = 0; i < BN / 64 / CTAS; ++i) {
          int box = i * CTAS + rank;
          tma_load_2d_multicast(stage.b[box], &B, n + box * 64, k, full, 3);
        }
      }
    }
  } else {
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
      if (k > 0 && lane < CTAS)  // at both CTAs
        mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
    }
    wgmma_wait_group<0>(acc[0]);
    store_direct<BN>(acc[0], C, m + row, n, M, N);
  }
  __syncwarp();
  barrier_cluster_arrive_relaxed();  // NOTE: the other may still arrive here
  barrier_cluster_wait();
}
// endregion
