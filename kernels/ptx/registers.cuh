// setmaxnreg: a warpgroup gives registers back to the CTA's pool, or takes more (PTX ISA, "setmaxnreg"). N is a multiple
// of 8 from 24 to 256. NOTE: ptxas honours it only with __launch_bounds__(threads, 1).
#pragma once

template <int N>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
