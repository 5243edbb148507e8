// 3xTF32: nearly all of FP32's bits, in three products.
//
// Change: each factor is split into a TF32 part and a rest; the product of the two rests is left out.
// Limit:  three times the multiplies, and sums outside the tensor cores, which cut their own short.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N) row-major, float. -DSUM_INSIDE: sum in the tensor cores after all (study).
#include "ptx/mma.cuh"
#include "tile/float_gemm.cuh"

#ifndef SHAPE
#define SHAPE 128, 128, 64, 32, 3
#endif
using Shape = FloatShape<SHAPE, 8>;

// region: kernel
// x = high + low: high has TF32's ten mantissa bits, low what is missing.
__device__ __forceinline__ void split(unsigned x, unsigned& high, unsigned& low) {
    high = (x + 0x1000) & 0xffffe000;  // to nearest; mma would cut
    low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high)) + 0x1000;
}

struct ThreeTf32 {
    template <int MT, int NT>
    static __device__ void multiply(float (&acc)[MT][NT][4], unsigned (&a)[1][MT][4],
                                    unsigned (&b)[1][NT][2]) {
        unsigned a_low[MT][4];
#pragma unroll
        for (int i = 0; i < MT; ++i)
#pragma unroll
            for (int r = 0; r < 4; ++r) split(a[0][i][r], a[0][i][r], a_low[i][r]);
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            unsigned b_low[2];
            split(b[0][j][0], b[0][j][0], b_low[0]);
            split(b[0][j][1], b[0][j][1], b_low[1]);
#pragma unroll
            for (int i = 0; i < MT; ++i) {
#ifdef SUM_INSIDE
                float(&sum)[4] = acc[i][j];
#else
                float sum[4] = {};
#endif
                mma_m16n8k8_f32_tf32(sum, a_low[i], b[0][j]);  // small ones first
                mma_m16n8k8_f32_tf32(sum, a[0][i], b_low);
                mma_m16n8k8_f32_tf32(sum, a[0][i], b[0][j]);
#ifndef SUM_INSIDE
#pragma unroll
                for (int r = 0; r < 4; ++r) acc[i][j][r] += sum[r];
#endif
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(Shape::THREADS, 1)
    three_tf32(const float* A, const float* B, float* C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char shared[];
    float_gemm<Shape, ThreeTf32>(A, B, C, M, N, K, shared);
}
// endregion
