// Change: two CTAs split K, then trade halves of their sums through distributed shared memory.
// Limit:  as k15_wgmma per CTA; it pays where there are fewer tiles than SMs.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes. Boxes: A 128 x 64, B 64 x 64, both swizzled by 128 bytes.
// region: kernel
#include "ptx/cluster.cuh"
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "tile/store_direct.cuh"
#include "tile/warpgroup.cuh"

constexpr int BM = 128, BN = 128, CTAS = 2;

struct Shared {
  alignas(1024) T a[BM * BK];
  T b[BN / 64][BK * 64];
  float4 received[BN / 8][128];  // 64 rows of sums: [four of them][thread]
  mbarrier_t full;
};

__device__ void send(const float (&d)[BN / 2], Shared& s, unsigned peer) {
#pragma unroll
  for (int i = 0; i < BN / 8; ++i)
    st_shared_cluster_v4(mapa_shared_cluster(&s.received[i][threadIdx.x], peer),
                         make_float4(d[4 * i], d[4 * i + 1], d[4 * i + 2],
                                     d[4 * i + 3]));
}

__device__ void add_received(float (&d)[BN / 2], const Shared& s) {
#pragma unroll
  for (int i = 0; i < BN / 8; ++i) {
    float4 v = s.received[i][threadIdx.x];
    d[4 * i] += v.x, d[4 * i + 1] += v.y;
    d[4 * i + 2] += v.z, d[4 * i + 3] += v.w;
  }
}

extern "C" __global__ void
__cluster_dims__(1, 1, CTAS) __launch_bounds__(128, 2)
dsmem(const __grid_constant__ CUtensorMap A,
      const __grid_constant__ CUtensorMap B, T* C,
      int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int m = blockIdx.y * BM, n = blockIdx.x * BN;
  int rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    mbarrier_init(&s.full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();

  // Every other tile along K is ours.
  float acc[2][BN / 2] = {};  // a CTA without a tile adds zeros
  unsigned parity = 0;
  for (int k = rank * BK; k < K; k += CTAS * BK, parity ^= 1) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&s.full, sizeof(s.a) + sizeof(s.b));
      tma_load_2d(s.a, &A, k, m, &s.full);
      for (int box = 0; box < BN / 64; ++box)
        tma_load_2d(s.b[box], &B, n + box * 64, k, &s.full);
    }
    mbarrier_wait_parity(&s.full, parity);
    multiply_stage<BN>(acc, s.a, s.b[0], false);
    wgmma_wait_group<0>(acc[0]);
    wgmma_wait_group<0>(acc[1]);
    __syncthreads();
  }

  // Trade: we keep the rows of our rank and send the others.
  barrier_cluster_arrive();  // NOTE: only now has the other surely started
  barrier_cluster_wait();
  if (rank == 0) send(acc[1], s, 1);
  else send(acc[0], s, 0);
  barrier_cluster_arrive();
  barrier_cluster_wait();
  if (rank == 0) add_received(acc[0], s);
  else add_received(acc[1], s);
  if (rank == 0) store_direct<BN>(acc[0], C, m, n, M, N);
  else store_direct<BN>(acc[1], C, m + 64, n, M, N);
}
// endregion
