// Change: a tile of 64 rows cannot be shared out by rows, so two warpgroups of one CTA take every other k step of it,
//         and each adds up half of the columns through shared memory.
// Limit:  as many tiles as before; the CTA only has more copies and multiplies under way.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes.
// region: kernel
#include "ptx/barrier.cuh"
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_direct.cuh"

constexpr int BM = 64, BN = 128, DEPTH = 4, R = BN / 2;

struct Shared {
  union {
    Stages<BM, BN, DEPTH, 1> slice[2];  // a ring for each warpgroup
    float4 part[2][R / 8][128];         // over the first stages, at the end
  };
};

extern "C" __global__ void __launch_bounds__(384, 1)
sliced_k(const __grid_constant__ CUtensorMap A,
         const __grid_constant__ CUtensorMap B, T* C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Shared& s = *reinterpret_cast<Shared*>(raw);
  int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
  int m = blockIdx.y * BM, n = blockIdx.x * BN, steps = (K + BK - 1) / BK;
  if (threadIdx.x == 0)
    for (auto& slice : s.slice) slice.init(4);
  __syncthreads();

  if (warpgroup == 0) {  // the producer deals the k steps out in turn
    setmaxnreg_dec<40>();
    Ring<DEPTH> even, odd;
    for (int k = 0; threadIdx.x == 0 && k < steps; k += 2) {
      s.slice[0].produce(even, A, B, m, n, k, k + 1, 0);
      if (k + 1 < steps) s.slice[1].produce(odd, A, B, m, n, k + 1, k + 2, 0);
    }
    return;
  }
  setmaxnreg_inc<232>();
  int w = warpgroup - 1;
  Ring<DEPTH> ring;
  Consumer my = consumer_of<1>(s.slice[w], 0);
  float acc[1][R];
  if (steps <= w)
    for (float& x : acc[0]) x = 0;
  consume<BN, 1>(s.slice[w], ring, my, acc, (steps + 1 - w) / 2);
  for (auto& part : acc) wgmma_wait_group<0>(part);

  // Give the other warpgroup the columns that it stores, keep 64 of our own.
  bar_sync(1, 256);  // nobody reads the stages any more
  float keep[R / 2], give[R / 2];
#pragma unroll
  for (int i = 0; i < R / 2; ++i) {
    keep[i] = acc[0][i], give[i] = acc[0][R / 2 + i];
    if (w == 1) keep[i] = acc[0][R / 2 + i], give[i] = acc[0][i];
  }
#pragma unroll
  for (int i = 0; i < R / 8; ++i) {
    const float* x = give + 4 * i;
    s.part[w][i][thread] = make_float4(x[0], x[1], x[2], x[3]);
  }
  bar_sync(1, 256);
#pragma unroll
  for (int i = 0; i < R / 8; ++i) {
    float* x = keep + 4 * i;
    float4 other = s.part[1 - w][i][thread];
    x[0] += other.x, x[1] += other.y, x[2] += other.z, x[3] += other.w;
  }
  store_direct<BN / 2>(keep, C, m, n + w * BN / 2, M, N);
}
// endregion
