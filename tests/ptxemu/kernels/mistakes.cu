// Kernels with one mistake each, in unusual styles. "// here" marks the line that the finding must name, "// other" the second party.
// test_styles.py has launches and expectations.
#include "async_ops.cuh"
#include "cluster_ops.cuh"
#include "wgmma_ops.cuh"
#define map_t const __grid_constant__ CUtensorMap

extern "C" __global__ void single_try(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  if (t == 0) { arrive_expect(&b, 1024); load2(tile, &a, 0, 0, &b); }
  try_wait(&b, 0);
  out[t] = tile[t / 32][t % 32];  // here
}

extern "C" __global__ void flag_after_read_wait(map_t c, const float* cread, float* out, unsigned* flag) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    tile[t / 32][t % 32] = t;
    fence_async();
    __syncthreads();
    if (t == 0) {
      store2(&c, 0, 0, tile); commit_bulk(); wait_bulk_read<0>();  // other
      __threadfence();
      raise_flag(flag);
    }
  } else {
    if (t == 0) await(flag, 1);
    __syncthreads();
    out[t] = cread[t];  // here
  }
}

extern "C" __global__ void read_back(map_t c, const float* cread, float* out) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;
  fence_async();
  __syncthreads();
  if (t == 0) { store2(&c, 0, 0, tile); commit_bulk(); wait_bulk_read<0>(); }  // other
  __syncthreads();
  out[t] = cread[t];  // here
}

extern "C" __global__ void workspace_without_proxy_fence(map_t w, float* wp, float* out, unsigned* flag) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    wp[t] = t;  // other
    __syncthreads();
    if (t == 0) { __threadfence(); raise_flag(flag); }
  } else {
    init_one(&b, 1);
    if (t == 0) {
      await(flag, 1);
      arrive_expect(&b, 1024);
      load2(tile, &w, 0, 0, &b);  // here
    }
    wait(&b, 0);
    out[t] = tile[t / 32][t % 32];
  }
}

extern "C" __global__ void workspace_shared_fences(map_t w, float* wp, float* out, unsigned* flag) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    wp[t] = t;  // other
    fence_async();
    __syncthreads();
    if (t == 0) raise_flag(flag);
  } else {
    init_one(&b, 1);
    if (t == 0) {
      await(flag, 1);
      fence_async();
      arrive_expect(&b, 1024);
      load2(tile, &w, 0, 0, &b);  // here
    }
    wait(&b, 0);
    out[t] = tile[t / 32][t % 32];
  }
}

extern "C" __global__ void workspace_fences_too_early(map_t w, float* wp, float* out, unsigned* flag) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    asm volatile("fence.proxy.async;" ::: "memory");
    wp[t] = t;  // other
    __syncthreads();
    if (t == 0) raise_flag(flag);
  } else {
    init_one(&b, 1);
    if (t == 0) {
      asm volatile("fence.proxy.async;" ::: "memory");
      await(flag, 1);
      arrive_expect(&b, 1024);
      load2(tile, &w, 0, 0, &b);  // here
    }
    wait(&b, 0);
    out[t] = tile[t / 32][t % 32];
  }
}

extern "C" __global__ void second_round_without_fence(map_t w, float* wp, float* out, unsigned* flag, int rounds) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    for (int i = 0; i < rounds; ++i) {
      wp[256 * i + t] = t;  // other
      if (i == 0) asm volatile("fence.proxy.async;" ::: "memory");
      __syncthreads();
      if (t == 0) raise_flag(flag + i);
    }
  } else {
    init_one(&b, 1);
    for (int i = 0; i < rounds; ++i) {
      if (t == 0) {
        await(flag + i, 1);
        arrive_expect(&b, 1024);
        load2(tile, &w, 0, 8 * i, &b);  // here
      }
      wait(&b, i & 1);
      out[256 * i + t] = tile[t / 32][t % 32];
      fence_async();
      __syncthreads();
    }
  }
}

