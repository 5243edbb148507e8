#pragma once
// mma.sync: D = A B + D for one warp, fragments in registers (PTX ISA, section "mma"). A is row-major, B column-major.
//
// The name says the shape and the types of D, A and B: mma_m16n8k16_f32_bf16 multiplies bf16 into float. The signature
// says how many registers d, a and b take; each of a and b holds as many elements as fit into 32 bits, in order of k.
// NOTE: Hopper has no FP8 mma.sync in hardware: ptxas widens e4m3 and e5m2 to fp16 first. Its FP8 is that of wgmma.

#define MMA_D4_A2_B1(NAME, OP, D, C)                                                                         \
    __device__ __forceinline__ void NAME(D (&d)[4], const unsigned (&a)[2], const unsigned (&b)[1]) {        \
        asm volatile("mma.sync.aligned." OP " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"           \
                     : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                                    \
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                                     \
    }
#define MMA_D4_A4_B2(NAME, OP, D, C)                                                                         \
    __device__ __forceinline__ void NAME(D (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {        \
        asm volatile("mma.sync.aligned." OP                                                                  \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                      \
                     : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3])                                    \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                    \
    }
#define MMA_D2_A4_B2(NAME, OP)                                                                               \
    __device__ __forceinline__ void NAME(unsigned (&d)[2], const unsigned (&a)[4], const unsigned (&b)[2]) { \
        asm volatile("mma.sync.aligned." OP " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"               \
                     : "+r"(d[0]), "+r"(d[1])                                                                \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                    \
    }

MMA_D4_A2_B1(mma_m16n8k8_f32_f16, "m16n8k8.row.col.f32.f16.f16.f32", float, "f")       // sm_75
MMA_D4_A2_B1(mma_m16n8k8_f32_bf16, "m16n8k8.row.col.f32.bf16.bf16.f32", float, "f")    // sm_80
MMA_D4_A4_B2(mma_m16n8k16_f32_f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f")     // sm_80
MMA_D4_A4_B2(mma_m16n8k16_f32_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")  // sm_80
MMA_D2_A4_B2(mma_m16n8k16_f16_f16, "m16n8k16.row.col.f16.f16.f16.f16")                 // sm_80
MMA_D4_A4_B2(mma_m16n8k8_f32_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")    // sm_80
MMA_D4_A4_B2(mma_m16n8k32_s32_s8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")          // sm_80
MMA_D4_A4_B2(mma_m16n8k32_s32_u8, "m16n8k32.row.col.s32.u8.u8.s32", int, "r")          // sm_80
MMA_D4_A4_B2(mma_m16n8k32_f32_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")  // sm_89
MMA_D4_A4_B2(mma_m16n8k32_f32_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", float, "f")  // sm_89

#undef MMA_D4_A2_B1
#undef MMA_D4_A4_B2
#undef MMA_D2_A4_B2
