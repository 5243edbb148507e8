// Partial tiles between CTAs through global memory, warp by warp. The workspace holds a flag for each of the eight consumer
// warps of each CTA, then their accumulators, R floats per lane. Flags start as zeros and are left so by the reader.
#pragma once
#include "ptx/flag.cuh"

struct Partial {
  unsigned* flag;
  float4* values;  // this lane's R floats: four of them every 32 lanes
};

template <int R>
__device__ __forceinline__ Partial partial_of(unsigned char* W, int ctas, int cta) {
  int slot = cta * 8 + threadIdx.x / 32 - 4;  // consumer warps come after the producer's four
  float4* values = reinterpret_cast<float4*>(W + (ctas * 8 * sizeof(unsigned) + 127) / 128 * 128);
  return {reinterpret_cast<unsigned*>(W) + slot, values + static_cast<size_t>(slot) * 32 * (R / 4) + threadIdx.x % 32};
}

// Publish a consumer's accumulators under the number of its CTA.
template <int R>
__device__ __forceinline__ void partial_send(unsigned char* W, int ctas, int cta, const float (&acc)[R]) {
  Partial p = partial_of<R>(W, ctas, cta);
#pragma unroll
  for (int i = 0; i < R / 4; ++i)
    p.values[i * 32] = make_float4(acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]);
  __syncwarp();
  if (threadIdx.x % 32 == 0) st_release_gpu(p.flag, 1);
}

// Add those of `count` CTAs (cta, cta + step, ...) in this order, from the warp in the same place.
template <int R>
__device__ __forceinline__ void partial_add(unsigned char* W, int ctas, int cta, int step, int count, float (&acc)[R]) {
  for (int i = threadIdx.x % 32; i < count; i += 32) {  // the lanes wait for all at once
    unsigned* flag = partial_of<R>(W, ctas, cta + i * step).flag;
    while (ld_acquire_gpu(flag) == 0) {
    }
    *flag = 0;  // for the next launch: nobody else looks at it any more
  }
  __syncwarp();
  for (int from = 0; from < count; ++from) {
    float4* values = partial_of<R>(W, ctas, cta + from * step).values;
#pragma unroll
    for (int i = 0; i < R / 4; ++i) {
      float4 v = values[i * 32];
      acc[4 * i] += v.x, acc[4 * i + 1] += v.y, acc[4 * i + 2] += v.z, acc[4 * i + 3] += v.w;
    }
  }
}
