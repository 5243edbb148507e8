// Kernels of clusters with one mistake each. "// here" marks the line that the finding must name, "// other" the second party.
#include "async_ops.cuh"
#include "cluster_ops.cuh"
#define PAIR extern "C" __cluster_dims__(2, 1, 1) __global__

PAIR void exit_while_the_peer_reads(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  meet();
  out[g + t] = load(peer(&s[63 - t], my_rank() ^ 1));  // here
}

PAIR void peer_may_not_have_started(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  store(peer(&s[63 - t], my_rank() ^ 1), a[g + t]);  // here
  meet();
  out[g + t] = s[t];
}

PAIR void block_barrier_only(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  meet();
  s[t] = a[g + t];  // other
  __syncthreads();
  out[g + t] = load(peer(&s[63 - t], my_rank() ^ 1));  // here
  meet();
}

PAIR void relaxed_arrive(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];  // other
  cluster_arrive_relaxed();
  cluster_wait();
  out[g + t] = load(peer(&s[63 - t], my_rank() ^ 1));  // here
  meet();
}

PAIR void one_block_waits(const float* a, float* out) {
  int t = threadIdx.x, g = blockIdx.x * 64;
  out[g + t] = a[g + t];
  if (my_rank() == 0) meet();  // here
  else asm volatile("bar.sync 1, 128;" ::: "memory");  // 64 threads
}

PAIR void rank_beyond_the_cluster(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  meet();
  out[g + t] = load(peer(&s[t], my_rank() + 1));  // here
  meet();
}

PAIR void overwritten_while_read(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  meet();
  out[g + t] = load(peer(&s[63 - t], my_rank() ^ 1));
  __syncthreads();
  s[t] = 0;  // here
  meet();
}

PAIR void arrives_at_a_peer_that_may_be_gone(const float* a, float* out) {
  __shared__ mbar_t done;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) mbar_init(&done, 1), fence_init();
  meet();
  out[g + t] = a[g + t];
  if (t == 0) arrive_at(&done, my_rank() ^ 1);  // here (and nobody waits for it)
}

PAIR void arrives_at_a_peer_that_may_not_have_started(const float* a, float* out) {
  __shared__ mbar_t done;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) mbar_init(&done, 1), fence_init();
  __syncthreads();
  if (t == 0) arrive_at(&done, my_rank() ^ 1);  // here
  wait(&done, 0);
  out[g + t] = a[g + t];
  meet();
}

PAIR void init_without_fence(const float* a, float* out) {
  __shared__ mbar_t full;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) mbar_init(&full, 64);  // other
  cluster_arrive_relaxed();
  cluster_wait();
  arrive(&full);  // here
  wait(&full, 0);
  out[g + t] = a[g + t];
  meet();
}

PAIR void leaves_without_waiting(const float* a, float* out) {
  __shared__ mbar_t done;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) mbar_init(&done, 1), fence_init();
  meet();
  if (t == 0) arrive_at_relaxed(&done, my_rank() ^ 1);  // here
  wait(&done, 0);
  out[g + t] = a[g + t];
  cluster_arrive_relaxed();
}

PAIR void arrives_twice(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  s[t] = a[g + t];
  cluster_arrive();
  cluster_arrive();  // here
  cluster_wait();
  out[g + t] = s[63 - t];
}

PAIR void waits_without_arriving(const float* a, float* out) {
  int t = threadIdx.x, g = blockIdx.x * 64;
  cluster_wait();  // here
  out[g + t] = a[g + t];
}

PAIR void stores_before_the_wait(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  cluster_arrive();
  store(peer(&s[63 - t], my_rank() ^ 1), a[g + t]);  // here
  cluster_wait();
  meet();
  out[g + t] = s[t];
}

PAIR void reads_before_the_wait(const float* a, float* out) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64;
  meet();
  s[t] = a[g + t];  // other
  cluster_arrive();
  float x = load(peer(&s[63 - t], my_rank() ^ 1));  // here
  cluster_wait();
  out[g + t] = x;
  meet();
}

PAIR void relaxed_arrival_after_a_store(const float* a, float* out) {
  __shared__ float s[64];
  __shared__ mbar_t done;
  int t = threadIdx.x, g = blockIdx.x * 64;
  if (t == 0) mbar_init(&done, 64), fence_init();
  meet();
  store(peer(&s[63 - t], my_rank() ^ 1), a[g + t]);  // other
  arrive_at_relaxed(&done, my_rank() ^ 1);
  wait(&done, 0);
  out[g + t] = s[t];  // here
  meet();
}
