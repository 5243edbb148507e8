// Correct kernels with cp.async, ldmatrix, stmatrix, mma and wmma: the emulator must report nothing on any, under every schedule.
#include "tensor_ops.cuh"

extern "C" __global__ void two_stages(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[2][256];
  int t = threadIdx.x;
  float sum = 0;
  copy16(&s[0][4 * t], a + 4 * t);
  commit();
  for (int i = 0; i < tiles; ++i) {
    wait<0>();
    __syncthreads();
    if (i + 1 < tiles) copy16(&s[(i + 1) & 1][4 * t], a + 256 * (i + 1) + 4 * t);
    commit();
    sum += s[i & 1][255 - t];
  }
  out[t] = sum;
}

extern "C" __global__ void four_stages(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[4][256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    if (i < tiles) copy16(&s[i][4 * t], a + 256 * i + 4 * t);
    commit();  // also where there is nothing to copy: groups are counted
  }
  for (int i = 0; i < tiles; ++i) {
    wait<2>();
    __syncthreads();
    int next = i + 3;
    if (next < tiles) copy16(&s[next & 3][4 * t], a + 256 * next + 4 * t);
    commit();
    sum += s[i & 3][255 - t];
  }
  out[t] = sum;
}

extern "C" __global__ void one_stage_two_barriers(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    copy16(&s[4 * t], a + 256 * i + 4 * t);
    wait_all();
    __syncthreads();
    sum += s[255 - t];
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void zero_filled_tail(const float* a, float* out, int n) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x, left = n - 4 * t, valid = left < 0 ? 0 : left > 4 ? 4 : left;
  copy16(&s[4 * t], valid ? a + 4 * t : a, 4 * valid);
  commit();
  wait<0>();
  __syncthreads();
  for (int i = t; i < 256; i += 64) out[i] = s[i];
}

extern "C" __global__ void ignored_sources(const float* a, float* out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x;
  copy4_unless(&s[t], a + t, t >= n);  // with the predicate set, the address does not count
  wait_all();
  __syncthreads();
  out[t] = s[63 - t];
}

extern "C" __global__ void own_data(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy8(&s[4 * t], a + 4 * t);
  copy8(&s[4 * t + 2], a + 4 * t + 2);
  commit();
  wait<0>();  // no barrier: each thread reads what it copied itself
  out[t] = s[4 * t] + s[4 * t + 1] + s[4 * t + 2] + s[4 * t + 3];
}

extern "C" __global__ void one_warp_syncwarp(const float* a, float* out) {
  __shared__ __align__(16) float s[2][128];
  int w = threadIdx.x / 32, l = threadIdx.x % 32;
  copy16(&s[w][4 * l], a + 128 * w + 4 * l);
  wait_all();
  __syncwarp();
  out[threadIdx.x] = s[w][127 - l];
}

extern "C" __global__ void transposing_copies(const float* a, float* out) {
  __shared__ float s[16][17];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) copy4(&s[i % 16][i / 16], a + i);
  wait_all();
  __syncthreads();
  for (int i = t; i < 256; i += 64) out[i] = s[i / 16][i % 16];
}

extern "C" __global__ void prefetch_left_behind(const float* a, float* out) {
  __shared__ __align__(16) float s[2][256];
  int t = threadIdx.x;
  copy16(&s[0][4 * t], a + 4 * t);
  commit();
  copy16(&s[1][4 * t], a + 4 * t);  // nobody needs it
  commit();
  wait<1>();
  __syncthreads();
  out[blockIdx.x * 64 + t] = s[0][255 - t];
}

extern "C" __global__ void two_groups_two_waits(const float* a, const float* b, float* out) {
  __shared__ __align__(16) float s[256], r[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);
  commit();
  copy16(&r[4 * t], b + 4 * t);
  commit();
  wait<1>();
  __syncthreads();
  float first = s[255 - t];
  wait<0>();
  __syncthreads();
  out[t] = first * r[255 - t];
}

extern "C" __global__ void stores_beside_copies(const float* a, float* out, int n) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  if (4 * t < n) copy16(&s[4 * t], a + 4 * t);
  else
    for (int i = 4 * t; i < 4 * t + 4; ++i) s[i] = 0;
  wait_all();
  __syncthreads();
  out[t] = s[255 - t];
}

extern "C" __global__ void identity_by_ldmatrix(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[32 * 8];
  int t = threadIdx.x;
  copy16(&s[8 * t], a + 8 * t);
  wait_all();
  __syncwarp();
  unsigned r[4];
  ldmatrix4(r, &s[8 * t]);
  for (int i = 0; i < 4; ++i) out[32 * i + t] = r[i];
}

extern "C" __global__ void unused_addresses(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[16 * 8];
  int t = threadIdx.x;
  for (int i = t; i < 128; i += 32) s[i] = a[i];
  __syncwarp();
  unsigned one, two[2];
  ldmatrix1(one, t < 8 ? (const char*)&s[8 * t] : (const char*)s + 12345 * t + 1);  // lanes from 8 on do not count
  ldmatrix2(two, t < 16 ? (const char*)&s[8 * t] : (const char*)s + 54321 * t + 3);  // nor from 16 on
  out[t] = one;
  out[32 + t] = two[0];
  out[64 + t] = two[1];
}

extern "C" __global__ void split_destinations(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[32 * 8];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) s[i] = a[i];
  __syncwarp();
  unsigned first[2], second[2];  // one ldmatrix.x4 fills two fragments
  ldmatrix4_trans(first[0], first[1], second[0], second[1], &s[8 * t]);
  out[t] = first[0], out[32 + t] = first[1], out[64 + t] = second[0], out[96 + t] = second[1];
}

