#pragma once
// A warp's WM x 64 tile of C, its operands in shared memory as TMA leaves them: A in rows of TILE_K elements with a
// swizzle as wide as the row (64 or 128 bytes), B in boxes of TILE_K rows and 64 columns with a swizzle of 128 bytes.
#include "ptx/ldmatrix.cuh"
#include "tile/element.cuh"
#include "tile/swizzle.cuh"

template <int TILE_K, int WM>
struct WarpTile {
    static constexpr int ROW = 2 * TILE_K, BOX_ROW = 128, WN = 64;  // bytes, bytes, columns
    static_assert(ROW == 64 || ROW == 128, "a swizzle is as wide as a row of A");

    unsigned a, b;  // where this lane's row starts in a stage, in bytes
    float acc[WM / 16][WN / 8][4] = {};
    unsigned frag_a[2][WM / 16][4], frag_b[2][WN / 8][2];

    // `row`: the warp's first row in the tile of A; `box`: its box of B, in bytes from the start of a stage.
    __device__ WarpTile(int row, int box, int lane) {
        a = row * ROW + 16 * swizzled<ROW / 16>(lane % 16, lane / 16);
        b = box + 16 * swizzled<8>(lane % 16, lane / 16);
    }

    // Load the fragments of k = 16 step ... 16 step + 15 from the stage at shared address `stage`, a multiple of 1024.
    // NOTE: the swizzle XORs bits 4-6 of the address, so the chunk of another k or n is one XOR away.
    __device__ void fetch(int buffer, unsigned stage, int step) {
#pragma unroll
        for (int i = 0; i < WM / 16; ++i)
            ldmatrix_x4(frag_a[buffer][i], ((stage + a) ^ (32 * step)) + i * 16 * ROW);
#pragma unroll
        for (int j = 0; j < WN / 16; ++j) {
            unsigned two[4];
            ldmatrix_x4_trans(two, ((stage + b) ^ (32 * j)) + step * 16 * BOX_ROW);
            frag_b[buffer][2 * j][0] = two[0], frag_b[buffer][2 * j][1] = two[1];
            frag_b[buffer][2 * j + 1][0] = two[2], frag_b[buffer][2 * j + 1][1] = two[3];
        }
    }

    __device__ void clear() {
#pragma unroll
        for (auto& row : acc)
#pragma unroll
            for (auto& tile : row)
#pragma unroll
                for (float& sum : tile) sum = 0;
    }

    __device__ void multiply(int buffer) {
#pragma unroll
        for (int i = 0; i < WM / 16; ++i)
#pragma unroll
            for (int j = 0; j < WN / 8; ++j)
                mma_m16n8k16_f32_T(acc[i][j], frag_a[buffer][i], frag_b[buffer][j]);
    }

    // Store the tile to C (M x N, row-major), whose first element here is (m, n); nothing outside.
    __device__ void store(T* C, int M, int N, int m, int n, int lane) const {
        const bool even = N % 2 == 0, whole = even && m + WM <= M && n + WN <= N;
        m += lane / 4, n += lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < WM / 8; ++i)
#pragma unroll
            for (int j = 0; j < WN / 8; ++j) {
                const int row = m + 8 * i, col = n + 8 * j;
                const T2 pair = narrow2(acc[i / 2][j][i % 2 * 2], acc[i / 2][j][i % 2 * 2 + 1]);
                T* to = C + (size_t)row * N + col;
                if (whole || (even && row < M && col < N)) {
                    *reinterpret_cast<T2*>(to) = pair;
                } else if (!even && row < M) {
                    if (col < N) to[0] = pair.x;
                    if (col + 1 < N) to[1] = pair.y;
                }
            }
    }
};
