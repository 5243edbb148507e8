#pragma once
// A chunk: eight 16-bit neighbours of a row, 16 bytes. What lies outside the matrix (rows x cols, row-major, aligned to
// 16 bytes) counts as zero. Where cols is a multiple of 8, a chunk is one 128-bit access and lies wholly inside or
// outside; else it is taken element by element.
#include "ptx/address.cuh"
#include "ptx/cp_async.cuh"
#include "tile/element.cuh"

// The chunk at `from`, of which `rows` rows and `cols` elements are inside.
__device__ __forceinline__ uint4 chunk_elements(const T* from, int rows, int cols) {
    alignas(16) T x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = rows > 0 && i < cols ? from[i] : narrow(0.0f);
    return *reinterpret_cast<uint4*>(x);
}

// The same to shared memory. WIDE (rows start at multiples of 16 bytes): by cp.async, so that a commit, a wait and a
// barrier must follow; else through registers.
template <bool WIDE>
__device__ __forceinline__ void copy_chunk(uint4& to, const T* from, int rows, int cols) {
    if constexpr (WIDE)
        cp_async_cg_16(shared_address(&to), from, rows > 0 && cols > 0 ? 16 : 0);  // with 0 the address is not read
    else
        to = chunk_elements(from, rows, cols);
}

// The chunk that starts at src[row, col], in registers.
__device__ __forceinline__ uint4 load_chunk(const T* src, int rows, int cols, int row, int col) {
    const T* from = src + (size_t)row * cols + col;
    if (cols % 8) return chunk_elements(from, rows - row, cols - col);
    if (row >= rows || col >= cols) return make_uint4(0, 0, 0, 0);
    return *reinterpret_cast<const uint4*>(from);
}

// The same to shared memory, by cp.async where cols allows.
__device__ __forceinline__ void copy_chunk(uint4& to, const T* src, int rows, int cols, int row, int col) {
    const T* from = src + (size_t)row * cols + col;
    if (cols % 8)
        copy_chunk<false>(to, from, rows - row, cols - col);
    else
        copy_chunk<true>(to, from, rows - row, cols - col);
}
