// Accumulators of a warpgroup to C: stmatrix into a swizzled tile, then the TMA unit writes it while the warps go on.
#pragma once
#include "ptx/barrier.cuh"
#include "ptx/fence.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/element.cuh"

// Write the 64 x BN tile `acc` of one warpgroup to C at (m, n). `staging`: BOXES boxes of 64 x 64, aligned to 1024 bytes,
// this warpgroup's own; `barrier`: a named barrier of its 128 threads. The map's box is 64 x 64, swizzle 128 B.
template <int BOXES, int R>
__device__ __forceinline__ void tma_store_c(const float (&acc)[R], T* staging, const CUtensorMap* C, int m, int n,
                                        int barrier) {
  int thread = threadIdx.x % 128, lane = thread % 32, row = thread / 32 * 16 + lane % 16;
#pragma unroll
  for (int box = 0; box < R / 32; box += BOXES) {
    if (thread == 0) cp_async_bulk_wait_group_read<0>();  // the copies of the last round have read the staging tile
    bar_sync(barrier, 128);
#pragma unroll
    for (int j = 0; j < 4 * BOXES; ++j) {  // 16 columns at a time
      if (box + j / 4 == R / 32) break;  // the last round may have fewer boxes
      const float* d = acc + box * 32 + j * 8;
      unsigned r[4] = {pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5]), pack(d[6], d[7])};
      int chunk = (2 * j % 8 + lane / 16) ^ row % 8;
      stmatrix_x4(shared_address(staging + j / 4 * 4096 + row * 64 + chunk * 8), r);
    }
    fence_proxy_async_shared();
    bar_sync(barrier, 128);
    if (thread == 0) {
      for (int b = 0; b < BOXES && box + b < R / 32; ++b)
        tma_store_2d(C, n + (box + b) * 64, m, staging + b * 4096);
      cp_async_bulk_commit_group();
    }
  }
}
