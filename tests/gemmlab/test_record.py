"""The recorder's worker: kernels that fail are named, the others go on, and what was measured is stored."""

import sys
import types

import pytest

from gemmlab import results
from gemmlab.errors import GemmlabError
from gemmlab.measuring import measure_gpu, telemetry
from tests.gemmlab.sample_records import MACHINE, record
from tools import record_worker

NAMES = ("k03_naive", "k04_coalesced", "k05_tiled")


class FakeBench:
    """Stands in for a Bench: `broken` kernels raise, `padded` ones get other arrays."""

    broken, alone = (), ()

    def __init__(self, spec, M, N, K, mode, seconds, like):
        self.spec, self.shape, self.like = spec, (M, N, K), like
        self.padded = ("A",) if spec.name in self.alone else ()

    def kernel(self):
        if self.spec.name in self.broken:
            raise GemmlabError("the largest error is 3 times the error bound")
        return self.spec.name


@pytest.fixture
def comparisons(monkeypatch):
    """Put stand-ins for everything that needs a GPU; return the groups of kernels that were timed together."""
    seen = []

    def together(benches, rounds):
        seen.append([bench.spec.name for bench in benches])
        made = {b: types.SimpleNamespace(record=record(b.spec.name, size=b.shape[0], cublas="13.1.0")) for b in benches}
        return {b: GemmlabError("too fast") if b.spec.name == "k05_tiled" else made[b] for b in benches}

    monkeypatch.setattr(measure_gpu, "Bench", FakeBench)
    monkeypatch.setattr(measure_gpu, "together", together)
    monkeypatch.setattr(telemetry, "Telemetry", lambda: None)
    monkeypatch.setattr(telemetry, "machine", lambda sensors, cublas: MACHINE)
    monkeypatch.setattr(record_worker, "_lost", lambda: False)
    monkeypatch.setattr(FakeBench, "broken", ())
    monkeypatch.setattr(FakeBench, "alone", ())
    return seen


def options(tmp_path):
    shapes = [(64, 64, 64), (128, 128, 128)]
    return types.SimpleNamespace(kernels=list(NAMES), shapes=shapes, mode="cold", seconds=5.0, rounds=3, out=tmp_path)


def test_kernels_are_timed_together_and_a_refused_one_is_named(comparisons, tmp_path, capsys):
    assert record_worker.measure(options(tmp_path), None) is False
    assert comparisons == [list(NAMES)] * 2
    stored = results.load(tmp_path / "nvidia_h200.json")["records"]
    assert [(r["kernel"], r["M"]) for r in stored] == [(n, m) for n in NAMES[:2] for m in (64, 128)]
    assert "FAILED k05_tiled: too fast" in capsys.readouterr().out


def test_a_wrong_kernel_and_a_padded_one_do_not_stop_the_others(comparisons, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(FakeBench, "broken", ("k03_naive",))
    monkeypatch.setattr(FakeBench, "alone", ("k04_coalesced",))
    record_worker.measure(options(tmp_path), None)
    assert comparisons == [["k04_coalesced"], ["k05_tiled"]] * 2
    assert "FAILED k03_naive at 64x64x64: GemmlabError: the largest error" in capsys.readouterr().out


def test_after_a_lost_context_a_new_process_measures_the_rest(comparisons, tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(FakeBench, "broken", ("k04_coalesced",))
    monkeypatch.setattr(record_worker, "_lost", lambda: True)
    monkeypatch.setattr(record_worker.os, "execv", lambda *command: started.append(command) or sys.exit(0))
    with pytest.raises(SystemExit):
        record_worker.measure(options(tmp_path), lambda names, shapes: (names, shapes))
    assert started == [(sys.executable, (["k03_naive", "k05_tiled"], [(64, 64, 64), (128, 128, 128)]))]
