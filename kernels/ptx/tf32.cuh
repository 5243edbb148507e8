#pragma once
// Rounding to TF32 (PTX ISA, section "cvt"): the nearest number of ten explicit mantissa bits, its low 13 bits zero.
// NaN stays NaN. NOTE: one instruction on sm_90, with ties to even; before it three, with ties away from zero.
__device__ __forceinline__ unsigned nearest_tf32(unsigned bits) {
    unsigned rounded;
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
#else
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
#endif
    return rounded;
}
