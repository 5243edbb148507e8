// Kernels with one mistake each around mbarriers, bulk and tensor copies. "// here" marks the line that the finding must name, "// other"
// the second party. broken_async_cases.py has launches and expectations.
#include "async_ops.cuh"
#define map_t const __grid_constant__ CUtensorMap

extern "C" __global__ void no_wait(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); }  // other
  __syncthreads();
  out[t] = tile[t / 32][t % 32];  // here
}

extern "C" __global__ void no_expect(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive(&bar);
    load2(tile, &a, 0, 0, &bar);  // other
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];  // here
}

extern "C" __global__ void too_few_bytes(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, 512); load2(tile, &a, 0, 0, &bar); }
  wait(&bar, 0);  // here
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void too_many_bytes(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, 2048); load2(tile, &a, 0, 0, &bar); }
  wait(&bar, 0);  // here
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void parity_never_flips(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  float sum = 0;
  init_one(&bar, 1);
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 8 * i, &bar); }  // other
    wait(&bar, 0);
    sum += tile[t / 32][t % 32];  // here
    fence_async();
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void wrong_first_parity(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); }  // other
  wait(&bar, 1);
  out[t] = tile[t / 32][t % 32];  // here
}

extern "C" __global__ void one_phase_too_far(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
  wait(&bar, 1);  // here
}

extern "C" __global__ void init_in_the_loop(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) {
      mbar_init(&bar, 1);  // here
      fence_init();
      arrive_expect(&bar, sizeof tile);
      load2(tile, &a, 0, 8 * i, &bar);
    }
    __syncthreads();
    wait(&bar, 0);
    sum += tile[t / 32][t % 32];
    fence_async();
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void every_thread_arrives(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t < 32) arrive_expect(&bar, t ? 0 : sizeof tile);  // here
  if (t == 0) load2(tile, &a, 0, 0, &bar);
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void arrivals_without_waits(float* out) {
  __shared__ mbar_t bar;
  init_one(&bar, 1);
  arrive(&bar);  // here
  out[threadIdx.x] = 1;
}

extern "C" __global__ void count_exceeds_pending(float* out) {
  __shared__ mbar_t bar;
  init_one(&bar, 2);
  if (threadIdx.x == 0) arrive_count(&bar, 3);  // here
  wait(&bar, 0);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void no_complete_completes(float* out) {
  __shared__ mbar_t bar;
  init_one(&bar, 2);
  if (threadIdx.x == 0) arrive_no_complete(&bar, 2);  // here
  wait(&bar, 0);
  out[threadIdx.x] = 1;
}

extern "C" __global__ void never_initialised(float* out) {
  __shared__ mbar_t bar;
  if (threadIdx.x == 0) arrive_expect(&bar, 16);  // here
  out[threadIdx.x] = 1;
}

extern "C" __global__ void no_sync_after_init(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  if (t == 0) {
    mbar_init(&bar, 1);  // other
    fence_init();
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 0, 0, &bar);
  }
  wait(&bar, 0);  // here
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void no_fence_after_init(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  if (t == 0) mbar_init(&bar, 1);  // other
  __syncthreads();
  if (t == 0) {
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 0, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void member_not_aligned(map_t a, float* out) {
  struct Memory { float s[16]; float tile[8][32]; };
  __shared__ alignas(128) Memory m;
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, sizeof m.tile);
    load2(m.tile, &a, 0, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = 0;
}

extern "C" __global__ void past_shared_memory(map_t a, float* out) {
  __shared__ mbar_t bar;
  extern __shared__ __align__(128) float tile[];
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, 1024);
    load2(tile, &a, 0, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = 0;
}

extern "C" __global__ void past_the_array(const float* a, float* out) {
  __shared__ alignas(16) float s[256];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, 1024);
    bulk_load(s, a, 1024, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = 0;
}

extern "C" __global__ void store_without_fence(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;  // other
  __syncthreads();
  if (t == 0) {
    store2(&c, 0, 0, tile);  // here
    commit_bulk();
    wait_bulk<0>();
  }
}

extern "C" __global__ void only_one_thread_fences(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;  // other
  if (t == 0) fence_async();
  __syncthreads();
  if (t == 0) {
    store2(&c, 0, 0, tile);  // here
    commit_bulk();
    wait_bulk<0>();
  }
}

extern "C" __global__ void fence_before_the_store(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  fence_async();
  tile[t / 32][t % 32] = t;  // other
  __syncthreads();
  if (t == 0) {
    store2(&c, 0, 0, tile);  // here
    commit_bulk();
    wait_bulk<0>();
  }
}

extern "C" __global__ void fence_by_the_issuer(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;  // other
  __syncthreads();
  if (t == 0) {
    fence_async();
    store2(&c, 0, 0, tile);  // here
    commit_bulk();
    wait_bulk<0>();
  }
}

extern "C" __global__ void no_barrier_before_the_store(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;  // other
  fence_async();
  if (t == 0) {
    store2(&c, 0, 0, tile);  // here
    commit_bulk();
    wait_bulk<0>();
  }
}

extern "C" __global__ void refill_over_readers(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2];
  int t = threadIdx.x;
  float sum = 0;
  if (t == 0) { mbar_init(&full[0], 1); mbar_init(&full[1], 1); fence_init(); }
  __syncthreads();
  for (int i = 0; i <= tiles; ++i) {
    if (t == 0 && i < tiles) {
      arrive_expect(&full[i & 1], sizeof tile[0]);
      load2(tile[i & 1], &a, 0, 8 * i, &full[i & 1]);  // here
    }
    if (i > 0) {
      wait(&full[(i - 1) & 1], ((i - 1) / 2) & 1);
      sum += tile[(i - 1) & 1][t / 32][t % 32];  // other
    }
    fence_async();
  }
  out[t] = sum;
}

extern "C" __global__ void refill_without_fence(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  float sum = 0;
  init_one(&bar, 1);
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) {
      arrive_expect(&bar, sizeof tile);
      load2(tile, &a, 0, 8 * i, &bar);  // here
    }
    wait(&bar, i & 1);
    sum += tile[t / 32][t % 32];  // other
    __syncthreads();
  }
  out[t] = sum;
}

