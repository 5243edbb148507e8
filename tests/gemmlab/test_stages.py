"""The stage model: its formulas are what its simulation does, and a trace's order is read as it stands."""

from types import SimpleNamespace

import pytest

from gemmlab import stages
from gemmlab.errors import GemmlabError


def steady(load, compute, S, producer):
    """Time per tile of the simulation, over whole turns of the S buffers far from the start."""
    starts = [span[0] for span in stages.pipeline(load, compute, S, 200, producer=producer)["multiply"]]
    tiles = S * (S - 1) * 4 or 4
    return (starts[-1] - starts[-1 - tiles]) / tiles


@pytest.mark.parametrize("producer", [False, True])
@pytest.mark.parametrize("S", range(1, 7))
@pytest.mark.parametrize("load, compute", [(300, 100), (100, 300), (80, 100), (500, 10)])
def test_formula_is_the_simulation(load, compute, S, producer):
    modelled = stages.time_per_tile(load, compute, S, producer=producer)
    assert modelled == pytest.approx(steady(load, compute, S, producer))


def test_a_busy_memory_is_not_hidden():
    assert [stages.exposed(300, 100, S, transfer=300) for S in (2, 4, 8)] == [200, 200, 200]
    assert stages.exposed(300, 100, 4) == 0


def test_buffers_are_not_refilled_before_they_are_read():
    rows = stages.pipeline(300, 100, 3, 12)
    read = {label: end for _, end, _, label in rows["multiply"]}
    for name in ("load, buffer 0", "load, buffer 1", "load, buffer 2"):
        for (*_, before), (start, *_) in zip(rows[name], rows[name][1:], strict=False):
            assert start >= read[before]


@pytest.mark.parametrize("S", [0, -1, 1.5])
def test_no_stages(S):
    with pytest.raises(GemmlabError, match="at least 1"):
        stages.time_per_tile(1, 1, S)


def trace(text):
    """L: global load, S: shared store, m: shared load."""
    kinds = {"L": ("global", "ld"), "S": ("shared", "st"), "m": ("shared", "ld")}
    return [SimpleNamespace(space=kinds[c][0], kind=kinds[c][1]) for c in text]


@pytest.mark.parametrize(
    "text, mean",
    [("LSmmLSmm", 0), ("LSLmmSLmmSmm", 2), ("LSLSmmLSmm", 0), ("LSLLmmSSLLmmSSmm", 2), ("LSLmmLSSLmmLSSmm", 2 / 3)],
)
def test_overlap(text, mean):
    assert stages.overlap(trace(text)) == pytest.approx(mean)


def test_overlap_needs_a_second_tile():
    with pytest.raises(GemmlabError, match="second tile"):
        stages.overlap(trace("LSmm"))


def test_no_fit_without_measurements():
    assert stages.fit(33, 33, 33).startswith("no fit: k09_early_store and k09_double_buffer not recorded yet")


def test_fit(monkeypatch):
    times = {"k09_early_store": 4000.0, "k09_double_buffer": 3000.0}
    monkeypatch.setattr(stages.measuring, "measure", lambda name, *shape: SimpleNamespace(
        kernel=name, time_us=times[name], gpu="NVIDIA H200", label="made up"))
    text = stages.fit(128 * 132, 128, 8 * 1000)  # 1,000 tiles per SM
    assert text == "per tile and SM: 4000 ns without overlap, 3000 ns with (made up): " \
                   "compute 3000 ns, load 1000 ns left over beside it (fitted)"
