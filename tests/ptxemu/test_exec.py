"""Whole kernels: control flow, calls, memory spaces, exchange between lanes, schedules; both PTX dialects."""

import numba
import numpy as np
import pytest
from compiling import numba_ptx, nvrtc_ptx
from numba import cuda, float32

import ptxemu

ARCHS = ["75", "80", "90a", "100a", "120a"]
SCHEDULES = ["late", "early", 1, 2]


def launch(source, grid, block, args, arch="90a", **options):
    module = ptxemu.load(nvrtc_ptx(source, arch=arch))
    return ptxemu.launch(module.entry(), grid, block, args, profile=ptxemu.profile_for(module.target), **options)


TILED = """
extern "C" __global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[16][16], b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float acc = 0;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : 0.f;
    b[threadIdx.y][threadIdx.x] = col < N && k0 + threadIdx.y < K ? B[(k0 + threadIdx.y) * N + col] : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; k++) acc += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}
"""


def gemm_data(M, N, K):
    rng = np.random.default_rng(M * N + K)
    A, B = rng.normal(size=(M, K)).astype(np.float32), rng.normal(size=(K, N)).astype(np.float32)
    return A, B, np.full((M, N), np.nan, np.float32)


@pytest.mark.parametrize("arch", ARCHS)
def test_tiled_gemm_on_every_target(arch):
    A, B, C = gemm_data(33, 47, 21)
    report = launch(TILED, (3, 3), (16, 16), [A, B, ptxemu.Array(C, "C", "out"), 33, 47, 21], arch)
    assert report.completed and not report.findings, str(report)
    assert np.allclose(C, A @ B, atol=1e-5)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("observed", [False, True])
def test_schedules_and_observation_give_identical_bits(schedule, observed):
    A, B, C = gemm_data(33, 31, 40)
    _, _, expected = gemm_data(33, 31, 40)
    launch(TILED, (2, 3), (16, 16), [A, B, expected, 33, 31, 40], check=False, count=False)
    launch(TILED, (2, 3), (16, 16), [A, B, C, 33, 31, 40], schedule=schedule, check=observed, count=observed)
    assert np.array_equal(C, expected) and not np.isnan(C).any()


def flat(array):
    """Numba's array arguments: meminfo, parent, size, itemsize, data, shape, strides."""
    return [0, 0, array.size, array.itemsize, array, *array.shape, *array.strides]


def naive(A, B, C):
    m, n = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0.0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


@pytest.mark.parametrize("cc", [(7, 5), (9, 0), (10, 0)])
def test_numba_gemm(cc):
    matrix = numba.float32[:, ::1]
    module = ptxemu.load(numba_ptx(naive, (matrix, matrix, matrix), cc))
    A, B, C = gemm_data(17, 33, 5)
    report = ptxemu.launch(
        module.entry(), (2, 2), (16, 17), flat(A) + flat(B) + flat(C), profile=ptxemu.profile_for(module.target)
    )
    assert not report.errors and np.allclose(C, A @ B, atol=1e-5), str(report)


def test_switch_and_divergent_loops():
    source = """extern "C" __global__ void k(const int* x, int* y) {
      int t = threadIdx.x, v = x[t], s = 0;
      switch (v) { case 0: s = 10; break; case 1: s = 21; break; case 2: s = 32; break; case 3: s = t; break;
        case 4: s = -4; break;
        case 5: for (int i = 0; i < t; i++) { if (i % 3 == 0) continue; s += i; } break; case 6: s = v * v; break;
        default: s = -1; }
      for (int i = 0; i < t % 5; i++) s = s * 3 + 1;
      y[t] = s; }"""
    x = np.arange(64, dtype=np.int32) % 9
    y = np.zeros(64, np.int32)

    def expected(t):
        s = {0: 10, 1: 21, 2: 32, 3: t, 4: -4, 5: sum(i for i in range(t) if i % 3), 6: 36}.get(t % 9, -1)
        for _ in range(t % 5):
            s = s * 3 + 1
        return s

    for arch in ARCHS:
        y[:] = 0
        report = launch(source, 1, 64, [x, y], arch)
        assert not report.errors and y.tolist() == [expected(t) for t in range(64)]


