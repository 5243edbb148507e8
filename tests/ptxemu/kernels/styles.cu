// Correct kernels in unusual styles: the emulator must compute them and find nothing. test_styles.py has launches and results.
#include "async_ops.cuh"
#include "cluster_ops.cuh"
#include "wgmma_ops.cuh"
#define map_t const __grid_constant__ CUtensorMap
__device__ __forceinline__ void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }

// Mbarriers alone, no barrier of the block.
extern "C" __global__ void mbarrier_only(const float* a, float* out, int tiles) {
  __shared__ float s[2][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 32), mbar_init(&empty[i], 32); }
  __syncthreads();
  if (t < 32) for (int i = 0; i < tiles; ++i) {
      wait(&empty[i % 2], (i / 2 + 1) & 1);
      s[i % 2][t] = a[32 * i + t];
      arrive(&full[i % 2]);
    }
  else {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 & 1);
      sum += s[i % 2][63 - t];
      arrive(&empty[i % 2]);
    }
    out[t - 32] = sum;
  }
}

// An mbarrier as the block's barrier, by its state.
extern "C" __global__ void state_barrier(const float* a, float* out) {
  __shared__ float s[64];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (t == 0) mbar_init(&b, 64);
  __syncthreads();
  float x = a[t];
  for (int r = 0; r < 3; ++r) {
    s[t] = x;
    mbar_t st = arrive_state(&b);
    while (!test_wait_state(&b, st)) {}
    x = s[(t + 1) % 64];
    st = arrive_state(&b);
    while (!test_wait_state(&b, st)) {}
  }
  out[t] = x;
}

// A producer warp of cp.async.
extern "C" __global__ void cp_ring(const float* a, float* out, int tiles) {
  __shared__ alignas(16) float s[3][128];
  __shared__ mbar_t full[3], empty[3];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 3; ++i) mbar_init(&full[i], 32), mbar_init(&empty[i], 4); }
  __syncthreads();
  if (t >= 128) {
    int l = t - 128;
    for (int i = 0; i < tiles; ++i) {
      wait(&empty[i % 3], (i / 3 + 1) & 1);
      cp_async16(&s[i % 3][4 * l], a + 128 * i + 4 * l);
      copies_arrive_noinc(&full[i % 3]);
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    wait(&full[i % 3], i / 3 & 1);
    sum += s[i % 3][127 - t];
    __syncwarp();
    if (t % 32 == 0) arrive(&empty[i % 3]);
  }
  out[t] = sum;
}

// Many blocks add into one tile.
extern "C" __global__ void reduce_many(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t + blockIdx.x;
  fence_async();
  __syncthreads();
  if (t == 0) { reduce2(&c, 0, 0, tile); commit_bulk(); wait_bulk<0>(); }
}

// One staging buffer per warpgroup, under named barriers.
extern "C" __global__ void staged_store(map_t c, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  int g = threadIdx.x / 128, t = threadIdx.x % 128;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) wait_bulk_read<0>();
    bar(1 + g, 128);
    for (int j = t; j < 256; j += 128) tile[g][j / 32][j % 32] = 1000 * g + 100 * i + j;
    fence_async();
    bar(1 + g, 128);
    if (t == 0) { store2(&c, 0, 8 * (2 * i + g), tile[g]); commit_bulk(); }
  }
  if (t == 0) wait_bulk<0>();
}

// Sums that meet in one block of the cluster.
extern "C" __cluster_dims__(4, 1, 1) __global__ void dsmem_sum(const float* a, float* out) {
  __shared__ float part[4][32];
  __shared__ mbar_t done;
  int t = threadIdx.x, r = my_rank();
  if (t == 0 && r == 0) mbar_init(&done, 4 * 32), fence_init();
  meet();
  store(peer(&part[r][t], 0), a[32 * blockIdx.x + t]);
  arrive_at(&done, 0);
  if (r == 0) {
    unsigned ok = 0;
    while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sa(&done)) : "memory");
    out[blockIdx.x / 4 * 32 + t] = part[0][t] + part[1][t] + part[2][t] + part[3][t];
  }
}

