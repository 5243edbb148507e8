// Change: each consumer warpgroup has tiles of its own; while one multiplies, the other writes its tile to C.
// Limit:  a warpgroup's tile is half as large, so more bytes come from L2 per multiply-add.
// Needs:  sm_90a; rows of A, B and C of a multiple of 16 bytes.
#include "ptx/cluster.cuh"
#include "ptx/registers.cuh"
#include "tile/ring.cuh"
#include "tile/store_c.cuh"
#include "tile/tile_order.cuh"
#include "tile/warpgroup.cuh"

#ifndef CONFIG_BM
#define CONFIG_BM 128
#endif
#ifndef CONFIG_BN
#define CONFIG_BN 128
#endif
#ifndef CONFIG_STAGES
#define CONFIG_STAGES 6
#endif
#ifndef CONFIG_CLUSTER
#define CONFIG_CLUSTER 2
#endif
#ifndef CONFIG_GROUP
#define CONFIG_GROUP 8
#endif
constexpr int BM = CONFIG_BM, BN = CONFIG_BN, STAGES = CONFIG_STAGES, CLUSTER = CONFIG_CLUSTER, GROUP = CONFIG_GROUP;
constexpr int BOXES = BN / 64, STAGING = BOXES < 2 ? BOXES : 2, TURN = 3;  // TURN: the first named barrier of the turns

struct Shared {
  struct alignas(1024) Stage {
    T a[BM * BK], b[BN * BK];
  } stage[STAGES];
  alignas(1024) T c[2][STAGING * 64 * 64];
  mbarrier_t full[STAGES], empty[STAGES];
};

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    pingpong(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
             const __grid_constant__ CUtensorMap C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int warpgroup = threadIdx.x / 128, rank = cluster_ctarank(), steps = (K + BK - 1) / BK;
  int rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER), columns = (N + BN - 1) / BN;
  int first = blockIdx.x / CLUSTER, stride = gridDim.x / CLUSTER, tiles = rows * columns;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      mbarrier_init(&s.full[i], 1);
      mbarrier_init(&s.empty[i], 4 * CLUSTER);  // the four warps that use the stage, in every CTA of the cluster
    }
    fence_mbarrier_init();
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();

  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      Ring<STAGES> ring;
      for (int t = first; t < tiles; t += stride) {
        Tile tile = grouped_tile<GROUP>(t, rows, columns);
        int m = (tile.m * CLUSTER + rank) * BM, n = tile.n * BN;
        for (int k = 0; k < K; k += BK, ring.advance()) {
          auto& stage = s.stage[ring.stage];
          mbarrier_t* full = &s.full[ring.stage];
          mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);
          mbarrier_arrive_expect_tx(full, sizeof(stage));
          tma_load_2d(stage.a, &A, k, m, full);
          for (int box = rank; box < BOXES; box += CLUSTER)  // each CTA brings its share of B for all
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
    if (consumer == 1 && first < tiles) bar_arrive(TURN, 256);  // the first turn is consumer 0's
    for (int t = first + consumer * stride, turn = consumer; t < tiles; t += 2 * stride, turn += 2) {
      Tile tile = grouped_tile<GROUP>(t, rows, columns);
      float acc[BM / 64][BN / 2];
      Ring<STAGES> ring;
      ring.stage = turn * steps % STAGES, ring.parity = turn * steps / STAGES % 2;
      int before = 0;
      bar_sync(TURN + consumer, 256);
      for (int i = 0; i < steps; ++i, ring.advance()) {
        auto& stage = s.stage[ring.stage];
        mbarrier_wait_parity(&s.full[ring.stage], ring.parity);
        multiply_stage<BN>(acc, stage.a, stage.b, i == 0);
        if (i > 0) {
          wgmma_wait_group<1>();
          __syncwarp();
          if (lane < CLUSTER) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
        }
        before = ring.stage;
      }
      if (t + stride < tiles) bar_arrive(TURN + 1 - consumer, 256);  // our multiplies are queued: the other's turn
      for (auto& half : acc) wgmma_wait_group<0>(half);
      __syncwarp();
      if (lane < CLUSTER) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);
      int m = (tile.m * CLUSTER + rank) * BM;
#pragma unroll
      for (int i = 0; i < BM / 64; ++i) tma_store_c<STAGING>(acc[i], s.c[consumer], &C, m + i * 64, tile.n * BN, 1 + consumer);
    }
    if (threadIdx.x % 128 == 0) cp_async_bulk_wait_group<0>();
  }
  __syncwarp();
  barrier_cluster_arrive();  // NOTE: a peer may still arrive at our barriers or write to our stages
  barrier_cluster_wait();
}
