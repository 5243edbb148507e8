// Change: two warpgroups share each 128 x 256 tile, CTAs stay for many tiles, pairs of CTAs share B.
// Limit:  the epilogue of a tile is not hidden; the last wave is partial.
// Needs:  sm_90a; rows of A, B and C of a multiple of 16 bytes.
#include "ptx/cluster.cuh"
#include "ptx/registers.cuh"
#include "tile/ring.cuh"
#include "tile/store_c.cuh"
#include "tile/tile_order.cuh"
#include "tile/warpgroup.cuh"

#ifndef CONFIG_BN
#define CONFIG_BN 256
#endif
#ifndef CONFIG_STAGES
#define CONFIG_STAGES 4
#endif
#ifndef CONFIG_CLUSTER
#define CONFIG_CLUSTER 2
#endif
#ifndef CONFIG_GROUP
#define CONFIG_GROUP 8
#endif
constexpr int BN = CONFIG_BN, STAGES = CONFIG_STAGES, CLUSTER = CONFIG_CLUSTER, GROUP = CONFIG_GROUP;
constexpr int BM = 128, BOXES = BN / 64, STAGING = BOXES < 2 ? BOXES : 2;

struct Shared {
  struct alignas(1024) Stage {
    T a[BM * BK], b[BN * BK];
  } stage[STAGES];
  alignas(1024) T c[2][STAGING * 64 * 64];
  mbarrier_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    cooperative(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
                const __grid_constant__ CUtensorMap C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int warpgroup = threadIdx.x / 128, rank = cluster_ctarank(), steps = (K + BK - 1) / BK;
  int rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER), columns = (N + BN - 1) / BN;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&s.full[i], 1);
      mbarrier_init(&s.empty[i], 8 * CLUSTER);  // the consumer warps of every CTA that gets this CTA's copies
    }
    fence_mbarrier_init();
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();

  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      Ring<STAGES> ring;
      for (int t = blockIdx.x / CLUSTER; t < rows * columns; t += gridDim.x / CLUSTER) {
        Tile tile = grouped_tile<GROUP>(t, rows, columns);
        int m = (tile.m * CLUSTER + rank) * BM, n = tile.n * BN;
        for (int k = 0; k < K; k += BK, ring.advance()) {
          auto& stage = s.stage[ring.stage];
          mbarrier_t* full = &s.full[ring.stage];
          mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
          mbarrier_arrive_expect_tx(full, sizeof(stage));
          tma_load_2d(stage.a, &A, k, m, full);
          for (int box = rank; box < BOXES; box += CLUSTER)  // each CTA brings its share of B for both
            if (CLUSTER > 1)
              tma_load_2d_multicast(stage.b + box * 64 * BK, &B, n + box * 64, k, full, (1 << CLUSTER) - 1);
            else
              tma_load_2d(stage.b + box * 64 * BK, &B, n + box * 64, k, full);
        }
      }
    }
  } else {
    setmaxnreg_inc<232>();
    int consumer = warpgroup - 1, lane = threadIdx.x % 32;
    Ring<STAGES> ring;
    for (int t = blockIdx.x / CLUSTER; t < rows * columns; t += gridDim.x / CLUSTER) {
      Tile tile = grouped_tile<GROUP>(t, rows, columns);
      float acc[1][BN / 2];
      int before = 0;
      for (int i = 0; i < steps; ++i, ring.advance()) {
        auto& stage = s.stage[ring.stage];
        mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
        multiply_stage<BN>(acc, stage.a + consumer * 64 * BK, stage.b, i == 0);
        if (i > 0) {
          wgmma_wait_group<1>();
          __syncwarp();
          if (lane < CLUSTER) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
        }
        before = ring.stage;
      }
      wgmma_wait_group<0>(acc[0]);
      __syncwarp();
      if (lane < CLUSTER) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
      int m = (tile.m * CLUSTER + rank) * BM + consumer * 64;
      tma_store_c<STAGING>(acc[0], s.c[consumer], &C, m, tile.n * BN, 1 + consumer);
    }
    if (threadIdx.x % 128 == 0) cp_async_bulk_wait_group<0>();
  }
  __syncwarp();
  barrier_cluster_arrive();  // NOTE: a peer may still arrive at our barriers or write to our stages
  barrier_cluster_wait();
}
