// Correct kernels around mbarriers, bulk and tensor copies. valid_async_cases.py has launches and results.
#include "async_ops.cuh"
#define map_t const __grid_constant__ CUtensorMap

extern "C" __global__ void one_tile(map_t a, float* out, int x, int y) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, x, y, &bar); }
  wait(&bar, 0);
  for (int r = t / 32; r < 32; r += blockDim.x / 32) out[32 * r + t % 32] = tile[r][t % 32];
}

extern "C" __global__ void one_waits_all_sync(map_t a, float* out) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); arrive(&bar); wait(&bar, 0); }
  __syncthreads();
  for (int r = t / 32; r < 32; r += blockDim.x / 32) out[32 * r + t % 32] = tile[t % 32][r];
}

extern "C" __global__ void single_stage(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  float sum = 0;
  init_one(&bar, 1);
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 8 * i, &bar); }
    wait(&bar, i & 1);
    sum += tile[t / 32][t % 32];
    fence_async();
    __syncthreads();
  }
  out[t] = sum;
}

template <int STAGES, bool RELAXED = false> __device__ void ring(const CUtensorMap* a, float* out, int tiles) {
  __shared__ alignas(128) float tile[STAGES][8][32];
  __shared__ mbar_t full[STAGES], empty[STAGES];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < STAGES; ++s) { mbar_init(&full[s], 1); mbar_init(&empty[s], 256); }
    fence_init();
  }
  __syncthreads();
  if (t >= 256) {
    if (t == 256) {
      for (int i = 0; i < tiles; ++i) {
        int s = i % STAGES;
        wait(&empty[s], (i / STAGES + 1) & 1);
        arrive_expect(&full[s], sizeof tile[0]);
        load2(tile[s], a, 0, 8 * i, &full[s]);
      }
    }
  } else {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      int s = i % STAGES;
      wait(&full[s], (i / STAGES) & 1);
      sum += tile[s][t / 32][t % 32];
      fence_async();
      if (RELAXED) arrive_relaxed(&empty[s]);  // it has only read
      else arrive(&empty[s]);
    }
    out[t] = sum;
  }
}
extern "C" __global__ void ring_of_two(map_t a, float* out, int tiles) { ring<2>(&a, out, tiles); }
extern "C" __global__ void ring_of_three(map_t a, float* out, int tiles) { ring<3>(&a, out, tiles); }
extern "C" __global__ void relaxed_ring(map_t a, float* out, int tiles) { ring<2, true>(&a, out, tiles); }

extern "C" __global__ void peek_before_release(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t full, empty;
  int t = threadIdx.x;
  if (t == 0) { mbar_init(&full, 1); mbar_init(&empty, 8); fence_init(); }
  __syncthreads();
  if (t >= 256) {
    if (elect())
      for (int i = 0; i < tiles; ++i) {
        wait(&empty, (i + 1) & 1);
        arrive_expect(&full, sizeof tile);
        load2(tile, &a, 0, 8 * i, &full);
      }
    return;
  }
  float sum = 0;
  bool ready = try_wait(&full, 0);
  for (int i = 0; i < tiles; ++i) {
    if (!ready) wait(&full, i & 1);
    sum += tile[t / 32][t % 32];
    ready = i + 1 < tiles && try_wait_hint(&full, (i + 1) & 1);
    fence_async();
    __syncwarp();
    if (t % 32 == 0) arrive(&empty);
  }
  out[t] = sum;
}

extern "C" __global__ void swizzled_tile(map_t a, float* out, int mask) {
  __shared__ alignas(1024) float tile[32 * 32];
  __shared__ mbar_t bar;
  int t = threadIdx.x, row = 4 * (mask + 1);  // floats in a row of the box
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, 32 * row * 4); load2(tile, &a, 0, 0, &bar); }
  wait(&bar, 0);
  for (int i = t; i < 32 * row; i += blockDim.x) {
    int chunk = i / 4;
    out[i] = tile[4 * (chunk ^ ((chunk >> 3) & mask)) + i % 4];
  }
}

