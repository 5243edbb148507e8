// Accumulators of a warpgroup to C: stmatrix into a swizzled tile, then the TMA unit writes it while the warps go on.
#pragma once
#include "ptx/barrier.cuh"
#include "ptx/fence.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/element.cuh"

// Write the 64 x 2 R tile `acc` of one warpgroup to C at (m, n). `staging`: BOXES boxes of 64 x WIDTH, aligned to 1024
// bytes, this warpgroup's own; `barrier`: a named barrier of its 128 threads. The map's box is 64 x WIDTH, and the swizzle
// the width of its rows: 128 bytes for 64 columns, 64 bytes for 32.
template <int BOXES, int WIDTH = 64, int R>
__device__ __forceinline__ void tma_store_c(const float (&acc)[R], T* staging, const CUtensorMap* C, int m, int n,
                                            int barrier) {
  int thread = threadIdx.x % 128, lane = thread % 32, row = thread / 32 * 16 + lane % 16;
  int turn = WIDTH == 64 ? row % 8 : row / 2 % 4;
#pragma unroll
  for (int box = 0; box < R * 2 / WIDTH; box += BOXES) {
    if (thread == 0) cp_async_bulk_wait_group_read<0>();  // the copies of the last round have read the staging tile
    bar_sync(barrier, 128);
#pragma unroll
    for (int j = 0; j < WIDTH / 16 * BOXES; ++j) {  // 16 columns at a time
      int b = j / (WIDTH / 16), column = j % (WIDTH / 16) * 2 + lane / 16;  // columns in chunks of 8
      if (box + b == R * 2 / WIDTH) break;  // the last round may have fewer boxes
      const float* d = acc + box * (WIDTH / 2) + j * 8;
      unsigned r[4] = {pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5]), pack(d[6], d[7])};
      stmatrix_x4(shared_address(staging + b * 64 * WIDTH + row * WIDTH + (column ^ turn) * 8), r);
    }
    fence_proxy_async_shared();
    bar_sync(barrier, 128);
    if (thread == 0) {
      for (int b = 0; b < BOXES && box + b < R * 2 / WIDTH; ++b)
        tma_store_2d(C, n + (box + b) * WIDTH, m, staging + b * 64 * WIDTH);
      cp_async_bulk_commit_group();
    }
  }
}
