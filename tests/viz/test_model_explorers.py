"""The explorers of models: they start from what Python computes, and refuse what their sliders do not have."""

import pytest

from gemmlab import widgets
from gemmlab.errors import GemmlabError
from ptxemu import T4


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


@pytest.mark.parametrize("bad", [{"load": 0}, {"compute": 75}, {"stages": 7}])
def test_stage_explorer_refuses(bad):
    with pytest.raises(GemmlabError, match="the explorer takes"):
        widgets.stage_explorer(**bad)
