// Tensor cores alone: mma.sync on registers, mma.sync fed by ldmatrix, wgmma on shared memory. Nothing is read from
// global memory inside the loops. Factors are the random numbers of `in`: zeros would draw less power and run faster.
// Accumulators are summed into `out` at the end, so that no product can be left out.
#include "ptx/ldmatrix.cuh"
#include "ptx/mma.cuh"
#include "ptx/address.cuh"
#if __CUDA_ARCH_FEAT_SM90_ALL
#include "ptx/fence.cuh"
#include "ptx/wgmma.cuh"
#endif

template <int R, class T>
__device__ float sum_of(T (&acc)[R]) {
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < R; ++i) sum += (float)acc[i];
    return sum;
}

// Two sets of fragments in turn: 4 of A and 4 of B each, 16 independent products per set.
template <class T, class Multiply>
__device__ void multiply_registers(const unsigned* in, float* out, int loops, Multiply multiply) {
    unsigned a[2][4][4], b[2][4][2];
    T acc[16][4] = {};
#pragma unroll
    for (int i = 0; i < 48; ++i) {
        unsigned word = in[i * blockDim.x + threadIdx.x];
        if (i < 32) a[i / 16][i / 4 % 4][i % 4] = word;
        else b[i / 8 % 2][i / 2 % 4][i % 2] = word;
    }
#pragma unroll 1
    for (int loop = 0; loop < loops; ++loop)
#pragma unroll
        for (int i = 0; i < 32; ++i) multiply(acc[i % 16], a[i / 16][i % 4], b[i / 16][i % 16 / 4]);
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += sum_of(acc[i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#define REGISTERS(NAME, T, MMA)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256, 1) NAME(const unsigned* in, float* out, int loops) {       \
        multiply_registers<T>(in, out, loops, [](T(&d)[4], unsigned(&a)[4], unsigned(&b)[2]) { MMA(d, a, b); }); \
    }
REGISTERS(mma_bf16, float, mma_m16n8k16_f32_bf16)
REGISTERS(mma_f16, float, mma_m16n8k16_f32_f16)
REGISTERS(mma_tf32, float, mma_m16n8k8_f32_tf32)
REGISTERS(mma_s8, int, mma_m16n8k32_s32_s8)

// Address of the 16 bytes at (row, chunk) of a tile with rows of 128 bytes, chunks at chunk XOR row % 8.
__device__ unsigned swizzled(unsigned tile, int row, int chunk) { return tile + row * 128 + (chunk ^ row % 8) * 16; }

// A tile of 128 x 256 x 64 multiplied again and again: 8 warps of 64 x 64, fragments one k16 step ahead.
extern "C" __global__ void __launch_bounds__(256, 1) mma_ldmatrix_bf16(const unsigned* in, float* out, int loops) {
    __shared__ alignas(1024) unsigned smem[12288];  // A: 128 rows of 128 bytes; B: four boxes of 64 rows
    for (int i = threadIdx.x; i < 12288; i += 256) smem[i] = in[i];
    __syncthreads();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, half = lane / 16;
    unsigned tile_a = shared_address(smem) + warp / 4 * 64 * 128;
    unsigned tile_b = shared_address(smem) + 128 * 128 + warp % 4 * 64 * 128;
    unsigned a[2][4][4], b[2][8][2];
    float acc[32][4] = {};
    auto load = [&](int buffer, int k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) ldmatrix_x4(a[buffer][i], swizzled(tile_a, i * 16 + lane % 16, k * 2 + half));
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            unsigned from = swizzled(tile_b, k * 16 + lane % 16, j * 2 + half), word[4];
            ldmatrix_x4_trans(word, from);
#pragma unroll
            for (int r = 0; r < 4; ++r) b[buffer][2 * j + r / 2][r % 2] = word[r];
        }
    };
    load(0, 0);
#pragma unroll 1
    for (int loop = 0; loop < loops; ++loop)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            load((k + 1) % 2, (k + 1) % 4);
#pragma unroll
            for (int i = 0; i < 32; ++i) mma_m16n8k16_f32_bf16(acc[i], a[k % 2][i % 4], b[k % 2][i / 4]);
        }
    float sum = 0.f;
#pragma unroll
    for (int i = 0; i < 32; ++i) sum += sum_of(acc[i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#if __CUDA_ARCH_FEAT_SM90_ALL
// Two warpgroups, each 64 x 256 x 64 per group of four wgmma, both operands K-major in shared memory.
template <class T>
__device__ void multiply_shared(const unsigned* in, float* out, int loops) {
    __shared__ alignas(1024) unsigned smem[12288];  // A: 128 rows of 128 bytes; B: 256
    for (int i = threadIdx.x; i < 12288; i += 256) smem[i] = in[i];
    fence_proxy_async_shared();
    __syncthreads();
    float acc[128] = {};
    wgmma_desc_t a = wgmma_descriptor(smem + threadIdx.x / 128 * 2048, 16, 1024, 1);
    wgmma_desc_t b = wgmma_descriptor(smem + 4096, 16, 1024, 1);
#pragma unroll 1
    for (int loop = 0; loop < loops; ++loop) {
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < 4; ++k) wgmma_m64k16<256, 0, 0>(acc, a + 2 * k, b + 2 * k, 1, T());
        wgmma_commit_group();
        wgmma_wait_group<1>();
    }
    wgmma_wait_group<0>(acc);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(acc);
}

#define SHARED(NAME, T)                                                                                    \
    extern "C" __global__ void __launch_bounds__(256, 1) NAME(const unsigned* in, float* out, int loops) { \
        multiply_shared<T>(in, out, loops);                                                                \
    }
SHARED(wgmma_bf16, __nv_bfloat16)
SHARED(wgmma_f16, __half)
#endif