extern "C" __global__ void one_writer_fences(map_t w, float* wp, float* out, unsigned* flag) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    wp[t] = t;  // other
    if (t == 0) asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) raise_flag(flag);
  } else {
    init_one(&b, 1);
    if (t == 0) {
      await(flag, 1);
      arrive_expect(&b, 1024);
      load2(tile, &w, 0, 0, &b);  // here
    }
    wait(&b, 0);
    out[t] = tile[t / 32][t % 32];
  }
}

extern "C" __global__ void zeros_then_tensor_store(map_t w, float* wp, float* out) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  wp[t] = 0;  // other
  tile[t / 32][t % 32] = t;
  fence_async();
  __syncthreads();
  if (t == 0) { store2(&w, 0, 0, tile); commit_bulk(); wait_bulk<0>(); }  // here
  __syncthreads();
  out[t] = wp[t];
}

extern "C" __global__ void own_global_then_tma(map_t w, float* wp, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  wp[t] = t;  // other
  __syncthreads();
  if (t == 0) { arrive_expect(&b, 1024); load2(tile, &w, 0, 0, &b); }  // here
  wait(&b, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void flips_each_turn(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[3][8][32];
  __shared__ mbar_t full[3];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 3; ++i) mbar_init(&full[i], 1); fence_init(); }
  __syncthreads();
  float sum = 0;
  int phase = 0;
  if (t == 0) for (int i = 0; i < 3; ++i) { arrive_expect(&full[i], 1024); load2(tile[i], &a, 0, 8 * i, &full[i]); }
  for (int i = 0; i < tiles; ++i, phase ^= 1) {
    wait(&full[i % 3], phase);
    sum += tile[i % 3][t / 32][t % 32];  // here
    fence_async();
    __syncthreads();
    if (t == 0 && i + 3 < tiles) { arrive_expect(&full[i % 3], 1024); load2(tile[i % 3], &a, 0, 8 * (i + 3), &full[i % 3]); }
  }
  out[t] = sum;
}

extern "C" __global__ void one_group_releases(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 1), mbar_init(&empty[i], 4); fence_init(); }
  __syncthreads();
  if (t >= 256) {
    if (t == 256) for (int i = 0; i < tiles; ++i) { wait(&empty[i % 2], (i / 2 + 1) & 1); arrive_expect(&full[i % 2], 1024); load2(tile[i % 2], &a, 0, 8 * i, &full[i % 2]); }  // here
    return;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    wait(&full[i % 2], i / 2 & 1);
    sum += tile[i % 2][t / 32][t % 32];
    fence_async();
    __syncwarp();
    if (t < 128 && t % 32 == 0) arrive(&empty[i % 2]);
  }
  out[t] = sum;
}

extern "C" __global__ void used_after_inval(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  for (int i = 0; i < 2; ++i) {
    if (t == 0) { arrive_expect(&b, 1024); load2(tile, &a, 0, 8 * i, &b); }  // here
    wait(&b, i);
    out[256 * i + t] = tile[t / 32][t % 32];
    fence_async();
    __syncthreads();
    if (t == 0) mbar_inval(&b);
    __syncthreads();
  }
}