extern "C" __global__ void line(map_t a, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ mbar_t bar;
  init_one(&bar, 1);
  if (threadIdx.x == 0) { arrive_expect(&bar, sizeof tile); load1(tile, &a, 16, &bar); }
  wait(&bar, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void brick(map_t a, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ mbar_t bar;
  init_one(&bar, 1);
  if (threadIdx.x == 0) { arrive_expect(&bar, sizeof tile); load3(tile, &a, 4, -1, 2, &bar); }
  wait(&bar, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void five_dimensions(map_t a, float* out) {
  __shared__ alignas(128) float tile[64];
  __shared__ mbar_t bar;
  init_one(&bar, 1);
  if (threadIdx.x == 0) { arrive_expect(&bar, sizeof tile); load5(tile, &a, 0, 1, 0, 1, 1, &bar); }
  wait(&bar, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void store_tiles(map_t c, float scale, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    tile[t / 32][t % 32] = scale * (256 * i + t);
    fence_async();
    __syncthreads();
    if (t == 0) { store2(&c, 0, 8 * i, tile); commit_bulk(); wait_bulk_read<0>(); }
    __syncthreads();
  }
}

extern "C" __global__ void store_two_buffers(map_t c, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) wait_bulk_read<1>();
    __syncthreads();
    tile[i & 1][t / 32][t % 32] = 256 * i + t;
    fence_async();
    __syncthreads();
    if (t == 0) { store2(&c, 0, 8 * i, tile[i & 1]); commit_bulk(); }
  }
  if (t == 0) wait_bulk<0>();
}

extern "C" __global__ void add_tiles(map_t c, float* sums) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;
  fence_async();
  __syncthreads();
  if (t == 0) { reduce2(&c, 4, 2, tile); bulk_reduce_add(sums, tile, sizeof tile); commit_bulk(); wait_bulk<0>(); }
}

extern "C" __global__ void linear_copies(const float* a, float* out, int n) {
  __shared__ alignas(16) float buffer[256];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, 4 * n); bulk_load(buffer, a + 256 * blockIdx.x, 4 * n, &bar); }
  wait(&bar, 0);
  for (int i = t; i < n; i += blockDim.x) buffer[i] *= 2;
  fence_async();
  __syncthreads();
  if (t == 0) { bulk_store(out + 256 * blockIdx.x, buffer, 4 * n); commit_bulk(); wait_bulk<0>(); }
}

extern "C" __global__ void barrier_of_threads(float* out, int rounds) {
  __shared__ float s[128];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  float v = t;
  init_one(&bar, 128);
  for (int i = 0; i < rounds; ++i) {
    s[t] = v;
    mbar_t state = arrive_state(&bar);
    while (!test_wait_state(&bar, state)) {}
    v = s[(t + 1) % 128];
    state = arrive_state(&bar);
    while (!test_wait_state(&bar, state)) {}
  }
  out[t] = v;
}

extern "C" __global__ void counts_and_drops(float* out) {
  __shared__ float s[64];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 66);
  if (t == 0) arrive_count(&bar, 2);
  s[t] = t;
  if (t >= 32) { arrive_drop(&bar); out[t] = -1; return; }
  arrive(&bar);
  wait(&bar, 0);
  out[t] = s[t + 32];
  if (t == 0) arrive_no_complete(&bar, 1);
  if (t == 1) arrive(&bar);
  arrive(&bar);
  wait(&bar, 1);
}

