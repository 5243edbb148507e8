// C = A B^T, A (M, K) and B (N, K) row-major FP16, tiles 128 x BN x 64: one producer thread, two consumer warpgroups of
// 64 rows each. The macros BREAK_* make one mistake each; test_hopper_gemm.py has launches and expectations.
#include "async_ops.cuh"
typedef unsigned short half_t;
typedef unsigned long long desc_t;
#ifndef STAGES
#define STAGES 3
#endif
#define BN 128
#define BK 64

struct Tiles {
  half_t a[STAGES][128 * BK];
  half_t b[STAGES][BN * BK];
  mbar_t full[STAGES], empty[STAGES];
};

__device__ __forceinline__ desc_t descriptor(const half_t* p) {  // K-major, swizzle 128 B: 8 rows are 1024 bytes
  return (desc_t)(sa(p) >> 4) | (desc_t)1 << 16 | (desc_t)64 << 32 | (desc_t)1 << 62;
}

#define LIST64                                                                                                        \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,"  \
  "%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59," \
  "%60,%61,%62,%63}"
#define D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

__device__ __forceinline__ void multiply(float (&d)[64], desc_t a, desc_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " LIST64 ", %64, %65, 1, 1, 1, 0, 0;"
               : D8(0), D8(8), D8(16), D8(24), D8(32), D8(40), D8(48), D8(56) : "l"(a), "l"(b));
}

extern "C" __launch_bounds__(384, 1) __global__ void gemm(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb,
                                                          float* c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Tiles& s = *(Tiles*)raw;
  int t = threadIdx.x, m0 = blockIdx.y * 128, n0 = blockIdx.x * BN, steps = k / BK;
  if (t == 0) {
    for (int i = 0; i < STAGES; ++i) mbar_init(&s.full[i], 1), mbar_init(&s.empty[i], 2);
    fence_init();
  }
  __syncthreads();
  if (t < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (t == 0) {
      for (int i = 0; i < steps; ++i) {
        int stage = i % STAGES;
        if (i >= STAGES) wait(&s.empty[stage], (i / STAGES - 1) & 1);
        arrive_expect(&s.full[stage], (128 + BN) * BK * 2);
        load2(s.a[stage], &ma, i * BK, m0, &s.full[stage]);
        load2(s.b[stage], &mb, i * BK, n0, &s.full[stage]);
      }
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  int group = t / 128 - 1, lane = t % 128;
  float d[64] = {};
  for (int i = 0; i < steps; ++i) {
    int stage = i % STAGES;
#ifndef BREAK_FULL
    wait(&s.full[stage], i / STAGES & 1);
#endif
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    desc_t a = descriptor(s.a[stage] + group * 64 * BK), b = descriptor(s.b[stage]);
#pragma unroll
    for (int j = 0; j < 4; ++j) multiply(d, a + 2 * j, b + 2 * j);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#ifdef BREAK_EMPTY_BEFORE_WAIT  // the stage is released while it is still read
    if (lane == 0) arrive(&s.empty[stage]);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#elif defined(BREAK_RELEASE_OWN_WARP)  // warp 0 has waited, warps 1 to 3 may not have
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (lane == 0) arrive(&s.empty[stage]);
#elif defined(BREAK_RELEASE_NEWEST)  // one group may go on, and it is this stage's
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (lane == 0) arrive(&s.empty[stage]);
#else  // the stage before this one is free
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (lane == 0 && i > 0) arrive(&s.empty[(i - 1) % STAGES]);
#endif
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  float* out = c + (m0 + 64 * group + lane / 32 * 16 + lane % 32 / 4) * n + n0 + lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < 64; j += 4) {
    *(float2*)(out + 2 * j) = make_float2(d[j], d[j + 1]);
    *(float2*)(out + 8 * n + 2 * j) = make_float2(d[j + 2], d[j + 3]);
  }
}
