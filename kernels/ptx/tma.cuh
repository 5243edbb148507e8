// Bulk and tensor copies by the TMA unit (PTX ISA, "cp.async.bulk", "cp.async.bulk.tensor"). Coordinates count
// elements, innermost dimension first.
#pragma once
#include "ptx/address.cuh"
#include "ptx/mbarrier.cuh"

// The driver's 128 opaque bytes; pass it as `const __grid_constant__ CUtensorMap`. <cuda.h> is not for NVRTC.
struct alignas(64) CUtensorMap {
  unsigned long long opaque[16];
};

__device__ __forceinline__ void prefetch_tensormap(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

#define TMA_LOAD(dim) "cp.async.bulk.tensor." dim ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"

__device__ __forceinline__ void tma_load_2d(void* to, const CUtensorMap* map, int x, int y, mbarrier_t* bar) {
  asm volatile(TMA_LOAD("2d") " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y),
               "r"(shared_address(bar))
               : "memory");
}

__device__ __forceinline__ void tma_load_3d(void* to, const CUtensorMap* map, int x, int y, int z, mbarrier_t* bar) {
  asm volatile(TMA_LOAD("3d") " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y),
               "r"(z), "r"(shared_address(bar))
               : "memory");
}

__device__ __forceinline__ void tma_load_4d(void* to, const CUtensorMap* map, int x, int y, int z, int w,
                                            mbarrier_t* bar) {
  asm volatile(TMA_LOAD("4d") " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)), "l"(map), "r"(x),
               "r"(y), "r"(z), "r"(w), "r"(shared_address(bar))
               : "memory");
}

// To the same offset in every CTA of the cluster whose bit is set in `mask`; each CTA's own barrier counts its bytes.
__device__ __forceinline__ void tma_load_2d_multicast(void* to, const CUtensorMap* map, int x, int y, mbarrier_t* bar,
                                                      unsigned short mask) {
  asm volatile(TMA_LOAD("2d") ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
               "l"(map), "r"(x), "r"(y), "r"(shared_address(bar)), "h"(mask)
               : "memory");
}

__device__ __forceinline__ void tma_store_2d(const CUtensorMap* map, int x, int y, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(shared_address(from))
               : "memory");
}

// `bytes` contiguous bytes, a multiple of 16, both addresses aligned to 16.
__device__ __forceinline__ void cp_async_bulk_load(void* to, const void* from, unsigned bytes, mbarrier_t* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(bar))
               : "memory");
}

__device__ __forceinline__ void cp_async_bulk_store(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(shared_address(from)),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// At most N groups of this thread may still read their shared source afterwards.
template <int N>
__device__ __forceinline__ void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

template <int N>
__device__ __forceinline__ void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
