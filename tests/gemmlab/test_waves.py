"""Stamps of tiles in kernels: placed, compiled without spills, read back as rows of a Gantt chart."""

import json

import numpy as np
import pytest

import gemmlab as gl
from gemmlab.measuring import stamps, waves


@pytest.mark.parametrize("name", waves.PLACES)
def test_stamps_cost_no_spills(name):
    compiled = gl.compile(waves.stamped(name), target="sm_90a")
    assert compiled.spill_bytes == 0 and not compiled.assembly.remarks


@pytest.mark.parametrize(("name", "tiles"), [("k16_two_consumers", 6), ("k18_cooperative", 8)])
def test_every_tile_starts_then_multiplies_then_stores(monkeypatch, name, tiles):
    def emulated(kernel, *args, backend, **launch):
        return gl.launch(kernel, *args, backend="emulator", **launch)

    monkeypatch.setattr(stamps, "launch", emulated)
    found = waves.measure_waves(name, (384, 512, 128), sms=2)
    assert found.shape == (tiles, 4) and found[:, 1].min() == 0  # pairs of tiles: 384 rows are four of 128
    assert (np.diff(found[:, 1:], axis=1) > 0).all()


def test_a_changed_kernel_is_refused(monkeypatch):
    monkeypatch.setitem(waves.PLACES, "k16_two_consumers", ("0", "no such line\n", "", ""))
    with pytest.raises(gl.GemmlabError, match="no stamp can be placed at 'no such line'"):
        waves.stamped("k16_two_consumers")


def test_recorded_stamps_become_a_gantt_chart(tmp_path):
    assert "not recorded yet" in waves.waves(tmp_path).label
    stamps = {"k16_two_consumers": [[5, 0, 9000, 11000], [7, 500, 9500, 11500]]}
    ceilings = {"waves": {"stamps": stamps, "date": "2026-11-30"}}
    file = tmp_path / "nvidia_h200.json"
    file.write_text(json.dumps({"machine": {"gpu": "NVIDIA H200"}, "ceilings": ceilings, "records": []}))
    found = waves.waves(tmp_path)
    rows = found.stamps["k16_two_consumers"]
    assert rows[0].tolist() == [5, 0, 0, 0, 9] and rows[3].tolist() == [7, 0, 1, 9.5, 11.5]
    assert "recorded on NVIDIA H200" in found.label
    assert "µs" in gl.plots.gantt(rows, sms=132, unit="µs").alt