extern "C" __global__ void transposed_by_movmatrix(const unsigned* a, unsigned* out) {
  unsigned x = a[threadIdx.x], y;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  out[threadIdx.x] = y;
}

// C = A B with A (M, K), B (K, N) row-major: 32 x 32 x 16 tiles, four warps, three stages of cp.async, padded rows, ldmatrix.
extern "C" __global__ void pipelined_gemm(const half_t* A, const half_t* B, float* C, int N, int K) {
  __shared__ __align__(16) half_t sa[3][32][24], sb[3][16][40];
  int t = threadIdx.x, w = t / 32, l = t % 32, m0 = blockIdx.y * 32, n0 = blockIdx.x * 32, tiles = K / 16;
  int wm = w / 2 * 16, wn = w % 2 * 16;
  float c[2][4] = {};
  auto start = [&](int k) {
    if (k < tiles) {
      if (t < 64) copy16(&sa[k % 3][t / 2][t % 2 * 8], A + (m0 + t / 2) * K + 16 * k + t % 2 * 8);
      else copy16(&sb[k % 3][(t - 64) / 4][t % 4 * 8], B + (16 * k + (t - 64) / 4) * N + n0 + t % 4 * 8);
    }
    commit();
  };
  start(0);
  start(1);
  for (int k = 0; k < tiles; ++k) {
    wait<1>();
    __syncthreads();
    start(k + 2);
    unsigned a[4], b[4];
    ldmatrix4(a, &sa[k % 3][wm + l % 16][l / 16 * 8]);
    ldmatrix4_trans(b[0], b[1], b[2], b[3], &sb[k % 3][l % 16][wn + l / 16 * 8]);
    mma(c[0], a, b[0], b[1]);
    mma(c[1], a, b[2], b[3]);
  }
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 4; ++i) C[(m0 + wm + l / 4 + i / 2 * 8) * N + n0 + wn + 8 * j + l % 4 * 2 + i % 2] = c[j][i];
}

extern "C" __global__ void tf32_gemm(const float* A, const float* B, float* C, int K) {
  int l = threadIdx.x, g = l / 4, t = l % 4;
  float c[4] = {};
  for (int k = 0; k < K; k += 8) {
    float a[4] = {A[g * K + k + t], A[(g + 8) * K + k + t], A[g * K + k + t + 4], A[(g + 8) * K + k + t + 4]};
    mma_tf32(c, a, B[(k + t) * 8 + g], B[(k + t + 4) * 8 + g]);
  }
  for (int i = 0; i < 4; ++i) C[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = c[i];
}

extern "C" __global__ void s8_gemm(const unsigned* A, const unsigned* Bt, int* C, int K) {
  int l = threadIdx.x, g = l / 4, t = l % 4, words = K / 4;  // A (16, K) and B^T (8, K), four bytes a word
  int c[4] = {};
  for (int k = 0; k < words; k += 8) {
    unsigned a[4] = {A[g * words + k + t], A[(g + 8) * words + k + t], A[g * words + k + t + 4], A[(g + 8) * words + k + t + 4]};
    mma_s8(c, a, Bt[g * words + k + t], Bt[g * words + k + t + 4]);
  }
  for (int i = 0; i < 4; ++i) C[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = c[i];
}

extern "C" __global__ void one_warp_multiplies(const half_t* A, const half_t* B, float* C) {
  __shared__ __align__(16) half_t sa[16][16], sb[16][8];
  int t = threadIdx.x, l = t % 32;
  if (t >= 32) {
    for (int i = l; i < 256; i += 32) sa[i / 16][i % 16] = A[i];
    for (int i = l; i < 128; i += 32) sb[i / 8][i % 8] = B[i];
  }
  __syncthreads();
  if (t >= 32) return;
  unsigned a[4], b[2];
  float c[4] = {};
  ldmatrix4(a, &sa[l % 16][l / 16 * 8]);
  ldmatrix2_trans(b, &sb[l % 16][0]);
  mma(c, a, b[0], b[1]);
  for (int i = 0; i < 4; ++i) C[(l / 4 + i / 2 * 8) * 8 + l % 4 * 2 + i % 2] = c[i];
}

extern "C" __global__ void wmma_gemm(const half_t* A, const half_t* B, float* C, int N, int K) {
  Wmma tile = {};
  int m = (blockIdx.y * 2 + threadIdx.x / 32) * 16, n = blockIdx.x * 16;
  for (int k = 0; k < K; k += 16) {
    tile.load_a(A + m * K + k, K);
    tile.load_b(B + k * N + n, N);
    tile.multiply();
  }
  tile.store(C + m * N + n, N);
}

extern "C" __global__ void wmma_from_shared(const half_t* A, const half_t* B, float* C, int K) {
  __shared__ __align__(32) half_t sa[2][16 * 24], sb[2][16 * 24];
  __shared__ __align__(32) float sc[16 * 20];
  int t = threadIdx.x;
  Wmma tile = {};
  auto start = [&](int k, int stage) {
    copy16(&sa[stage][t / 2 * 24 + t % 2 * 8], A + t / 2 * K + k + t % 2 * 8);
    copy16(&sb[stage][t / 2 * 24 + t % 2 * 8], B + (k + t / 2) * 16 + t % 2 * 8);
    commit();
  };
  start(0, 0);
  for (int k = 0; k < K; k += 16) {
    wait<0>();
    __syncwarp();
    if (k + 16 < K) start(k + 16, (k / 16 + 1) & 1);
    tile.load_a(sa[k / 16 & 1], 24);
    tile.load_b(sb[k / 16 & 1], 24);
    tile.multiply();
  }
  tile.store(sc, 20);
  __syncwarp();
  for (int i = t; i < 256; i += 32) C[i] = sc[i / 16 * 20 + i % 16];
}
