// Chapter 11: two stages and two sets of fragments.
//
// Change: cp.async fills one stage while the other is multiplied, ldmatrix fetches the next fragments while mma.sync
//         works on these, and C leaves in whole rows of 128 bytes.
// Limit:  a copy has three quarters of a tile's time to arrive: the next fragments are fetched one step ahead.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N), bf16 (fp16 with -DF16), row-major. Grid (cdiv(N, BN), cdiv(M, BM)).

// region: kernel
#include "tile/stage.cuh"
#include "tile/store_mma.cuh"

constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 64, THREADS = 128;
using Tiles = Stage<BM, BN, BK>;

template <bool WIDE>  // N and K are multiples of 8: 16-byte copies
__device__ void gemm(Tiles* stages, const T* A, const T* B, T* C,
                     int M, int N, int K) {
    Fragments<WM, WN> frag[2];
    float acc[WM / 16][WN / 8][4] = {};
    int warp = threadIdx.x / 32, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN, now = 0;
    auto copy = [&](int stage, int k0) {
        stages[stage].copy<WIDE, THREADS>(A, B, M, N, K, m0, n0, k0);
        cp_async_commit_group();
    };

    // Prologue: the first tiles, the first fragments.
    copy(0, 0);
    cp_async_wait_group<0>();
    __syncthreads();
    frag[0].fetch(stages[0], wm, wn, 0);

    // Main loop: the next fragments, the next tiles, then multiply these.
    for (int k0 = 0; k0 < K; k0 += BK)
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k + 16 == BK) {  // the next fragments are of the next tiles
                cp_async_wait_group<0>();
                __syncthreads();
                now ^= 1;
            }
            int next = (k / 16 + 1) % 2;
            frag[next].fetch(stages[now], wm, wn, (k + 16) % BK);
            if (k == 0) copy(now ^ 1, k0 + BK);
            frag[next ^ 1].multiply(acc);
        }

    // Epilogue: 16 rows of a warp at a time, turned in shared memory.
    __syncthreads();
    uint4* staging = stages[0].a + warp * 16 * WN / 8;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
        store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, acc[i], staging);
}

// NOTE: two copies of the loop, so that the fast one has no branch in it.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    double_buffer(const T* A, const T* B, T* C, int M, int N, int K) {
    extern __shared__ Tiles stages[];
    if (N % 8 == 0 && K % 8 == 0)
        gemm<true>(stages, A, B, C, M, N, K);
    else
        gemm<false>(stages, A, B, C, M, N, K);
}
// endregion
