#pragma once
// T, the 16-bit type of A, B and C: bf16, or fp16 where the kernel is compiled with -DF16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ptx/mma.cuh"

#ifdef F16
typedef __half T;
typedef __half2 T2;
__device__ __forceinline__ T narrow(float x) { return __float2half_rn(x); }
__device__ __forceinline__ T2 narrow2(float x, float y) { return __floats2half2_rn(x, y); }
#define mma_m16n8k16_f32_T mma_m16n8k16_f32_f16
#else
typedef __nv_bfloat16 T;
typedef __nv_bfloat162 T2;
__device__ __forceinline__ T narrow(float x) { return __float2bfloat16_rn(x); }
__device__ __forceinline__ T2 narrow2(float x, float y) { return __floats2bfloat162_rn(x, y); }
#define mma_m16n8k16_f32_T mma_m16n8k16_f32_bf16
#endif
