// Kernels with one mistake each around cp.async, ldmatrix, mma and wmma. "// here" marks the line that the finding must name, "// other"
// the second party. broken_tensor_cases.py has launches and expectations.
#include "tensor_ops.cuh"

extern "C" __global__ void no_wait(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  __syncthreads();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void no_commit(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  wait<0>();
  __syncthreads();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void weak_wait(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[2][256];
  int t = threadIdx.x;
  float sum = 0;
  copy16(&s[0][4 * t], a + 4 * t);  // other
  commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) copy16(&s[(i + 1) & 1][4 * t], a + 256 * (i + 1) + 4 * t);  // other
    commit();
    wait<2>();  // 1 would do
    __syncthreads();
    sum += s[i & 1][255 - t];  // here
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void two_groups_per_tile(const float* a, const float* b, float* out, int tiles) {
  __shared__ __align__(16) float s[2][256], r[2][256];
  int t = threadIdx.x;
  float sum = 0;
  copy16(&s[0][4 * t], a + 4 * t);
  commit();
  copy16(&r[0][4 * t], b + 4 * t);  // other
  commit();
  for (int i = 0; i < tiles; ++i) {
    wait<1>();
    __syncthreads();
    sum += s[i & 1][255 - t] * r[i & 1][255 - t];  // here
    int k = 256 * (i + 1) + 4 * t;
    if (i + 1 < tiles) {
      copy16(&s[(i + 1) & 1][4 * t], a + k);
      commit();
      copy16(&r[(i + 1) & 1][4 * t], b + k);  // other
      commit();
    }
  }
  out[t] = sum;
}

extern "C" __global__ void one_stage_too_many(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[4][256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    copy16(&s[i][4 * t], a + 256 * i + 4 * t);  // other
    commit();
  }
  for (int i = 0; i < tiles; ++i) {
    wait<3>();  // 2: three groups are committed, of which the oldest must be complete
    __syncthreads();
    sum += s[i & 3][255 - t];  // here
    int next = i + 3;
    if (next < tiles) copy16(&s[next & 3][4 * t], a + 256 * next + 4 * t);  // other
    commit();
  }
  out[t] = sum;
}

extern "C" __global__ void only_one_warp_waits(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  if (t < 32) wait<0>();
  __syncthreads();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void no_barrier_after_wait(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  wait<0>();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void barrier_before_wait(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  __syncthreads();
  wait<0>();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void stage_reused(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[2][256];
  int t = threadIdx.x;
  float sum = 0;
  copy16(&s[0][4 * t], a + 4 * t);
  commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) copy16(&s[(i + 1) & 1][4 * t], a + 256 * (i + 1) + 4 * t);  // here
    commit();
    wait<1>();
    __syncthreads();
    sum += s[i & 1][255 - t];  // other
  }
  out[t] = sum;
}

extern "C" __global__ void single_stage_reused(const float* a, float* out, int tiles) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    copy16(&s[4 * t], a + 256 * i + 4 * t);  // here
    wait_all();
    __syncthreads();
    sum += s[255 - t];  // other
  }
  out[t] = sum;
}

extern "C" __global__ void copy_over_copy(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  copy16(&s[4 * t], a + 256 + 4 * t);  // here
  commit();
  wait<0>();
  __syncthreads();
  out[t] = s[255 - t];
}

extern "C" __global__ void store_over_copy(const float* a, float* out, int n) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  for (int i = 4 * t; i < 4 * t + 4; ++i)
    if (i >= n) s[i] = 0;  // here
  wait<0>();
  __syncthreads();
  out[t] = s[255 - t];
}

extern "C" __global__ void source_written(float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // other
  commit();
  a[255 - t] = 0;  // here
  wait<0>();
  __syncthreads();
  out[t] = s[t];
}

extern "C" __global__ void odd_pitch(const half_t* a, half_t* out, int pitch) {
  __shared__ __align__(16) half_t s[32 * 8];
  int t = threadIdx.x;
  copy16(&s[8 * t], a + t * pitch);  // here
  wait_all();
  __syncthreads();
  out[t] = s[8 * (31 - t)];
}

extern "C" __global__ void odd_target(const float* a, float* out) {
  __shared__ __align__(16) float s[32 * 5];
  int t = threadIdx.x;
  copy16(&s[5 * t], a + 4 * t);  // here
  wait_all();
  __syncthreads();
  out[t] = s[5 * (31 - t)];
}

extern "C" __global__ void copy_past_the_end(const float* a, float* out) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // here
  wait_all();
  __syncthreads();
  out[t] = s[255 - t];
}

