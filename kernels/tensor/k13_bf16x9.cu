// BF16x9: FP32 from bf16 factors, three to a float and nine products.
//
// Change: a float is cut into three bf16 numbers, exactly; all products of the parts are summed, small ones first.
// Limit:  nine products, or six with -DPRODUCTS=6, which leaves out those below FP32's last bit.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N) row-major, float.
#include "ptx/mma.cuh"
#include "tile/float_gemm.cuh"

// region: kernel
#ifndef PRODUCTS
#define PRODUCTS 9
#endif
using Shape = FloatShape<128, 128, 64, 32, 3, 16, 2>;  // BM, BN, WM, WN, STAGES, k, unrolled steps

// Cut two floats into three bf16 parts of eight bits each; part p of both goes to
// parts[p], x in the low half.
__device__ __forceinline__ void cut(unsigned x, unsigned y, unsigned (&parts)[3]) {
#pragma unroll
    for (int p = 0; p < 3; ++p) {
        parts[p] = __byte_perm(x, y, 0x7632);  // the upper halves: bf16, cut off
        x = __float_as_uint(__uint_as_float(x) - __uint_as_float(x & 0xffff0000));
        y = __float_as_uint(__uint_as_float(y) - __uint_as_float(y & 0xffff0000));
    }
}

struct NineBf16 {
    // NOTE: mma.m16n8k16 wants k = 2t and 2t + 1 in one register. Our slices hold
    // k = t and t + 4: any order of k will do, if A and B have the same.
    template <int MT, int NT>
    static __device__ void multiply(float (&acc)[MT][NT][4], unsigned (&a)[2][MT][4],
                                    unsigned (&b)[2][NT][2]) {
        unsigned part_a[MT][4][3];
#pragma unroll
        for (int i = 0; i < MT; ++i)
#pragma unroll
            for (int s = 0; s < 2; ++s)
#pragma unroll
                for (int h = 0; h < 2; ++h)
                    cut(a[s][i][h], a[s][i][h + 2], part_a[i][2 * s + h]);
#pragma unroll
        for (int j = 0; j < NT; ++j) {
            unsigned part_b[2][3];
            cut(b[0][j][0], b[0][j][1], part_b[0]);
            cut(b[1][j][0], b[1][j][1], part_b[1]);
#pragma unroll
            for (int i = 0; i < MT; ++i) {
                float sum[4] = {};
#pragma unroll
                for (int order = PRODUCTS == 9 ? 4 : 2; order >= 0; --order)
#pragma unroll
                    for (int p = order < 3 ? 0 : order - 2; p <= order && p < 3; ++p) {
                        const unsigned x[4] = {part_a[i][0][p], part_a[i][1][p], part_a[i][2][p], part_a[i][3][p]};
                        const unsigned y[2] = {part_b[0][order - p], part_b[1][order - p]};
                        mma_m16n8k16_f32_bf16(sum, x, y);
                    }
#pragma unroll
                for (int r = 0; r < 4; ++r) acc[i][j][r] += sum[r];
            }
        }
    }
};

extern "C" __global__ void __launch_bounds__(Shape::THREADS, 1)
    nine_bf16(const float* A, const float* B, float* C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char shared[];
    float_gemm<Shape, NineBf16>(A, B, C, M, N, K, shared);
}
// endregion
