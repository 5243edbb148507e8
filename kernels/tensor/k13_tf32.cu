// TF32: float matrices on the tensor cores, ten mantissa bits of each factor.
//
// Change: the operands are rounded to TF32 in registers, on their way from shared memory to mma.m16n8k8.
// Limit:  half the rate of bf16, and an error of up to 2^-10 in each product.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N) row-major, float.
#include "ptx/mma.cuh"
#include "ptx/tf32.cuh"
#include "tile/float_gemm.cuh"

// region: kernel
using Shape = FloatShape<256, 128, 64, 64, 4, 8, 4>;  // BM, BN, WM, WN, STAGES, k, unrolled steps

// mma cuts the low 13 bits off.
__device__ __forceinline__ void to_tf32(unsigned& bits) {
#ifdef ADD_HALF  // study: the NaN that GPUs make, all bits set, becomes -0
    bits += 0x1000;
#else
    bits = nearest_tf32(bits);
#endif
}

struct Tf32 {
    template <int MT, int NT>
    static __device__ void multiply(float (&acc)[MT][NT][4], unsigned (&a)[1][MT][4],
                                    unsigned (&b)[1][NT][2]) {
#pragma unroll
        for (int i = 0; i < MT; ++i)
            for (unsigned& x : a[0][i]) to_tf32(x);
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            for (unsigned& x : b[0][j]) to_tf32(x);
#pragma unroll
            for (int i = 0; i < MT; ++i)
                mma_m16n8k8_f32_tf32(acc[i][j], a[0][i], b[0][j]);
        }
    }
};

extern "C" __global__ void __launch_bounds__(Shape::THREADS, 1)
    tf32(const float* A, const float* B, float* C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char shared[];
    float_gemm<Shape, Tf32>(A, B, C, M, N, K, shared);
}
// endregion
