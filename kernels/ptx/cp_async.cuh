#pragma once
// cp.async: copies from global to shared memory that pass through no register; sm_80 (PTX ISA, section "cp.async").
//
// `dst` is a shared address (see address.cuh); both addresses are aligned to the size. Only the first `bytes` bytes are
// read, the others of the destination become zero: with bytes = 0 nothing is read.

// 16 bytes, cached in L2 only.
__device__ __forceinline__ void cp_async_cg_16(unsigned dst, const void* src, int bytes = 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(__cvta_generic_to_global(src)),
                 "r"(bytes)
                 : "memory");
}

// 4, 8 or 16 bytes, cached in L1 and L2.
#define CP_ASYNC_CA(SIZE)                                                                                          \
    __device__ __forceinline__ void cp_async_ca_##SIZE(unsigned dst, const void* src, int bytes = SIZE) {          \
        asm volatile("cp.async.ca.shared.global [%0], [%1], " #SIZE ", %2;" ::"r"(dst),                            \
                     "l"(__cvta_generic_to_global(src)), "r"(bytes)                                                \
                     : "memory");                                                                                  \
    }
CP_ASYNC_CA(4)
CP_ASYNC_CA(8)
CP_ASYNC_CA(16)
#undef CP_ASYNC_CA

// Make one group of this thread's copies since its last commit.
__device__ __forceinline__ void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Wait until at most KEPT of this thread's newest groups are in flight. Others see the bytes after a barrier.
template <int KEPT>
__device__ __forceinline__ void cp_async_wait_group() {
    static_assert(KEPT >= 0, "a number of groups");
    asm volatile("cp.async.wait_group %0;" ::"n"(KEPT) : "memory");
}

// Commit, then wait for everything.
__device__ __forceinline__ void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }
