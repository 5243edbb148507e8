// One function per instruction that the kernels of broken_async.cu and valid_async.cu use.
#pragma once
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
typedef unsigned long long mbar_t;

__device__ __forceinline__ unsigned sa(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void mbar_init(mbar_t* b, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sa(b)), "r"(count) : "memory");
}
__device__ __forceinline__ void mbar_inval(mbar_t* b) { asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sa(b)) : "memory"); }
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void arrive(mbar_t* b) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(sa(b)) : "memory");
}
__device__ __forceinline__ void arrive_relaxed(mbar_t* b) {
  asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(sa(b)) : "memory");
}
__device__ __forceinline__ mbar_t arrive_state(mbar_t* b) {
  mbar_t s;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(sa(b)) : "memory");
  return s;
}
__device__ __forceinline__ void arrive_count(mbar_t* b, int n) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(sa(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void arrive_drop(mbar_t* b) {
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(sa(b)) : "memory");
}
__device__ __forceinline__ mbar_t arrive_no_complete(mbar_t* b, int n) {
  mbar_t s;
  asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(sa(b)), "r"(n) : "memory");
  return s;
}
__device__ __forceinline__ void arrive_expect(mbar_t* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sa(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void expect(mbar_t* b, int bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(sa(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ bool try_wait(mbar_t* b, int parity) {
  unsigned ok;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(ok) : "r"(sa(b)), "r"(parity) : "memory");
  return ok;
}
__device__ __forceinline__ void wait(mbar_t* b, int parity) { while (!try_wait(b, parity)) {} }
__device__ __forceinline__ void wait_relaxed(mbar_t* b, int parity) {
  unsigned ok = 0;
  while (!ok)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(ok) : "r"(sa(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ bool try_wait_hint(mbar_t* b, int parity) {
  unsigned ok;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
               : "=r"(ok) : "r"(sa(b)), "r"(parity), "r"(1000) : "memory");
  return ok;
}
__device__ __forceinline__ bool test_wait_state(mbar_t* b, mbar_t state) {
  unsigned ok;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(ok) : "r"(sa(b)), "l"(state) : "memory");
  return ok;
}
__device__ __forceinline__ bool elect() {
  unsigned ok;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(ok));
  return ok;
}

#define LOAD(R) "cp.async.bulk.tensor." R ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"
__device__ __forceinline__ void load1(void* to, const CUtensorMap* m, int x, mbar_t* b) {
  asm volatile(LOAD("1d") " [%0], [%1, {%2}], [%3];" ::"r"(sa(to)), "l"(m), "r"(x), "r"(sa(b)) : "memory");
}
__device__ __forceinline__ void load2(void* to, const CUtensorMap* m, int x, int y, mbar_t* b) {
  asm volatile(LOAD("2d") " [%0], [%1, {%2, %3}], [%4];" ::"r"(sa(to)), "l"(m), "r"(x), "r"(y), "r"(sa(b)) : "memory");
}
__device__ __forceinline__ void load3(void* to, const CUtensorMap* m, int x, int y, int z, mbar_t* b) {
  asm volatile(LOAD("3d") " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(sa(to)), "l"(m), "r"(x), "r"(y), "r"(z), "r"(sa(b)) : "memory");
}
__device__ __forceinline__ void load5(void* to, const CUtensorMap* m, int x, int y, int z, int u, int v, mbar_t* b) {
  asm volatile(LOAD("5d") " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
               ::"r"(sa(to)), "l"(m), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v), "r"(sa(b)) : "memory");
}
__device__ __forceinline__ void store2(const CUtensorMap* m, int x, int y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
               ::"l"(m), "r"(x), "r"(y), "r"(sa(from)) : "memory");
}
__device__ __forceinline__ void reduce2(const CUtensorMap* m, int x, int y, const void* from) {
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
               ::"l"(m), "r"(x), "r"(y), "r"(sa(from)) : "memory");
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, int bytes, mbar_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(sa(to)), "l"(from), "r"(bytes), "r"(sa(b)) : "memory");
}
__device__ __forceinline__ void bulk_store(void* to, const void* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(sa(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_reduce_add(float* to, const void* from, int bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), "r"(sa(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void commit_bulk() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_bulk_read() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
template <int N> __device__ __forceinline__ void wait_bulk() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void load2_to(void* to, const CUtensorMap* m, int x, int y, mbar_t* b, int mask) {
  asm volatile(LOAD("2d") ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
               ::"r"(sa(to)), "l"(m), "r"(x), "r"(y), "r"(sa(b)), "h"((short)mask) : "memory");
}
__device__ __forceinline__ void arrive_at(mbar_t* b, int rank) {
  asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }"
               ::"r"(sa(b)), "r"(rank) : "memory");
}
__device__ __forceinline__ void arrive_at_relaxed(mbar_t* b, int rank) {
  asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [a]; }"
               ::"r"(sa(b)), "r"(rank) : "memory");
}
__device__ __forceinline__ int cluster_rank() { int r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void prefetch_map(const CUtensorMap* m) { asm volatile("prefetch.tensormap [%0];" ::"l"(m) : "memory"); }
__device__ __forceinline__ void acquire_map(const CUtensorMap* m) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(m) : "memory");
}
__device__ __forceinline__ void cp_async16(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sa(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void copies_arrive_noinc(mbar_t* b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(sa(b)) : "memory");
}
__device__ __forceinline__ void copies_arrive(mbar_t* b) {
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(sa(b)) : "memory");
}
__device__ __forceinline__ void init_one(mbar_t* b, int count) {
  if (threadIdx.x == 0) { mbar_init(b, count); fence_init(); }
  __syncthreads();
}
__device__ __forceinline__ void raise_flag(unsigned* flag) {
  asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ __forceinline__ void await(const unsigned* flag, unsigned value) {
  unsigned seen = 0;
  while (seen < value) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
}
