// Change: the k steps of the last tiles are dealt out evenly, so that all SMs stop at the same time.
// Limit:  parts of tiles travel through L2; they are added in the order of k, so the result does not vary.
// Needs:  sm_90a; rows of A, B and C of a multiple of 16 bytes; every CTA of the grid resident.
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/partial.cuh"
#include "tile/store_c.cuh"
#include "tile/stream_k.cuh"
#include "tile/tile_order.cuh"

#ifndef CONFIG_BN
#define CONFIG_BN 128
#define CONFIG_STAGES 6
#endif
#ifdef CONFIG_SPLIT_TAIL
typedef SplitTail Plan;
#else
typedef StreamK Plan;
#endif
constexpr int BM = 128, BN = CONFIG_BN, STAGES = CONFIG_STAGES, CLUSTER = 2, GROUP = 8;

struct Shared {
  Stages<BM, BN, STAGES, CLUSTER> ring;
  alignas(1024) T c[2][2 * 64 * 64];
};

// region: kernel
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    stream_k(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B,
             const __grid_constant__ CUtensorMap C, unsigned char* W, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);  // NOTE: so the compiler knows it is the same in all lanes
  int warpgroup = warp / 4, rank = cluster_ctarank(), steps = (K + BK - 1) / BK;
  int rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER), columns = (N + BN - 1) / BN;
  int worker = blockIdx.x / CLUSTER, workers = gridDim.x / CLUSTER;
  if (threadIdx.x == 0) {
    prefetch_tensormap(&A);
    prefetch_tensormap(&B);
    s.ring.init(8);
  }
  barrier_cluster_arrive_relaxed();  // NOTE: fence.mbarrier_init has published the barriers
  barrier_cluster_wait();

  Ring<STAGES> ring;
  Work work;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync()) {
      Plan plan(rows * columns, steps, worker, workers);
      while (plan.next(work)) {
        Tile tile = grouped_tile<GROUP>(work.tile, rows, columns);
        s.ring.produce(ring, A, B, (tile.m * CLUSTER + rank) * BM, tile.n * BN, work.begin, work.end, rank);
      }
    }
  } else {
    setmaxnreg_inc<232>();
    Plan plan(rows * columns, steps, worker, workers);  // NOTE: a plan shared with the producer spilled registers
    int consumer = warpgroup - 1;
    Consumer my = consumer_of<CLUSTER>(s.ring, consumer * 64);
    while (plan.next(work)) {
      float acc[1][BN / 2];
      consume<BN, CLUSTER>(s.ring, ring, my, acc, work.end - work.begin);
      finish<CLUSTER>(s.ring, ring, my, acc);
      if (work.begin > 0) {
        partial_send<BN / 2>(W, gridDim.x, blockIdx.x, acc[0]);
        continue;
      }
      int step, helpers = plan.helpers(work, step);
      partial_add<BN / 2>(W, gridDim.x, blockIdx.x + step * CLUSTER, step * CLUSTER, helpers, acc[0]);
      Tile tile = grouped_tile<GROUP>(work.tile, rows, columns);
      int m = (tile.m * CLUSTER + rank) * BM + consumer * 64;
      tma_store_c(acc[0], s.c[consumer], &C, m, tile.n * BN, 1 + consumer);
    }
    if (threadIdx.x % 128 == 0) cp_async_bulk_wait_group_read<0>();
  }
  __syncwarp();
  barrier_cluster_arrive_relaxed();  // NOTE: a peer may still arrive at our barriers or write to our stages
  barrier_cluster_wait();
}
// endregion
