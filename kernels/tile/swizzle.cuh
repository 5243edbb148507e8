#pragma once
// Where a 16-byte chunk of a tile lies in shared memory. CHUNKS: chunks in one row of the tile, a power of two.
// Both return an index in chunks.

// Row after row. Eight rows of one column of chunks fall on the same banks where rows have 128 bytes or more.
template <int CHUNKS>
__device__ __forceinline__ unsigned plain(unsigned row, unsigned chunk) {
    return row * CHUNKS + chunk;
}

// The chunk index is XORed with the row, so that eight rows of one column of chunks fall on all 32 banks.
// Rows of fewer than eight chunks share a line of 128 bytes: as many neighbours as fit take the same XOR.
template <int CHUNKS>
__device__ __forceinline__ unsigned swizzled(unsigned row, unsigned chunk) {
    constexpr unsigned ROWS = CHUNKS < 8 ? 8 / CHUNKS : 1, MASK = CHUNKS < 8 ? CHUNKS - 1 : 7;
    return row * CHUNKS + (chunk ^ (row / ROWS & MASK));
}
