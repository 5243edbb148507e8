"""Counters: the worked examples of the literature, and identities that must hold."""

import numpy as np
import pytest
from compiling import numba_args, numba_ptx, nvrtc_ptx
from numba import cuda, float32

import ptxemu
from ptxemu.counters import flops_per_thread, instruction_class

M, N, K = 32, 64, 16
MATRIX = float32[:, ::1]


def naive(A, B, C):
    m, n = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


def coalesced(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


def gemm(kernel, grid, block, **keywords):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((K, N)).astype(np.float32)
    C = np.full((M, N), np.nan, np.float32)
    entry = ptxemu.load(numba_ptx(kernel, (MATRIX,) * 3)).entry()
    report = ptxemu.launch(
        entry, grid, block, [*numba_args(A, "A"), *numba_args(B, "B"), *numba_args(C, "C")], **keywords
    )
    np.testing.assert_allclose(C, A @ B, rtol=1e-5, atol=1e-5)
    assert not report.findings, str(report)
    return report


def shared_pattern(expression, bits="float", op="load"):
    body = (
        f"out[t] = s[{expression}];" if op == "load" else f"s[{expression}] = out[t]; __syncthreads(); out[t] = s[t];"
    )
    source = f"""extern "C" __global__ void k({bits}* out) {{
      __shared__ {bits} s[2048]; int t = threadIdx.x;
      for (int i = t; i < 2048; i += 32) s[i] = {bits}(); __syncthreads(); {body} }}"""
    entry = ptxemu.load(nvrtc_ptx(source)).entry()
    report = ptxemu.launch(entry, 1, 32, [np.zeros(2048, np.float32)], check=False)
    loads = [s for s in report.counters.sites if s.space == "shared" and s.op == "ld"]
    return loads[0]


@pytest.mark.parametrize(
    ("expression", "wavefronts", "ideal"),
    [
        ("4 * t", 4, 1),
        ("32 * t", 32, 1),
        ("33 * t", 1, 1),
        ("0", 1, 1),
        ("t", 1, 1),
        ("2 * t", 2, 1),
        ("(t & 15) * 32", 16, 1),
    ],
)
def test_shared_wavefronts(expression, wavefronts, ideal):
    site = shared_pattern(expression)
    assert (site.wavefronts, site.wavefronts_ideal, site.excess_wavefronts) == (wavefronts, ideal, wavefronts - ideal)
    assert site.conflict_ways == wavefronts / ideal


def test_two_blocks_with_stride_four():
    """Six excess wavefronts for two warps that read s[4 * t] (NVIDIA code-samples issue 48)."""
    source = """extern "C" __global__ void k(float* out) {
      __shared__ float s[256]; int t = threadIdx.x;
      for (int i = t; i < 256; i += 32) s[i] = i; __syncthreads();
      out[blockIdx.x * 32 + t] = s[4 * t]; }"""
    report = ptxemu.launch(ptxemu.load(nvrtc_ptx(source)).entry(), 2, 32, [np.zeros(64, np.float32)])
    assert report.counters.total("shared", "ld").excess_wavefronts == 6


def test_naive_and_coalesced_sectors():
    """The warp runs down a column of C: 32 sectors per request of A and C, 1 of B; turned: 1, 4 and 4."""
    for kernel, grid, block, per_request in (
        (naive, (1, 8), (32, 8), {"A": 32, "B": 1, "C": 32}),
        (coalesced, (2, 4), (32, 8), {"A": 1, "B": 4, "C": 4}),
    ):
        report = gemm(kernel, grid, block, trace=ptxemu.Trace(limit=64))
        by_site = {s.ptx_line: s.sectors_per_request for s in report.counters.sites if s.space == "global"}
        seen = {a.name: by_site[a.site.ptx_line] for a in report.trace}
        assert seen == per_request


def test_flops_bytes_and_intensity():
    counters = gemm(coalesced, (2, 4), (32, 8)).counters
    assert counters.flops == 2 * M * N * K
    assert counters.bytes("global") == 4 * (2 * M * N * K + M * N)
    assert counters.intensity == counters.flops / counters.bytes("global")
    assert counters.bytes("shared") == 0
    with pytest.raises(ValueError, match="global"):
        counters.bytes("dram")


def test_sums_agree():
    counters = gemm(coalesced, (2, 4), (32, 8)).counters
    executed = sum(s.executions for s in counters.sites)
    assert sum(counters.mix().values()) == executed
    assert sum(s.executions for s in counters.by_line().values()) == executed
    assert counters.total("global").bytes == counters.total("global", "ld").bytes + counters.total("global", "st").bytes
    loads = counters.total("global", "ld")
    assert loads.requests == 2 * M * N * K // 32 and loads.threads == 2 * M * N * K
    assert counters.mix()["fma"] == M * N * K // 32


def test_divergence_counts_both_sides():
    """A warp that splits executes both sides; a store that no lane reaches is no request."""
    source = """extern "C" __global__ void k(float* out, int n) {
      int t = threadIdx.x;
      if (t < 16) asm volatile("st.global.f32 [%0], 0f3f800000;" :: "l"(out + t));
      else asm volatile("st.global.f32 [%0+256], 0f3f800000;" :: "l"(out + t));
      if (t > n) out[t] = 3.0f; }"""
    report = ptxemu.launch(ptxemu.load(nvrtc_ptx(source)).entry(), 1, 32, [np.zeros(128, np.float32), 99])
    stores = report.counters.total("global", "st")
    assert (stores.requests, stores.threads, stores.bytes) == (2, 32, 128)


def test_trace_has_the_real_addresses():
    report = gemm(coalesced, (2, 4), (32, 8), trace=ptxemu.Trace(ctas=[(1, 2, 0)], warps=[3], limit=5))
    assert len(report.trace) == 5
    for access in report.trace:
        assert access.cta == (1, 2, 0) and access.warp == 3 and access.width == 4 and access.kind == "ld"
    first_b = next(a for a in report.trace if a.name == "B")
    assert ((first_b.addresses - first_b.base) // 4).tolist() == list(range(32, 64))
    first_a = next(a for a in report.trace if a.name == "A")
    assert set(((first_a.addresses - first_a.base) // 4).tolist()) == {(2 * 8 + 3) * K}


@pytest.mark.parametrize(
    ("opcode", "kind", "flops"),
    [("fma.rn.f32", "fma", 2), ("fma.rn.f16x2", "fma", 4), ("mad.lo.s32", "int", 0), ("add.f64", "fp", 1),
     ("mul.rn.f32", "fp", 1), ("cvt.rn.f32.s32", "convert", 0), ("bar.sync", "barrier", 0), ("bra.uni", "branch", 0),
     ("rcp.approx.ftz.f32", "special", 0),
     ("shfl.sync.bfly.b32", "shuffle", 0), ("setp.lt.s32", "int", 0), ("mov.u32", "other", 0), ("max.f32", "fp", 0)],
)  # fmt: skip
def test_instruction_classes(opcode, kind, flops):
    assert instruction_class(opcode) == kind
    assert flops_per_thread(opcode) == flops


def test_summary_is_readable():
    text = str(gemm(naive, (1, 8), (32, 8)))
    assert "no findings" in text and "FLOP/byte" in text and "32.00 per request" not in text.splitlines()[0]


def test_local_memory_is_interleaved():
    """The same element of every lane's private array is one 128-byte line: 4 sectors per word, 8 for 64 bits."""
    source = """extern "C" __global__ void k(const int* index, int* out) {
      int v[16]; int t = threadIdx.x;
      for (int i = 0; i < 16; ++i) v[i] = i + t;
      out[t] = v[index[0]]; }"""
    report = ptxemu.launch(
        ptxemu.load(nvrtc_ptx(source)).entry(), 1, 32, [np.full(1, 5, np.int32), np.zeros(32, np.int32)]
    )
    load = report.counters.total("local", "ld")
    assert (load.requests, load.sectors, load.bytes) == (1, 4, 128)
    assert report.counters.total("local", "st").bytes == 16 * 4 * 32