extern "C" __global__ void each_warp_elects(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  if (elect()) { arrive_expect(&b, 1024); load2(tile, &a, 0, 0, &b); }  // here
  wait(&b, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void tail_commit(const float* a, float* out, int tiles) {
  __shared__ alignas(16) float s[2][256];
  int t = threadIdx.x;
  copy4(&s[0][t], a + t); commit();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) { copy4(&s[(i + 1) % 2][t], a + 256 * (i + 1) + t); commit(); }
    wait<1>();
    __syncthreads();
    sum += s[i % 2][255 - t];  // here
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void reuse_without_all(map_t c, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    if (t < 128) { if (t == 0) wait_bulk_read<0>(); bar(1, 128); }
    tile[t / 32][t % 32] = i + t;  // here
    fence_async();
    bar(2, 256);
    if (t == 0) { store2(&c, 0, 8 * i, tile); commit_bulk(); }
  }
  if (t == 0) wait_bulk<0>();
}

extern "C" __global__ void stmatrix_partial_barrier(map_t c) {
  __shared__ alignas(128) half_t tile[8 * 64];
  int t = threadIdx.x, w = t / 32, l = t % 32;
  stmatrix2(&tile[(l % 8) * 64 + 16 * w + 8 * (l / 8 % 2)], 0x10001u * t, 0x20002u * t);
  fence_async();
  if (w < 2) bar(1, 64);
  if (t == 0) { store2(&c, 0, 0, tile); commit_bulk(); wait_bulk<0>(); }  // here
}

extern "C" __global__ void cp_async_over_wgmma(const half_t* ga, const half_t* gb, float* out, int tiles) {
  __shared__ __align__(1024) half_t a[2][1024]; __shared__ __align__(1024) half_t b[2][128];
  int t = threadIdx.x; float d[4] = {};
  auto fetch = [&](int i) { copy16(&a[i % 2][8 * t], ga + 1024 * i + 8 * t); if (t < 16) copy16(&b[i % 2][8 * t], gb + 128 * i + 8 * t); commit(); };
  fetch(0);
  for (int i = 0; i < tiles; ++i) {
    wait<0>(); proxy_fence(); __syncthreads();
    wg_fence(); mma_f16(d, descriptor(a[i % 2]), descriptor(b[i % 2])); wg_commit();
    if (i + 1 < tiles) fetch(i + 1);  // here
    wg_wait<1>();
  }
  wg_wait<0>();
  write_out(out, d, t);
}

extern "C" __global__ void cp_async_no_proxy_fence(const half_t* ga, const half_t* gb, float* out) {
  __shared__ __align__(1024) half_t a[1024]; __shared__ __align__(1024) half_t b[128];
  int t = threadIdx.x; float d[4] = {};
  copy16(&a[8 * t], ga + 8 * t); if (t < 16) copy16(&b[8 * t], gb + 8 * t); commit(); wait<0>();
  __syncthreads();
  wg_fence(); mma_f16(d, descriptor(a), descriptor(b)); wg_commit(); wg_wait<0>();  // here
  write_out(out, d, t);
}

extern "C" __cluster_dims__(2, 1, 1) __global__ void slot_reused(const float* a, float* out, int rounds) {
  __shared__ float part[32];
  __shared__ mbar_t done;
  int t = threadIdx.x, r = my_rank();
  if (t == 0) mbar_init(&done, 32), fence_init();
  meet();
  float sum = 0;
  for (int i = 0; i < rounds; ++i) {
    if (r == 1) { store(peer(&part[t], 0), a[32 * i + t]); arrive_at(&done, 0); }  // here
    else { wait(&done, i & 1); sum += part[31 - t]; }
  }
  if (r == 0) out[t] = sum;
  meet();
}

extern "C" __cluster_dims__(2, 1, 1) __global__ void forgot_mapa(const float* a, float* out) {
  __shared__ mbar_t done;
  int t = threadIdx.x, r = my_rank();
  if (t == 0) mbar_init(&done, 32), fence_init();
  meet();
  if (r == 1) arrive(&done);
  else { wait(&done, 0); out[t] = a[t]; }  // here
  meet();
}

extern "C" __cluster_dims__(2, 1, 1) __global__ void only_rank0_expects(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x, r = my_rank();
  if (t == 0) mbar_init(&b, 1), fence_init();
  meet();
  if (r == 0 && t == 0) { arrive_expect(&b, 1024); load2_to(tile, &a, 0, 0, &b, 3); }
  wait(&b, 0);  // here
  out[256 * r + t] = tile[t / 32][t % 32];
  meet();
}

extern "C" __global__ void barrier_zero_of_a_part(const float* a, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = a[t];
  if (t < 128) bar(0, 128);
  out[t] = s[255 - t];  // here
}

extern "C" __global__ void reduce_and_plain(map_t c, float* cp) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    tile[t / 32][t % 32] = 1;
    fence_async();
    __syncthreads();
    if (t == 0) { reduce2(&c, 0, 0, tile); commit_bulk(); wait_bulk<0>(); }  // here
  } else cp[t] += 1;  // here
}

