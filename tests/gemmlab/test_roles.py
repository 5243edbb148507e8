"""Clock stamps in a warp-specialised kernel: placed, compiled without spills, read back as spans of a timeline."""

import json

import numpy as np
import pytest

import gemmlab as gl
from gemmlab import results
from gemmlab.measuring import roles, stamps


def test_stamps_cost_no_spills():
    compiled = gl.compile(roles.stamped(), target="sm_90a")
    assert compiled.spill_bytes == 0 and not compiled.assembly.remarks


def test_stamps_follow_one_another(monkeypatch):
    def emulated(kernel, *args, backend, **launch):
        return gl.launch(kernel, *args, backend="emulator", **launch)

    monkeypatch.setattr(stamps, "launch", emulated)
    monkeypatch.setattr(roles, "CTA", 0)
    cycles = roles.measure_roles((128, 256, 320))
    assert cycles.shape == (3, 5, 3)
    assert (np.diff(cycles.reshape(3, -1), axis=1) > 0).all()


def test_a_changed_kernel_is_refused(monkeypatch):
    monkeypatch.setattr(roles, "PLACES", (("no such line\n", 0, 1),))
    with pytest.raises(gl.GemmlabError, match="no stamp can be placed at 'no such line'"):
        roles.stamped()


def test_recorded_stamps_become_spans(tmp_path):
    cycles = [[[10 * i, 10 * i + 4, 10 * i + 9] for i in range(6)] for _ in roles.ROLES]
    ceilings = {"roles": {"cycles": cycles, "date": "2026-11-30"}}
    file = tmp_path / "nvidia_h200.json"
    file.write_text(json.dumps({"machine": {"gpu": "NVIDIA H200"}, "ceilings": ceilings, "records": []}))
    found = roles.roles(first=1, count=2, directory=tmp_path)
    assert found.spans["consumer 1"] == [(0, 4, "wait", ""), (4, 9, "compute", "1"), (10, 14, "wait", ""),
                                         (14, 19, "compute", "2")]  # fmt: skip
    assert found.busy["producer"] == pytest.approx(1 - 24 / 59)
    assert found.label == "recorded on NVIDIA H200, 2026-11-30"


def test_nothing_recorded_is_said(tmp_path):
    found = roles.roles(directory=tmp_path)
    assert not found.spans and "not recorded yet" in found.label
    assert results.DIRECTORY != tmp_path
