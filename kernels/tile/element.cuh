#pragma once
// T, the 16-bit type of A, B and C: bf16, or fp16 where the kernel is compiled with -DF16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ptx/mma.cuh"

#ifdef F16
typedef __half T;
typedef __half2 T2;
#define mma_m16n8k16_f32_T mma_m16n8k16_f32_f16
#else
typedef __nv_bfloat16 T;
typedef __nv_bfloat162 T2;
#define mma_m16n8k16_f32_T mma_m16n8k16_f32_bf16
#endif

// Round to T; of two neighbours the first goes to the lower half of the register.
__device__ __forceinline__ __half2 narrow2(float x, float y, __half) { return __floats2half2_rn(x, y); }
__device__ __forceinline__ __nv_bfloat162 narrow2(float x, float y, __nv_bfloat16) {
    return __floats2bfloat162_rn(x, y);
}
__device__ __forceinline__ T2 narrow2(float x, float y) { return narrow2(x, y, T()); }
__device__ __forceinline__ T narrow(float x) { return narrow2(x, x).x; }

// The same two as one 32-bit word.
template <class Type>
__device__ __forceinline__ unsigned pack(float x, float y, Type) {
    const auto pair = narrow2(x, y, Type());
    return reinterpret_cast<const unsigned&>(pair);
}
__device__ __forceinline__ unsigned pack(float x, float y) { return pack(x, y, T()); }
