#pragma once
// A chunk: eight 16-bit neighbours of a row, 16 bytes. `src` is a row-major matrix of rows x cols that is aligned to 16
// bytes; what lies outside it counts as zero. Where cols is a multiple of 8, a chunk is one 128-bit access and lies wholly
// inside or outside; else it is taken element by element.
#include "ptx/address.cuh"
#include "ptx/cp_async.cuh"
#include "tile/element.cuh"

__device__ __forceinline__ uint4 chunk_elements(const T* src, int rows, int cols, int row, int col) {
    alignas(16) T x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = row < rows && col + i < cols ? src[(size_t)row * cols + col + i] : narrow(0.0f);
    return *reinterpret_cast<uint4*>(x);
}

// The chunk that starts at (row, col), in registers.
__device__ __forceinline__ uint4 load_chunk(const T* src, int rows, int cols, int row, int col) {
    if (cols % 8) return chunk_elements(src, rows, cols, row, col);
    if (row >= rows || col >= cols) return make_uint4(0, 0, 0, 0);
    return *reinterpret_cast<const uint4*>(src + (size_t)row * cols + col);
}

// The same into shared memory. WIDE (cols is a multiple of 8): by cp.async, so that a commit, a wait and a barrier must
// follow; else through registers.
template <bool WIDE>
__device__ __forceinline__ void copy_chunk(uint4& dst, const T* src, int rows, int cols, int row, int col) {
    if constexpr (WIDE) {
        const int bytes = row < rows && col < cols ? 16 : 0;  // with 0 the address is not read
        cp_async_cg_16(shared_address(&dst), src + (size_t)row * cols + col, bytes);
    } else {
        dst = chunk_elements(src, rows, cols, row, col);
    }
}

__device__ __forceinline__ void copy_chunk(uint4& dst, const T* src, int rows, int cols, int row, int col) {
    if (cols % 8)
        copy_chunk<false>(dst, src, rows, cols, row, col);
    else
        copy_chunk<true>(dst, src, rows, cols, row, col);
}
