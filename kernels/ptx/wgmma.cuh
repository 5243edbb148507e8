// wgmma: asynchronous warpgroup matrix multiply (PTX ISA, "wgmma"). m64nNk16, FP32 accumulators, N = 64, 96, 128, 160,
// 192, 200, 208, 256.
// Thread t of the warpgroup holds in d[i] row 16 (t / 32) + t % 32 / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (t % 4) + i % 2.
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

// Matrix descriptor of a tile in shared memory. `leading` and `stride` are byte offsets; swizzle: 0 none, 1 128 B, 2 64 B,
// 3 32 B. The tile starts at a multiple of 8 swizzled rows (1024 bytes for 128 B), so the base offset is 0.
__device__ __forceinline__ wgmma_desc_t wgmma_descriptor(const void* tile, unsigned leading, unsigned stride,
                                                         unsigned swizzle) {
  return (wgmma_desc_t)(shared_address(tile) >> 4 & 0x3fff) | (wgmma_desc_t)(leading >> 4) << 16 |
         (wgmma_desc_t)(stride >> 4) << 32 | (wgmma_desc_t)swizzle << 62;
}

// Operand lists. WGMMA_TEN(1) is "%10, ..., %19, "; WGMMA_D16(i) binds d[i] to d[i + 15].
#define WGMMA_TEN(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9, "
#define WGMMA_ONES "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, "
#define WGMMA_LIST32 WGMMA_ONES WGMMA_TEN(1) WGMMA_TEN(2) "%30, %31"
#define WGMMA_LIST48 WGMMA_ONES WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) "%40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_LIST64 WGMMA_ONES WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) "%60, %61, %62, %63"
#define WGMMA_LIST80 \
  WGMMA_ONES WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) WGMMA_TEN(6) \
  "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_TO89 \
  WGMMA_ONES WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5) WGMMA_TEN(6) WGMMA_TEN(7) WGMMA_TEN(8)
#define WGMMA_LIST96 WGMMA_TO89 "%90, %91, %92, %93, %94, %95"
#define WGMMA_LIST100 \
  WGMMA_TO89 "%90, %91, %92, %93, %94, %95, %96, %97, %98, %99"
#define WGMMA_LIST104 \
  WGMMA_TO89 WGMMA_TEN(9) "%100, %101, %102, %103"
#define WGMMA_LIST128 \
  WGMMA_TO89 WGMMA_TEN(9) WGMMA_TEN(10) WGMMA_TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_D16(i) WGMMA_D4(i), WGMMA_D4(i + 4), WGMMA_D4(i + 8), WGMMA_D4(i + 12)
#define WGMMA_BIND32 WGMMA_D16(0), WGMMA_D16(16)
#define WGMMA_BIND48 WGMMA_BIND32, WGMMA_D16(32)
#define WGMMA_BIND64 WGMMA_BIND32, WGMMA_D16(32), WGMMA_D16(48)
#define WGMMA_BIND80 WGMMA_BIND64, WGMMA_D16(64)
#define WGMMA_BIND96 WGMMA_BIND64, WGMMA_D16(64), WGMMA_D16(80)
#define WGMMA_BIND100 WGMMA_BIND96, WGMMA_D4(96)
#define WGMMA_BIND104 WGMMA_BIND100, WGMMA_D4(100)
#define WGMMA_BIND128 WGMMA_BIND96, WGMMA_D16(96), WGMMA_D16(112)

// Both operands by descriptor. The macro's numbers: registers R, and the places of a, b, scale_d, trans_a, trans_b.
#define WGMMA_SS(n, type, R, a_, b_, s_, ta, tb)                                                                 \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #s_ ", 0;\n\t"                                           \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" WGMMA_LIST##R "}, %" #a_        \
               ", %" #b_ ", p, 1, 1, %" #ta ", %" #tb ";\n\t}"                                                     \
               : WGMMA_BIND##R                                                                                   \
               : "l"(a), "l"(b), "r"(scale_d), "n"(TRANS_A), "n"(TRANS_B))

// A from registers: four 32-bit registers of a 64 x 16 tile, laid out per warp as the A fragment of mma.m16n8k16.
#define WGMMA_RS(n, type, R, a0, a1, a2, a3, b_, s_, tb)                                                         \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %" #s_ ", 0;\n\t"                                           \
               "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" WGMMA_LIST##R "}, {%" #a0       \
               ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b_ ", p, 1, 1, %" #tb ";\n\t}"                                \
               : WGMMA_BIND##R                                                                                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d), "n"(TRANS_B))

