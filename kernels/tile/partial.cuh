// Partial tiles between CTAs through global memory. The workspace holds a flag for each warpgroup of each CTA (two), then
// 256 x R floats for each CTA. It starts as zeros and is left so: the reader clears the flag.
#pragma once
#include "ptx/barrier.cuh"
#include "ptx/flag.cuh"

struct Partial {
  unsigned* flag;
  float4* values;  // this thread's R floats: four of them every 128 threads
};

template <int R>
__device__ __forceinline__ Partial partial_of(unsigned char* W, int ctas, int cta) {
  int slot = cta * 2 + threadIdx.x / 128 - 1;
  float4* values = reinterpret_cast<float4*>(W + (ctas * 2 * sizeof(unsigned) + 127) / 128 * 128);
  return {reinterpret_cast<unsigned*>(W) + slot, values + slot * 128 * (R / 4) + threadIdx.x % 128};
}

// A consumer warpgroup publishes its accumulators under the CTA's own number.
template <int R>
__device__ __forceinline__ void partial_send(unsigned char* W, int ctas, int cta, const float (&acc)[R]) {
  Partial p = partial_of<R>(W, ctas, cta);
#pragma unroll
  for (int i = 0; i < R / 4; ++i)
    p.values[i * 128] = make_float4(acc[4 * i], acc[4 * i + 1], acc[4 * i + 2], acc[4 * i + 3]);
  bar_sync(threadIdx.x / 128, 128);
  if (threadIdx.x % 128 == 0) st_release_gpu(p.flag, 1);
}

// The same warpgroup of another CTA waits for them and adds them.
template <int R>
__device__ __forceinline__ void partial_add(unsigned char* W, int ctas, int cta, float (&acc)[R]) {
  Partial p = partial_of<R>(W, ctas, cta);
  if (threadIdx.x % 128 == 0) {
    while (ld_acquire_gpu(p.flag) == 0) {
    }
    st_release_gpu(p.flag, 0);  // for the next launch
  }
  bar_sync(threadIdx.x / 128, 128);
#pragma unroll
  for (int i = 0; i < R / 4; ++i) {
    float4 v = p.values[i * 128];
    acc[4 * i] += v.x, acc[4 * i + 1] += v.y, acc[4 * i + 2] += v.z, acc[4 * i + 3] += v.w;
  }
}
