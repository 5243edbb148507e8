// Chapter 12: a queue of tiles.
//
// Change: STAGES stages in place of two: a copy has the time of STAGES - 1 tiles to arrive. CTAs take the tiles of C in
//         groups of GROUP_ROWS rows, so that those which run together find their operands in L2.
// Limit:  mma.sync: each fragment goes from shared memory to registers, by the threads that also start the copies.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N), bf16 (fp16 with -DF16), row-major. Grid cdiv(M, BM) * cdiv(N, BN).
//         Chapter 13 compiles it with -DF16_SUMS: mma.sync adds in fp16, in half the registers.
// region: kernel
#include "tile/stage.cuh"
#include "tile/store_mma.cuh"
#include "tile/tile_copy.cuh"
#include "tile/tile_order.cuh"

constexpr int BM = 128, BN = 256, BK = TILE_K, WM = 64, WN = 64, THREADS = 256;
using Tiles = Stage<BM, BN, BK>;

template <bool WIDE>  // N and K are multiples of 8: 16-byte copies
__device__ void gemm(Tiles* stages, const T* A, const T* B, T* C,
                     int M, int N, int K) {
    Fragments<WM, WN> frag[2];
    Sums acc[WM / 16][WN / 8] = {};  // float[4] each
    Tile tile = grouped_tile<GROUP_ROWS>(blockIdx.x, (M + BM - 1) / BM,
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
            frag[next ^ 1].multiply(acc);
        }

    // Epilogue: no copy may still write where C is turned.
    cp_async_wait_group<0>();
    __syncthreads();
    uint4* staging = stages[0].a + warp * 16 * WN / 8;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
        store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, acc[i],
                         staging);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    multistage(const T* A, const T* B, T* C, int M, int N, int K) {
    extern __shared__ Tiles stages[];
    if (N % 8 == 0 && K % 8 == 0)
        gemm<true>(stages, A, B, C, M, N, K);
    else
        gemm<false>(stages, A, B, C, M, N, K);
}
// endregion
