#pragma once
// T, the 16-bit type of A, B and C: bf16, or fp16 where the kernel is compiled with -DF16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ptx/mma.cuh"

// narrow2 rounds two floats to T; the first of two neighbours goes to the lower half of the register.
#ifdef F16
typedef __half T;
typedef __half2 T2;
#define mma_m16n8k16_f32_T mma_m16n8k16_f32_f16
__device__ __forceinline__ T2 narrow2(float x, float y) { return __floats2half2_rn(x, y); }
#else
typedef __nv_bfloat16 T;
typedef __nv_bfloat162 T2;
#define mma_m16n8k16_f32_T mma_m16n8k16_f32_bf16
__device__ __forceinline__ T2 narrow2(float x, float y) { return __floats2bfloat162_rn(x, y); }
#endif

__device__ __forceinline__ T narrow(float x) { return narrow2(x, x).x; }

// narrow2 as one 32-bit word.
__device__ __forceinline__ unsigned pack(float x, float y) {
    const T2 pair = narrow2(x, y);
    return reinterpret_cast<const unsigned&>(pair);
}
