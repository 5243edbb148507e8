"""The whole of a measurement on a stand-in GPU: data, checks, rivals, record, and what it refuses."""

import importlib
import re
import sys

import numpy as np
import pytest

import kernels
from gemmlab import results
from gemmlab.device import Device
from gemmlab.errors import GemmlabError
from gemmlab.measuring import ceilings, measure_gpu, telemetry, tensor_ceilings, timing
from tests.gemmlab.fake_gpu import FakeGpu

M, N, K = 48, 64, 80
SPEC = kernels.spec("k04_coalesced")


@pytest.fixture
def fake(monkeypatch):
    gpu = FakeGpu()
    monkeypatch.setitem(sys.modules, "cupy", gpu)
    monkeypatch.setattr(measure_gpu, "_library", lambda: Library(gpu))
    bind_with(monkeypatch, gpu)
    return gpu


def bind_with(monkeypatch, gpu, compute=np.matmul, us=300.0):
    """Make our kernel compute C = compute(A, B) in `us` microseconds."""

    def bind(compiled, A, B, C, *sizes, grid, block, shared, cluster, nonportable):
        assert (grid, block, shared) == SPEC.launch_dims(M, N, K) and cluster is None

        def enqueue():
            gpu.work("ours", us, None)
            C[...] = compute(A, B)

        return enqueue

    monkeypatch.setattr(importlib.import_module("gemmlab.launch"), "bind", bind)


class Library:
    """Stands in for cuBLAS: heuristic 1 is the fastest, heuristic 2 is wrong, heuristic 3 does not run."""

    version = "13.1.0"

    def __init__(self, gpu):
        self.gpu = gpu

    def _run(self, name, us, wrong=False):
        def run(a, b, c, stream):
            assert stream == 7
            A, B, C = (self.gpu.arrays[pointer] for pointer in (a, b, c))
            self.gpu.work(name, us, None)
            C[...] = B[:M, :N] if wrong else A @ B

        return run

    def default(self, problem):
        assert (problem.m, problem.n, problem.k) == (N, M, K)
        return self._run("default", 250.0)

    def heuristics(self, problem):
        def broken(a, b, c, stream):
            raise GemmlabError("cublasLtMatmul failed with NOT_SUPPORTED (15)")

        return [self._run("h0", 240.0), self._run("h1", 230.0), self._run("h2", 1.0, wrong=True), broken]


def bench(mode="cold"):
    return measure_gpu.Bench(SPEC, M, N, K, mode)


def test_a_measurement_is_complete_and_valid(fake):
    measured = bench().run(rounds=6)
    record = results.validate(measured.record)
    assert record["time_us"] == 300.0 and len(record["samples_us"]) == 6
    medians = {name: results.median(samples) for name, samples in record["rival_samples_us"].items()}
    assert medians == {"cublas": 250.0, "cublaslt_first": 240.0, "cublaslt_best": 230.0}
    assert record["rival_best"] == "cublaslt_best" and measured.ratio == pytest.approx(230 / 300)
    assert len(record["skipped_rivals"]) == 2 and "NOT_SUPPORTED" in record["skipped_rivals"][1]
    assert 0 < record["rel_error"] < 1e-5 and record["cublas"] == "13.1.0" and record["chapter"] == "04"
    assert record["source_sha256"] == results.spec_sha256(SPEC)
    assert not measured.recorded and f"measured on NVIDIA H200, {telemetry.today()}" in str(measured)


def test_a_measurement_can_be_stored_and_shown_again(fake, tmp_path):
    measured = bench().run(rounds=3)
    machine = telemetry.machine(telemetry.Telemetry(), "13.1.0")
    assert (machine["gpu"], machine["sms"], machine["cuda_runtime"]) == ("NVIDIA H200", 132, "13.0")
    results.merge(results.path_of(machine["gpu"], tmp_path), machine, [measured.record])
    assert results.find(SPEC.name, M, N, K, directory=tmp_path)[0]["tflops"] == measured.tflops


def test_warm_mode_keeps_one_set_and_does_not_flush(fake):
    measured = bench("warm").run(rounds=2)
    assert measured.record["sets"] == 1 and ("flush", None) not in fake.log and "warm L2" in str(measured)


def test_cold_mode_flushes_and_rotates(fake):
    measured = bench().run(rounds=2)
    assert measured.record["sets"] == 128 and ("flush", None) in fake.log  # 48 KB a set, 60 MB of L2


@pytest.mark.parametrize(
    "compute, message",
    [
        (lambda A, B: A @ B * np.float32(1.001), "k04_coalesced: the largest error is .* times the error bound"),
        (lambda A, B: np.nan, "k04_coalesced: 3072 of 3072 elements of C are NaN, infinite or never written"),
    ],
)
def test_a_wrong_kernel_has_no_time(fake, monkeypatch, compute, message):
    bind_with(monkeypatch, fake, compute)
    with pytest.raises(GemmlabError, match=message):
        bench().run(rounds=2)