// A ring of blocks, one meeting per round.
extern "C" __cluster_dims__(4, 1, 1) __global__ void ring_pass(const float* a, float* out) {
  __shared__ float s[2][32];
  int t = threadIdx.x, r = my_rank();
  s[0][t] = a[32 * blockIdx.x + t];
  float sum = s[0][t];
  meet();
  for (int i = 0; i < 3; ++i) {
    float x = load(peer(&s[i % 2][t], (r + 1) % 4));
    sum += x;
    s[(i + 1) % 2][t] = x;
    meet();
  }
  out[32 * blockIdx.x + t] = sum;
}

// Two warpgroups take turns.
extern "C" __global__ void ping_pong(const float* a, float* out, int turns) {
  __shared__ float s[128];
  int g = threadIdx.x / 128, t = threadIdx.x % 128;
  if (g == 1) bar_arrive(1, 256);
  float sum = 0;
  for (int i = 0; i < turns; ++i) {
    bar(1 + g, 256);
    s[t] = a[t] + i + g;
    bar(3 + g, 128);
    sum += s[127 - t];
    bar(3 + g, 128);
    bar_arrive(2 - g, 256);
  }
  if (g == 0) bar(1, 256);
  out[threadIdx.x] = sum;
}

// One lane waits for its warp.
extern "C" __global__ void lane_waits(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 1), mbar_init(&empty[i], 8); fence_init(); }
  __syncthreads();
  if (t >= 256) {
    for (int i = 0; i < tiles; ++i) {
      if (t == 256) wait(&empty[i % 2], (i / 2 + 1) & 1);
      __syncwarp();
      if (elect()) { arrive_expect(&full[i % 2], 1024); load2(tile[i % 2], &a, 0, 8 * i, &full[i % 2]); }
      __syncwarp();
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t % 32 == 0) wait(&full[i % 2], i / 2 & 1);
    __syncwarp();
    sum += tile[i % 2][t / 32][t % 32];
    fence_async();
    __syncwarp();
    if (t % 32 == 31) arrive(&empty[i % 2]);
  }
  out[t] = sum;
}

// The copy starts before its bytes are announced: the count may be negative for a while.
extern "C" __global__ void load_then_expect(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar_;
  int t = threadIdx.x;
  init_one(&bar_, 1);
  if (t == 0) { load2(tile, &a, 0, 0, &bar_); arrive_expect(&bar_, 1024); }
  wait(&bar_, 0);
  out[t] = tile[t / 32][t % 32];
}

// Roles wait at different instructions.
extern "C" __cluster_dims__(2, 1, 1) __global__ void split_cluster(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = a[64 * blockIdx.x + t];
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  if (t < 32) {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    out[64 * blockIdx.x + t] = load(peer(&s[t], my_rank() ^ 1));
  } else {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    out[64 * blockIdx.x + t] = load(peer(&s[t], my_rank() ^ 1)) + 1;
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// Hints, and the fence for all of memory.
extern "C" __global__ void hints(map_t a, map_t c) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  if (t == 0) prefetch_map(&a), prefetch_map(&c);
  init_one(&b, 1);
  if (t == 0) {
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&a), "r"(0), "r"(8) : "memory");
    arrive_expect(&b, 1024);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;"
      ::"r"(sa(tile)), "l"(&a), "r"(0), "r"(0), "r"(sa(&b)), "l"(policy) : "memory");
  }
  wait(&b, 0);
  tile[t / 32][t % 32] += 1;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    unsigned long long policy = 0x12F0000000000000ull;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;"
      ::"l"(&c), "r"(0), "r"(0), "r"(sa(tile)), "l"(policy) : "memory");
    commit_bulk(); wait_bulk<0>();
  }
}

// A tensor store, complete, then a flag.
extern "C" __global__ void store_then_flag(map_t c, const float* cread, float* out, unsigned* flag) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    tile[t / 32][t % 32] = t;
    fence_async();
    __syncthreads();
    if (t == 0) {
      store2(&c, 0, 0, tile); commit_bulk(); wait_bulk<0>();
      asm volatile("fence.proxy.async;" ::: "memory");
      raise_flag(flag);
    }
  } else {
    if (t == 0) await(flag, 1);
    __syncthreads();
    out[t] = cread[t];
  }
}

