// FP16 sums: the accumulators of chapter 12 in half the registers.
//
// Change: mma.sync adds in fp16. Two sums share a register.
// Limit:  eleven bits: a sum stops growing where a product is less than half of its last bit, and ends at 65,504.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N) row-major, fp16. Compiled with -DF16.
#include "tile/stage.cuh"
#include "tile/store_mma.cuh"
#include "tile/tile_order.cuh"

constexpr int BM = 128, BN = 256, BK = 32, WM = 64, WN = 64, STAGES = 4, THREADS = 256;
using Tiles = Stage<BM, BN, BK>;

template <bool WIDE>
__device__ void gemm(Tiles* stages, const T* A, const T* B, T* C, int M, int N, int K) {
    const Tile tile = grouped_tile<8>(blockIdx.x, (M + BM - 1) / BM, (N + BN - 1) / BN);
    const int warp = threadIdx.x / 32, m0 = tile.m * BM, n0 = tile.n * BN;
    const int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;
    // region: kernel
    unsigned acc[WM / 16][WN / 8][2] = {};  // two halves each
    auto multiply = [&](const Fragments<WM, WN>& frag) {
#pragma unroll
        for (int i = 0; i < WM / 16; ++i)
#pragma unroll
            for (int j = 0; j < WN / 8; ++j)
                mma_m16n8k16_f16_f16(acc[i][j], frag.a[i], frag.b[j / 2][j % 2]);
    };
    // endregion
    auto copy = [&](int stage, int k0) {
        stages[stage].copy<WIDE, THREADS>(A, B, M, N, K, m0, n0, k0);
        cp_async_commit_group();
    };
    for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage, stage * BK);
    int read = 0, fill = STAGES - 1;
    for (int k0 = 0; k0 < K; k0 += BK) {
        cp_async_wait_group<STAGES - 2>();
        __syncthreads();
        copy(fill, k0 + (STAGES - 1) * BK);
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            Fragments<WM, WN> frag;
            frag.fetch(stages[read], wm, wn, k);
            multiply(frag);
        }
        fill = read;
        read = read + 1 == STAGES ? 0 : read + 1;
    }
    cp_async_wait_group<0>();
    __syncthreads();
    uint4* staging = stages[0].a + warp * 16 * WN / 8;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
        float row[WN / 8][4];
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float2 pair = __half22float2(reinterpret_cast<const __half2&>(acc[i][j][half]));
                row[j][2 * half] = pair.x, row[j][2 * half + 1] = pair.y;
            }
        store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, row, staging);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    f16_acc(const T* A, const T* B, T* C, int M, int N, int K) {
    extern __shared__ Tiles stages[];
    if (N % 8 == 0 && K % 8 == 0)
        gemm<true>(stages, A, B, C, M, N, K);
    else
        gemm<false>(stages, A, B, C, M, N, K);
}
