#pragma once
// A warp's 16 x 16 tiles in the WMMA API at the edge of a matrix: through a patch of 16 x 16 elements in shared memory,
// of the warp's own and aligned to 32 bytes. WMMA itself needs whole tiles, a multiple of 16 bytes from row to row, and
// a first element aligned to 32 bytes.
#include <mma.h>

#include "tile/element.cuh"

// Load the tile at (row, col) of src (rows x cols, row-major); zeros from outside.
template <class Fragment>
__device__ __forceinline__ void load_tile(Fragment& frag, T* patch, const T* src, int rows, int cols, int row,
                                          int col) {
    if (cols % 8 == 0 && row + 16 <= rows && col + 16 <= cols) {
        nvcuda::wmma::load_matrix_sync(frag, src + (size_t)row * cols + col, cols);
        return;
    }
    __syncwarp();
    for (int i = threadIdx.x % 32; i < 256; i += 32) {
        const int r = row + i / 16, c = col + i % 16;
        patch[i] = r < rows && c < cols ? src[(size_t)r * cols + c] : narrow(0.0f);
    }
    __syncwarp();
    nvcuda::wmma::load_matrix_sync(frag, patch, 16);
}

constexpr int PATCH_PITCH = 24;  // floats: eight rows of pairs fall on 32 banks, half a warp at a time

// Round an accumulator to T and store it at C[m, n] (M x N, row-major); nothing outside. `patch`: 16 rows of the pitch.
// NOTE: which lane holds which element is unknown, so that the patch in between is the only way to another type.
template <class Fragment>
__device__ __forceinline__ void store_tile(T* C, int M, int N, int m, int n, const Fragment& acc, float* patch) {
    __syncwarp();
    nvcuda::wmma::store_matrix_sync(patch, acc, PATCH_PITCH, nvcuda::wmma::mem_row_major);
    __syncwarp();
    const int lane = threadIdx.x % 32, row = m + lane / 2, col = n + lane % 2 * 8;
    const float4* x = reinterpret_cast<const float4*>(patch + lane / 2 * PATCH_PITCH + lane % 2 * 8);
    const float4 low = x[0], high = x[1];
    T* to = C + (size_t)row * N + col;
    if (row >= M) return;
    if (N % 8 == 0) {
        if (col < N)
            *reinterpret_cast<uint4*>(to) = make_uint4(pack(low.x, low.y), pack(low.z, low.w), pack(high.x, high.y),
                                                       pack(high.z, high.w));
    } else {
        const float rest[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
        for (int i = 0; i < 8; ++i)
            if (col + i < N) to[i] = narrow(rest[i]);
    }
}
