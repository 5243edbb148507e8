// Chapter 11: mma.sync, with its operands fetched by ldmatrix.
//
// Change: the warp holds fragments of a known layout: A and B come from shared memory in whole rows of 16 bytes.
//         -DPLACE=swizzled: a chunk lies at its index XOR its row, so that eight rows fall on all 32 banks.
// Limit:  plain, eight rows 128 or 256 bytes apart meet on the same banks. Swizzled, too, nothing is copied while the
//         warps multiply, and nothing is multiplied while the next tile comes.
// Needs:  sm_80. A (M, K), B (K, N), C (M, N), bf16 (fp16 with -DF16), row-major. Grid (cdiv(N, BN), cdiv(M, BM)).
#ifndef PLACE
#define PLACE plain
#endif

// region: kernel
#include "ptx/address.cuh"
#include "ptx/ldmatrix.cuh"
#include "tile/chunk.cuh"
#include "tile/store_mma.cuh"
#include "tile/swizzle.cuh"

constexpr int BM = 128, BN = 128, BK = 64, WM = 64, WN = 32, THREADS = 256;

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    mma(const T* A, const T* B, T* C, int M, int N, int K) {
    __shared__ uint4 smem_a[BM * BK / 8], smem_b[BK * BN / 8];
    float acc[WM / 16][WN / 8][4] = {};
    int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN;

    for (int k0 = 0; k0 < K; k0 += BK) {
        // Copy both tiles, a chunk of eight elements at a time.
        for (int i = 0; i < BM * BK / 8 / THREADS; ++i) {
            int at = i * THREADS + tid, m = at / (BK / 8), c = at % (BK / 8);
            uint4& to = smem_a[PLACE<BK / 8>(m, c)];
            copy_chunk(to, A, M, K, m0 + m, k0 + c * 8);
        }
        for (int i = 0; i < BK * BN / 8 / THREADS; ++i) {
            int at = i * THREADS + tid, k = at / (BN / 8), c = at % (BN / 8);
            uint4& to = smem_b[PLACE<BN / 8>(k, c)];
            copy_chunk(to, B, K, N, k0 + k, n0 + c * 8);
        }
        cp_async_wait_all();
        __syncthreads();

        // Fetch the fragments of 16 steps of k: a row of 16 bytes per lane.
        for (int k = 0; k < BK; k += 16) {
            unsigned frag_a[WM / 16][4], frag_b[WN / 16][2][2];
            for (int i = 0; i < WM / 16; ++i) {
                int m = wm + 16 * i + lane % 16, c = k / 8 + lane / 16;
                ldmatrix_x4(frag_a[i], shared_address(&smem_a[PLACE<BK / 8>(m, c)]));
            }
            for (int j = 0; j < WN / 16; ++j) {
                int row = k + lane % 16, c = wn / 8 + 2 * j + lane / 16;
                const uint4& from = smem_b[PLACE<BN / 8>(row, c)];
                ldmatrix_x4_trans(frag_b[j], shared_address(&from));
            }
            for (int i = 0; i < WM / 16; ++i)
                for (int j = 0; j < WN / 8; ++j)
                    mma_m16n8k16_f32_T(acc[i][j], frag_a[i], frag_b[j / 2][j % 2]);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < WN / 8; ++j)
            store_pairs(C, M, N, m0 + wm + 16 * i, n0 + wn + 8 * j, acc[i][j]);
}
// endregion