def test_an_unwritten_output_has_no_time(fake, monkeypatch):
    def leaves_last_row(A, B):
        C = A @ B
        C[-1] = np.nan
        return C

    bind_with(monkeypatch, fake, leaves_last_row)
    with pytest.raises(GemmlabError, match="64 of 3072 elements of C"):
        bench().run(rounds=2)


def test_an_impossible_time_is_not_printed(fake, monkeypatch):
    bind_with(monkeypatch, fake, us=0.001)
    with pytest.raises(GemmlabError, match="times faster than H200 can do"):
        bench().run(rounds=2)


def test_without_cublas_the_kernel_is_still_measured(fake, monkeypatch):
    def missing():
        raise GemmlabError("cannot load cublas: install the nvidia-cublas wheel that matches CuPy")

    monkeypatch.setattr(measure_gpu, "_library", missing)
    measured = bench().run(rounds=2)
    assert measured.tflops and measured.ratio is None and measured.record["rivals"] == {}
    assert "no rival: cannot load cublas" in str(measured)


def test_measure_uses_the_gpu_that_is_here(fake, monkeypatch):
    here = Device("gpu", cc=(9, 0))
    monkeypatch.setattr(importlib.import_module("gemmlab.device"), "device", lambda: here)
    measured = importlib.import_module("gemmlab.measuring.measure").measure(SPEC, M, N, K, rounds=2)
    assert not measured.recorded and measured.time_us == 300.0
    with pytest.raises(GemmlabError, match="rounds must be at least 1"):
        importlib.import_module("gemmlab.measuring.measure").measure(SPEC, M, N, K, rounds=0)


@pytest.mark.parametrize(
    "name, opcode, count",
    [
        ("dram_copy", "st.global.v4", 1),
        ("dram_read", "ld.global.v4", 1),
        ("dram_write", "st.global.v4", 1),
        ("fp32_fma", "fma.rn.f32", ceilings.CHAINS * ceilings.UNROLL),
    ],
)
def test_ceiling_kernels_hold_the_work_that_is_counted(name, opcode, count):
    ptx = ceilings.compiled(name, "sm_90").ptx
    body = ptx[ptx.index(f".entry {name}(") :].split(".visible", 1)[0]
    unrolled = body.replace("ld.global.nc.v4", "ld.global.v4").count(opcode)
    assert unrolled == count if name == "fp32_fma" else unrolled >= count


@pytest.mark.parametrize("name", [name for name in tensor_ceilings.CEILINGS if not name.endswith("_zeros")])
def test_tensor_ceilings_hold_the_work_that_is_counted(name):
    kernel, built = tensor_ceilings.CEILINGS[name].kernel, tensor_ceilings.compiled(name, "sm_90a")
    body = built.ptx[built.ptx.index(f".entry {kernel}(") :].split(".visible", 1)[0]
    groups = re.findall(r"(?:wgmma\.mma_async|mma)\.sync\.aligned\.m(\d+)n(\d+)k(\d+)", body)
    issuers = 2 if kernel.startswith("wgmma") else tensor_ceilings.THREADS // 32  # warpgroups or warps of a block
    assert sum(2 * int(m) * int(n) * int(k) for m, n, k in groups) * issuers == tensor_ceilings.CEILINGS[name].flop
    assert built.spill_bytes == 0 and not built.assembly.remarks


def test_impossible_ceilings_are_refused():
    ceilings.refuse_above("dram_copy", 4300.0, "GB/s", 4800.0)
    for value in (5000.0, 0.0, float("nan")):
        with pytest.raises(GemmlabError, match="no measurement"):
            ceilings.refuse_above("dram_copy", value, "GB/s", 4800.0)


@pytest.mark.skipif(importlib.import_module("gemmlab.device").device().kind != "gpu", reason="needs a GPU")
def test_two_identical_kernels_tie_on_a_gpu():
    real = measure_gpu.Bench(SPEC, 1024, 1024, 1024)
    launch = real.kernel()
    timed = timing.compare({"a": launch, "b": launch}, len(real.sets), 20, real.flush_bytes)
    a, b = (results.median(timed.samples_us[name]) for name in "ab")
    assert a == pytest.approx(b, rel=0.03)


@pytest.mark.skipif(importlib.import_module("gemmlab.device").device().kind != "gpu", reason="needs a GPU")
def test_cublas_is_right_and_ahead_of_the_naive_kernels_on_a_gpu():
    measured = measure_gpu.Bench(SPEC, 1000, 1016, 1032).run(rounds=5)
    assert {"cublas", "cublaslt_first", "cublaslt_best"} <= set(measured.record["rivals"])
    assert measured.ratio < 1
