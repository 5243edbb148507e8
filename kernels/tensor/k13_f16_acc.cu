// FP16 sums: the accumulators of chapter 12 in half the registers.
//
// Change: mma.sync adds in fp16. Two sums share a register.
// Limit:  eleven bits: a sum stops growing where a product is less than half of its last bit, and ends at 65,504.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N) row-major, fp16. Compiled with -DF16.
#include "tile/stage.cuh"
#include "tile/store_mma.cuh"
#include "tile/tile_copy.cuh"
#include "tile/tile_order.cuh"

// region: kernel
constexpr int BM = 128, BN = 256, BK = 64, WM = 64, WN = 64, THREADS = 256, STAGES = 3;
using Tiles = Stage<BM, BN, BK>;

template <bool WIDE>  // N and K are multiples of 8: 16-byte copies
__device__ void gemm(Tiles* stages, const T* A, const T* B, T* C,
                     int M, int N, int K) {
    Fragments<WM, WN> frag[2];
    unsigned acc[WM / 16][WN / 8][2] = {};  // two sums each
    Tile tile = grouped_tile<8>(blockIdx.x, (M + BM - 1) / BM,
                                         (N + BN - 1) / BN);
    int warp = threadIdx.x / 32, m0 = tile.m * BM, n0 = tile.n * BN;
    int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;
    TileCopy<T, WIDE, BM, BK, THREADS, swizzled<BK / 8>> a(
        shared_address(stages->a), A, M, K, m0, 0);
    TileCopy<T, WIDE, BK, BN, THREADS, swizzled<BN / 8>> b(
        shared_address(stages->b), B, K, N, 0, n0);
    auto copy = [&](int stage) {
        a.copy(stage * sizeof(Tiles)), a.right();
        b.copy(stage * sizeof(Tiles)), b.down();
        cp_async_commit_group();
    };

    // Prologue: STAGES - 1 groups under way; the oldest must land.
    for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage);
    cp_async_wait_group<STAGES - 2>();
    __syncthreads();
    frag[0].fetch(stages[0], wm, wn, 0);

    // Main loop: one group per tile, beyond the last tile, too.
    int read = 0, fill = STAGES - 1;
    for (int k0 = 0; k0 < K; k0 += BK)
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k == 0) copy(fill);
            if (k + 16 == BK) {  // the next fragments are of the next tile
                cp_async_wait_group<STAGES - 2>();
                __syncthreads();
                fill = read;  // nobody reads this stage any more
                read = read + 1 == STAGES ? 0 : read + 1;
            }
            int next = (k / 16 + 1) % 2;
            frag[next].fetch(stages[read], wm, wn, (k + 16) % BK);
#pragma unroll
            for (int i = 0; i < WM / 16; ++i)
#pragma unroll
                for (int j = 0; j < WN / 8; ++j)
                    mma_m16n8k16_f16_f16(acc[i][j], frag[next ^ 1].a[i], frag[next ^ 1].b[j / 2][j % 2]);
        }

    // Epilogue: no copy may still write where C is turned.
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

extern "C" __global__ void __launch_bounds__(THREADS)
    f16_acc(const T* A, const T* B, T* C, int M, int N, int K) {
    extern __shared__ Tiles stages[];
    if (N % 8 == 0 && K % 8 == 0)
        gemm<true>(stages, A, B, C, M, N, K);
    else
        gemm<false>(stages, A, B, C, M, N, K);
}
// endregion
