// 3xTF32: nearly all of FP32's bits, in three products.
//
// Change: each factor is split into a TF32 part and a rest; the product of the two rests is left out.
// Limit:  three times the multiplies, and sums outside the tensor cores, which cut their own short.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N) row-major, float. -DSUM_INSIDE (study): sum in the tensor cores.
// region: kernel
#include "ptx/mma.cuh"
#include "ptx/tf32.cuh"
#include "tile/float_gemm.cuh"

// BM, BN, WM, WN, STAGES, k of a step, unrolled steps
using Shape = FloatShape<128, 128, 64, 32, 3, 8, 2>;

// x = high + low: high is the nearest TF32 number, low what is missing, rounded
// to TF32, too. NOTE: infinity times a number with a rest becomes NaN.
__device__ __forceinline__ void split(unsigned x, unsigned& high,
                                      unsigned& low) {
    high = nearest_tf32(x);
    float rest = __uint_as_float(x) - __uint_as_float(high);
    low = nearest_tf32(__float_as_uint(rest));
}

struct ThreeTf32 {
    template <int MT, int NT>
    static __device__ void multiply(float (&acc)[MT][NT][4],
                                    unsigned (&a)[1][MT][4],
                                    unsigned (&b)[1][NT][2]) {
        unsigned a_low[MT][4];
#pragma unroll
        for (int i = 0; i < MT; ++i)
#pragma unroll
            for (int r = 0; r < 4; ++r)
                split(a[0][i][r], a[0][i][r], a_low[i][r]);
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
                mma_m16n8k8_f32_tf32(sum, a_low[i], b[0][j]);  // small first
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