extern "C" __global__ void source_reused(map_t c, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    tile[t / 32][t % 32] = 256 * i + t;  // here
    fence_async();
    __syncthreads();
    if (t == 0) {
      store2(&c, 0, 8 * i, tile);  // other
      commit_bulk();
    }
    __syncthreads();
  }
  if (t == 0) wait_bulk<0>();
}

extern "C" __global__ void no_barrier_after_read(map_t c, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  for (int i = 0; i < tiles; ++i) {
    tile[t / 32][t % 32] = 256 * i + t;  // here
    fence_async();
    __syncthreads();
    if (t == 0) {
      store2(&c, 0, 8 * i, tile);  // other
      commit_bulk();
      wait_bulk_read<0>();
    }
  }
}

extern "C" __global__ void load_over_store(map_t a, map_t c, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  tile[t / 32][t % 32] = t;
  fence_async();
  __syncthreads();
  if (t == 0) {
    store2(&c, 0, 0, tile);  // other
    commit_bulk();
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 0, 0, &bar);  // here
    wait_bulk<0>();
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void store_left_behind(map_t c) {
  __shared__ alignas(128) float tile[8][32];
  int t = threadIdx.x;
  tile[t / 32][t % 32] = t;
  fence_async();
  __syncthreads();
  if (t == 0) {
    store2(&c, 0, 0, tile);  // here
    commit_bulk();
  }
}

extern "C" __global__ void load_left_behind(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  init_one(&bar, 1);
  if (threadIdx.x == 0) {
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 0, 0, &bar);  // here
  }
  out[threadIdx.x] = 0;
}

extern "C" __global__ void map_copied_to_local(CUtensorMap a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 0, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void map_without_acquire(const CUtensorMap* a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, sizeof tile);
    load2(tile, a, 0, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void through_this_map(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 0, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void always_slot_zero(map_t a, float* out) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ mbar_t full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) { mbar_init(&full[s], 1); mbar_init(&empty[s], 256); }
    fence_init();
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (t == 0) {
      wait(&empty[0], 1);  // here
      arrive_expect(&full[0], sizeof tile[0]);
      load2(tile[0], &a, 0, 8 * i, &full[0]);
    }
    wait(&full[0], 0);
    sum += tile[0][t / 32][t % 32];
    fence_async();
    arrive(&empty[0]);
    wait(&empty[0], 0);
  }
  out[t] = sum;
}

extern "C" __global__ void half_the_consumers_arrive(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t full, empty;
  int t = threadIdx.x;
  if (t == 0) { mbar_init(&full, 1); mbar_init(&empty, 256); fence_init(); }
  __syncthreads();
  for (int i = 0; i < 2; ++i) {
    if (t == 0) {
      wait(&empty, (i + 1) & 1);  // here
      arrive_expect(&full, sizeof tile);
      load2(tile, &a, 0, 8 * i, &full);
    }
    wait(&full, i & 1);
    out[t] = tile[t / 32][t % 32];
    fence_async();
    if (t < 128) arrive(&empty);
  }
}

extern "C" __global__ void half_do_not_wait(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); }  // other
  if (t < 128) wait(&bar, 0);
  float v = tile[t / 32][t % 32];  // here
  out[t] = v;
}

