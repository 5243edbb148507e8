// Change: SPLIT CTAs of a cluster share one tile: each sums a part of K, then they add up through distributed shared
//         memory, each its share of the columns, always in the order of k.
// Limit:  the sum at the end is not hidden.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes.
#include "ptx/barrier.cuh"
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_direct.cuh"

#ifndef CONFIG_SPLIT
#define CONFIG_SPLIT 4
#endif
constexpr int BM = 128, BN = 128, STAGES = 6, SPLIT = CONFIG_SPLIT, R = BN / 2;

union Shared {
  Stages<BM, BN, STAGES, 1> ring;
  float4 partial[R / 4][256];  // over the first stages, when their last multiply is done
};

// region: kernel
extern "C" __global__ void __cluster_dims__(SPLIT, 1, 1) __launch_bounds__(384, 1)
    split_k_cluster(const __grid_constant__ CUtensorMap A,
                    const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);  // NOTE: so the compiler knows it is the same in all lanes
  int warpgroup = warp / 4, thread = threadIdx.x - 128, rank = cluster_ctarank();
  int m = blockIdx.z * BM, n = blockIdx.y * BN, steps = (K + BK - 1) / BK;
  int begin = steps * rank / SPLIT, end = steps * (rank + 1) / SPLIT;
  if (threadIdx.x == 0) {
    prefetch_tensormap(&A);
    prefetch_tensormap(&B);
    s.ring.init(8);
  }
  __syncthreads();

  Ring<STAGES> ring;
  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync()) s.ring.produce(ring, A, B, m, n, begin, end, 0);
    __syncwarp();
  } else {
    setmaxnreg_inc<232>();
    Consumer my = consumer_of<1>(s.ring, (warpgroup - 1) * 64);
    float acc[1][R];
    if (begin == end)
      for (float& x : acc[0]) x = 0;
    consume<BN, 1>(s.ring, ring, my, acc, end - begin);
    for (auto& part : acc) wgmma_wait_group<0>(part);
    bar_sync(1, 256);  // the other warpgroup reads the same stages
#pragma unroll
    for (int i = 0; i < R / 4; ++i)
      s.partial[i][thread] = make_float4(acc[0][4 * i], acc[0][4 * i + 1], acc[0][4 * i + 2], acc[0][4 * i + 3]);
  }
  barrier_cluster_arrive();
  barrier_cluster_wait();
  if (warpgroup > 0) {
    m += thread / 32 * 16 + thread % 32 / 4;  // rows m and m + 8, columns n and n + 1 of the accumulators
#pragma unroll
    for (int j = 0; j < R / 4 / SPLIT; ++j) {
      int i = rank * (R / 4 / SPLIT) + j, col = n + i * 8 + thread % 4 * 2;
      float4 sum = {};
#pragma unroll
      for (int from = 0; from < SPLIT; ++from) {
        float4 v = ld_shared_cluster_v4(mapa_shared_cluster(&s.partial[i][thread], from));
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
      }
      store_pair(C, m, col, M, N, sum.x, sum.y);
      store_pair(C, m + 8, col, M, N, sum.z, sum.w);
    }
  }
  barrier_cluster_arrive_relaxed();  // NOTE: a peer may still read our part
  barrier_cluster_wait();
}
// endregion
