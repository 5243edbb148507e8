#pragma once
// One stage of a pipeline, a BM x BK tile of A and a BK x BN tile of B in swizzled chunks, and what warps do with it:
// start its copies, fetch fragments, multiply them.
#include "ptx/address.cuh"
#include "ptx/ldmatrix.cuh"
#include "tile/chunk.cuh"
#include "tile/swizzle.cuh"

// Start to copy ROWS rows of CHUNKS chunks, from src[row, col] on, to `tile`: each thread takes every STEP-th row of
// one column of chunks.
template <bool WIDE, int THREADS, int ROWS, int CHUNKS>
__device__ __forceinline__ void copy_tile(uint4* tile, const T* src, int rows, int cols, int row, int col) {
    constexpr int STEP = THREADS / CHUNKS, UNROLL = WIDE ? ROWS / STEP : 1;
    static_assert(THREADS % CHUNKS == 0 && ROWS % STEP == 0, "whole rounds of copies");
    const int r = threadIdx.x / CHUNKS, c = threadIdx.x % CHUNKS;
    const T* from = src + (size_t)(row + r) * cols + col + c * 8;
#pragma unroll UNROLL
    for (int i = 0; i < ROWS; i += STEP) {
        copy_chunk<WIDE>(tile[swizzled<CHUNKS>(r + i, c)], from, rows - row - r - i, cols - col - c * 8);
        from += STEP * cols;
    }
}

template <int BM, int BN, int BK>
struct Stage {
    uint4 a[BM * BK / 8], b[BK * BN / 8];

    // Start to copy the tiles at (m0, k0) of A and (k0, n0) of B; zeros from outside. WIDE: N and K are multiples of 8.
    template <bool WIDE, int THREADS>
    __device__ __forceinline__ void copy(const T* A, const T* B, int M, int N, int K, int m0, int n0, int k0) {
        copy_tile<WIDE, THREADS, BM, BK / 8>(a, A, M, K, m0, k0);
        copy_tile<WIDE, THREADS, BK, BN / 8>(b, B, K, N, k0, n0);
    }
};

// What a thread holds of 16 x 8 sums: four floats, or (-DF16_SUMS, with -DF16) four fp16 in two registers.
#ifdef F16_SUMS
typedef unsigned Sums[2];
#define mma_m16n8k16_Sums_T mma_m16n8k16_f16_f16
#else
typedef float Sums[4];
#define mma_m16n8k16_Sums_T mma_m16n8k16_f32_T
#endif

// The fragments of a WM x WN tile of C for 16 steps of k.
template <int WM, int WN>
struct Fragments {
    unsigned a[WM / 16][4], b[WN / 16][2][2];

    // From rows wm and columns wn of a stage on, and its step k.
    template <int BM, int BN, int BK>
    __device__ __forceinline__ void fetch(const Stage<BM, BN, BK>& stage, int wm, int wn, int k) {
        const unsigned row = threadIdx.x % 16, next = threadIdx.x % 32 / 16;
#pragma unroll
        for (int i = 0; i < WM / 16; ++i)
            ldmatrix_x4(a[i], shared_address(&stage.a[swizzled<BK / 8>(wm + 16 * i + row, k / 8 + next)]));
#pragma unroll
        for (int j = 0; j < WN / 16; ++j)
            ldmatrix_x4_trans(b[j], shared_address(&stage.b[swizzled<BN / 8>(k + row, wn / 8 + 2 * j + next)]));
    }

    __device__ __forceinline__ void multiply(Sums (&acc)[WM / 16][WN / 8]) const {
#pragma unroll
        for (int i = 0; i < WM / 16; ++i)
#pragma unroll
            for (int j = 0; j < WN / 8; ++j) mma_m16n8k16_Sums_T(acc[i][j], a[i], b[j / 2][j % 2]);
    }
};
