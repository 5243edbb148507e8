// INT8: whole numbers, exact sums.
//
// Change: mma.m16n8k32 multiplies bytes into 32-bit integers; B is stored by columns, so that a register's four bytes
//         are neighbours in memory.
// Limit:  |a| <= 127: somebody has to scale floats into this range, and the sums back.
// Needs:  sm_80. A (M, K) row-major, B given as (N, K) row-major, both int8; C (M, N) row-major, int32.
#include "ptx/address.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mma.cuh"
#include "tile/swizzle.cuh"
#include "tile/tile_copy.cuh"
#include "tile/tile_order.cuh"

// region: kernel
constexpr int BM = 128, BN = 256, BK = 128, WM = 64, WN = 64, STAGES = 4;
constexpr int THREADS = BM / WM * (BN / WN) * 32;
constexpr int A_BYTES = BM * BK, STAGE_BYTES = A_BYTES + BN * BK;
constexpr int RING = STAGES * STAGE_BYTES;
using Chars = signed char;
template <bool WIDE, int ROWS>
using Copy = TileCopy<Chars, WIDE, ROWS, BK, THREADS, swizzled<BK / 16>>;

template <bool WIDE>  // K is a multiple of 16
__device__ void multiply(int (&acc)[WM / 16][WN / 8][4], Copy<WIDE, BM> a,
                         Copy<WIDE, BN> b, unsigned ring, int wm, int wn,
                         int tiles) {
    const int lane = threadIdx.x % 32;
    auto copy = [&](int stage) {
        a.copy(stage), a.right();
        b.copy(stage), b.right();
        cp_async_commit_group();
    };
    for (int stage = 0; stage < RING - STAGE_BYTES; stage += STAGE_BYTES)
        copy(stage);
    int read = 0, fill = RING - STAGE_BYTES;
    for (int tile = 0; tile < tiles; ++tile) {
        cp_async_wait_group<STAGES - 2>();
        __syncthreads();
        copy(fill);
        fill = read;
#pragma unroll
        for (int k = 0; k < BK; k += 32) {
            unsigned frag_a[WM / 16][4], frag_b[WN / 16][2][2];
#pragma unroll
            for (int i = 0; i < WM / 16; ++i)
                ldmatrix_x4(frag_a[i], ring + read + 16 * swizzled<BK / 16>(
                    wm + 16 * i + lane % 16, k / 16 + lane / 16));
#pragma unroll
            for (int j = 0; j < WN / 16; ++j)  // no .trans: a row holds one n
                ldmatrix_x4(frag_b[j], ring + read + A_BYTES + 16 * swizzled<BK / 16>(
                    wn + 16 * j + lane / 16 * 8 + lane % 8, k / 16 + lane / 8 % 2));
#pragma unroll
            for (int i = 0; i < WM / 16; ++i)
#pragma unroll
                for (int j = 0; j < WN / 8; ++j)
                    mma_m16n8k32_s32_s8(acc[i][j], frag_a[i], frag_b[j / 2][j % 2]);
        }
        read = read + STAGE_BYTES == RING ? 0 : read + STAGE_BYTES;
    }
    cp_async_wait_group<0>();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    int8(const Chars* A, const Chars* B, int* C, int M, int N, int K) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Tile tile = grouped_tile<8>(blockIdx.x, (M + BM - 1) / BM, (N + BN - 1) / BN);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, m0 = tile.m * BM, n0 = tile.n * BN;
    const int wm = warp % (BM / WM) * WM, wn = warp / (BM / WM) * WN, tiles = (K + BK - 1) / BK;
    const unsigned ring = shared_address(shared);
    int acc[WM / 16][WN / 8][4] = {};
    if (K % 16 == 0)
        multiply<true>(acc, {ring, A, M, K, m0, 0}, {ring + A_BYTES, B, N, K, n0, 0}, ring, wm, wn, tiles);
    else
        multiply<false>(acc, {ring, A, M, K, m0, 0}, {ring + A_BYTES, B, N, K, n0, 0}, ring, wm, wn, tiles);

    // Epilogue: four lanes write a sector of 32 bytes.
#pragma unroll
    for (int i = 0; i < WM / 8; ++i)
#pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
            const int row = m0 + wm + 8 * i + lane / 4, col = n0 + wn + 8 * j + lane % 4 * 2;
            const int x = acc[i / 2][j][i % 2 * 2], y = acc[i / 2][j][i % 2 * 2 + 1];
            int* to = C + static_cast<size_t>(row) * N + col;
            if (row < M && col + 1 < N && N % 2 == 0) {
                *reinterpret_cast<int2*>(to) = make_int2(x, y);
            } else if (row < M) {
                if (col < N) to[0] = x;
                if (col + 1 < N) to[1] = y;
            }
        }
}
// endregion
