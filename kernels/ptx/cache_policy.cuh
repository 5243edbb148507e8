// Loads that tell L2 what to drop first (PTX ISA, "createpolicy", ".level::cache_hint").
#pragma once
#include "ptx/tma.cuh"

typedef unsigned long long cache_policy_t;

__device__ __forceinline__ cache_policy_t policy_evict_first() {
  cache_policy_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ void tma_load_2d(void* to, const CUtensorMap* map, int x, int y, mbarrier_t* bar,
                                            cache_policy_t policy) {
  asm volatile(TMA_LOAD("2d") ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)), "l"(map),
               "r"(x), "r"(y), "r"(shared_address(bar)), "l"(policy)
               : "memory");
}

__device__ __forceinline__ void tma_load_2d_multicast(void* to, const CUtensorMap* map, int x, int y, mbarrier_t* bar,
                                                      unsigned short mask, cache_policy_t policy) {
  asm volatile(TMA_LOAD("2d") ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(
                   shared_address(to)),
               "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(mask), "l"(policy)
               : "memory");
}
