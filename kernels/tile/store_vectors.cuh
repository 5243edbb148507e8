// Accumulators to C row by row: each warp turns its part round in shared memory and writes 16 bytes per lane.
#pragma once
#include "ptx/ldmatrix.cuh"
#include "tile/element.cuh"

// Elements of shared memory that store_vectors takes for one warp. Rows lie an odd number of 16-byte units apart, so
// that eight of them meet no bank conflict.
template <int TILE_N>
constexpr int VECTORS_STAGING = 16 * (TILE_N + (TILE_N / 8 % 2 ? 0 : 8));

// Write the warp's 16 x TILE_N part `acc` of a wgmma tile to C (M, N), row-major, from row m and column n on; nothing
// beyond. `staging`: VECTORS_STAGING<TILE_N> elements, aligned to 16 bytes, the warp's own. TILE_N and n: multiples of
// 8. `turned`: the tile's last 8 columns of `acc` are the first of C.
template <int TILE_N>
__device__ __forceinline__ void store_vectors(const float (&acc)[TILE_N / 2], T* staging,
                                              T* C, int m, int n, int M, int N, bool turned = false) {
  constexpr int PITCH = VECTORS_STAGING<TILE_N> / 16, CHUNKS = TILE_N / 8;
  int lane = threadIdx.x % 32;
  unsigned to = shared_address(staging + lane % 16 * PITCH + lane / 16 * 8);
#pragma unroll
  for (int j = 0; j < CHUNKS; j += 2) {  // two blocks of 8 columns at a time
    const float* d = acc + j * 4;
    unsigned r[4] = {pack(d[0], d[1]), pack(d[2], d[3])};
    if (j + 1 < CHUNKS) {
      r[2] = pack(d[4], d[5]), r[3] = pack(d[6], d[7]);
      stmatrix_x4(to + j * 16, r);
    } else {
      unsigned last[2] = {r[0], r[1]};
      stmatrix_x2(to + j * 16, last);
    }
  }
  __syncwarp();
  // NOTE: with an odd number of 16-byte units, some rows begin in the middle of a 32-byte sector: their lanes start one
  // unit later, so that a sector's two halves are always written by one instruction.
  constexpr int PLACES = CHUNKS + CHUNKS % 2;
#pragma unroll
  for (int i = lane; i < 16 * PLACES; i += 32) {
    int row = i / PLACES;
    size_t begin = static_cast<size_t>(m + row) * N + n;
    int column = (i % PLACES - (CHUNKS % 2 ? static_cast<int>(begin / 8 % 2) : 0)) * 8;
    if (column < 0 || column >= TILE_N || m + row >= M || n + column >= N) continue;
    const T* from = staging + row * PITCH + (!turned ? column : column ? column - 8 : TILE_N - 8);
    T* c = C + begin + column;
    if (N % 8 == 0)
      *reinterpret_cast<uint4*>(c) = *reinterpret_cast<const uint4*>(from);
    else  // not every row starts at a multiple of 16 bytes
      for (int e = 0; e < min(8, N - n - column); ++e) c[e] = from[e];
  }
}
