// mbarrier: barrier objects in shared memory that count arrivals and bytes (PTX ISA, "mbarrier").
#pragma once
#include "ptx/address.cuh"

typedef unsigned long long mbarrier_t;

__device__ __forceinline__ void mbarrier_init(mbarrier_t* bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(mbarrier_t* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

// One arrival that also announces `bytes` still to be written by asynchronous copies.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(mbarrier_t* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void mbarrier_expect_tx(mbarrier_t* bar, unsigned bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
               : "memory");
}

// One arrival at the barrier of the same name in the CTA `rank` of the cluster; it publishes the caller's writes.
// NOTE: a release at cluster scope is a MEMBAR of the whole GPU; where nothing was written, take the relaxed form.
__device__ __forceinline__ void mbarrier_arrive_release_cluster(mbarrier_t* bar, unsigned rank) {
  asm volatile(
      "{\n\t.reg .b32 remote;\n\t"
      "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n\t}" ::"r"(shared_address(bar)), "r"(rank)
      : "memory");
}

// The same for a caller that has only read, as with a stage that wgmma.wait_group says is no longer in use.
__device__ __forceinline__ void mbarrier_arrive_relaxed_cluster(mbarrier_t* bar, unsigned rank) {
  asm volatile(
      "{\n\t.reg .b32 remote;\n\t"
      "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n\t}" ::"r"(shared_address(bar)), "r"(rank)
      : "memory");
}

// The same at the address that mapa_shared_cluster gave.
__device__ __forceinline__ void mbarrier_arrive_relaxed_cluster(unsigned remote) {
  asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

// True once the phase of this parity (0, 1, 0, ...) is complete; may suspend the thread for a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait_parity(mbarrier_t* bar, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(done)
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
  return done;
}

__device__ __forceinline__ void mbarrier_wait_parity(mbarrier_t* bar, unsigned parity) {
  while (!mbarrier_try_wait_parity(bar, parity)) {
  }
}