// Tiles that 256 threads hand out to `out`, one in each round: thread 0 calls bring(tile, barrier, round), which copies it.
template <class Bring>
__device__ __forceinline__ void hand_out(float* out, Bring bring, int rounds = 1) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  for (int i = 0; i < rounds; ++i) {
    if (i > 0) { fence_async(); __syncthreads(); }
    if (t == 0) { arrive_expect(&b, sizeof(tile)); bring(tile, &b, i); }
    wait(&b, i & 1);
    out[256 * i + t] = tile[t / 32][t % 32];
  }
}

// Ordinary stores, fenced, then loaded by TMA in another block.
extern "C" __global__ void workspace_then_tma(map_t w, float* wp, float* out, unsigned* flag) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    wp[t] = t;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) raise_flag(flag);
  } else {
    hand_out(out, [&](void* tile, mbar_t* b, int i) {
      await(flag, 1);
      asm volatile("fence.proxy.async;" ::: "memory");
      load2(tile, &w, 0, 0, b);
    });
  }
}

// Ordinary stores of each round, fenced by their writers; the reader is late and fences nothing.
extern "C" __global__ void rounds_ahead(map_t w, float* wp, float* out, unsigned* flag, int rounds) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    for (int i = 0; i < rounds; ++i) {
      wp[256 * i + t] = 1000 * i + t;
      asm volatile("fence.proxy.async.global;" ::: "memory");
      __syncthreads();
      if (t == 0) raise_flag(flag + i);
    }
  } else {
    hand_out(out, [&](void* tile, mbar_t* b, int i) {
      await(flag + i, 1);
      load2(tile, &w, 0, 8 * i, b);
    }, rounds);
  }
}

// One thread fences for its block, behind the barrier.
extern "C" __global__ void one_fences_for_all(map_t w, float* wp, float* out, unsigned* flag) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    wp[t] = t;
    __syncthreads();
    if (t == 0) {
      asm volatile("fence.proxy.async;" ::: "memory");
      raise_flag(flag);
    }
  } else {
    hand_out(out, [&](void* tile, mbar_t* b, int i) {
      await(flag, 1);
      load2(tile, &w, 0, 0, b);
    });
  }
}

// A third block fences on the way from the writer to the reader; there, another thread than the reader waits for it.
extern "C" __global__ void relay_fences(map_t w, float* wp, float* out, unsigned* flag) {
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    wp[t] = t;
    __syncthreads();
    if (t == 0) raise_flag(flag);
  } else if (blockIdx.x == 1) {
    if (t == 32) {
      await(flag, 1);
      asm volatile("fence.proxy.async.global;" ::: "memory");
      raise_flag(flag + 1);
    }
  } else {
    if (t == 64) await(flag + 1, 1);
    __syncthreads();
    hand_out(out, [&](void* tile, mbar_t* b, int i) { load2(tile, &w, 0, 0, b); });
  }
}

// A block's own workspace: stored by threads, fenced, loaded by TMA, stored by TMA.
extern "C" __global__ void own_workspace(map_t w, float* wp, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  wp[t] = t;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    arrive_expect(&b, 1024);
    load2(tile, &w, 0, 0, &b);
  }
  wait(&b, 0);
  tile[t / 32][t % 32] += 1;
  fence_async();
  __syncthreads();
  if (t == 0) { store2(&w, 0, 0, tile); commit_bulk(); wait_bulk<0>(); }
  __syncthreads();
  out[t] = wp[t];
}

// A counter with release and acquire.
extern "C" __global__ void red_release(const float* a, float* part, float* out, unsigned* count) {
  int t = threadIdx.x;
  part[32 * blockIdx.x + t] = a[32 * blockIdx.x + t];
  __syncwarp();
  if (t == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
  if (blockIdx.x == 0) {
    if (t == 0) await(count, gridDim.x);
    __syncwarp();
    float s = 0;
    for (int i = 0; i < gridDim.x; ++i) s += part[32 * i + t];
    out[t] = s;
  }
}

// Test_wait with a pause.
extern "C" __global__ void backoff(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  if (t == 0) { arrive_expect(&b, 1024); load2(tile, &a, 0, 0, &b); }
  unsigned ok = 0;
  while (true) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sa(&b)) : "memory");
    if (ok) break;
    __nanosleep(20);
  }
  out[t] = tile[t / 32][t % 32];
}

