// Accumulators of a warpgroup to C: stmatrix into a swizzled tile, then the TMA unit writes it while the warps go on.
#pragma once
#include "ptx/barrier.cuh"
#include "ptx/fence.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/element.cuh"

// Write the 64 x 2 R tile `acc` of one warpgroup to C at (m, n). `staging`: two boxes of 64 x 64, aligned to 1024
// bytes, this warpgroup's own, used in turn; `barrier`: a named barrier of its 128 threads. The map's box is 64 x 64,
// its swizzle 128 bytes.
template <int R>
__device__ __forceinline__ void tma_store_c(const float (&acc)[R], T* staging, const CUtensorMap* C, int m, int n,
                                            int barrier) {
  int thread = threadIdx.x % 128, lane = thread % 32, row = thread / 32 * 16 + lane % 16;
  static_assert(R % 64 == 0, "an even number of boxes: the next tile begins with the one that is free");
#pragma unroll
  for (int box = 0; box < R / 32; ++box) {
    T* to = staging + box % 2 * 64 * 64;
#pragma unroll
    for (int j = 0; j < 4; ++j) {  // 16 columns at a time
      int column = j * 2 + lane / 16;  // in chunks of 8
      const float* d = acc + box * 32 + j * 8;
      unsigned r[4] = {pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5]), pack(d[6], d[7])};
      stmatrix_x4(shared_address(to + row * 64 + (column ^ row % 8) * 8), r);
    }
    if (thread == 0) cp_async_bulk_wait_group_read<0>();  // the copy before has read the other box: it is free again
    fence_proxy_async_shared();
    bar_sync(barrier, 128);
    if (thread == 0) {
      tma_store_2d(C, n + box * 64, m, to);
      cp_async_bulk_commit_group();
    }
  }
}
