#pragma once
// ldmatrix (sm_75) and stmatrix (sm_90): 8 x 8 matrices of 16-bit elements between shared memory and the registers of a
// warp (PTX ISA, sections "ldmatrix" and "stmatrix").
//
// Lane l gives the address of one row of 16 bytes, aligned to 16: row l % 8 of matrix l / 8 (x1 reads the addresses of
// lanes 0-7, x2 of lanes 0-15, x4 of all). Register i holds of matrix i the elements (l / 4, 2 (l % 4)) and the next
// of the row; with _trans the elements (2 (l % 4), l / 4) and the next of the column.
// Two pairs of registers serve as well as four: two fragments of B.

#define LDMATRIX_X1(NAME, TRANS)                                                                             \
    __device__ __forceinline__ void NAME(unsigned& r, unsigned src) {                                        \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" TRANS ".shared.b16 {%0}, [%1];"                         \
                     : "=r"(r)                                                                               \
                     : "r"(src)                                                                              \
                     : "memory");                                                                            \
    }
#define LDMATRIX_X2(NAME, TRANS)                                                                             \
    __device__ __forceinline__ void NAME(unsigned (&r)[2], unsigned src) {                                   \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" TRANS ".shared.b16 {%0, %1}, [%2];"                     \
                     : "=r"(r[0]), "=r"(r[1])                                                                \
                     : "r"(src)                                                                              \
                     : "memory");                                                                            \
    }
#define LDMATRIX_X4(NAME, TRANS)                                                                             \
    __device__ __forceinline__ void NAME(unsigned (&r)[4], unsigned src) {                                   \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" TRANS ".shared.b16 {%0, %1, %2, %3}, [%4];"             \
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                        \
                     : "r"(src)                                                                              \
                     : "memory");                                                                            \
    }                                                                                                        \
    __device__ __forceinline__ void NAME(unsigned (&r)[2][2], unsigned src) {                                \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4" TRANS ".shared.b16 {%0, %1, %2, %3}, [%4];"             \
                     : "=r"(r[0][0]), "=r"(r[0][1]), "=r"(r[1][0]), "=r"(r[1][1])                            \
                     : "r"(src)                                                                              \
                     : "memory");                                                                            \
    }
LDMATRIX_X1(ldmatrix_x1, "")
LDMATRIX_X1(ldmatrix_x1_trans, ".trans")
LDMATRIX_X2(ldmatrix_x2, "")
LDMATRIX_X2(ldmatrix_x2_trans, ".trans")
LDMATRIX_X4(ldmatrix_x4, "")
LDMATRIX_X4(ldmatrix_x4_trans, ".trans")
#undef LDMATRIX_X1
#undef LDMATRIX_X2
#undef LDMATRIX_X4

#define STMATRIX_X2(NAME, TRANS)                                                                             \
    __device__ __forceinline__ void NAME(unsigned dst, const unsigned (&r)[2]) {                             \
        asm volatile("stmatrix.sync.aligned.m8n8.x2" TRANS ".shared.b16 [%0], {%1, %2};" ::"r"(dst),         \
                     "r"(r[0]), "r"(r[1])                                                                    \
                     : "memory");                                                                            \
    }
#define STMATRIX_X4(NAME, TRANS)                                                                             \
    __device__ __forceinline__ void NAME(unsigned dst, const unsigned (&r)[4]) {                             \
        asm volatile("stmatrix.sync.aligned.m8n8.x4" TRANS ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(dst), \
                     "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])                                              \
                     : "memory");                                                                            \
    }
STMATRIX_X2(stmatrix_x2, "")
STMATRIX_X2(stmatrix_x2_trans, ".trans")
STMATRIX_X4(stmatrix_x4, "")
STMATRIX_X4(stmatrix_x4_trans, ".trans")
#undef STMATRIX_X2
#undef STMATRIX_X4
