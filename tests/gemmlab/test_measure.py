"""Measuring without a GPU: what is refused, how rounds are arranged, and what is shown instead of a measurement."""

import importlib
import sys
import types

import numpy as np
import pytest

import kernels
from gemmlab import results
from gemmlab.device import Device
from gemmlab.errors import GemmlabError
from gemmlab.hardware import gpu
from gemmlab.measuring import refusals, telemetry, timing
from tests.gemmlab.fake_gpu import FakeGpu
from tests.gemmlab.sample_records import MACHINE, record

measure = importlib.import_module("gemmlab.measuring.measure")  # the package's attribute of this name is the function
H200 = gpu("h200")


# --- what is refused -------------------------------------------------------------------------------------------------


def test_flat_inputs_are_refused():
    rng = np.random.default_rng(0)
    refusals.flat_input("A", rng.standard_normal((64, 64)))
    refusals.flat_input("A", np.where(rng.random((64, 64)) < 0.4, 0, rng.standard_normal((64, 64))))
    for flat in (np.zeros((64, 64)), np.ones((2048, 2048)), np.full((8, 8), np.nan)):
        with pytest.raises(GemmlabError, match="A is 100% one value"):
            refusals.flat_input("A", flat)
    with pytest.raises(GemmlabError, match="B is 6.% one value: .* measure with random normal data"):
        refusals.flat_input("B", np.where(rng.random((64, 64)) < 0.63, 0, rng.standard_normal((64, 64))))


def test_unwritten_and_nan_outputs_are_refused():
    C = np.zeros((4, 4), np.float32)
    refusals.bad_output("k", C)
    C[1, 2] = np.nan
    C[3, 3] = np.inf
    with pytest.raises(GemmlabError, match="k: 2 of 16 elements of C are NaN, infinite or never written"):
        refusals.bad_output("k", C)


@pytest.mark.parametrize("worst", [1.001, float("inf"), float("nan")])
def test_errors_above_the_bound_are_refused(worst):
    refusals.large_error("k", 1.0)
    with pytest.raises(GemmlabError, match="a wrong kernel has no time"):
        refusals.large_error("k", worst)


