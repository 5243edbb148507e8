#pragma once
// C through shared memory and the TMA unit: one box for each warp.
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
#include "tile/warp_tile.cuh"

// Write a warp's WM x 64 tile to C at (m, n); the map clips what lies outside. `C`: a map with boxes of WM x 64 and a
// swizzle of 128 bytes. `staging`: the warp's own 128 WM bytes, a multiple of 1024, that nobody reads or copies to;
// lane 0 waits with cp_async_bulk_wait_group_read before they are used again, or given up.
template <int TILE_K, int WM>
__device__ __forceinline__ void store_box(const WarpTile<TILE_K, WM>& tile,
                                          void* staging, const CUtensorMap* C,
                                          int m, int n, int lane) {
    const unsigned to =
        shared_address(staging) + 16 * swizzled<8>(lane % 16, lane / 16);
#pragma unroll
    for (int i = 0; i < WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < 8; j += 2) {  // 16 columns: two chunks
            unsigned r[4];
            for (int h = 0; h < 4; ++h) {
                const float* two = &tile.acc[i][j + h / 2][h % 2 * 2];
                r[h] = pack(two[0], two[1]);
            }
            stmatrix_x4((to ^ (16 * j)) + i * 16 * 128, r);
        }
    fence_proxy_async_shared();  // each lane's stores, before the copy
    __syncwarp();
    if (lane == 0) {
        tma_store_2d(C, n, m, staging);
        cp_async_bulk_commit_group();  // keep `staging` until lane 0 has waited
    }
}
