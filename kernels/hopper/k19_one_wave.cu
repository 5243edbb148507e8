// Change: one tile per CTA, as large as it must be for one wave of tiles to fill the SMs; at the end its stages hold C.
// Limit:  neither the start of a tile is hidden nor its end.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes.
#ifndef CONFIG_BM
#define CONFIG_BM 192
#define CONFIG_BN 200
#define CONFIG_CONSUMERS 3
#define CONFIG_STAGES 4
#define CONFIG_ACROSS 0
#define CONFIG_AHEAD 2
#endif

// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_vectors.cuh"

constexpr int BM = CONFIG_BM, BN = CONFIG_BN, STAGES = CONFIG_STAGES, CLUSTER = 2;
constexpr int CONSUMERS = CONFIG_CONSUMERS, MT = BM / CONSUMERS / 64;
constexpr int THREADS = 128 * (1 + CONSUMERS);
constexpr bool ACROSS = CONFIG_ACROSS;  // the CTAs of a pair stand side by side
constexpr int AHEAD = CONFIG_AHEAD;     // stages to bring before the first has come
static_assert(STAGES >= 4 && VECTORS_STAGING<BN> <= 64 * BK, "a warp stages C in its warpgroup's rows of A");

// edge: B in boxes of BN % 64 columns, for the last box of a tile.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    one_wave(const __grid_constant__ CUtensorMap A,
             const __grid_constant__ CUtensorMap B,
             const __grid_constant__ CUtensorMap edge, T* C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  auto& s = *reinterpret_cast<Stages<BM, BN, STAGES, CLUSTER, ACROSS, true>*>(raw);
  int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), rank = cluster_ctarank();
  int m = (ACROSS ? blockIdx.y : blockIdx.y * CLUSTER + rank) * BM;
  int n = (ACROSS ? blockIdx.z * CLUSTER + rank : blockIdx.z) * BN;
  int steps = (K + BK - 1) / BK;
  // NOTE: the narrow box of B holds the first columns of a tile that begins in the middle of a 32-byte
  // sector; the wide ones then cross no sector more than they fill.
  bool turned = BN % 64 == 8 && n % 16;
  int n_wide = turned ? n + 8 : n, n_edge = turned ? n : n + (BN - 1) / 64 * 64;
  if (threadIdx.x == 0) {
    prefetch_tensormap(&A);
    prefetch_tensormap(&B);
    s.init(4 * CONSUMERS);
  }
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();

  Ring<STAGES> ring;
  if (warp < 4) {
    // NOTE: 65,536 registers are 512 for each of 128 lanes: 32 + 3 x 160 of them.
    if (CONSUMERS == 3) setmaxnreg_dec<32>();
    if (warp == 0 && elect_sync()) {
      int k = 0;
      for (; k < min(STAGES, steps); ++k) {  // more at once would only delay the first
        if (k >= AHEAD) mbarrier_wait_parity(&s.full[k - AHEAD], 0);
        s.produce(ring, A, B, edge, m, n_wide, n_edge, k, k + 1, rank);
      }
      s.produce(ring, A, B, edge, m, n_wide, n_edge, k, steps, rank);
    }
  } else {
    if (CONSUMERS == 3) setmaxnreg_inc<160>();
    warp -= 4;
    int row = warp / 4 * MT * 64;  // of the warpgroup in the tile
    Consumer my = consumer_of<CLUSTER>(s, row);
    float acc[MT][BN / 2];
    consume<BN, CLUSTER>(s, ring, my, acc, steps);
    for (auto& part : acc) wgmma_wait_group<0>(part);
    bar_sync(1 + warp / 4, 128);  // nobody reads the warpgroup's rows of A any more
    T* staging = s.stage[warp % 4].a + row * BK;
#pragma unroll
    for (int i = 0; i < MT; ++i)
      store_vectors<BN>(acc[i], staging + i * VECTORS_STAGING<BN>, C,
                     m + row + i * 64 + warp % 4 * 16, n, M, N, turned);
  }
  __syncwarp();  // NOTE: a peer may still arrive at our barriers
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();
}
// endregion