extern "C" __global__ void async_copies_arrive(const float* a, float* out, int tiles) {
  __shared__ alignas(16) float s[2][256];
  __shared__ mbar_t full[2];
  int t = threadIdx.x;
  float sum = 0;
  if (t == 0) { mbar_init(&full[0], 64); mbar_init(&full[1], 64); }
  __syncthreads();
  for (int i = 0; i <= tiles; ++i) {
    if (i < tiles) { cp_async16(&s[i & 1][4 * t], a + 256 * i + 4 * t); copies_arrive_noinc(&full[i & 1]); }
    if (i > 0) {
      wait(&full[(i - 1) & 1], ((i - 1) / 2) & 1);
      sum += s[(i - 1) & 1][255 - t];
    }
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void async_copies_and_arrive(const float* a, float* out) {
  __shared__ alignas(16) float s[256];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  if (t == 0) mbar_init(&full, 64);
  __syncthreads();
  cp_async16(&s[4 * t], a + 4 * t);
  copies_arrive(&full);
  arrive(&full);
  wait(&full, 0);
  out[t] = s[255 - t];
}

extern "C" __global__ void map_in_global_memory(const CUtensorMap* a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { acquire_map(a); prefetch_map(a); arrive_expect(&bar, sizeof tile); load2(tile, a, 0, 0, &bar); }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void invalidated_and_again(float* out) {
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  for (int i = 0; i < 3; ++i) {
    if (t == 0) mbar_init(&bar, 64);
    __syncthreads();
    arrive(&bar);
    wait(&bar, 0);
    __syncthreads();
    if (t == 0) mbar_inval(&bar);
    __syncthreads();
  }
  out[t] = t;
}

extern "C" __global__ void two_copies_one_barrier(map_t a, map_t b, float* out, int tiles) {
  __shared__ alignas(128) float sa_[8][32], sb[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  float sum = 0;
  init_one(&bar, 1);
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) { arrive_expect(&bar, sizeof sa_ + sizeof sb); load2(sa_, &a, 0, 8 * i, &bar); load2(sb, &b, 0, 8 * i, &bar); }
    wait(&bar, i & 1);
    sum += sa_[t / 32][t % 32] * sb[t / 32][t % 32];
    fence_async();
    __syncthreads();
  }
  out[t] = sum;
}

// Each CTA of a pair copies one half of every tile into both; a stage is free when the readers of both CTAs have said so to both.
extern "C" __global__ __cluster_dims__(2, 1, 1) void multicast_halves(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x, rank = cluster_rank();
  if (t == 0) {
    for (int s = 0; s < 2; ++s) { mbar_init(&full[s], 1); mbar_init(&empty[s], 16); }
    fence_init();
  }
  cluster_sync();
  if (t >= 256) {
    if (t == 256)
      for (int i = 0; i < tiles; ++i) {
        int s = i & 1;
        wait(&empty[s], (i / 2 + 1) & 1);
        arrive_expect(&full[s], sizeof tile[0]);
        load2_to(tile[s][4 * rank], &a, 0, 8 * i + 4 * rank, &full[s], 3);
      }
  } else {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      int s = i & 1;
      wait(&full[s], (i / 2) & 1);
      sum += (rank + 1) * tile[s][t / 32][t % 32];
      fence_async();
      __syncwarp();
      if (t % 32 < 2) arrive_at(&empty[s], t % 32);
    }
    out[256 * blockIdx.x + t] = sum;
  }
  cluster_sync();
}

extern "C" __global__ void flag_beside_a_copy(map_t a, float* out, int* flag) {  // one warp polls while another waits
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t < 32) {
    if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); }
    wait(&bar, 0);
    for (int r = 0; r < 8; ++r) out[32 * r + t] = tile[r][t];
    __threadfence();
    __syncwarp();
    if (t == 0) *(volatile int*)flag = 1;
  } else {
    while (*(volatile int*)flag == 0) {}
    __threadfence();
    out[256 + t - 32] = out[t - 32];
  }
}

extern "C" __global__ void store_what_is_inside(map_t c, int rows, int columns) {  // the rest of the box is never written
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  for (int r = 0; r < rows; ++r)
    if (t < columns) tile[r][t] = 32 * r + t;
  fence_async();
  __syncthreads();
  if (t == 0) {
    store2(&c, 0, 0, tile);
    commit_bulk();
    wait_bulk_read<0>();
  }
}
