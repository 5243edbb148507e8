// wgmma: asynchronous warpgroup matrix multiply (PTX ISA, "wgmma"). m64nNk16, FP32 accumulators, for the widths of a
// box and of the book's tiles: N = 64, 128, 200, 256. Another multiple of 8 up to 256 takes a row more in three tables.
//
// Thread t of the warpgroup holds in d[i] the element in row 16 (t / 32) + t % 32 / 4 + 8 (i / 2 % 2)
// and column 8 (i / 4) + 2 (t % 4) + i % 2.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ptx/address.cuh"

typedef unsigned long long wgmma_desc_t;

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit_group() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int N>
__device__ __forceinline__ void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// NOTE: the compiler sees no link between the wait and the accumulators; naming them keeps reads of d behind it.
template <int N, int R>
__device__ __forceinline__ void wgmma_wait_group(float (&d)[R]) {
  wgmma_wait_group<N>();
#pragma unroll
  for (int i = 0; i < R; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Matrix descriptor of a tile in shared memory. `leading` and `stride` are byte offsets; swizzle: 0 none, 1 128 B,
// 2 64 B, 3 32 B. The tile starts at a multiple of 8 swizzled rows (1024 bytes for 128 B), so the base offset is 0.
__device__ __forceinline__ wgmma_desc_t wgmma_descriptor(const void* tile, unsigned leading, unsigned stride,
                                                         unsigned swizzle) {
  return (wgmma_desc_t)(shared_address(tile) >> 4 & 0x3fff) | (wgmma_desc_t)(leading >> 4) << 16 |
         (wgmma_desc_t)(stride >> 4) << 32 | (wgmma_desc_t)swizzle << 62;
}

// R operands %0, %1, ... as text, and d[0], d[1], ... bound to them. WGMMA_TEN(1) is "%10, ..., %19, ".
#define WGMMA_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define WGMMA_TO29 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " WGMMA_TEN(1) WGMMA_TEN(2)
#define WGMMA_TO59 WGMMA_TO29 WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5)
#define WGMMA_TO89 WGMMA_TO59 WGMMA_TEN(6) WGMMA_TEN(7) WGMMA_TEN(8)
#define WGMMA_LIST32 WGMMA_TO29 "%30, %31"
#define WGMMA_LIST64 WGMMA_TO59 "%60, %61, %62, %63"
#define WGMMA_LIST100 WGMMA_TO89 "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99"
#define WGMMA_LIST128 \
  WGMMA_TO89 WGMMA_TEN(9) WGMMA_TEN(10) WGMMA_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_D16(i) WGMMA_D4(i), WGMMA_D4(i + 4), WGMMA_D4(i + 8), WGMMA_D4(i + 12)
#define WGMMA_BIND32 WGMMA_D16(0), WGMMA_D16(16)
#define WGMMA_BIND64 WGMMA_BIND32, WGMMA_D16(32), WGMMA_D16(48)
#define WGMMA_BIND100 WGMMA_BIND64, WGMMA_D16(64), WGMMA_D16(80), WGMMA_D4(96)
#define WGMMA_BIND128 WGMMA_BIND64, WGMMA_D16(64), WGMMA_D16(80), WGMMA_D16(96), WGMMA_D16(112)

// FORM(N, type, R, then the places of what follows d: scale_d, b, trans_b, and up to four for A) for the N at hand.
#define WGMMA_EACH(FORM, type)                                                                                    \
  static_assert(N == 64 || N == 128 || N == 200 || N == 256, "N is 64, 128, 200 or 256: add a row to wgmma.cuh"); \
  if constexpr (N == 64) FORM(64, type, 32, 32, 33, 34, 35, 36, 37, 38);                                          \
  if constexpr (N == 128) FORM(128, type, 64, 64, 65, 66, 67, 68, 69, 70);                                        \
  if constexpr (N == 200) FORM(200, type, 100, 100, 101, 102, 103, 104, 105, 106);                                \
  if constexpr (N == 256) FORM(256, type, 128, 128, 129, 130, 131, 132, 133, 134)

// Both operands by descriptor.
#define WGMMA_SS(n, type, R, s, b_, tb, a_, ta, ...)                                                        \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #s ", 0;\n\t"                                       \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" WGMMA_LIST##R "}, %" #a_ \
               ", %" #b_ ", p, 1, 1, %" #ta ", %" #tb ";\n\t}"                                              \
               : WGMMA_BIND##R                                                                              \
               : "r"(scale_d), "l"(b), "n"(TRANS_B), "l"(a), "n"(TRANS_A))

// A from registers: four 32-bit registers of a 64 x 16 tile, laid out per warp as the A fragment of mma.m16n8k16.
#define WGMMA_RS(n, type, R, s, b_, tb, a0, a1, a2, a3)                                                       \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #s ", 0;\n\t"                                         \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" WGMMA_LIST##R "}, {%" #a0 \
               ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b_ ", p, 1, 1, %" #tb ";\n\t}"                           \
               : WGMMA_BIND##R                                                                                \
               : "r"(scale_d), "l"(b), "n"(TRANS_B), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]))

// d = a b + scale_d d for one k16 step. TRANS_x = 0: the operand is K-major in shared memory; 1: M- or N-major.
#define WGMMA_OF(element, type)                                                                           \
  template <int N, int TRANS_A, int TRANS_B>                                                              \
  __device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], wgmma_desc_t a, wgmma_desc_t b,         \
                                               int scale_d, element) {                                    \
    static_assert(TRANS_A >> 1 == 0 && TRANS_B >> 1 == 0, "0: K-major, 1: M- or N-major");                \
    WGMMA_EACH(WGMMA_SS, type);                                                                           \
  }                                                                                                       \
  template <int N, int TRANS_B>                                                                           \
  __device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], const unsigned (&a)[4], wgmma_desc_t b, \
                                               int scale_d, element) {                                    \
    static_assert(TRANS_B >> 1 == 0, "0: K-major, 1: N-major");                                           \
    WGMMA_EACH(WGMMA_RS, type);                                                                           \
  }
WGMMA_OF(__nv_bfloat16, "bf16")
WGMMA_OF(__half, "f16")
