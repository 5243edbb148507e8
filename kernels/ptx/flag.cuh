// Words in global memory by which CTAs tell each other that data is ready (PTX ISA, "ld", "st": .acquire, .release).
#pragma once

__device__ __forceinline__ unsigned ld_acquire_gpu(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}

__device__ __forceinline__ void st_release_gpu(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
