#pragma once
// The multistage loop of chapter 12 on float matrices, row-major: it brings raw floats to registers, in the places that
// tensor cores expect, and a `Product` makes tensor-core work of them.
//
// Product has multiply(acc, a, b): acc[i][j] += a[s][i] b[s][j] for the STEP / 8 slices s; STEP is the k of one call,
// 8 or 16. A slice has the bits of floats where mma.m16n8k8 has tf32: a is 16 x 8, b is 8 x 8.
//
// Product j = 4 q + e takes as its column c the column 32 q + 4 (c / 2 + 4 (c % 2)) + e of the warp's tile, so that 16
// bytes hold the elements of four products: one shared load brings four, and what a thread owns of C is four neighbours
// of a row.
#include "ptx/address.cuh"
#include "ptx/ldmatrix.cuh"
#include "tile/swizzle.cuh"
#include "tile/tile_copy.cuh"
#include "tile/tile_order.cuh"

// UNROLL: steps of a tile that are unrolled. NOTE: with all, ptxas moves so much ahead that registers may run out.
template <int BM_, int BN_, int WM_, int WN_, int STAGES_, int STEP_, int UNROLL_>
struct FloatShape {
    static constexpr int BM = BM_, BN = BN_, BK = 32, WM = WM_, WN = WN_;
    static constexpr int STAGES = STAGES_, STEP = STEP_, UNROLL = UNROLL_;
    static constexpr int WARPS_M = BM / WM, THREADS = WARPS_M * (BN / WN) * 32, STEPS = BK / STEP;
    static constexpr int A_BYTES = BM * BK * 4, STAGE_BYTES = A_BYTES + BK * BN * 4, RING = STAGES * STAGE_BYTES;
    static_assert(WM % 16 == 0 && WN % 32 == 0 && STEPS % 2 == 0);
};

// Four rows of B at two columns of chunks, four apart, fall on eight different groups of banks.
template <int CHUNKS>
__device__ __forceinline__ unsigned float_b(unsigned row, unsigned chunk) {
    return row * CHUNKS + (chunk ^ row % 4);
}

template <class S, bool WIDE>
struct FloatTile {
    typedef float Acc[S::WM / 16][S::WN / 8][4];
    typedef unsigned FragA[S::STEP / 8][S::WM / 16][4];
    typedef unsigned FragB[S::STEP / 8][S::WN / 8][2];

    TileCopy<float, WIDE, S::BM, S::BK, S::THREADS, swizzled<S::BK / 4>> a;
    TileCopy<float, WIDE, S::BK, S::BN, S::THREADS, float_b<S::BN / 4>> b;
    unsigned ring;
    int m0, n0, wm, wn, lane;

    __device__ FloatTile(unsigned ring, const float* A, const float* B, int M, int N, int K, Tile tile)
        : a(ring, A, M, K, tile.m * S::BM, 0), b(ring + S::A_BYTES, B, K, N, 0, tile.n * S::BN), ring(ring),
          m0(tile.m * S::BM), n0(tile.n * S::BN) {
        const int warp = threadIdx.x / 32;
        wm = warp % S::WARPS_M * S::WM, wn = warp / S::WARPS_M * S::WN, lane = threadIdx.x % 32;
    }

    // Start the copies of the next tile, as one group.
    __device__ __forceinline__ void copy(int stage) {
        a.copy(stage), a.right();
        b.copy(stage), b.down();
        cp_async_commit_group();
    }