extern "C" __global__ void copy_after_the_arrive(const float* a, float* out) {
  __shared__ alignas(16) float s[2][256];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  if (t == 0) mbar_init(&full, 64);
  __syncthreads();
  cp_async16(&s[0][4 * t], a + 4 * t);
  copies_arrive_noinc(&full);
  cp_async16(&s[1][4 * t], a + 256 + 4 * t);  // other
  wait(&full, 0);
  out[t] = s[0][255 - t] + s[1][255 - t];  // here
}

extern "C" __global__ void no_wait_for_async_copies(const float* a, float* out) {
  __shared__ alignas(16) float s[256];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  if (t == 0) mbar_init(&full, 64);
  __syncthreads();
  cp_async16(&s[4 * t], a + 4 * t);  // other
  copies_arrive_noinc(&full);
  __syncthreads();
  out[t] = s[255 - t];  // here
}

extern "C" __global__ __cluster_dims__(2, 1, 1) void multicast_without_cluster_sync(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  init_one(&full, 1);
  if (t == 0) {
    arrive_expect(&full, sizeof tile);
    if (cluster_rank() == 0) load2_to(tile, &a, 0, 0, &full, 3);  // here
  }
  wait(&full, 0);
  out[256 * blockIdx.x + t] = tile[t / 32][t % 32];
}

extern "C" __global__ __cluster_dims__(2, 1, 1) void peer_still_reads(map_t a, float* out, int tiles) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  float sum = 0;
  if (t == 0) { mbar_init(&full, 1); fence_init(); }
  cluster_sync();
  for (int i = 0; i < tiles; ++i) {
    if (t == 0) arrive_expect(&full, sizeof tile);
    if (t == 0 && cluster_rank() == 0) load2_to(tile, &a, 0, 8 * i, &full, 3);  // here
    wait(&full, i & 1);
    sum += tile[t / 32][t % 32];  // other
    fence_async();
    __syncthreads();
  }
  out[256 * blockIdx.x + t] = sum;
  cluster_sync();
}

extern "C" __global__ void tile_over_barrier(map_t a, float* out) {
  __shared__ struct alignas(128) { float tile[8][32]; mbar_t bar; } m;
  int t = threadIdx.x;
  init_one(&m.bar, 1);
  if (t == 0) { arrive_expect(&m.bar, sizeof m.tile); load2(m.tile, &a, 0, 0, &m.bar); }
  wait(&m.bar, 0);
  float v = m.tile[t / 32][t % 32];
  fence_async();
  __syncthreads();
  (&m.tile[0][0])[t + 1] = v;  // here
  __syncthreads();
  out[t] = m.tile[t / 32][t % 32];
}

extern "C" __global__ void copy_over_barrier(const float* a, float* out) {
  __shared__ struct alignas(128) { float tile[256]; mbar_t bar[2]; } m;
  int t = threadIdx.x;
  init_one(&m.bar[0], 1);
  if (t == 0) {
    arrive_expect(&m.bar[0], 1040);
    bulk_load(m.tile, a, 1040, &m.bar[0]);  // here
  }
  wait(&m.bar[0], 0);
  out[t] = m.tile[t];
}

extern "C" __global__ void map_changed_in_flight(CUtensorMap* a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    acquire_map(a);
    arrive_expect(&bar, sizeof tile);
    load2(tile, a, 0, 0, &bar);  // other
    ((volatile CUtensorMap*)a)->opaque[1] = ((volatile CUtensorMap*)a)->opaque[1];  // here
    wait(&bar, 0);
  }
  __syncthreads();
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void odd_column(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) {
    arrive_expect(&bar, sizeof tile);
    load2(tile, &a, 3, 0, &bar);  // here
  }
  wait(&bar, 0);
  out[t] = tile[t / 32][t % 32];
}

extern "C" __global__ void relaxed_arrival_publishes_nothing(const float* a, float* out) {
  __shared__ float s[32];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  init_one(&full, 32);
  if (t < 32) {
    s[t] = a[t];  // other
    arrive_relaxed(&full);
  } else {
    wait(&full, 0);
    out[t - 32] = s[63 - t];  // here
  }
}

extern "C" __global__ void relaxed_wait_acquires_nothing(const float* a, float* out) {
  __shared__ float s[32];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  init_one(&full, 32);
  if (t < 32) {
    s[t] = a[t];  // other
    arrive(&full);
  } else {
    wait_relaxed(&full, 0);
    out[t - 32] = s[63 - t];  // here
  }
}

extern "C" __global__ void relaxed_wait_for_a_copy(map_t a, float* out) {
  __shared__ alignas(128) float tile[8][32];
  __shared__ mbar_t bar;
  int t = threadIdx.x;
  init_one(&bar, 1);
  if (t == 0) { arrive_expect(&bar, sizeof tile); load2(tile, &a, 0, 0, &bar); }  // other
  wait_relaxed(&bar, 0);
  out[t] = tile[t / 32][t % 32];  // here
}
