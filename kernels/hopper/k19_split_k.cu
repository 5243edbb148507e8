// Change: the k steps of a tile are dealt out to as many CTAs as there are SMs for it, in pairs that share A; each then
//         adds up its share of the columns, always in the same order, from the parts that the others have left in L2.
// Limit:  parts are written and read once, and the sum is not hidden.
// Needs:  sm_90a; rows of A and B of a multiple of 16 bytes; every CTA of the grid resident.
#include "ptx/barrier.cuh"
#include "ptx/flag.cuh"
#include "ptx/registers.cuh"
#include "tile/mainloop.cuh"
#include "tile/store_direct.cuh"
#include "tile/store_vectors.cuh"

constexpr int BM = 128, BN = 128, STAGES = 5, CLUSTER = 2, R = BN / 2;
constexpr int PART = 8 * (R / 4) * 32;  // float4s of one CTA

struct Shared {
  Stages<BM, BN, STAGES, CLUSTER, true, true> s;
  float4 own[8][R / 8 * 32];  // of each consumer warp: at most half of its columns, when two CTAs share a tile
};

// Of one consumer warp in all CTAs of a tile: a flag for each reader and writer, zero before and after, and each part's R
// floats per lane.
struct Parts {
  unsigned* flags;
  float4* values;
};

__device__ __forceinline__ Parts parts_of(unsigned char* W, int warp, int parts) {
  int tile = blockIdx.y * gridDim.x + blockIdx.x, tiles = gridDim.x * gridDim.y;
  unsigned* flags = reinterpret_cast<unsigned*>(W);
  float4* values = reinterpret_cast<float4*>(W + (tiles * 8 * parts * parts * sizeof(unsigned) + 127) / 128 * 128);
  return {flags + (tile * 8 + warp) * parts * parts,
          values + static_cast<size_t>(tile) * parts * PART + warp * (R / 4) * 32 + threadIdx.x % 32};
}

__device__ __forceinline__ void add(float4& sum, float4 v) {
  sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
}

// region: kernel
// A warp's part of a tile, R floats per lane: leave what others add up in L2 and keep the rest,
// wait for the parts of the same rows, add up a share of the columns and store it. PARTS: their
// number, where it is known here; the loops unroll then.
template <int PARTS = 0>
__device__ __forceinline__ void add_up(const float (&acc)[R], const Parts& p, float4* own,
                                       T* C, int m, int n, int M, int N) {
  int lane = threadIdx.x % 32, rank = blockIdx.z, parts = PARTS ? PARTS : gridDim.z;
  int first = R / 4 * rank / parts, last = R / 4 * (rank + 1) / parts;  // groups of 8 columns
  own += lane - first * 32;
#pragma unroll
  for (int i = 0; i < R / 4; ++i) {
    float4 v = make_float4(acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]);
    if (i >= first && i < last)
      own[i * 32] = v;
    else
      p.values[rank * PART + i * 32] = v;
  }
  __syncwarp();
  for (int i = lane; i < parts; i += 32) st_release_gpu(p.flags + i * parts + rank, 1);
  for (int i = lane; i < parts; i += 32)
    while (ld_acquire_gpu(p.flags + rank * parts + i) == 0) {
    }
  __syncwarp();

  auto part = [&](int k, int i) { return k == rank ? own[i * 32] : p.values[k * PART + i * 32]; };
  for (int i = first; i < last; i += 2) {  // two groups: loads of both are under way together
    float4 x = {}, y = {};
#pragma unroll 8
    for (int k = 0; k < parts; ++k) {
      add(x, part(k, i));
      if (i + 1 < last) add(y, part(k, i + 1));
    }
    int row = m + lane / 4, col = n + i * 8 + lane % 4 * 2;
    store_pair(C, row, col, M, N, x.x, x.y);
    store_pair(C, row + 8, col, M, N, x.z, x.w);
    if (i + 1 == last) break;
    store_pair(C, row, col + 8, M, N, y.x, y.y);
    store_pair(C, row + 8, col + 8, M, N, y.z, y.w);
  }
  for (int i = lane; i < parts; i += 32) p.flags[rank * parts + i] = 0;  // for the next launch
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    split_k(const __grid_constant__ CUtensorMap A,
            const __grid_constant__ CUtensorMap B, T* C, unsigned char* W,
            int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  auto& [s, own] = *reinterpret_cast<Shared*>(raw);
  int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
  int m = blockIdx.y * BM, n = blockIdx.x * BN, rank = blockIdx.z, parts = gridDim.z;
  int steps = (K + BK - 1) / BK;
  if (threadIdx.x == 0) {
    prefetch_tensormap(&A);
    prefetch_tensormap(&B);
    s.init(8);
  }
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();

  Ring<STAGES> ring;
  if (warp < 4) {
    setmaxnreg_dec<40>();
    if (warp == 0 && elect_sync())
      s.produce(ring, A, B, m, n, rank, steps, cluster_ctarank(), parts);
  } else {
    setmaxnreg_inc<232>();
    warp -= 4;
    Consumer my = consumer_of<CLUSTER>(s, warp / 4 * 64);
    float acc[1][R];
    consume<BN, CLUSTER>(s, ring, my, acc, (steps - rank + parts - 1) / parts);
    for (auto& part : acc) wgmma_wait_group<0>(part);

    m += warp * 16;
    if (parts == 8) {
      add_up<8>(acc[0], parts_of(W, warp, parts), own[warp], C, m, n, M, N);
    } else if (parts > 1) {
      add_up(acc[0], parts_of(W, warp, parts), own[warp], C, m, n, M, N);
    } else {
      bar_sync(1, 256);  // nobody reads the stages any more
      store_vectors<BN>(acc[0], s.stage[0].a + warp * VECTORS_STAGING<BN>, C, m, n, M, N);
    }
  }
  __syncwarp();  // NOTE: a peer may still arrive at our barriers
  barrier_cluster_arrive_relaxed();
  barrier_cluster_wait();
}
// endregion