def test_tf32_is_not_taken_for_fp32():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((64, 2048), np.float32), rng.standard_normal((2048, 64), np.float32)
    exact = A.astype(float) @ B.astype(float)

    def relative(C):
        return float(np.sqrt(np.mean((C - exact) ** 2) / np.mean(exact**2)))

    def to_tf32(x):
        return ((x.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)

    refusals.like_tf32("fp32", relative(A @ B))
    with pytest.raises(GemmlabError, match="is that of TF32, not of FP32"):
        refusals.like_tf32("tf32", relative(to_tf32(A) @ to_tf32(B)))


def impossible(time_us, M=4096, N=4096, K=4096, dtype="float32", clock=1980, **options):
    refusals.impossible_time("k", H200, dtype, M, N, K, time_us, 4 * (M * K + K * N), clock_mhz=clock, **options)


def test_times_below_the_hardware_limit_are_refused():
    limit_us = 2 * 4096**3 / 66.9e6
    impossible(limit_us * 1.001)
    with pytest.raises(GemmlabError, match="2.0 times faster than H200 can do its arithmetic .*synchronised"):
        impossible(limit_us / 2)
    reading_us = 4 * (16 * 4096 + 4096 * 4096) / 4800e3
    impossible(reading_us * 1.001, M=16)
    with pytest.raises(GemmlabError, match="reading A and B from DRAM"):
        impossible(reading_us * 0.9, M=16)
    impossible(reading_us * 0.9, M=16, cold=False)  # warm data may come from L2
    impossible(2 * 4096**3 / 1000e6, dtype="bfloat16")  # above 989 at 1,830 MHz, but this card may run at 1,980
    with pytest.raises(GemmlabError):
        impossible(2 * 4096**3 / 1000e6, dtype="bfloat16", clock=1830)


@pytest.mark.parametrize("time_us", [0.0, -1.0, float("nan"), float("inf")])
def test_times_that_are_none_are_refused(time_us):
    with pytest.raises(GemmlabError, match="is no measurement"):
        impossible(time_us)


def test_a_record_whose_rival_is_impossible_is_refused():
    spec = kernels.spec("k03_naive")
    measure.refuse_impossible(spec, record(), H200, 1980)
    with pytest.raises(GemmlabError, match="^cublas: "):
        measure.refuse_impossible(spec, record(rival=(1.0, 1.0, 1.0)), H200, 1980)


# --- how rounds are arranged -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("set_bytes", [1 << 20, 12 << 20, 60 << 20, 192 << 20])
def test_rotation_passes_twice_the_l2_between_two_uses(set_bytes):
    sets = timing.rotation_sets(set_bytes, 60 << 20, 100 << 30)
    assert sets >= 2 and (sets - 1) * set_bytes >= 2 * (60 << 20)
    assert sets == 2 or (sets - 2) * set_bytes < 2 * (60 << 20)
    assert timing.rotation_sets(set_bytes, 60 << 20, 100 << 30, warm=True) == 1


def test_rotation_has_no_more_sets_than_a_sample_has_launches():
    assert timing.rotation_sets(1 << 10, 60 << 20, 100 << 30) == timing.MAX_LAUNCHES


def test_rotation_that_does_not_fit_is_refused():
    with pytest.raises(GemmlabError, match="2 sets of 10.00 GB do not fit into 16.00 GB"):
        timing.rotation_sets(10 * 10**9, 60 << 20, 16 * 10**9)


def test_launches_per_sample():
    assert timing.launches_per_sample(250_000) == 1
    assert timing.launches_per_sample(1000, sets=2) == 2
    assert timing.launches_per_sample(50, sets=11) == 44  # 40 for 2 ms, rounded up to whole rotations
    assert timing.launches_per_sample(1.0) == timing.MAX_LAUNCHES
    assert timing.launches_per_sample(1000, sets=11) == 2


def test_every_round_has_an_order_of_its_own_and_always_the_same():
    names = [f"k{i}" for i in range(12)]
    orders = [timing.order_of_round(names, number) for number in range(40)]
    assert orders == [timing.order_of_round(names, number) for number in range(40)]
    assert all(sorted(order) == sorted(names) for order in orders)
    assert len(set(map(tuple, orders))) == 40 and len({order[0] for order in orders}) > 8


@pytest.fixture
def fake(monkeypatch):
    device = FakeGpu()
    monkeypatch.setitem(sys.modules, "cupy", device)
    return device


@pytest.mark.parametrize("fast, graphs", [(40.0, True), (400.0, False)])
def test_samples_are_per_launch_and_leave_the_flush_out(fake, fast, graphs):
    timed = timing.compare({"ours": fake.kernel("ours", 3000.0), "rival": fake.kernel("rival", fast)}, 3, 4, 1 << 20)
    assert timed.graphs is graphs
    assert timed.samples_us["ours"] == pytest.approx([3000.0] * 4)
    assert timed.samples_us["rival"] == pytest.approx([fast] * 4)
    assert timed.launches["ours"] == 1


def test_rounds_are_interleaved_cold_and_rotated(fake):
    timing.compare({"a": fake.kernel("a", 1000.0), "b": fake.kernel("b", 1000.0)}, 2, 2, 1 << 20)
    tail = fake.log[fake.log.index(("flush", None)) :]  # from the first round on, the dropped one (-1)
    once = {name: [(name, 0), (name, 1)] for name in "ab"}
    flush = [("flush", None)]
    expected = []
    for order in (timing.order_of_round(["a", "b"], number) for number in (-1, 0, 1)):
        expected += flush + once[order[0]] + flush + once[order[1]]
    assert tail == expected


def test_telemetry_is_read_once_a_round_with_work_in_flight(fake):
    seen = []
    timed = timing.compare({"a": fake.kernel("a", 500.0)}, 1, 3, 0, lambda: seen.append(fake.log[-1]) or {"sm_mhz": 1})
    assert len(timed.telemetry) == 3 and seen == [("a", 0)] * 3


def test_sustained_runs_are_alone_and_only_their_second_half_counts(fake):
    readings = iter(range(100))
    candidates = {"a": fake.kernel("a", 1000.0), "b": fake.kernel("b", 2000.0)}
    timed = timing.sustain(candidates, 2, 4, 0.4, lambda: {"sm_mhz": next(readings)})
    assert timed.samples_us == {"a": pytest.approx([1000.0] * 4), "b": pytest.approx([2000.0] * 4)}
    assert timed.launches == {"a": 50, "b": 25} and len(timed.telemetry) == 8  # 0.4 s: eight samples of 50 ms
    names = [entry[0] for entry in fake.log if isinstance(entry, tuple)]
    assert names[-200:] == ["b"] * 200 and names[-201] == "a" and ("flush", None) not in fake.log


def test_a_kernel_that_cannot_be_captured_is_refused(fake):
    def host_work(i):
        if fake.capturing is not None:
            raise RuntimeError("operation not permitted when stream is capturing")
        fake.work("a", 10.0, i)

    with pytest.raises(GemmlabError, match="a cannot be captured into a CUDA graph"):
        timing.compare({"a": host_work}, 1, 3, 0)


def test_throttling_needs_a_tenth_of_the_rounds():
    samples = [{"reasons": ["power cap"]}] * 2 + [{"reasons": []}] * 18
    assert telemetry.throttling(samples) == ["power cap"]
    assert telemetry.throttling(samples[1:] + [{}] * 10) == []
    assert telemetry.summary([{"sm_mhz": 3}, {"sm_mhz": 1}, {}], "sm_mhz") == {"min": 1, "median": 2, "max": 3}
    assert telemetry.summary([], "sm_mhz") == {}


# --- what is shown ---------------------------------------------------------------------------------------------------


def store(tmp_path, **changes):
    spec = kernels.spec("k03_naive")
    changes.setdefault("source_sha256", results.spec_sha256(spec))
    results.merge(tmp_path / "nvidia_h200.json", MACHINE, [record(**changes)])


def test_recorded_figures_say_where_and_when(tmp_path):
    store(tmp_path)
    m = measure.recorded("k03_naive", 1024, 1024, 1024, directory=tmp_path)
    assert m.recorded and m.time_us == 1000.0 and m.ratio == pytest.approx(0.055)
    text = str(m)
    assert text == (
        "k03_naive 1024 x 1024 x 1024: 1.00 ms (900 µs to 1.10 ms), 2.147 TFLOP/s, 5.5 % of cuBLAS default; "
        "recorded on NVIDIA H200, 2026-11-30"
    )
    page = m._repr_html_()
    assert "recorded on NVIDIA H200, 2026-11-30" in page and "cuBLASLt, best of its first eight heuristics" in page


def test_a_changed_source_is_said(tmp_path):
    store(tmp_path, source_sha256="0" * 64)
    m = measure.recorded("k03_naive", 1024, 1024, 1024, directory=tmp_path)
    assert str(m).endswith("recorded on NVIDIA H200, 2026-11-30 (the kernel's source changed since then)")


def test_nothing_recorded_says_so_and_invents_nothing(tmp_path):
    store(tmp_path)
    m = measure.recorded("k03_naive", 512, 512, 512, directory=tmp_path)
    assert m.record is None and m.time_us is None and m.tflops is None and m.ratio is None
    assert str(m).endswith("no measurement of this shape is recorded on NVIDIA H200")
    assert "no measurement" in m._repr_html_()


def test_measure_without_a_gpu_shows_records(monkeypatch, tmp_path):
    device = importlib.import_module("gemmlab.device")
    monkeypatch.setattr(device, "device", lambda: types.SimpleNamespace(kind="none"))
    monkeypatch.setattr(results, "DIRECTORY", tmp_path)
    assert measure.measure("k03_naive", 1024, 1024, 1024).record is None
    store(tmp_path)
    assert measure.measure("k03_naive", 1024, 1024, 1024).tflops == pytest.approx(2.147, abs=1e-3)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("k99_none", 1, 1, 1), "no kernel 'k99_none'"),
        ((print, 1, 1, 1), "measure takes a kernel of the ladder"),
        (("k03_naive", 0, 1, 1), "M must be a positive integer, not 0"),
        (("k03_naive", 1, 2.5, 1), "N must be a positive integer, not 2.5"),
        (("k03_naive", 1, 1, 1, "hot"), "mode must be one of cold, warm, sustained"),
    ],
)
def test_bad_input_is_one_clear_line(arguments, message):
    with pytest.raises(GemmlabError, match=message) as error:
        measure.measure(*arguments)
    assert "\n" not in str(error.value)


