// Kernels with one mistake each around wgmma. "// here" marks the line that the finding must name, "// other" the second
// party. broken_wgmma_cases.py has launches and expectations.
#include "async_ops.cuh"
#include "wgmma_ops.cuh"

#define TILES                                      \
  __shared__ __align__(1024) half_t a[2][64 * 16]; \
  __shared__ __align__(1024) half_t b[2][8 * 16];  \
  int t = threadIdx.x;                             \
  float d[4] = {};

#define FILL(s, i) store_tile<64>(a[s], ga + 1024 * (i), t), store_tile<8>(b[s], gb + 128 * (i), t)

extern "C" __global__ void no_fence(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void fence_before_the_loop_only(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  wg_fence();
  for (int i = 0; i < tiles; ++i) {
    __syncthreads();
    FILL(0, i);
    proxy_fence();
    __syncthreads();
    mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
    wg_commit();
    wg_wait<0>();
    for (int j = 0; j < 4; ++j) d[j] = d[j] * 0.5f + 1;
  }
  write_out(out, d, t);
}

extern "C" __global__ void no_commit(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // other
  wg_wait<0>();
  out[t] = d[0] + 1;  // here
}

extern "C" __global__ void no_wait(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // other
  wg_commit();
  out[t] = d[0] + 1;  // here
}

extern "C" __global__ void weak_wait(const half_t* ga, const half_t* gb, float* out) {
  TILES
  float e[4] = {};
  FILL(0, 0);
  FILL(1, 1);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));
  wg_commit();
  mma_f16(e, descriptor(a[1]), descriptor(b[1]));  // other
  wg_commit();
  wg_wait<1>();
  out[t] = d[0] + e[0];  // here
}

