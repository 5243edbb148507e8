// Accumulators of a warpgroup to C by ordinary stores, each lane the pairs that it holds.
#pragma once
#include "tile/element.cuh"

// Store columns col and col + 1 of a row of C (M, N), col even; nothing beyond.
__device__ __forceinline__ void store_pair(T* C, int row, int col, int M, int N, float first, float second) {
  if (row >= M || col >= N) return;
  T* to = C + static_cast<size_t>(row) * N + col;
  if (N % 2 == 0) {  // else every other row starts at an odd element
    *reinterpret_cast<unsigned*>(to) = pack(first, second);
  } else {
    to[0] = narrow(first);
    if (col + 1 < N) to[1] = narrow(second);
  }
}

// Store the 64 x TILE_N tile `d` of one warpgroup to C (M, N), row-major, from row m and column n on; nothing beyond.
template <int TILE_N>
__device__ __forceinline__ void store_direct(const float (&d)[TILE_N / 2], T* C, int m, int n, int M, int N) {
  int t = threadIdx.x % 128;
  m += t / 32 * 16 + t % 32 / 4;
  n += t % 4 * 2;
#pragma unroll
  for (int i = 0; i < TILE_N / 2; i += 2)
    store_pair(C, m + i / 2 % 2 * 8, n + i / 4 * 8, M, N, d[i], d[i + 1]);
}
