// Chapter 10: WMMA with tiles in shared memory.
//
// Change: a block copies 128 x 64 of A and 64 x 128 of B once; a warp keeps 4 x 2 accumulators and uses each fragment
//         two or four times.
// Limit:  the block waits for each copy, and every warp for its own fragments.
// Needs:  sm_75 for fp16 (-DF16), sm_80 for bf16. A (M, K), B (K, N), C (M, N), row-major. Block (256).

// region: kernel
#include "tile/chunk.cuh"
#include "tile/wmma.cuh"

#ifndef PAD
#define PAD 8
#endif

using namespace nvcuda;
using Rows = wmma::row_major;
constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 32, THREADS = 256;
constexpr int PITCH_A = BK + PAD, PITCH_B = BN + PAD;  // elements

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    wmma_shared(const T* A, const T* B, T* C, int M, int N, int K) {
    __shared__ alignas(32) T smem_a[BM * PITCH_A], smem_b[BK * PITCH_B];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[4][2];
    int tid = threadIdx.x, warp = tid / 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;

    for (auto& row : acc)
        for (auto& tile : row) wmma::fill_fragment(tile, 0.0f);
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = 0; i < BM * BK / 8 / THREADS; ++i) {
            int at = i * THREADS + tid, m = at / (BK / 8), k = at % (BK / 8) * 8;
            uint4 chunk = load_chunk(A, M, K, m0 + m, k0 + k);
            *reinterpret_cast<uint4*>(&smem_a[m * PITCH_A + k]) = chunk;
        }
        for (int i = 0; i < BK * BN / 8 / THREADS; ++i) {
            int at = i * THREADS + tid, k = at / (BN / 8), n = at % (BN / 8) * 8;
            uint4 chunk = load_chunk(B, K, N, k0 + k, n0 + n);
            *reinterpret_cast<uint4*>(&smem_b[k * PITCH_B + n]) = chunk;
        }
        __syncthreads();
#pragma unroll 2
        for (int k = 0; k < BK; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, T, Rows> frag_a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Rows> frag_b[2];
            for (int j = 0; j < 2; ++j)
                wmma::load_matrix_sync(
                    frag_b[j], &smem_b[k * PITCH_B + wn + 16 * j], PITCH_B);
            for (int i = 0; i < 4; ++i) {
                wmma::load_matrix_sync(
                    frag_a, &smem_a[(wm + 16 * i) * PITCH_A + k], PITCH_A);
                for (int j = 0; j < 2; ++j)
                    wmma::mma_sync(acc[i][j], frag_a, frag_b[j], acc[i][j]);
            }
        }
        __syncthreads();
    }
    // The tiles are no longer needed: a part of them per warp turns C.
    float* patch = reinterpret_cast<float*>(smem_a) + warp * 16 * PATCH_PITCH;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 2; ++j)
            store_tile(C, M, N, m0 + wm + 16 * i, n0 + wn + 16 * j, acc[i][j],
                       patch);
}
// endregion
