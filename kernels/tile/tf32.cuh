#pragma once
// The bits of the TF32 number nearest to a float, ties away from zero. mma.sync ignores the 13 bits below, so they may
// stay. Infinities and NaN are left alone: the NaN that GPUs make has every bit set, and one more would make it -0.
__device__ __forceinline__ unsigned nearest_tf32(unsigned bits) {
    return isfinite(__uint_as_float(bits)) ? bits + 0x1000 : bits;
}
