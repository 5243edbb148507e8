// Change: CTAs stay for many tiles; two warpgroups share each tile, and pairs of CTAs share B.
// Limit:  the tensor cores idle while a tile is written; the last wave is partial.
// Needs:  sm_90a; rows of A, B and C of a multiple of 16 bytes.
#ifndef CONFIG_BN
#define CONFIG_BN 256
#define CONFIG_STAGES 4
#endif
#ifndef CONFIG_GROUP
#define CONFIG_GROUP 8
#endif

// region: kernel
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_c.cuh"
#include "tile/tile_order.cuh"

constexpr int BM = 128, BN = CONFIG_BN, STAGES = CONFIG_STAGES, CLUSTER = 2;
constexpr int GROUP = CONFIG_GROUP;  // rows of tiles that CTAs take together

struct Shared {
  Stages<BM, BN, STAGES, CLUSTER> ring;
  alignas(1024) T c[2][2 * 64 * 64];
};

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    cooperative(const __grid_constant__ CUtensorMap A,
                const __grid_constant__ CUtensorMap B,
                const __grid_constant__ CUtensorMap C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  // NOTE: a shuffle tells the compiler that all lanes have the same number.
  int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  int warpgroup = warp / 4, rank = cluster_ctarank(), steps = (K + BK - 1) / BK;
  int rows = (M + BM * CLUSTER - 1) / (BM * CLUSTER), columns = (N + BN - 1) / BN;
  int first = blockIdx.x / CLUSTER, stride = gridDim.x / CLUSTER, tiles = rows * columns;
  if (threadIdx.x == 0) {
    prefetch_tensormap(&A);
    prefetch_tensormap(&B);
    s.ring.init(8);
  }
  // NOTE: relaxed, since fence.mbarrier_init has published the barriers. The tile's
  // divisions take as long as the wait.
  barrier_cluster_arrive_relaxed();
  Tile tile = grouped_tile<GROUP>(first, rows, columns);
  barrier_cluster_wait();

  Ring<STAGES> ring;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync())
      for (int t = first; t < tiles;) {
        int m = (tile.m * CLUSTER + rank) * BM;
        s.ring.produce(ring, A, B, m, tile.n * BN, 0, steps, rank);
        tile = grouped_tile<GROUP>(t += stride, rows, columns);
      }
  } else {
    setmaxnreg_inc<232>();
    int consumer = warpgroup - 1;
    Consumer my = consumer_of<CLUSTER>(s.ring, consumer * 64);
    for (int t = first; t < tiles;) {
      float acc[1][BN / 2];
      consume<BN, CLUSTER>(s.ring, ring, my, acc, steps);
      finish<CLUSTER>(s.ring, ring, my, acc);
      int m = (tile.m * CLUSTER + rank) * BM + consumer * 64;
      tma_store_c(acc[0], s.c[consumer], &C, m, tile.n * BN, 1 + consumer);
      tile = grouped_tile<GROUP>(t += stride, rows, columns);
    }
    if (threadIdx.x % 128 == 0) cp_async_bulk_wait_group_read<0>();
  }
  __syncwarp();  // NOTE: a peer may still arrive at our barriers or write to our stages
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();
}
// endregion