// d = a b + scale_d d for one k16 step. TRANS_x = 0: the operand is K-major in shared memory; 1: M- or N-major.
template <int N, int TRANS_A, int TRANS_B>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], wgmma_desc_t a, wgmma_desc_t b, int scale_d, __nv_bfloat16) {
  if constexpr (N == 64) WGMMA_SS(64, "bf16", 32, 32, 33, 34, 35, 36);
  else if constexpr (N == 96) WGMMA_SS(96, "bf16", 48, 48, 49, 50, 51, 52);
  else if constexpr (N == 128) WGMMA_SS(128, "bf16", 64, 64, 65, 66, 67, 68);
  else if constexpr (N == 160) WGMMA_SS(160, "bf16", 80, 80, 81, 82, 83, 84);
  else if constexpr (N == 192) WGMMA_SS(192, "bf16", 96, 96, 97, 98, 99, 100);
  else if constexpr (N == 200) WGMMA_SS(200, "bf16", 100, 100, 101, 102, 103, 104);
  else if constexpr (N == 208) WGMMA_SS(208, "bf16", 104, 104, 105, 106, 107, 108);
  else if constexpr (N == 256) WGMMA_SS(256, "bf16", 128, 128, 129, 130, 131, 132);
  else static_assert(N == 64, "N is 64, 96, 128, 160, 192, 200, 208 or 256");
}

template <int N, int TRANS_A, int TRANS_B>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], wgmma_desc_t a, wgmma_desc_t b, int scale_d, __half) {
  if constexpr (N == 64) WGMMA_SS(64, "f16", 32, 32, 33, 34, 35, 36);
  else if constexpr (N == 96) WGMMA_SS(96, "f16", 48, 48, 49, 50, 51, 52);
  else if constexpr (N == 128) WGMMA_SS(128, "f16", 64, 64, 65, 66, 67, 68);
  else if constexpr (N == 160) WGMMA_SS(160, "f16", 80, 80, 81, 82, 83, 84);
  else if constexpr (N == 192) WGMMA_SS(192, "f16", 96, 96, 97, 98, 99, 100);
  else if constexpr (N == 200) WGMMA_SS(200, "f16", 100, 100, 101, 102, 103, 104);
  else if constexpr (N == 208) WGMMA_SS(208, "f16", 104, 104, 105, 106, 107, 108);
  else if constexpr (N == 256) WGMMA_SS(256, "f16", 128, 128, 129, 130, 131, 132);
  else static_assert(N == 64, "N is 64, 96, 128, 160, 192, 200, 208 or 256");
}

template <int N, int TRANS_B>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], const unsigned (&a)[4], wgmma_desc_t b, int scale_d, __nv_bfloat16) {
  if constexpr (N == 64) WGMMA_RS(64, "bf16", 32, 32, 33, 34, 35, 36, 37, 38);
  else if constexpr (N == 128) WGMMA_RS(128, "bf16", 64, 64, 65, 66, 67, 68, 69, 70);
  else if constexpr (N == 160) WGMMA_RS(160, "bf16", 80, 80, 81, 82, 83, 84, 85, 86);
  else if constexpr (N == 192) WGMMA_RS(192, "bf16", 96, 96, 97, 98, 99, 100, 101, 102);
  else if constexpr (N == 256) WGMMA_RS(256, "bf16", 128, 128, 129, 130, 131, 132, 133, 134);
  else static_assert(N == 64, "N is 64, 128, 160, 192 or 256");
}

template <int N, int TRANS_B>
__device__ __forceinline__ void wgmma_m64k16(float (&d)[N / 2], const unsigned (&a)[4], wgmma_desc_t b, int scale_d, __half) {
  if constexpr (N == 64) WGMMA_RS(64, "f16", 32, 32, 33, 34, 35, 36, 37, 38);
  else if constexpr (N == 128) WGMMA_RS(128, "f16", 64, 64, 65, 66, 67, 68, 69, 70);
  else if constexpr (N == 160) WGMMA_RS(160, "f16", 80, 80, 81, 82, 83, 84, 85, 86);
  else if constexpr (N == 192) WGMMA_RS(192, "f16", 96, 96, 97, 98, 99, 100, 101, 102);
  else if constexpr (N == 256) WGMMA_RS(256, "f16", 128, 128, 129, 130, 131, 132, 133, 134);
  else static_assert(N == 64, "N is 64, 128, 160, 192 or 256");
}