extern "C" __global__ void overlapping_stores(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t + blockIdx.x;
  fence_async();
  __syncthreads();
  if (t == 0) { store2(&c, 0, 4 * blockIdx.x, tile); commit_bulk(); wait_bulk<0>(); }  // here
}

extern "C" __global__ void lane_releases_early(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 1), mbar_init(&empty[i], 8); fence_init(); }
  __syncthreads();
  if (t >= 256) {
    if (t == 256) for (int i = 0; i < tiles; ++i) { wait(&empty[i % 2], (i / 2 + 1) & 1); arrive_expect(&full[i % 2], 1024); load2(tile[i % 2], &a, 0, 8 * i, &full[i % 2]); }  // here
    return;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    wait(&full[i % 2], i / 2 & 1);
    sum += tile[i % 2][t / 32][t % 32];
    fence_async();
    if (t % 32 == 0) arrive(&empty[i % 2]);
  }
  out[t] = sum;
}

extern "C" __global__ void half_group(const half_t* ga, const half_t* gb, float* out) {
  __shared__ __align__(1024) half_t a[1024]; __shared__ __align__(1024) half_t b[128];
  int t = threadIdx.x; float d[4] = {};
  store_tile<64>(a, ga, t); store_tile<8>(b, gb, t);
  proxy_fence(); __syncthreads();
  if (t < 64) { wg_fence(); mma_f16(d, descriptor(a), descriptor(b)); wg_commit(); wg_wait<0>(); }  // here
  write_out(out, d, t);
}

extern "C" __cluster_dims__(2, 1, 1) __global__ void own_consumers_only(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x, r = my_rank();
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 1), mbar_init(&empty[i], 8); fence_init(); }
  meet();
  if (t >= 256) {
    if (t == 256) for (int i = 0; i < tiles; ++i) {
      wait(&empty[i % 2], (i / 2 + 1) & 1);
      arrive_expect(&full[i % 2], 1024);
      load2_to(&tile[i % 2][4 * r], &a, 0, 8 * i + 4 * r, &full[i % 2], 3);  // here
    }
  } else {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 & 1);
      sum += tile[i % 2][t / 32][t % 32];
      fence_async();
      __syncwarp();
      if (t % 32 == 0) arrive(&empty[i % 2]);
    }
    out[256 * r + t] = sum;
  }
  meet();
}

extern "C" __global__ void copies_after_noinc(const float* a, float* out) {
  __shared__ alignas(16) float s[2][128];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  init_one(&full, 32);
  if (t < 32) { cp_async16(&s[0][4 * t], a + 4 * t); copies_arrive_noinc(&full); cp_async16(&s[1][4 * t], a + 128 + 4 * t); }
  wait(&full, 0);
  out[t] = s[0][t % 128] + s[1][t % 128];  // here
}

extern "C" __global__ void stmatrix_then_ldmatrix(unsigned* out) {
  __shared__ alignas(128) half_t s[16 * 64];
  int t = threadIdx.x, w = t / 32, l = t % 32;
  stmatrix2(&s[(l % 16) * 64 + 8 * w], t, t + 1);
  __syncwarp();
  unsigned r[2];
  ldmatrix2(r, &s[(l % 16) * 64 + 8 * (1 - w)]);  // here
  out[t] = r[0] + r[1];
}

extern "C" __global__ void fence_then_late_writer(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  if (t < 128) { tile[t / 32][t % 32] = t; fence_async(); }
  __syncthreads();
  if (t >= 128) tile[t / 32][t % 32] = t;
  __syncthreads();
  if (t == 0) { store2(&c, 0, 0, tile); commit_bulk(); wait_bulk<0>(); }  // here
}
