// What a consumer warpgroup does with a stage: multiply rows of A (K-major) with B (N-major), swizzle 128 B, BK = 64.
// A stage holds A as rows of 64 elements, and B as boxes of 64 columns x 64 k, one after the other.
#pragma once
#include "ptx/wgmma.cuh"
#include "tile/element.cuh"

constexpr int BK = 64;

// Descriptors of a warpgroup's rows of A and of B in the first stage; the next stages follow at sizeof(stage) / 16.
__device__ __forceinline__ wgmma_desc_t rows_of_a(const T* a) { return wgmma_descriptor(a, 16, 1024, 1); }
__device__ __forceinline__ wgmma_desc_t boxes_of_b(const T* b) {
  return wgmma_descriptor(b, 64 * BK * sizeof(T), 1024, 1);
}

// acc[i] (+)= rows 64 i to 64 i + 63 of A times B; `first` clears the accumulators. Commits one group.
template <int BN, int MT>
__device__ __forceinline__ void multiply_stage(float (&acc)[MT][BN / 2], wgmma_desc_t a, wgmma_desc_t b, bool first) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < BK / 16; ++k)
#pragma unroll
    for (int i = 0; i < MT; ++i)  // descriptors count 16 bytes: 16 k are 32 bytes of a row of A, and 16 rows of B
      wgmma_m64k16<BN, 0, 1>(acc[i], a + i * 512 + k * 2, b + k * 128, !first || k > 0, T());
  wgmma_commit_group();
}

// The same for tiles given by address.
template <int BN, int MT>
__device__ __forceinline__ void multiply_stage(float (&acc)[MT][BN / 2], const T* a, const T* b, bool first) {
  multiply_stage<BN>(acc, rows_of_a(a), boxes_of_b(b), first);
}
