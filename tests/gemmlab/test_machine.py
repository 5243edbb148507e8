"""Probes of the machine: their kernels do on the emulator what they claim, and records are read as they stand."""

import importlib
import re
from types import SimpleNamespace

import numpy as np
import pytest

import gemmlab as gl
from gemmlab import compat, results
from gemmlab.errors import GemmlabError
from gemmlab.measuring import machine, telemetry
from kernels.simt import k01_chase, k01_issue, k01_residency, k01_stream
from ptxemu import A100, H200, T4
from tools import record_machine

LINE = k01_chase.LINE


def emulate(kernel, *args, **where):
    report = gl.launch(kernel, *args, backend="emulator", **where).report
    assert not report.errors
    return report


def test_a_ring_visits_every_line_once():
    order, following = machine.ring_of(100, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    assert all(following[a] == b for a, b in zip(order, np.roll(order, -1), strict=True))


@pytest.mark.parametrize("warm, steps", [(0, 0), (0, 5), (20, 1), (7, 40)])
def test_the_chase_ends_where_the_ring_says(warm, steps):
    order, following = machine.ring_of(20, np.random.default_rng(1))
    ring, out = np.zeros(20 * LINE, np.uint64), np.zeros(2, np.uint64)
    emulate(k01_chase.link, ring, following, grid=1, block=32)
    start = np.uint32(order[3] * LINE)
    report = emulate(k01_chase.chase, ring, start, np.int32(warm), np.int32(steps), out, grid=1, block=1)
    assert out[1] == order[(3 + warm + steps) % 20]
    loads = report.counters.total(space="global", op="ld")
    assert loads.requests == loads.sectors == warm + steps


def test_the_shared_chase_walks_its_ring():
    out = np.zeros(2, np.uint64)
    report = emulate(k01_chase.chase_shared, np.int32(70), out, grid=1, block=1)
    assert out[1] == 70 % k01_chase.SHARED_LINES
    assert report.counters.total(space="shared", op="ld").requests == 70


@pytest.mark.parametrize("chains", machine.CHAINS)
def test_the_issue_kernel_runs_its_multiply_adds(chains):
    out, clocks = np.zeros(64, np.float32), np.zeros(4, np.uint64)
    kernel = k01_issue.issue_kernel(chains)
    report = emulate(kernel, np.float32(0.5), np.float32(0.5), np.int32(3), out, clocks, grid=1, block=64)
    assert report.counters.mix()["fma"] == 2 * chains * k01_issue.unroll(chains) * 3
    assert np.allclose(out, chains, atol=1e-3)
    assert (clocks[1::2] > clocks[::2]).all()
    rest = sum(report.counters.mix().values()) / report.counters.mix()["fma"] - 1
    assert rest < 0.5, "the compiler kept the inner loop: the kernel would measure its counter"


@pytest.mark.skipif(not compat.find_tool("nvdisasm"), reason="nvdisasm is not installed: no machine code to read")
@pytest.mark.parametrize("chains", [1, 8])
@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_120a"])
def test_the_clock_is_read_around_all_multiply_adds(chains, target):
    arrays = np.zeros(32, np.float32), np.zeros(2, np.uint64)
    signature = [np.float32(0.5), np.float32(0.5), np.int32(3), *arrays]
    sass = gl.compile(k01_issue.issue_kernel(chains), target=target, signature=signature).sass()
    code = re.findall(r"\*/ +(?:@!?\w+ +)?([A-Z][A-Z0-9]*)", sass)
    at = {name: [i for i, opcode in enumerate(code) if opcode == name] for name in ("BAR", "CS2R", "FFMA", "STG")}
    begin, end = at["CS2R"]
    assert len(at["FFMA"]) == chains * k01_issue.unroll(chains)
    assert at["BAR"][0] < begin < at["FFMA"][0] and at["FFMA"][-1] < at["STG"][0] < end


def test_the_time_of_a_block_holds_every_warp():
    clocks = np.uint64([100, 180, 150, 260, 190, 270])  # begin and end of three warps, of which none ran for 170 cycles
    assert machine.block_cycles(clocks) == 170


def fail(error):
    raise error


def test_a_probe_that_fails_costs_no_other(tmp_path, monkeypatch, capsys):
    def good():
        """Measure."""
        return {"global": [[4096, 30.0]]}

    for name in ("_latency", "_copy"):
        monkeypatch.setattr(machine, name, good)
    monkeypatch.setattr(machine, "_issue", lambda: fail(GemmlabError("too fast")))
    monkeypatch.setattr(machine, "_residency", lambda: fail(RuntimeError("launch failure")))
    monkeypatch.setattr(telemetry, "Telemetry", lambda: SimpleNamespace(sample=dict))
    monkeypatch.setattr(telemetry, "summary", lambda samples, key: [1980])
    monkeypatch.setattr(telemetry, "machine", lambda sensors: {"gpu": "NVIDIA H200"})
    monkeypatch.setattr(record_machine, "device", lambda: SimpleNamespace(kind="gpu"))
    earlier = {"series": {"1 chain per thread": [[1, 8.0]]}, "date": "2026-01-01"}
    path = results.path_of("NVIDIA H200", tmp_path)
    results.merge(path, {"gpu": "NVIDIA H200"}, ceilings={"issue_rate": earlier})
    assert record_machine.main(["--out", str(tmp_path)]) == 2
    stored, said = results.load(path)["ceilings"], capsys.readouterr()
    assert stored["latency"]["series"] == stored["copy_rate"]["series"] == good()
    assert stored["issue_rate"] == earlier and "residency" not in stored
    assert "issue_rate: not recorded: GemmlabError: too fast" in said.err
    assert "residency: not recorded: RuntimeError: launch failure" in said.err


def test_vectors():
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    emulate(k01_stream.add, x, x, out, grid=4, block=32)
    assert (out == 2 * x).all()
    emulate(k01_stream.copy, x, out, grid=1, block=32)
    assert (out == x).all()


def test_blocks_note_where_and_when_they_were():
    where, came, left = (np.zeros(200, np.uint64) for _ in range(3))
    emulate(k01_residency.residency, where, came, left, np.int64(10), grid=200, block=64)
    assert where.max() < 132 and (left >= came + 10).all()


def test_most_at_once_counts_a_place_once():
    """Two blocks share SM 3; a third comes in the cycle in which the first leaves."""
    where, came, left = np.uint64([3, 3, 3, 5]), np.uint64([0, 2, 10, 1]), np.uint64([10, 12, 20, 9])
    assert machine.most_at_once(where, came, left) == 2


def test_where_notebooks_are_executed_nothing_is_timed(monkeypatch):
    monkeypatch.setattr(importlib.import_module("gemmlab.device"), "device", lambda: SimpleNamespace(kind="gpu"))
    monkeypatch.setattr(machine, "_latency", lambda: fail(AssertionError("measured")))
    monkeypatch.setenv("GEMMLAB_STATIC", "1")
    assert machine.latency_staircase().recorded


def test_nothing_recorded_says_so(tmp_path):
    probe = machine.recorded("latency", directory=tmp_path)
    assert not probe.series and "not recorded yet" in probe.label and machine.latencies(probe) == {}


def test_latencies_are_medians_of_their_footprints():
    points = [[4 << 10, 30], [64 << 10, 32], [128 << 10, 34], [1 << 20, 200], [2 << 20, 220], [1 << 30, 800]]
    probe = machine.Probe("latency", "", "", {"shared": [[8192, 23.5]], "global": points}, "X", "2026-01-01", True)
    assert machine.latencies(probe) == {"shared": 23.5, "L1": 32, "L2": 210, "DRAM": 800}
    assert gl.plots.staircase(probe).alt.startswith("Latency of one load.")


@pytest.mark.parametrize(
    "threads, registers, shared, device, blocks, by",
    [
        (256, 32, 0, H200, 8, "registers, threads"),
        (256, 128, 0, H200, 2, "registers"),
        (256, 32, 100 << 10, H200, 2, "shared memory"),
        (32, 16, 0, H200, 32, "blocks"),
        (96, 40, 0, H200, 16, "registers"),
        (1024, 32, 0, T4, 1, "threads"),
        (256, 32, 163 << 10, A100, 1, "shared memory"),
    ],
)
def test_occupancy(threads, registers, shared, device, blocks, by):
    found = gl.occupancy(threads, registers, shared, device)
    assert found.blocks == blocks and found.limited_by == by


@pytest.mark.parametrize("bad", [(0, 32, 0), (2048, 32, 0), (256, 300, 0), (256, 32, 1 << 20), (1024, 255, 0)])
def test_occupancy_refuses(bad):
    with pytest.raises(GemmlabError):
        gl.occupancy(*bad)
