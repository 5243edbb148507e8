// Correct kernels with wgmma: the emulator must compute them and find nothing. valid_wgmma_cases.py has launches and results.
#include "async_ops.cuh"
#include "wgmma_ops.cuh"

#define TILES                                      \
  __shared__ __align__(1024) half_t a[4][64 * 16]; \
  __shared__ __align__(1024) half_t b[4][8 * 16];  \
  int t = threadIdx.x;                             \
  float d[4] = {};

#define FILL(s, i) store_tile<64>(a[s], ga + 1024 * (i), t), store_tile<8>(b[s], gb + 128 * (i), t)
#define MULTIPLY(s) mma_f16(d, descriptor(a[s]), descriptor(b[s]))

extern "C" __global__ void one_product(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  wg_fence();
  MULTIPLY(0);
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void one_buffer(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  for (int i = 0; i < tiles; ++i) {
    FILL(0, i);
    proxy_fence();
    __syncthreads();
    wg_fence();
    MULTIPLY(0);
    wg_commit();
    wg_wait<0>();
    __syncthreads();
  }
  write_out(out, d, t);
}

extern "C" __global__ void two_in_flight(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  for (int i = 0; i < tiles; ++i) {
    FILL(i % 3, i);
    proxy_fence();
    __syncthreads();
    wg_fence();
    MULTIPLY(i % 3);
    wg_commit();
    wg_wait<1>();
    __syncthreads();
  }
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void no_fence_between_equal_shapes(const half_t* ga, const half_t* gb, float* out) {
  TILES
  for (int i = 0; i < 4; ++i) FILL(i, i);
  proxy_fence();
  __syncthreads();
  wg_fence();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    MULTIPLY(i);
    wg_commit();
  }
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void first_product_overwrites(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  float e[4];
  for (int i = 0; i < tiles; ++i) {
    FILL(0, i);
    proxy_fence();
    __syncthreads();
    wg_fence();
    mma_f16(e, descriptor(a[0]), descriptor(b[0]), i > 0);
    wg_commit();
    wg_wait<0>();
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) d[j] = e[j];
  write_out(out, d, t);
}

extern "C" __global__ void scaled_between(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  for (int i = 0; i < tiles; ++i) {
    FILL(0, i);
    proxy_fence();
    __syncthreads();
    for (int j = 0; j < 4; ++j) d[j] *= 2;
    wg_fence();
    MULTIPLY(0);
    wg_commit();
    wg_wait<0>();
    __syncthreads();
  }
  write_out(out, d, t);
}

extern "C" __global__ void difference(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  FILL(1, 1);
  proxy_fence();
  __syncthreads();
  wg_fence();
  MULTIPLY(0);
  mma_f16_minus(d, descriptor(a[1]), descriptor(b[1]));
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void a_from_registers(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  unsigned f[4];
  for (int i = 0; i < tiles; ++i) store_tile<8>(b[i], gb + 128 * i, t);
  proxy_fence();
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    load_a(f, ga + 1024 * i, t);
    wg_fence();
    mma_rs(d, f, descriptor(b[i]));
    wg_commit();
    wg_wait<0>();
  }
  write_out(out, d, t);
}

extern "C" __global__ void b_row_major(const half_t* ga, const half_t* gb, float* out) {  // gb: 16 x 8
  TILES
  store_tile<64>(a[0], ga, t);
  if (t < 16) *(uint4*)&b[0][8 * t] = *(const uint4*)(gb + 8 * t);  // k-th row of 8 elements: one core matrix per 8 rows
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16_mn(d, descriptor(a[0]), descriptor(b[0], 128, 0));
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

// A 64 x 64 and B 8 x 64, rows of 128 bytes, swizzled: chunk c of row r lies at chunk c ^ (r % 8).
extern "C" __global__ void swizzled_rows(const half_t* ga, const half_t* gb, float* out) {
  __shared__ __align__(1024) half_t a[64 * 64];
  __shared__ __align__(1024) half_t b[8 * 64];
  int t = threadIdx.x;
  float d[4] = {};
  for (int i = t; i < 64 * 8; i += 128) *(uint4*)&a[i / 8 * 64 + (i % 8 ^ i / 8 % 8) * 8] = *(const uint4*)(ga + 8 * i);
  if (t < 64) *(uint4*)&b[t / 8 * 64 + (t % 8 ^ t / 8) * 8] = *(const uint4*)(gb + 8 * t);
  proxy_fence();
  __syncthreads();
  wg_fence();
#pragma unroll
  for (int k = 0; k < 4; ++k) mma_f16(d, descriptor(a, 16, 1024, 1) + 2 * k, descriptor(b, 16, 1024, 1) + 2 * k);
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void two_warpgroups(const half_t* ga, const half_t* gb, float* out) {
  TILES
  int group = t / 128;
  store_tile<64>(a[group], ga + 1024 * group, t % 128);
  store_tile<8>(b[0], gb, t, 256);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[group]), descriptor(b[0]));
  wg_commit();
  wg_wait<0>();
  write_out(out + 512 * group, d, t % 128);
}

extern "C" __global__ void producer_and_consumer(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES  // barrier 1 + s: stage s is full, 3 + s: it is empty
  if (t >= 128) {
    for (int i = 0; i < tiles; ++i) {
      int s = i & 1;
      if (i >= 2) bar(3 + s, 256);
      store_tile<64>(a[s], ga + 1024 * i, t - 128);
      store_tile<8>(b[s], gb + 128 * i, t - 128);
      proxy_fence();
      asm volatile("bar.arrive %0, 256;" ::"r"(1 + s) : "memory");
    }
    return;
  }
  for (int i = 0; i < tiles; ++i) {
    int s = i & 1;
    bar(1 + s, 256);
    wg_fence();
    MULTIPLY(s);
    wg_commit();
    wg_wait<0>();
    if (i + 2 < tiles) asm volatile("bar.arrive %0, 256;" ::"r"(3 + s) : "memory");
  }
  write_out(out, d, t);
}

extern "C" __global__ void copies_into_the_tiles(const half_t* ga, const half_t* gb, float* out) {
  TILES
  copy16(&a[0][at(t / 2, t % 2 * 8)], ga + 8 * t);
  if (t < 16) copy16(&b[0][at(t / 2, t % 2 * 8)], gb + 8 * t);
  commit();
  wait<0>();
  proxy_fence();
  __syncthreads();
  wg_fence();
  MULTIPLY(0);
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void last_bytes(const half_t* ga, const half_t* gb, float* out) {  // B 256 bytes, A the last 2048
  extern __shared__ __align__(1024) half_t s[];
  int t = threadIdx.x;
  float d[4] = {};
  store_tile<8>(s, gb, t);
  store_tile<64>(s + 128, ga, t);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(s + 128), descriptor(s));
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void fence_by_the_reader(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  __syncthreads();
  proxy_fence();
  wg_fence();
  MULTIPLY(0);
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void results_of_the_first_group(const half_t* ga, const half_t* gb, float* out) {
  TILES
  float e[4] = {};
  FILL(0, 0);
  FILL(1, 1);
  proxy_fence();
  __syncthreads();
  wg_fence();
  MULTIPLY(0);
  wg_commit();
  mma_f16(e, descriptor(a[1]), descriptor(b[1]));
  wg_commit();
  wg_wait<1>();
  write_out(out, d, t);
  wg_wait<0>();
  write_out(out + 512, e, t);
}

extern "C" __global__ void tf32_product(const float* ga, const float* gb, float* out) {  // K = 8: two chunks of 4
  __shared__ __align__(1024) float a[64 * 8];
  __shared__ __align__(1024) float b[8 * 8];
  int t = threadIdx.x;
  float d[4] = {};
  for (int i = t; i < 512; i += 128) a[i / 64 * 64 + i % 8 / 4 * 32 + i / 8 % 8 * 4 + i % 4] = ga[i];
  if (t < 64) b[t % 8 / 4 * 32 + t / 8 * 4 + t % 4] = gb[t];
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_tf32_n8(d, descriptor(a), descriptor(b));
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}


#define BYTES(name, type, mma)                                                                                  \
  extern "C" __global__ void name(const unsigned char* ga, const unsigned char* gb, type* out) { /* K = 32 */ \
    __shared__ __align__(1024) unsigned char a[64 * 32];                                                        \
    __shared__ __align__(1024) unsigned char b[8 * 32];                                                         \
    int t = threadIdx.x;                                                                                        \
    type d[4] = {};                                                                                             \
    for (int i = t; i < 2048; i += 128) a[i / 256 * 256 + i % 32 / 16 * 128 + i / 32 % 8 * 16 + i % 16] = ga[i]; \
    for (int i = t; i < 256; i += 128) b[i % 32 / 16 * 128 + i / 32 * 16 + i % 16] = gb[i];                      \
    proxy_fence();                                                                                              \
    __syncthreads();                                                                                            \
    wg_fence();                                                                                                 \
    mma(d, descriptor(a), descriptor(b));                                                                       \
    wg_commit();                                                                                                \
    wg_wait<0>();                                                                                               \
    write_out(out, d, t);                                                                                       \
  }
BYTES(e4m3_product, float, mma_e4m3)
BYTES(s8_product, int, mma_s8_n8)

extern "C" __launch_bounds__(384, 1) __global__ void registers_move(float* out) {  // 128 * 24 + 256 * 240 = 64,512
  if (threadIdx.x < 128)
    fewer_registers<24>();
  else
    more_registers<240>();
  out[threadIdx.x] = 1;
}

extern "C" __launch_bounds__(256, 2) __global__ void registers_move_twice(float* out) {  // two blocks: 128 each
  if (threadIdx.x < 128) {
    fewer_registers<24>();
  } else {
    more_registers<232>();
    fewer_registers<128>();
  }
  out[threadIdx.x] = 1;
}

extern "C" __global__ void one_lane_tells_for_its_warp(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  __shared__ mbar_t empty;
  if (t == 0) mbar_init(&empty, 4);
  __syncthreads();
  for (int i = 0; i < tiles; ++i) {
    FILL(0, i);
    proxy_fence();
    __syncthreads();
    wg_fence();
    MULTIPLY(0);
    wg_commit();
    wg_wait<0>();
    if (t % 32 == 0) arrive(&empty);  // the wait has ended the reads of all lanes of the warp
    wait(&empty, i & 1);
  }
  write_out(out, d, t);
}
