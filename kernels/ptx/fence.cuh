// Fences between proxies and for new mbarriers (PTX ISA, "membar / fence").
#pragma once

// Generic accesses of shared memory before it are ordered before asynchronous ones (TMA, wgmma) after it.
__device__ __forceinline__ void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The same for every state space.
__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

// Makes initialised mbarriers visible to the cluster and to the asynchronous proxy.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
