// Change: each consumer warpgroup has tiles of its own; while one multiplies, the other writes its tile to C.
// Limit:  a tile is half as large, so more bytes come from L2 per multiply-add; the last wave is partial.
// Needs:  sm_90a; rows of A, B and C of a multiple of 16 bytes.
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_c.cuh"
#include "tile/tile_order.cuh"

constexpr int BM = 128, BN = 128, STAGES = 6, CLUSTER = 2;
constexpr int TURN = 3;  // of the two named barriers that hand the tensor cores over

// Along the rows of C, in groups of 16 columns of tiles.
__device__ __forceinline__ Tile order(int t, int rows, int columns) {
  return across(grouped_tile<16>(t, columns, rows));
}

struct Shared {
  Stages<BM, BN, STAGES, CLUSTER> ring;
  alignas(1024) T c[2][2 * 64 * 64];
};

// region: kernel
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    pingpong(const __grid_constant__ CUtensorMap A,
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
    s.ring.init(4);
  }
  // NOTE: relaxed, since fence.mbarrier_init has published the barriers. The tile's
  // divisions take as long as the wait.
  barrier_cluster_arrive_relaxed();
  int consumer = max(warpgroup - 1, 0);
  Tile tile = order(first + consumer * stride, rows, columns);
  barrier_cluster_wait();

  Ring<STAGES> ring;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync())
      for (int t = first; t < tiles; tile = order(t += stride, rows, columns)) {
        int m = (tile.m * CLUSTER + rank) * BM;
        s.ring.produce(ring, A, B, m, tile.n * BN, 0, steps, rank);
      }
  } else {
    setmaxnreg_inc<232>();
    Consumer my = consumer_of<CLUSTER>(s.ring, 0);
    if (consumer == 1 && first < tiles) bar_arrive(TURN, 256);  // consumer 0 is first
    for (int t = first + consumer * stride, turn = consumer; t < tiles; turn += 2) {
      float acc[BM / 64][BN / 2];
      ring.stage = turn * steps % STAGES, ring.parity = turn * steps / STAGES % 2;
      bar_sync(TURN + consumer, 256);
      consume<BN, CLUSTER>(s.ring, ring, my, acc, steps);
      // Our multiplies are queued: the other's turn.
      if (t + stride < tiles) bar_arrive(TURN + 1 - consumer, 256);
      finish<CLUSTER>(s.ring, ring, my, acc);
      int m = (tile.m * CLUSTER + rank) * BM;
#pragma unroll
      for (int i = 0; i < BM / 64; ++i)
        tma_store_c(acc[i], s.c[consumer], &C, m + i * 64, tile.n * BN, 1 + consumer);
      tile = order(t += 2 * stride, rows, columns);
    }
    if (threadIdx.x % 128 == 0) cp_async_bulk_wait_group_read<0>();
  }
  __syncwarp();  // NOTE: a peer may still arrive at our barriers or write to our stages
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();
}
// endregion