def test_an_unknown_gpu_or_variant_is_not_judged_by_the_table():
    about = {
        "name": "NVIDIA GeForce RTX 3090 Ti", "cc": [8, 6], "sms": 84, "clock_khz": 1_860_000,
        "memory_clock_khz": 10_501_000, "bus_bits": 384, "memory_bytes": 25 * 10**9,
    }  # fmt: skip
    assert measure.hardware_of(about).key == "device"
    assert measure.hardware_of(about | {"name": "NVIDIA GeForce RTX 3090", "sms": 82}).key == "rtx3090"


def test_where_notebooks_are_executed_nothing_is_timed(monkeypatch):
    stored = measure.Measurement("k04_coalesced", 64, 64, 64, "NVIDIA H200", record(), True)
    stale = measure.Measurement("k04_coalesced", 64, 64, 64, "NVIDIA H200", record(), True, "changed")
    none = measure.Measurement("k04_coalesced", 64, 64, 64, "NVIDIA H200", None, True, "not recorded")
    here = Device("gpu", cc=(9, 0))
    monkeypatch.setattr(importlib.import_module("gemmlab.device"), "device", lambda: here)
    on_gpu = types.SimpleNamespace(measure_here=lambda *a: "measured")
    monkeypatch.setitem(sys.modules, "gemmlab.measuring.measure_gpu", on_gpu)
    for found in (stored, stale, none):
        monkeypatch.setattr(measure, "recorded", lambda *a, found=found: found)
        for static, expected in (("1", found), ("", "measured")):
            monkeypatch.setenv("GEMMLAB_STATIC", static)
            assert measure.measure("k04_coalesced", 64, 64, 64) is expected
