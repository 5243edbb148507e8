// Accumulators of a warpgroup to C by ordinary stores, each lane the pairs that it holds.
#pragma once
#include "tile/element.cuh"

// Store the 64 x TILE_N tile `d` of one warpgroup to C (M, N), row-major, from row m and column n on; nothing beyond.
template <int TILE_N>
__device__ __forceinline__ void store_direct(const float (&d)[TILE_N / 2], T* C, int m, int n, int M, int N) {
  int t = threadIdx.x % 128;
  m += t / 32 * 16 + t % 32 / 4;
  n += t % 4 * 2;
  bool paired = N % 2 == 0;  // else every other row starts at an odd element
#pragma unroll
  for (int i = 0; i < TILE_N / 2; i += 2) {
    int row = m + i / 2 % 2 * 8, col = n + i / 4 * 8;
    if (row >= M || col >= N) continue;
    T* to = C + static_cast<size_t>(row) * N + col;
    if (paired) {
      *reinterpret_cast<unsigned*>(to) = pack(d[i], d[i + 1]);
    } else {
      to[0] = narrow(d[i]);
      if (col + 1 < N) to[1] = narrow(d[i + 1]);
    }
  }
}
