#pragma once
// Accumulators of mma.sync to C, rounded to T. An accumulator is 16 x 8: lane l holds (l / 4, 2 (l % 4)) and the next
// of its row, and the same eight rows further down. C is M x N, row-major; nothing outside is written.
#include "tile/element.cuh"
#include "tile/swizzle.cuh"

// One accumulator whose first element is C[m, n], by pairs: four lanes write 16 bytes of each of eight rows.
__device__ __forceinline__ void store_pairs(T* C, int M, int N, int m, int n, const float (&acc)[4]) {
    const int lane = threadIdx.x % 32, col = n + lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = m + lane / 4 + 8 * half;
        T* to = C + (size_t)row * N + col;
        if (row < M && col < N) {
            if (N % 2 == 0) {
                *reinterpret_cast<T2*>(to) = narrow2(acc[2 * half], acc[2 * half + 1]);
            } else {
                to[0] = narrow(acc[2 * half]);
                if (col + 1 < N) to[1] = narrow(acc[2 * half + 1]);
            }
        }
    }
}

// Two neighbours of an accumulator as T, of its upper (0) or lower (1) eight rows.
__device__ __forceinline__ T2 neighbours(const float (&acc)[4], int half) {
    return narrow2(acc[2 * half], acc[2 * half + 1]);
}
// The same where sums are fp16, and T is.
__device__ __forceinline__ T2 neighbours(const unsigned (&acc)[2], int half) {
    return reinterpret_cast<const T2&>(acc[half]);
}

// Sixteen rows of a warp, NI accumulators wide, through its own 16 x NI chunks of shared memory, so that neighbouring
// lanes write neighbouring chunks of C. WIDE: N is a multiple of 8.
template <bool WIDE, int NI, class Acc>
__device__ __forceinline__ void store_rows(T* C, int M, int N, int m, int n, const Acc (&acc)[NI], uint4* staging) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int j = 0; j < NI; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            T2* chunk = reinterpret_cast<T2*>(&staging[swizzled<NI>(lane / 4 + 8 * half, j)]);
            chunk[lane % 4] = neighbours(acc[j], half);
        }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < NI / 2; ++i) {
        const int at = i * 32 + lane, row = m + at / NI, col = n + at % NI * 8;
        const uint4 chunk = staging[swizzled<NI>(at / NI, at % NI)];
        T* to = C + (size_t)row * N + col;
        if constexpr (WIDE) {
            if (row < M && col < N) *reinterpret_cast<uint4*>(to) = chunk;
        } else if (row < M) {
            for (int e = 0; e < 8; ++e)
                if (col + e < N) to[e] = reinterpret_cast<const T*>(&chunk)[e];
        }
    }
    __syncwarp();
}