    // Fetch step number `step` of a stage. NOTE: ldmatrix moves 16-bit pairs, which may as well be halves of floats.
    __device__ __forceinline__ void fetch(FragA& fa, FragB& fb, int step, int stage) const {
#pragma unroll
        for (int s = 0; s < S::STEP / 8; ++s) {
            const int k = step * S::STEP + 8 * s, g = lane / 4, t = lane % 4;
#pragma unroll
            for (int i = 0; i < S::WM / 16; ++i) {
                const int at = swizzled<S::BK / 4>(wm + 16 * i + lane % 16, k / 4 + lane / 16);
                ldmatrix_x4(fa[s][i], ring + stage + 16 * at);
            }
#pragma unroll
            for (int q = 0; q < S::WN / 32; ++q)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const int at = float_b<S::BN / 4>(k + t + 4 * h, wn / 4 + 8 * q + g / 2 + g % 2 * 4);
                    const void* from = __cvta_shared_to_generic(ring + stage + S::A_BYTES + 16 * at);
                    const uint4 four = *static_cast<const uint4*>(from);
                    fb[s][4 * q][h] = four.x, fb[s][4 * q + 1][h] = four.y;
                    fb[s][4 * q + 2][h] = four.z, fb[s][4 * q + 3][h] = four.w;
                }
        }
    }

    // Write the accumulators to C (M x N), four neighbours at a time.
    __device__ __forceinline__ void store(float* C, int M, int N, const Acc& acc) const {
#pragma unroll
        for (int i = 0; i < S::WM / 16; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int q = 0; q < S::WN / 32; ++q)
#pragma unroll
                    for (int h = 0; h < 2; ++h) {
                        const int row = m0 + wm + 16 * i + 8 * half + lane / 4, e = 2 * half + h;
                        const int col = n0 + wn + 32 * q + 16 * h + lane % 4 * 4;
                        float* to = C + static_cast<size_t>(row) * N + col;
                        const float four[4] = {acc[i][4 * q][e], acc[i][4 * q + 1][e], acc[i][4 * q + 2][e],
                                               acc[i][4 * q + 3][e]};
                        if (row >= M) continue;
                        if (N % 4 == 0) {
                            if (col >= N) continue;
                            *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
                        } else {
#pragma unroll
                            for (int c = 0; c < 4; ++c)
                                if (col + c < N) to[c] = four[c];
                        }
                    }
    }
};

template <class S, class Product, bool WIDE>
__device__ __forceinline__ void float_gemm(const float* A, const float* B, float* C, int M, int N, int K,
                                           void* shared) {
    const Tile at = grouped_tile<8>(blockIdx.x, (M + S::BM - 1) / S::BM, (N + S::BN - 1) / S::BN);
    FloatTile<S, WIDE> tile(shared_address(shared), A, B, M, N, K, at);
    typename FloatTile<S, WIDE>::FragA frag_a[2];
    typename FloatTile<S, WIDE>::FragB frag_b[2];
    typename FloatTile<S, WIDE>::Acc acc = {};

    // Prologue.
    for (int stage = 0; stage < S::RING - S::STAGE_BYTES; stage += S::STAGE_BYTES) tile.copy(stage);
    cp_async_wait_group<S::STAGES - 2>();
    __syncthreads();
    tile.fetch(frag_a[0], frag_b[0], 0, 0);

    // Main loop, as in k12_multistage.cu.
    int read = 0, fill = S::RING - S::STAGE_BYTES;
    for (int k0 = 0; k0 < K; k0 += S::BK)
#pragma unroll S::UNROLL
        for (int step = 0; step < S::STEPS; ++step) {
            if (step == 0) tile.copy(fill);
            if (step == S::STEPS - 1) {
                cp_async_wait_group<S::STAGES - 2>();
                __syncthreads();
                fill = read;
                read = read + S::STAGE_BYTES == S::RING ? 0 : read + S::STAGE_BYTES;
            }
            const int next = (step + 1) % 2;
            tile.fetch(frag_a[next], frag_b[next], (step + 1) % S::STEPS, read);
            Product::multiply(acc, frag_a[next ^ 1], frag_b[next ^ 1]);
        }
    cp_async_wait_group<0>();
    tile.store(C, M, N, acc);
}

// C = A B, one CTA per tile of C. `shared`: S::RING bytes.
template <class S, class Product>
__device__ __forceinline__ void float_gemm(const float* A, const float* B, float* C, int M, int N, int K,
                                           void* shared) {
    if (N % 4 == 0 && K % 4 == 0)
        float_gemm<S, Product, true>(A, B, C, M, N, K, shared);
    else
        float_gemm<S, Product, false>(A, B, C, M, N, K, shared);
}
