// Chapter 10: tensor cores through WMMA, straight from global memory.
//
// Change: a warp multiplies 16 x 16 x 16 in one call; no thread knows which elements it holds.
// Limit:  every tile comes from the caches for one single use: 8 FLOP per byte.
// Needs:  sm_75 for fp16 (-DF16), sm_80 for bf16. A (M, K), B (K, N), C (M, N), row-major. Block (128).

// region: kernel
#include "tile/wmma.cuh"

using namespace nvcuda;
constexpr int BM = 32, BN = 32;

extern "C" __global__ void __launch_bounds__(128)
    wmma_global(const T* A, const T* B, T* C, int M, int N, int K) {
    __shared__ alignas(32) T patch[4][256];
    __shared__ alignas(32) float patch_c[4][16 * PATCH_PITCH];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> frag_a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> frag_b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    int warp = threadIdx.x / 32;
    int m0 = blockIdx.y * BM + warp / 2 * 16;
    int n0 = blockIdx.x * BN + warp % 2 * 16;

    wmma::fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 16) {
        load_tile(frag_a, patch[warp], A, M, K, m0, k0);
        load_tile(frag_b, patch[warp], B, K, N, k0, n0);
        wmma::mma_sync(acc, frag_a, frag_b, acc);
    }
    store_tile(C, M, N, m0, n0, acc, patch_c[warp]);
}
// endregion
