#pragma once
// One thread's part in bringing tiles of ROWS x COLS elements of a row-major matrix to shared memory, in chunks of 16
// bytes; from tile to tile the thread moves down or to the right. What lies outside the matrix becomes zero.
// Addresses are kept from tile to tile: computed anew they cost more instructions than the copies.
#include "ptx/cp_async.cuh"

// PLACE(row, chunk) is the index of a chunk in the tile; STEP rows further down it is STEP rows of chunks more.
// WIDE: the matrix and its rows start at multiples of 16 bytes, and cp.async copies; else elements pass registers.
template <class E, bool WIDE, int ROWS, int COLS, int THREADS, unsigned (*PLACE)(unsigned, unsigned)>
struct TileCopy {
    static constexpr int WIDTH = 16 / sizeof(E), CHUNKS = COLS / WIDTH, STEP = THREADS / CHUNKS, TURNS = ROWS / STEP;
    static_assert(THREADS % CHUNKS == 0 && ROWS % STEP == 0, "every thread copies from one column of chunks");
    static_assert(STEP % 8 == 0, "PLACE may repeat after eight rows");

    const E* src;
    unsigned dst;
    int row, col, rows, cols;

    // The tile starts at matrix[row0, col0], and in shared memory at the address `tile`.
    __device__ __forceinline__ TileCopy(unsigned tile, const E* matrix, int rows, int cols, int row0, int col0)
        : rows(rows), cols(cols) {
        const int r = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
        row = row0 + r, col = col0 + chunk * WIDTH;
        src = matrix + static_cast<size_t>(row) * cols + col;
        dst = tile + 16 * PLACE(r, chunk);
    }

    // Copy the thread's chunks to the tile `offset` bytes further on.
    __device__ __forceinline__ void copy(int offset) const {
#pragma unroll(WIDE ? TURNS : 1)
        for (int turn = 0; turn < TURNS; ++turn) {
            const E* from = src + static_cast<size_t>(turn * STEP) * cols;
            const int inside = row + turn * STEP < rows ? cols - col : 0;
            const unsigned to = dst + offset + turn * STEP * COLS * sizeof(E);
            if constexpr (WIDE) {
                cp_async_cg_16(to, from, inside > 0 ? 16 : 0);  // with 0 the address is not read
            } else {
                uint4 chunk = {};
#pragma unroll
                for (int i = 0; i < WIDTH; ++i)
                    if (i < inside) reinterpret_cast<E*>(&chunk)[i] = from[i];
                *static_cast<uint4*>(__cvta_shared_to_generic(to)) = chunk;
            }
        }
    }

    __device__ __forceinline__ void down() {
        row += ROWS;
        src += static_cast<size_t>(ROWS) * cols;
    }
    __device__ __forceinline__ void right() {
        col += COLS;
        src += COLS;
    }
};
