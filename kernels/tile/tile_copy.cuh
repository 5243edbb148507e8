#pragma once
// One thread's part in bringing tiles of ROWS x COLS elements from a row-major matrix to shared memory by cp.async, in
// chunks of 16 bytes; the tile moves down or to the right from copy to copy. What lies outside the matrix becomes zero.
#include "ptx/cp_async.cuh"

// PLACE(row, chunk) is the index of a chunk in the tile; STEP rows further down it is STEP rows of chunks more.
template <class E, int ROWS, int COLS, int THREADS, unsigned (*PLACE)(unsigned, unsigned)>
struct TileCopy {
    static constexpr int WIDTH = 16 / sizeof(E), CHUNKS = COLS / WIDTH, STEP = THREADS / CHUNKS, TURNS = ROWS / STEP;
    static_assert(THREADS % CHUNKS == 0 && ROWS % STEP == 0, "every thread copies the same column");

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

    // Copy the thread's chunk number `turn` of TURNS; `offset` bytes are added to its place. ALIGNED: the matrix and its
    // rows start at multiples of 16 bytes, else elements go through registers, one by one.
    template <bool ALIGNED>
    __device__ __forceinline__ void copy(int turn, int offset) const {
        const E* from = src + static_cast<size_t>(turn * STEP) * cols;
        const int valid = row + turn * STEP < rows ? cols - col : 0;
        const unsigned to = dst + offset + turn * STEP * COLS * sizeof(E);
        if constexpr (ALIGNED) {
            cp_async_cg_16(to, from, valid > 0 ? 16 : 0);
        } else {
            uint4 chunk = {};
#pragma unroll
            for (int i = 0; i < WIDTH; ++i)
                if (i < valid) reinterpret_cast<E*>(&chunk)[i] = from[i];
            *static_cast<uint4*>(__cvta_shared_to_generic(to)) = chunk;
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