def test_device_functions_local_arrays_constants_and_structs():
    source = """
      struct S { int a; float b[3]; };
      __constant__ float table[4] = {1, 2, 3, 4};
      __device__ int counter = 7;
      __device__ __noinline__ float pick(const float* p, int i) { return p[i] + 1; }
      __device__ __noinline__ float twice(float x, const float* p) { return x > 3 ? pick(p, 1) : pick(p, 2) * 2; }
      extern "C" __global__ void k(float* x, S s, int n) {
        float local[8];
        for (int i = 0; i < 8; i++) local[i] = x[threadIdx.x] + i * n;
        x[threadIdx.x] = twice(local[threadIdx.x & 7], local) + s.b[threadIdx.x % 3] * s.a + table[threadIdx.x & 3];
        if (threadIdx.x == 0) counter += 1; }"""
    module = ptxemu.load(nvrtc_ptx(source))
    struct = np.array([(3, (0.5, 1.5, 2.5))], [("a", "i4"), ("b", "f4", 3)]).tobytes()
    x = np.arange(16, dtype=np.float32)
    before = x.copy()
    for _ in range(2):
        x[:] = before
        report = ptxemu.launch(module.entry(), 1, 16, [x, struct, 2])
        assert not report.errors, str(report)

    def expected(t):
        local = [t + 2 * i for i in range(8)]
        value = local[1] + 1 if local[t & 7] > 3 else (local[2] + 1) * 2
        return value + (0.5, 1.5, 2.5)[t % 3] * 3 + (1, 2, 3, 4)[t & 3]

    assert x.tolist() == [expected(t) for t in range(16)]
    assert module.image["counter"][:4].view(np.int32)[0] == 9  # module variables live as long as the module


def test_inline_asm_scopes_with_equal_labels():
    source = """extern "C" __global__ void k(int* y) { int v = y[threadIdx.x];
      asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 3; @p bra DONE; add.s32 %0, %0, 100; DONE: }" : "+r"(v));
      asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 101; @!p bra DONE; mul.lo.s32 %0, %0, 2; DONE: }" : "+r"(v));
      y[threadIdx.x] = v; }"""
    y = np.arange(8, dtype=np.int32)
    launch(source, 1, 8, [y])
    step = [v + 100 if v <= 3 else v for v in range(8)]
    assert y.tolist() == [2 * v if v > 101 else v for v in step]