extern "C" __global__ void copy_past_the_tile(const float* a, float* out) {
  __shared__ __align__(16) float s[128];
  int t = threadIdx.x;
  copy16(&s[4 * t], a + 4 * t);  // here
  wait_all();
  __syncthreads();
  out[t] = s[t];
}

extern "C" __global__ void tail_skipped(const float* a, float* out, int n) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x;
  if (4 * t < n) copy16(&s[4 * t], a + 4 * t);
  wait_all();
  __syncthreads();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void ldmatrix_without_wait(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[32 * 8];
  int t = threadIdx.x;
  copy16(&s[8 * t], a + 8 * t);  // other
  commit();
  __syncthreads();
  unsigned r[4];
  ldmatrix4(r, &s[8 * t]);  // here
  out[t] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

extern "C" __global__ void ldmatrix_without_barrier(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[64 * 8];
  int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) s[8 * t + i] = a[8 * t + i];  // other
  unsigned r[4];
  ldmatrix4(r, &s[8 * (63 - t)]);  // here
  out[t] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

extern "C" __global__ void ldmatrix_pitch_20(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[16 * 20];
  int t = threadIdx.x;
  for (int i = t; i < 320; i += 32) s[i] = a[i];
  __syncthreads();
  unsigned r[4];
  ldmatrix4(r, &s[(t & 15) * 20 + (t >> 4) * 8]);  // here
  out[t] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

extern "C" __global__ void ldmatrix_past_the_tile(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[16 * 8];
  int t = threadIdx.x;
  for (int i = t; i < 128; i += 32) s[i] = a[i];
  __syncthreads();
  unsigned r[4];
  ldmatrix4(r, &s[8 * t]);  // here
  out[t] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

extern "C" __global__ void ldmatrix_of_nothing(const half_t* a, unsigned* out) {
  __shared__ __align__(16) half_t s[32 * 8];
  int t = threadIdx.x;
  for (int i = t; i < 192; i += 32) s[i] = a[i];
  __syncthreads();
  unsigned r[4];
  ldmatrix4(r, &s[8 * t]);  // here
  out[t] = r[0] ^ r[1] ^ r[2] ^ r[3];
}

extern "C" __global__ void tile_stored_over_readers(const half_t* a, float* out, int tiles) {
  __shared__ __align__(16) half_t s[32 * 8];
  int t = threadIdx.x;
  float c[4] = {};
  for (int k = 0; k < tiles; ++k) {
    for (int i = t; i < 256; i += 64) s[i] = a[256 * k + i];  // here
    __syncthreads();
    unsigned r[4];
    ldmatrix4(r, &s[8 * (t & 31)]);  // other
    mma(c, r, r[0], r[1]);
  }
  out[t] = c[0] + c[1] + c[2] + c[3];
}

extern "C" __global__ void mma_in_a_branch(const unsigned* a, float* out) {
  int t = threadIdx.x;
  unsigned r[4] = {a[t], a[t], a[t], a[t]};
  float c[4] = {};
  if (t < 16) mma(c, r, r[0], r[1]);  // here
  out[t] = c[0];
}

extern "C" __global__ void mma_of_half_a_warp(const unsigned* a, float* out) {
  int t = threadIdx.x;
  unsigned r[4] = {a[t], a[t], a[t], a[t]};
  float c[4] = {};
  mma(c, r, r[0], r[1]);  // here
  out[t] = c[0];
}

extern "C" __global__ void wmma_over_the_edge(const half_t* A, const half_t* B, float* C, int K, int N) {
  Wmma tile = {};
  tile.load_a(A + blockIdx.y * 16 * K, K);  // here
  tile.load_b(B, N);
  tile.multiply();
  tile.store(C + blockIdx.y * 16 * N, N);
}

extern "C" __global__ void wmma_without_barrier(const half_t* A, const half_t* B, float* C) {
  __shared__ __align__(32) half_t s[256];
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 64) s[i] = A[i];  // other
  Wmma tile = {};
  tile.load_a(s, 16);  // here
  tile.load_b(B, 16);
  tile.multiply();
  if (t < 32) tile.store(C, 16);
}

extern "C" __global__ void wmma_overlapping_tiles(const half_t* A, const half_t* B, float* C, int N) {
  Wmma tile = {};
  tile.load_a(A, 16);
  tile.load_b(B, N);
  tile.multiply();
  tile.store(C + threadIdx.x / 32 * 8, N);  // here other
}
