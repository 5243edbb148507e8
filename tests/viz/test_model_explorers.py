"""The explorers of models: they start from what Python computes, and refuse what their sliders do not have."""

import json
import shutil
import subprocess

import pytest

from gemmlab import stages, widgets
from gemmlab.errors import GemmlabError
from gemmlab.widgets.twin import asset
from ptxemu import T4

NODE = shutil.which("node")


def test_occupancy_explorer_says_what_python_computes():
    twin = widgets.occupancy_explorer(threads=256, registers=128, shared_kb=16)
    assert "2 blocks, 16 of 64 warps" in twin.alt and twin.data["limits"]["block_kb"] == 227
    assert widgets.occupancy_explorer(on=T4, registers=64).data["limits"]["reserved"] == 0


@pytest.mark.parametrize("bad", [{"threads": 100}, {"registers": 255}, {"shared_kb": 228}, {"shared_kb": 65, "on": T4}])
def test_occupancy_explorer_refuses(bad):
    with pytest.raises(GemmlabError, match="the explorer takes"):
        widgets.occupancy_explorer(**bad)


def test_stage_explorer_carries_its_choice():
    twin = widgets.stage_explorer(load=400, compute=200, stages=3, producer=True)
    assert twin.data["explore"] == {"load": 400, "compute": 200, "stages": 3, "producer": True}
    assert len(twin.html()) < 100_000


ORDERS = [
    {"load": 300, "compute": 100, "stages": 2}, {"load": 300, "compute": 100, "stages": 4, "producer": True},
    {"load": 200, "compute": 100, "stages": 5, "transfer": 150},
    {"load": 100, "compute": 50, "stages": 1, "transfer": 250},
]  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_the_simulated_pipeline_settles_at_the_models_time(order):
    ends = [end for _, end, kind, _ in stages.pipeline(**order, tiles=40)["multiply"]]
    assert (ends[-1] - ends[-21]) / 20 == pytest.approx(stages.time_per_tile(**order), rel=0.02)


@pytest.mark.skipif(NODE is None, reason="node is not installed: the component's arithmetic cannot be run")
@pytest.mark.parametrize("order", ORDERS)
def test_the_stage_explorer_simulates_as_python_does(order):
    page = "globalThis.window = globalThis; globalThis.document = {};\n" + asset("core.js") + asset("timeline.js")
    script = f"{page}\nconsole.log(JSON.stringify(gemmLadder.pipeline({json.dumps(order)}, 8)))"
    rows = json.loads(subprocess.run([NODE, "-e", script], capture_output=True, text=True, check=True).stdout)
    got = {row["name"]: [tuple(span.values()) for span in row["spans"]] for row in rows if row["spans"]}
    assert got == {name: spans for name, spans in stages.pipeline(**order, tiles=8).items() if spans}


@pytest.mark.parametrize("bad", [{"load": 0}, {"compute": 75}, {"stages": 7}, {"transfer": 20}])
def test_stage_explorer_refuses(bad):
    with pytest.raises(GemmlabError, match="the explorer takes"):
        widgets.stage_explorer(**bad)


def test_cluster_explorer_says_what_python_computes():
    twin = widgets.cluster_explorer(2, 1)
    assert "64 KB per step instead of 96, 33% less" in twin.alt
    assert twin.data["choice"] == {"rows": 2, "columns": 1, "bm": 128, "bn": 256, "bk": 64}
    with pytest.raises(GemmlabError, match="rows = 3: the explorer takes 1, 2, 4"):
        widgets.cluster_explorer(3, 1)
