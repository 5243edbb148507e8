// Change: as many CTAs as there are SMs share each tile's K; each then adds up its share of the tile's columns, always in
//         the order of k, from the parts that all of them left in L2.
// Limit:  every part is written and read once, and the sum is not hidden.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes; every CTA of the grid resident.
#include "ptx/barrier.cuh"
#include "ptx/flag.cuh"
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_direct.cuh"

constexpr int BM = 128, BN = 128, STAGES = 6, R = BN / 2;

struct Parts {  // of one consumer warp in all CTAs of a tile: two counters, zero before and after, and R floats per lane
  unsigned* counters;
  float4* values;
};

__device__ __forceinline__ Parts parts_of(unsigned char* W, int warp) {
  int tile = blockIdx.z * gridDim.y + blockIdx.y, tiles = gridDim.y * gridDim.z;
  float4* values = reinterpret_cast<float4*>(W + (tiles * 8 * 2 * sizeof(unsigned) + 127) / 128 * 128);
  return {reinterpret_cast<unsigned*>(W) + (tile * 8 + warp) * 2,
          values + (static_cast<size_t>(tile) * gridDim.x * 8 + warp) * (R / 4) * 32 + threadIdx.x % 32};
}

// region: kernel
extern "C" __global__ void __launch_bounds__(384, 1)
    split_k(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap B, T* C, unsigned char* W, int M,
            int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  auto& ring = *reinterpret_cast<Stages<BM, BN, STAGES, 1>*>(raw);
  int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  int m = blockIdx.z * BM, n = blockIdx.y * BN, rank = blockIdx.x, parts = gridDim.x;
  int steps = (K + BK - 1) / BK, begin = steps * rank / parts, end = steps * (rank + 1) / parts;
  if (threadIdx.x == 0) {
    prefetch_tensormap(&A);
    prefetch_tensormap(&B);
    ring.init(8);
  }
  __syncthreads();

  Ring<STAGES> place;
  if (warp < 4) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync()) ring.produce(place, A, B, m, n, begin, end, 0);
    return;
  }
  setmaxnreg_inc<232>();
  warp -= 4;
  Consumer my = consumer_of<1>(ring, warp / 4 * 64);
  float acc[1][R];
  consume<BN, 1>(ring, place, my, acc, end - begin);
  for (auto& part : acc) wgmma_wait_group<0>(part);
  if (parts == 1) return store_direct<BN>(acc[0], C, m + warp / 4 * 64, n, M, N);

  // Leave the part in L2, and wait for those of the same rows.
  Parts p = parts_of(W, warp);
  constexpr int CTA = 8 * (R / 4) * 32;
#pragma unroll
  for (int i = 0; i < R / 4; ++i)
    p.values[rank * CTA + i * 32] = make_float4(acc[0][4 * i], acc[0][4 * i + 1], acc[0][4 * i + 2], acc[0][4 * i + 3]);
  __syncwarp();
  if (lane == 0) {
    atom_add_acq_rel_gpu(p.counters, 1);
    while (ld_acquire_gpu(p.counters) < parts) {
    }
  }
  __syncwarp();
  int row = m + warp * 16 + lane / 4;  // the accumulators' rows are row and row + 8
  for (int i = rank; i < R / 4; i += parts) {
    float4 sum = {};
#pragma unroll 4
    for (int from = 0; from < parts; ++from) {
      float4 v = p.values[from * CTA + i * 32];
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    int col = n + i * 8 + lane % 4 * 2;
    store_pair(C, row, col, M, N, sum.x, sum.y);
    store_pair(C, row + 8, col, M, N, sum.z, sum.w);
  }
  if (lane == 0 && atom_add_acq_rel_gpu(p.counters + 1, 1) == parts - 1) {  // the last one: nobody waits any more
    st_release_gpu(p.counters + 1, 0);
    st_release_gpu(p.counters, 0);
  }
}
// endregion
