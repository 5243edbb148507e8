// setmaxnreg: a warpgroup gives registers back to the CTA's pool, or takes more (PTX ISA, "setmaxnreg"). N: registers
// per thread. NOTE: ptxas honours it only with __launch_bounds__(threads, 1).
#pragma once

template <int N>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(N % 8 == 0 && 24 <= N && N <= 256, "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(N % 8 == 0 && 24 <= N && N <= 256, "a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
