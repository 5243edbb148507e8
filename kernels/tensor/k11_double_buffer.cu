// Chapter 11: two stages and two sets of fragments.
//
// Change: cp.async fills one stage while the other is multiplied, ldmatrix fetches the next fragments while mma.sync
//         works on these, and C leaves in whole rows of 128 bytes.
// Limit:  one tile's time is all that a copy has to arrive.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N), bf16 (fp16 with -DF16), row-major. Grid (cdiv(N, BN), cdiv(M, BM)).
#include "ptx/ldmatrix.cuh"
#include "tile/chunk.cuh"
#include "tile/store_mma.cuh"
#include "tile/swizzle.cuh"

// region: kernel
constexpr int BM = 128, BN = 256, BK = 32, WM = 64, WN = 64, THREADS = 256;

struct Stage {
    uint4 a[BM * BK / 8], b[BK * BN / 8];
};
struct Fragments {
    unsigned a[WM / 16][4], b[WN / 16][2][2];
};

// Start to copy the tiles that begin at k0: zeros behind the last k.
template <bool WIDE>
__device__ void copy(Stage& to, const T* A, const T* B, int M, int N, int K, int m0, int n0, int k0) {
#pragma unroll (WIDE ? 16 : 1)
    for (int i = 0; i < BM * BK / 8 / THREADS; ++i) {
        unsigned at = i * THREADS + threadIdx.x, m = at / (BK / 8), c = at % (BK / 8);
        copy_chunk<WIDE>(to.a[swizzled<BK / 8>(m, c)], A, M, K, m0 + m, k0 + c * 8);
    }
#pragma unroll (WIDE ? 16 : 1)
    for (int i = 0; i < BK * BN / 8 / THREADS; ++i) {
        unsigned at = i * THREADS + threadIdx.x, k = at / (BN / 8), c = at % (BN / 8);
        copy_chunk<WIDE>(to.b[swizzled<BN / 8>(k, c)], B, K, N, k0 + k, n0 + c * 8);
    }
    cp_async_commit_group();
}

// Fetch the fragments of 16 steps of k.
__device__ void fetch(Fragments& to, const Stage& from, int wm, int wn, int k) {
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i) {
        int m = wm + 16 * i + lane % 16, c = k / 8 + lane / 16;
        ldmatrix_x4(to.a[i], shared_address(&from.a[swizzled<BK / 8>(m, c)]));
    }
#pragma unroll
    for (int j = 0; j < WN / 16; ++j) {
        int row = k + lane % 16, c = wn / 8 + 2 * j + lane / 16;
        ldmatrix_x4_trans(to.b[j], shared_address(&from.b[swizzled<BN / 8>(row, c)]));
    }
}

template <bool WIDE>
__device__ void gemm(Stage* stages, const T* A, const T* B, T* C, int M, int N, int K) {
    Fragments frag[2];
    float acc[WM / 16][WN / 8][4] = {};
    int warp = threadIdx.x / 32, m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN, now = 0;

    copy<WIDE>(stages[0], A, B, M, N, K, m0, n0, 0);
    cp_async_wait_group<0>();
    __syncthreads();
    fetch(frag[0], stages[0], wm, wn, 0);
    for (int k0 = 0; k0 < K; k0 += BK)
#pragma unroll
        for (int k = 0; k < BK; k += 16) {
            if (k + 16 == BK) {  // the next fragments are of the next tile
                cp_async_wait_group<0>();
                __syncthreads();
                now ^= 1;
            }
            fetch(frag[(k / 16 + 1) % 2], stages[now], wm, wn, (k + 16) % BK);
            if (k == 0) copy<WIDE>(stages[now ^ 1], A, B, M, N, K, m0, n0, k0 + BK);
#pragma unroll
            for (int i = 0; i < WM / 16; ++i)
#pragma unroll
                for (int j = 0; j < WN / 8; ++j)
                    mma_m16n8k16_f32_T(acc[i][j], frag[k / 16 % 2].a[i], frag[k / 16 % 2].b[j / 2][j % 2]);
        }

    // Write through shared memory, 16 rows of a warp at a time.
    __syncthreads();
    uint4* staging = stages[0].a + warp * 16 * WN / 8;
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
        store_rows<WIDE>(C, M, N, m0 + wm + 16 * i, n0 + wn, acc[i], staging);
}

// NOTE: two copies of the loop, so that the fast one has no branch between its instructions.
extern "C" __global__ void __launch_bounds__(THREADS)
    double_buffer(const T* A, const T* B, T* C, int M, int N, int K) {
    __shared__ Stage stages[2];
    if (N % 8 == 0 && K % 8 == 0)
        gemm<true>(stages, A, B, C, M, N, K);
    else
        gemm<false>(stages, A, B, C, M, N, K);
}
// endregion
