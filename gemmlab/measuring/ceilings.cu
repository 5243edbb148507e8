// Four micro-benchmarks: DRAM copy, read and write with 128-bit accesses, and FP32 FMAs that never leave the registers.
// Four iterations of a DRAM loop are unrolled, so that a thread has several accesses in flight.

extern "C" __global__ void dram_copy(const float4* __restrict__ in, float4* __restrict__ out, unsigned long long n) {
    size_t step = (size_t)gridDim.x * blockDim.x;
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = in[i];
}

// The sum is stored only if it has one bit pattern that it never has: the compiler cannot know, and keeps the loads.
extern "C" __global__ void dram_read(const float4* in, float4* out, unsigned long long n) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float4 v = in[i];
        sum.x += v.x;
        sum.y += v.y;
        sum.z += v.z;
        sum.w += v.w;
    }
    if (__float_as_int(sum.x + sum.y + sum.z + sum.w) == 0x7fc0dead) out[0] = sum;
}

extern "C" __global__ void dram_write(float4* out, unsigned long long n, float value) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    float4 v = make_float4(value, value, value, value);
#pragma unroll 4
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = v;
}

// CHAINS independent chains per thread hide the FMA's latency; UNROLL keeps the loop's own instructions below 2 %.
extern "C" __global__ void fp32_fma(float* out, float a, float b, int loops) {
    float x[CHAINS];
#pragma unroll
    for (int j = 0; j < CHAINS; j++) x[j] = threadIdx.x + j;
#pragma unroll 1
    for (int i = 0; i < loops; i++) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
#pragma unroll
            for (int j = 0; j < CHAINS; j++) x[j] = fmaf(x[j], a, b);
        }
    }
    float sum = 0.f;
#pragma unroll
    for (int j = 0; j < CHAINS; j++) sum += x[j];
    out[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
