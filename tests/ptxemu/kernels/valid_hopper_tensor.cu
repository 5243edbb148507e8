// Correct kernels that need sm_90: stmatrix.
#include "tensor_ops.cuh"

extern "C" __global__ void tile_through_stmatrix(const unsigned* a, half_t* out) {
  __shared__ __align__(16) half_t s[16 * 8];
  int t = threadIdx.x;
  stmatrix2(t < 16 ? (char*)&s[8 * t] : (char*)s + 777 * t, a[t], a[32 + t]);  // lanes from 16 on do not count
  __syncwarp();
  for (int i = t; i < 128; i += 32) out[i] = s[i];
}