extern "C" __global__ void single_buffer(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  for (int i = 0; i < tiles; ++i) {
    store_tile<64>(a[0], ga + 1024 * i, t);  // here
    store_tile<8>(b[0], gb + 128 * i, t);    // here
    proxy_fence();
    __syncthreads();
    wg_fence();
    mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // other
    wg_commit();
    __syncthreads();  // no wait: the tiles are still read
  }
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void one_stage_too_few(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  for (int i = 0; i < tiles; ++i) {
    store_tile<64>(a[i & 1], ga + 1024 * i, t);  // here
    store_tile<8>(b[i & 1], gb + 128 * i, t);    // here
    proxy_fence();
    __syncthreads();
    wg_fence();
    mma_f16(d, descriptor(a[i & 1]), descriptor(b[i & 1]));  // other
    wg_commit();
    wg_wait<2>();  // two stages: 1 at most
    __syncthreads();
  }
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void waits_for_its_own_warp(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // other
  wg_commit();
  wg_wait<0>();
  if (t == 0) b[0][3] = 0;  // here (warps 1 to 3 may still multiply)
  write_out(out, d, t);
}

extern "C" __global__ void no_proxy_fence(const half_t* ga, const half_t* gb, float* out) {
  TILES
  store_tile<64>(a[0], ga, t);  // other
  store_tile<8>(b[0], gb, t);   // other
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void proxy_fence_before_the_stores(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  for (int i = 0; i < tiles; ++i) {
    proxy_fence();
    store_tile<64>(a[0], ga + 1024 * i, t);  // other
    store_tile<8>(b[0], gb + 128 * i, t);    // other
    __syncthreads();
    wg_fence();
    mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
    wg_commit();
    wg_wait<0>();
    __syncthreads();
  }
  write_out(out, d, t);
}

extern "C" __global__ void one_thread_fences(const half_t* ga, const half_t* gb, float* out) {
  TILES
  store_tile<64>(a[0], ga, t);  // other
  store_tile<8>(b[0], gb, t);   // other
  if (t == 0) proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void no_barrier_after_the_stores(const half_t* ga, const half_t* gb, float* out) {
  TILES
  store_tile<64>(a[0], ga, t);  // other
  store_tile<8>(b[0], gb, t);   // other
  proxy_fence();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void copies_not_waited_for(const half_t* ga, const half_t* gb, float* out) {
  TILES
  copy16(&a[0][8 * t], ga + 8 * t);  // other
  store_tile<8>(b[0], gb, t);
  commit();
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void part_of_the_tile(const half_t* ga, const half_t* gb, float* out) {
  TILES
  store_tile<56>(a[0], ga, t);
  store_tile<8>(b[0], gb, t);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void past_the_end(const half_t* ga, const half_t* gb, float* out) {
  extern __shared__ __align__(1024) half_t s[];  // B, then A: 256 + 2048 bytes, and A starts 128 bytes too late
  int t = threadIdx.x;
  float d[4] = {};
  for (int i = t; i < 1152; i += 128) s[i] = ga[i];
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(s + 192), descriptor(s));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void descriptor_per_warp(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  FILL(1, 1);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[t / 64]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void scale_per_warp(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]), t >= 32);  // here
  wg_commit();
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void two_warps(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  if (t >= 64) return;
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
  wg_commit();
  wg_wait<0>();
  out[t] = d[0];
}

extern "C" __global__ void warps_miss_each_other(const half_t* ga, const half_t* gb, float* out) {
  TILES
  FILL(0, 0);
  proxy_fence();
  __syncthreads();
  if (t < 64) {
    wg_fence();
    mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // here
    wg_commit();
    wg_wait<0>();
  }
  __syncthreads();  // here
  write_out(out, d, t);
}

extern "C" __global__ void fragment_reused(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  unsigned f[4];
  store_tile<8>(b[0], gb, t);
  proxy_fence();
  __syncthreads();
  load_a(f, ga, t);
  for (int i = 0; i < tiles; ++i) {
    wg_fence();
    mma_rs(d, f, descriptor(b[0]));  // other
    wg_commit();
    for (int j = 0; j < 4; ++j) asm volatile("add.u32 %0, %0, 1;" : "+r"(f[j]));  // here
    wg_wait<0>();
  }
  write_out(out, d, t);
}

extern "C" __global__ void other_warpgroup_still_reads(const half_t* ga, const half_t* gb, float* out) {
  TILES
  if (t < 128) FILL(0, 0);
  proxy_fence();
  __syncthreads();
  wg_fence();
  mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // other
  wg_commit();
  if (t < 128) {
    wg_wait<0>();
    bar(1, 128);
    b[0][t] = 0;  // here (threads 128 to 255 have not waited)
    bar(2, 256);
  } else {
    bar(2, 256);
    wg_wait<0>();
  }
  write_out(out + t / 128 * 512, d, t % 128);
}

extern "C" __launch_bounds__(512, 1) __global__ void too_many_registers(float* out) {  // 128 * 24 + 384 * 240 > 65,536
  if (threadIdx.x < 128)
    fewer_registers<24>();
  else
    more_registers<240>();  // here
  out[threadIdx.x] = 1;
}

extern "C" __launch_bounds__(256, 1) __global__ void nobody_hands_back(float* out) {
  if (threadIdx.x >= 128) more_registers<256>();  // here
  out[threadIdx.x] = 1;
}

extern "C" __launch_bounds__(256, 1) __global__ void up_with_dec(float* out) {
  fewer_registers<24>();
  if (threadIdx.x >= 128) fewer_registers<32>();  // here
  out[threadIdx.x] = 1;
}

extern "C" __launch_bounds__(384) __global__ void blocks_per_sm_unknown(float* out) {
  if (threadIdx.x < 128)
    fewer_registers<40>();  // here
  else
    more_registers<232>();  // here
  out[threadIdx.x] = 1;
}

extern "C" __launch_bounds__(256, 1) __global__ void one_warp_only(float* out) {
  if (threadIdx.x < 32) fewer_registers<24>();  // here
  __syncthreads();  // here
  out[threadIdx.x] = 1;
}

extern "C" __global__ void stage_released_before_the_wait(const half_t* ga, const half_t* gb, float* out, int tiles) {
  TILES
  __shared__ mbar_t full, empty;
  if (t == 0) mbar_init(&full, 1), mbar_init(&empty, 128), fence_init();
  __syncthreads();
  if (t >= 128) {
    for (int i = 0; i < tiles && t == 128; ++i) {
      wait(&empty, i & 1 ^ 1);
      arrive_expect(&full, 2304);
      bulk_load(a[0], ga + 1024 * i, 2048, &full);  // here
      bulk_load(b[0], gb + 128 * i, 256, &full);    // here
    }
    return;
  }
  for (int i = 0; i < tiles; ++i) {
    wait(&full, i & 1);
    wg_fence();
    mma_f16(d, descriptor(a[0]), descriptor(b[0]));  // other
    wg_commit();
    arrive(&empty);
  }
  wg_wait<0>();
  write_out(out, d, t);
}
