// One function per instruction that the kernels of broken_wgmma.cu and valid_wgmma.cu use. FP16 travels as unsigned short.
#pragma once
#include "tensor_ops.cuh"
typedef unsigned long long desc_t;

// Tiles without swizzle, K-major: 8 x 16-byte core matrices of 128 bytes, two along K, so LBO 128 and SBO 256.
__device__ __forceinline__ int at(int row, int k) { return row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; }
__device__ __forceinline__ desc_t descriptor(const void* p, unsigned lbo = 128, unsigned sbo = 256, unsigned mode = 0) {
  return (desc_t)(shared_address(p) >> 4) | (desc_t)(lbo >> 4) << 16 | (desc_t)(sbo >> 4) << 32 | (desc_t)mode << 62;
}
template <int ROWS>
__device__ __forceinline__ void store_tile(half_t* s, const half_t* g, int t, int threads = 128) {
  for (int i = t; i < ROWS * 16; i += threads) s[at(i / 16, i % 16)] = g[i];
}

__device__ __forceinline__ void wg_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bar(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

#define MMA_N8(name, form, type, c, tail)                                                                                  \
  __device__ __forceinline__ void name(type (&d)[4], desc_t a, desc_t b, int scale = 1) {                                   \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0; wgmma.mma_async.sync.aligned." form                                  \
                 " {%0, %1, %2, %3}, %4, %5, p" tail ";}"                                                                   \
                 : "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3]) : "l"(a), "l"(b), "r"(scale));                        \
  }
MMA_N8(mma_f16, "m64n8k16.f32.f16.f16", float, "f", ", 1, 1, 0, 0")
MMA_N8(mma_f16_minus, "m64n8k16.f32.f16.f16", float, "f", ", -1, 1, 0, 0")
MMA_N8(mma_f16_mn, "m64n8k16.f32.f16.f16", float, "f", ", 1, 1, 0, 1")
MMA_N8(mma_tf32_n8, "m64n8k8.f32.tf32.tf32", float, "f", ", 1, 1")
MMA_N8(mma_e4m3, "m64n8k32.f32.e4m3.e4m3", float, "f", ", 1, 1")
MMA_N8(mma_s8_n8, "m64n8k32.s32.s8.s8", int, "r", "")

__device__ __forceinline__ void mma_f16_n16(float (&d)[8], desc_t a, desc_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : "l"(a), "l"(b));
}
__device__ __forceinline__ void mma_rs(float (&d)[4], const unsigned (&a)[4], desc_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
__device__ __forceinline__ void load_a(unsigned (&a)[4], const half_t* g, int t) {
  const half_t* p = g + (t / 32 * 16 + t % 32 / 4) * 16 + t % 4 * 2;
  a[0] = *(const unsigned*)p, a[1] = *(const unsigned*)(p + 128), a[2] = *(const unsigned*)(p + 8), a[3] = *(const unsigned*)(p + 136);
}
template <typename T>
__device__ __forceinline__ void write_out(T* out, const T (&d)[4], int t) {
  int row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
  out[row * 8 + col] = d[0], out[row * 8 + col + 1] = d[1];
  out[(row + 8) * 8 + col] = d[2], out[(row + 8) * 8 + col + 1] = d[3];
}

template <int N> __device__ __forceinline__ void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> __device__ __forceinline__ void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
