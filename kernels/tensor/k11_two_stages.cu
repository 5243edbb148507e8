// Chapter 11, study: two stages, one set of fragments.
//
// Change: cp.async fills one stage while the other is multiplied; each step's fragments are fetched just before it.
// Limit:  the first products of a tile wait for its first fragments.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N), bf16 (fp16 with -DF16), row-major. Grid (cdiv(N, BN), cdiv(M, BM)).

// region: kernel
#include "tile/stage.cuh"
#include "tile/store_mma.cuh"

constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 64, THREADS = 128;
using Tiles = Stage<BM, BN, BK>;

template <bool WIDE>  // N and K are multiples of 8: 16-byte copies
__device__ void gemm(Tiles* stages, const T* A, const T* B, T* C,
                     int M, int N, int K) {
    Fragments<WM, WN> frag;
    float acc[WM / 16][WN / 8][4] = {};
    int warp = threadIdx.x / 32, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN, now = 0;
    auto copy = [&](int stage, int k0) {
        stages[stage].copy<WIDE, THREADS>(A, B, M, N, K, m0, n0, k0);
        cp_async_commit_group();
    };

    copy(0, 0);
    for (int k0 = 0; k0 < K; k0 += BK, now ^= 1) {
        cp_async_wait_group<0>();
        __syncthreads();
        copy(now ^ 1, k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            frag.fetch(stages[now], wm, wn, k);
            frag.multiply(acc);
        }
    }

    // Epilogue: 16 rows of a warp at a time, turned in shared memory.
    cp_async_wait_group<0>();
    __syncthreads();
    uint4* staging = stages[0].a + warp * 16 * WN / 8;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
        store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, acc[i], staging);
}

// NOTE: two copies of the loop, so that the fast one has no branch in it.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    two_stages(const T* A, const T* B, T* C, int M, int N, int K) {
    extern __shared__ Tiles stages[];
    if (N % 8 == 0 && K % 8 == 0)
        gemm<true>(stages, A, B, C, M, N, K);
    else
        gemm<false>(stages, A, B, C, M, N, K);
}
// endregion