// Load, change in place, store, in one buffer.
extern "C" __global__ void in_place_transform(map_t a, map_t c, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t b;
  int t = threadIdx.x;
  init_one(&b, 1);
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) { wait_bulk_read<0>(); arrive_expect(&b, 1024); load2(tile, &a, 0, 8 * i, &b); }
    wait(&b, i & 1);
    float x = tile[7 - t / 32][31 - t % 32];
    __syncthreads();
    tile[t / 32][t % 32] = x;
    fence_async();
    __syncthreads();
    if (t == 0) { store2(&c, 0, 8 * i, tile); commit_bulk(); }
  }
  if (t == 0) wait_bulk<0>();
}

// Two producers for one stage.
extern "C" __global__ void two_producers(map_t a, map_t b, float* out, int tiles) {
  __shared__ alignas(128) float ta[2][8][32], tb[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 2), mbar_init(&empty[i], 8); fence_init(); }
  __syncthreads();
  if (t == 256 || t == 288) {
    for (int i = 0; i < tiles; ++i) {
      int s = i % 2;
      wait(&empty[s], (i / 2 + 1) & 1);
      arrive_expect(&full[s], 1024);
      load2(t == 256 ? ta[s] : tb[s], t == 256 ? &a : &b, 0, 8 * i, &full[s]);
    }
  } else if (t < 256) {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      int s = i % 2;
      wait(&full[s], i / 2 & 1);
      sum += ta[s][t / 32][t % 32] * tb[s][t / 32][t % 32];
      fence_async();
      __syncwarp();
      if (t % 32 == 0) arrive(&empty[s]);
    }
    out[t] = sum;
  }
}

// A tile that TMA swizzled by 64 bytes, read by ldmatrix.
extern "C" __global__ void tma64_ldmatrix(map_t a, map_t b, float* out) {
  __shared__ alignas(1024) half_t sa_[16 * 32], sb_[8 * 32];
  __shared__ mbar_t bar_;
  int t = threadIdx.x;
  init_one(&bar_, 1);
  if (t == 0) { arrive_expect(&bar_, 1024 + 512); load2(sa_, &a, 0, 0, &bar_); load2(sb_, &b, 0, 0, &bar_); }
  wait(&bar_, 0);
  float c[4] = {};
  for (int k = 0; k < 2; ++k) {
    unsigned fa[4], fb[2];
    int row = t % 16, ch = 2 * k + t / 16;
    int addr = row * 4 + ch; addr ^= (addr >> 3) & 3;
    ldmatrix4(fa, (char*)sa_ + 16 * addr);
    row = t % 8, ch = 2 * k + (t / 8 % 2);
    addr = row * 4 + ch; addr ^= (addr >> 3) & 3;
    ldmatrix2(fb, (char*)sb_ + 16 * addr);
    mma(c, fa, fb[0], fb[1]);
  }
  int r = t / 4, col = t % 4 * 2;
  out[r * 8 + col] = c[0]; out[r * 8 + col + 1] = c[1]; out[(r + 8) * 8 + col] = c[2]; out[(r + 8) * 8 + col + 1] = c[3];
}

// A warpgroup fills a ring by ordinary stores, another multiplies from it.
extern "C" __global__ void wg_ring(const half_t* ga, const half_t* gb, float* out, int tiles) {
  __shared__ __align__(1024) half_t a[2][1024]; __shared__ __align__(1024) half_t b[2][128];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 128), mbar_init(&empty[i], 128); }
  __syncthreads();
  if (t >= 128) {
    t -= 128;
    for (int i = 0; i < tiles; ++i) {
      wait(&empty[i % 2], (i / 2 + 1) & 1);
      store_tile<64>(a[i % 2], ga + 1024 * i, t); store_tile<8>(b[i % 2], gb + 128 * i, t);
      proxy_fence();
      arrive(&full[i % 2]);
    }
  } else {
    float d[4] = {};
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 & 1);
      wg_fence(); mma_f16(d, descriptor(a[i % 2]), descriptor(b[i % 2])); wg_commit();
      wg_wait<1>();
      if (i) arrive(&empty[(i + 1) % 2]);
    }
    wg_wait<0>();
    write_out(out, d, t);
  }
}