def test_shuffles_votes_and_reductions():
    source = """extern "C" __global__ void k(const int* x, int* y, unsigned* z) {
      int t = threadIdx.x, v = x[t];
      y[t] = __shfl_down_sync(~0u, v, 3); y[t + 64] = __shfl_up_sync(~0u, v, 5);
      y[t + 128] = __shfl_xor_sync(~0u, v, 7);
      y[t + 192] = __shfl_sync(~0u, v, t / 2, 16);
      z[t] = __ballot_sync(~0u, v & 1); z[t + 64] = __any_sync(~0u, v > 60); z[t + 128] = __all_sync(~0u, v >= 0);
      z[t + 192] = __match_any_sync(~0u, v / 4); z[t + 256] = __reduce_add_sync(~0u, (unsigned)v);
      if (t % 3 == 0) z[t + 320] = __activemask(); }"""
    x = np.random.default_rng(1).permutation(64).astype(np.int32)
    y, z = np.zeros(256, np.int32), np.zeros(384, np.uint32)
    report = launch(source, 1, 64, [x, y, z])
    assert not report.errors, str(report)
    for w in (0, 1):
        v = x[32 * w : 32 * w + 32].tolist()
        at = slice(32 * w, 32 * w + 32)
        assert y[at].tolist() == [v[i + 3] if i < 29 else v[i] for i in range(32)]
        assert y[64:][at].tolist() == [v[i - 5] if i >= 5 else v[i] for i in range(32)]
        assert y[128:][at].tolist() == [v[i ^ 7] for i in range(32)]
        assert y[192:][at].tolist() == [v[(i & 16) + (32 * w + i) // 2 % 16] for i in range(32)]
        assert set(z[at]) == {sum((e & 1) << i for i, e in enumerate(v))}
        assert set(z[64:][at]) == {int(any(e > 60 for e in v))} and set(z[128:][at]) == {1}
        assert z[192:][at].tolist() == [sum(1 << j for j in range(32) if v[j] // 4 == e // 4) for e in v]
        assert set(z[256:][at]) == {sum(v)}
        active = sum(1 << i for i in range(32) if (32 * w + i) % 3 == 0)
        assert set(z[320:][at]) == {0, active}


def test_member_masks_divide_a_warp():
    """Half warps and odd lanes that execute one instruction with masks of their own do not see each other."""
    source = """extern "C" __global__ void k(const unsigned* x, unsigned* y) {
      int t = threadIdx.x; unsigned half = t < 16 ? 0xffff : 0xffff0000u, odd = t & 1 ? 0xaaaaaaaau : 0x55555555u;
      y[t] = __ballot_sync(half, x[t] & 1); y[t + 32] = __reduce_add_sync(odd, x[t]);
      y[t + 64] = __match_any_sync(half, x[t] / 8); int all; y[t + 96] = __match_all_sync(odd, x[t] & 1, &all);
      y[t + 128] = __any_sync(half, x[t] == 31); y[t + 160] = __reduce_max_sync(half, x[t]); }"""
    x, y = np.random.default_rng(3).permutation(32).astype(np.uint32), np.zeros(192, np.uint32)
    assert not launch(source, 1, 32, [x, y]).errors
    v = x.tolist()
    half = [range(16) if t < 16 else range(16, 32) for t in range(32)]
    odd = [range(t & 1, 32, 2) for t in range(32)]
    assert y[:32].tolist() == [sum((v[j] & 1) << j for j in half[t]) for t in range(32)]
    assert y[32:64].tolist() == [sum(v[j] for j in odd[t]) for t in range(32)]
    assert y[64:96].tolist() == [sum(1 << j for j in half[t] if v[j] // 8 == v[t] // 8) for t in range(32)]
    same = [len({v[j] & 1 for j in odd[t]}) == 1 for t in range(32)]
    assert y[96:128].tolist() == [sum(1 << j for j in odd[t]) if same[t] else 0 for t in range(32)]
    assert y[128:160].tolist() == [int(any(v[j] == 31 for j in half[t])) for t in range(32)]
    assert y[160:].tolist() == [max(v[j] for j in half[t]) for t in range(32)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shuffle_waits_for_lanes_that_took_another_path(schedule):
    source = """extern "C" __global__ void k(int* y) { int t = threadIdx.x, v;
      if (t < 16) { v = t * 2; for (int i = 0; i < t; i++) v += i & 1; } else { v = t * 3; }
      v += __shfl_xor_sync(~0u, t, 31); y[t] = v; }"""
    y = np.zeros(32, np.int32)
    report = launch(source, 1, 32, [y], schedule=schedule)
    assert not report.errors, str(report)
    assert y.tolist() == [(t * 2 + t // 2 if t < 16 else t * 3) + (31 - t) for t in range(32)]


def test_atomics_on_shared_and_global_memory():
    source = """extern "C" __global__ void k(int* c, float* f, unsigned long long* u, int* old) {
      __shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads();
      atomicAdd(&s, 1); atomicMax(c, (int)threadIdx.x); atomicMin(c + 1, -(int)threadIdx.x);
      atomicXor(c + 2, 1 << (threadIdx.x & 31));
      atomicAdd(f, 0.5f); atomicAdd(u, 1ull << 33); atomicInc((unsigned*)c + 3, 4);
      atomicCAS(c + 4, (int)threadIdx.x, (int)threadIdx.x + 1);
      old[blockIdx.x * 64 + threadIdx.x] = atomicAdd(c + 5, 2); __syncthreads();
      if (threadIdx.x == 0) atomicAdd(c + 6, s); }"""
    c = np.zeros(8, np.int32)
    f, u, old = np.zeros(1, np.float32), np.zeros(1, np.uint64), np.zeros(192, np.int32)
    report = launch(source, 3, 64, [c, f, u, old])
    assert not report.errors, str(report)
    assert c.tolist() == [63, -63, 0, 192 % 5, 64, 384, 192, 0]
    assert f[0] == 96 and u[0] == 192 << 33 and sorted(old.tolist()) == list(range(0, 384, 2))


def test_half_arithmetic_from_the_cuda_headers():
    pytest.importorskip("cupy")
    source = """
      extern "C" __global__ void k(const unsigned short* a, unsigned short* o) {
        unsigned short v = a[threadIdx.x], r; asm("{fma.rn.f16 %0, %1, %1, %1;}" : "=h"(r) : "h"(v));
        o[threadIdx.x] = r; }"""
    a = np.linspace(-3, 3, 64).astype(np.float16)
    o = np.zeros(64, np.float16)
    launch(source, 1, 64, [a, o])
    assert np.array_equal(o, (a.astype(np.float64) * a.astype(np.float64) + a).astype(np.float16))


def test_generic_addresses_reach_every_space():
    source = """__device__ __noinline__ void put(float* p, float v) { *p += v; }
      extern "C" __global__ void k(float* g, int n) {
        __shared__ float s[32]; float l[4] = {1, 2, 3, 4};
        s[threadIdx.x] = threadIdx.x; float* p = n > 1 ? s + threadIdx.x : g + threadIdx.x;
        put(p, 10); put(&l[threadIdx.x & 3], 5); put(g + threadIdx.x, s[threadIdx.x] + l[threadIdx.x & 3]); }"""
    for n in (1, 2):
        g = np.zeros(32, np.float32)
        report = launch(source, 1, 32, [g, n])
        assert not report.errors, str(report)
        assert g.tolist() == [t + 10 + (t & 3) + 1 + 5 for t in range(32)]


def test_named_barriers_between_producer_and_consumer_warps():
    source = """extern "C" __global__ void k(int* y) { __shared__ int s[64]; int t = threadIdx.x;
      if (t < 64) { s[t] = t * t; asm volatile("bar.arrive 1, 128;" ::: "memory"); }
      else { asm volatile("bar.sync 1, 128;" ::: "memory"); y[t - 64] = s[127 - t]; } }"""
    for schedule in SCHEDULES:
        y = np.zeros(64, np.int32)
        report = launch(source, 1, 128, [y], schedule=schedule)
        assert not report.findings, str(report)
        assert y.tolist() == [(63 - i) ** 2 for i in range(64)]


def test_barrier_reductions():
    source = """extern "C" __global__ void k(int* y) { int t = threadIdx.x;
      y[t] = __syncthreads_count(t % 3 == 0); y[t + 96] = __syncthreads_and(t < 96);
      y[t + 192] = __syncthreads_or(t > 95); }"""
    y = np.zeros(288, np.int32)
    launch(source, 1, 96, [y])
    assert set(y[:96]) == {32} and set(y[96:192]) == {1} and set(y[192:]) == {0}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ctas_may_wait_for_each_other(schedule):
    """A chain through the grid: each CTA spins until its predecessor has added its part."""
    source = """extern "C" __global__ void k(volatile int* flag, int* sum) {
      if (threadIdx.x == 0) { while (flag[0] != gridDim.x - 1 - blockIdx.x) ;
        __threadfence(); *sum = *sum * 2 + blockIdx.x; __threadfence();
        flag[0] = flag[0] + 1; } }"""
    flag, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    report = launch(source, 40, 32, [flag, total], schedule=schedule, check=False)
    expected = 0
    for i in reversed(range(40)):
        expected = (expected * 2 + i) & 0xFFFFFFFF
    assert report.completed and int(total.view(np.uint32)[0]) == expected


def test_special_registers():
    source = """extern "C" __global__ void k(unsigned* y, long long* c) {
      unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane, warp, lt, dyn;
      asm("mov.u32 %0, %%laneid;" : "=r"(lane)); asm("mov.u32 %0, %%warpid;" : "=r"(warp));
      asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
      asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(dyn));
      long long a = clock64(); y[4 * t] = lane; y[4 * t + 1] = warp; y[4 * t + 2] = lt; y[4 * t + 3] = dyn;
      c[t] = clock64() - a; }"""
    y, c = np.zeros(4 * 60, np.uint32), np.zeros(60, np.int64)
    launch(source, 1, (5, 4, 3), [y, c], shared=128)
    rows = y.reshape(60, 4)
    assert rows.tolist() == [[t % 32, t // 32, (1 << t % 32) - 1, 128] for t in range(60)] and (c > 0).all()


def test_vector_accesses_of_all_widths():
    source = """extern "C" __global__ void k(const float4* a, const double2* d, const unsigned short* h, char* b,
                                               float4* o, double2* e) {
      int t = threadIdx.x; float4 v = a[t]; v.x += h[t]; o[t] = v; double2 w = d[t]; w.y *= 2; e[t] = w;
      b[t] = b[t] - 3; }"""
    a, d = np.arange(128, dtype=np.float32), np.arange(64, dtype=np.float64)
    h, b = np.arange(32, dtype=np.uint16), np.arange(32, dtype=np.int8)
    o, e = np.zeros(128, np.float32), np.zeros(64, np.float64)
    assert not launch(source, 1, 32, [a, d, h, b, o, e]).errors
    a[::4] += h
    d[1::2] *= 2
    assert np.array_equal(o, a) and np.array_equal(e, d) and b.tolist() == [i - 3 for i in range(32)]
