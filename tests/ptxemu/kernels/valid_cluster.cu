// Correct kernels of clusters: the emulator must compute them and find nothing. test_cluster.py has launches and results.
#include "async_ops.cuh"
#include "cluster_ops.cuh"
#define PAIR extern "C" __cluster_dims__(2, 1, 1) __global__

PAIR void exchange(const float* a, float* out) {  // each block reads what its peer has stored
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  meet();
  out[g + t] = load(peer(&s[63 - t], my_rank() ^ 1));
  meet();
}

PAIR void exchange_by_stores(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  meet();
  store(peer(&s[63 - t], my_rank() ^ 1), a[g + t]);
  meet();
  out[g + t] = s[t];
}

PAIR void generic_pointers(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  meet();
  out[g + t] = *peer_pointer(&s[t], my_rank() ^ 1) + *peer_pointer(&s[t], my_rank());
  meet();
}

PAIR void work_between(const float* a, float* out) {  // arrive, work on one's own, wait
  __shared__ float s[64], own[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  cluster_arrive();
  own[t] = 2 * a[g + t];
  cluster_wait();
  float v = load(peer(&s[t], my_rank() ^ 1));
  cluster_arrive();
  v += own[t];
  cluster_wait();
  out[g + t] = v;
}

PAIR void own_address(const float* a, float* out) {  // an address without mapa is one's own
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  meet();
  __syncthreads();
  out[g + t] = load((unsigned)__cvta_generic_to_shared(&s[63 - t]));
  meet();
}

extern "C" __cluster_dims__(4, 1, 1) __global__ void histogram(const int* a, int* out) {
  __shared__ int bins[16];
  int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  meet();
  int v = a[blockIdx.x * 64 + t];  // 0 to 63: 16 bins in each of four blocks
  add(peer(&bins[v % 16], v / 16), 1);
  meet();
  if (t < 16) out[blockIdx.x / 4 * 64 + my_rank() * 16 + t] = bins[t];
}

extern "C" __global__ void where(int* out) {  // cluster given at the launch
  int x, y, cx, cy, n, r, nx;
  asm volatile("mov.u32 %0, %%cluster_ctaid.x; mov.u32 %1, %%cluster_ctaid.y; mov.u32 %2, %%clusterid.x;" : "=r"(x), "=r"(y), "=r"(cx));
  asm volatile("mov.u32 %0, %%clusterid.y; mov.u32 %1, %%cluster_nctarank; mov.u32 %2, %%cluster_ctarank;" : "=r"(cy), "=r"(n), "=r"(r));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
  int* o = out + 8 * (blockIdx.x + gridDim.x * blockIdx.y);
  o[0] = x, o[1] = y, o[2] = cx, o[3] = cy, o[4] = n, o[5] = r, o[6] = nx, o[7] = 1;
}

PAIR void many_clusters(const float* a, float* out, int rounds) {
  __shared__ float s[2][64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  float v = a[g + t];
  for (int i = 0; i < rounds; ++i) {
    s[i & 1][t] = v;
    meet();
    v = load(peer(&s[i & 1][t], my_rank() ^ 1)) + 1;
  }
  meet();
  out[g + t] = v;
}

// Each block loads half of a tile of 32 x 32 floats for both: TMA multicast, one mbarrier in each block.
PAIR void multicast(const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ __align__(128) float s[32 * 32];
  __shared__ mbar_t full;
  int t = threadIdx.x, rank = my_rank();
  if (t == 0) {
    mbar_init(&full, 1);
    fence_init();
  }
  meet();
  if (t == 0) {
    arrive_expect(&full, 4096);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(sa(s + 512 * rank)), "l"(&map), "r"(0), "r"(16 * rank), "r"(sa(&full)), "h"((short)3) : "memory");
  }
  wait(&full, 0);
  for (int i = t; i < 1024; i += 64) out[1024 * rank + i] = s[i];
  meet();
}

PAIR void remote_arrival(const float* a, float* out) {  // rank 1 stores into rank 0 and arrives there
  __shared__ float s[64];
  __shared__ mbar_t full;
  int t = threadIdx.x;
  if (t == 0) {
    mbar_init(&full, 64);
    fence_init();
  }
  meet();
  if (my_rank() == 1) {
    store(peer(&s[63 - t], 0), a[blockIdx.x * 64 + t]);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&full, 0)) : "memory");
  } else {
    unsigned ok;
    do {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(ok) : "r"(sa(&full)), "r"(0) : "memory");
    } while (!ok);
    out[blockIdx.x * 64 + t] = s[t];
  }
}

PAIR void leave_together(const float* a, float* out) {  // nothing to publish at the end: a relaxed arrival will do
  __shared__ float s[64];
  __shared__ mbar_t read;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) {
    mbar_init(&read, 1);
    fence_init();
  }
  s[t] = a[g + t];
  meet();
  out[g + t] = load(peer(&s[63 - t], my_rank() ^ 1));
  if (t == 0) arrive_at(&read, my_rank() ^ 1);
  cluster_arrive_relaxed();
  cluster_wait();
}

PAIR void init_fence_and_relaxed_arrival(const float* a, float* out) {  // as the PTX ISA's example of fence.mbarrier_init
  __shared__ float s[64];
  __shared__ mbar_t full;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) {
    mbar_init(&full, 64);
    fence_init();
  }
  cluster_arrive_relaxed();
  cluster_wait();
  s[t] = a[g + t];
  arrive(&full);
  wait(&full, 0);
  out[g + t] = s[63 - t];
  cluster_arrive_relaxed();
  cluster_wait();
}