// The same, stages given back by relaxed arrivals, one per warp.
extern "C" __global__ void wg_ring_relaxed(const half_t* ga, const half_t* gb, float* out, int tiles) {
  __shared__ __align__(1024) half_t a[2][1024]; __shared__ __align__(1024) half_t b[2][128];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 128), mbar_init(&empty[i], 4); }
  __syncthreads();
  if (t >= 128) {
    t -= 128;
    for (int i = 0; i < tiles; ++i) {
      wait(&empty[i % 2], (i / 2 + 1) & 1);
      store_tile<64>(a[i % 2], ga + 1024 * i, t); store_tile<8>(b[i % 2], gb + 128 * i, t);
      proxy_fence();
      arrive(&full[i % 2]);
    }
  } else {
    float d[4] = {};
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 & 1);
      wg_fence(); mma_f16(d, descriptor(a[i % 2]), descriptor(b[i % 2])); wg_commit();
      wg_wait<0>();
      if (t % 32 == 0) arrive_relaxed(&empty[i % 2]);
    }
    write_out(out, d, t);
  }
}

// C goes out through a stage of the ring.
extern "C" __global__ void stage_as_staging(map_t am, map_t c, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2];
  int t = threadIdx.x;
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 1); fence_init(); }
  __syncthreads();
  if (t == 0) for (int i = 0; i < 2 && i < tiles; ++i) { arrive_expect(&full[i], 1024); load2(tile[i], &am, 0, 8 * i, &full[i]); }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    wait(&full[i % 2], i / 2 & 1);
    sum += tile[i % 2][t / 32][t % 32];
    __syncthreads();
    if (t == 0 && i + 2 < tiles) { fence_async(); arrive_expect(&full[i % 2], 1024); load2(tile[i % 2], &am, 0, 8 * (i + 2), &full[i % 2]); }
  }
  tile[0][t / 32][t % 32] = sum;
  fence_async();
  __syncthreads();
  if (t == 0) { store2(&c, 0, 0, tile[0]); commit_bulk(); wait_bulk<0>(); }
}

// Two blocks share their tiles, and wait for each other's readers.
extern "C" __cluster_dims__(2, 1, 1) __global__ void multicast_ring(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x, r = my_rank();
  if (t == 0) { for (int i = 0; i < 2; ++i) mbar_init(&full[i], 1), mbar_init(&empty[i], 16); fence_init(); }
  meet();
  if (t >= 256) {
    if (t == 256) for (int i = 0; i < tiles; ++i) {
      unsigned ok = 0;
      while (!ok) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(sa(&empty[i % 2])), "r"((i / 2 + 1) & 1) : "memory");
      arrive_expect(&full[i % 2], 1024);
      load2_to(&tile[i % 2][4 * r], &a, 0, 8 * i + 4 * r, &full[i % 2], 3);
    }
  } else {
    float sum = 0;
    for (int i = 0; i < tiles; ++i) {
      wait(&full[i % 2], i / 2 & 1);
      sum += tile[i % 2][t / 32][t % 32];
      fence_async();
      __syncwarp();
      if (t % 32 < 2) arrive_at(&empty[i % 2], t % 32);
    }
    out[256 * r + t] = sum;
  }
  meet();
}

// Atomics through pointers into other blocks.
extern "C" __cluster_dims__(4, 1, 1) __global__ void remote_atomics(const int* v, int* out) {
  __shared__ int count[32];
  int t = threadIdx.x;
  count[t] = 0;
  meet();
  int* p = (int*)peer_pointer((float*)&count[v[32 * blockIdx.x + t] % 32], v[32 * blockIdx.x + t] / 32 % 4);
  atomicAdd(p, 1);
  meet();
  out[32 * blockIdx.x + t] = count[t];
}
