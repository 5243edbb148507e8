"""Clusters, SMs over time, waves: the models' arithmetic and what the figures say."""

import numpy as np
import pytest

from gemmlab import plots
from gemmlab.errors import GemmlabError
from gemmlab.plots.clusters import cluster_traffic
from gemmlab.plots.gantt import stamps_of
from gemmlab.plots.quantisation import efficiency, tiles_of

STAMPS = [(3, 0, 0, 100, 180), (3, 1, 1, 120, 200), (5, 0, 2, 110, 130)]


def test_a_strip_is_read_once_per_row_or_column():
    traffic = cluster_traffic(2, 1, 128, 256, 64)
    assert (traffic.alone, traffic.shared) == (2 * (128 + 256) * 128, (2 * 128 + 256) * 128)
    assert cluster_traffic(1, 1, 128, 128, 64).saved == 0 and cluster_traffic(2, 2, 128, 128, 64).saved == 0.5
    with pytest.raises(GemmlabError, match="cluster 0 × 1"):
        cluster_traffic(0, 1, 128, 256, 64)


def test_stamps_start_at_zero_and_become_rows():
    assert stamps_of(STAMPS)[:, 3].tolist() == [0, 20, 10]
    rows = plots.stamp_rows(STAMPS, {0: "load", 1: "compute", 2: "store"}, sm=3, groups={0: "producer", 1: "consumer"})
    assert rows == {"producer": [(0.0, 80.0, "load", "")], "consumer": [(20.0, 100.0, "compute", "")]}
    assert "producer 1 spans" in plots.timeline(rows, unit="ns").alt


def test_gantt_tells_the_busy_share():
    figure = plots.gantt(plots.wave_stamps(6, 4))
    assert "75% of the area busy" in figure.alt and figure.png()
    assert "6 rows" in plots.gantt(STAMPS, {0: "load", 1: "compute", 2: "store"}, unit="ns").alt


@pytest.mark.parametrize(
    ("call", "message"),
    [(lambda: plots.gantt(np.zeros((2, 3))), "five columns"), (lambda: plots.gantt([(0, 0, 0, 2, 1)]), "ends before"),
     (lambda: plots.gantt([(0, 0, 9, 0, 1)]), "unknown kind 9"), (lambda: plots.wave_stamps(0), "at least one"),
     (lambda: plots.stamp_rows(STAMPS, {}, sm=4), "no stamps of SM 4")],
)  # fmt: skip
def test_bad_stamps_are_one_line(call, message):
    with pytest.raises(GemmlabError, match=message):
        call()


def test_efficiency_of_whole_tiles_split_and_stream():
    assert efficiency(132) == 1 and efficiency(133) == 133 / 264 and tiles_of(4096, 4096, 128, 256) == 512
    assert efficiency(66, split=2) == 1 and efficiency(16) == 16 / 132
    assert efficiency(16, split=8, steps=64) == 128 / 132
    assert efficiency(100, stream=True) > 0.98 > efficiency(100)
    assert efficiency(4, steps=6, split=4, sms=8) == 4 * 6 / (8 * 2 * 2)
    with pytest.raises(GemmlabError, match="parts"):
        efficiency(4, steps=2, split=4)


def test_curves_name_model_and_measurement():
    figure = plots.wave_quantisation(measured=[(2048, 700), (4096, 720)])
    assert "2048: 700 TFLOP/s" in figure.alt and "modelled" in figure.caption and "measured" in figure.caption
    figure = plots.split_efficiency(measured={"Stream-K": [(100, 0.9)]})
    assert "Stream-K, measured: 90% at 100" in figure.alt and figure.png()


def test_a_role_can_take_only_what_others_gave():
    roles = {"producer": (4, 40), "consumer 0": (4, 232), "consumer 1": (4, 232)}
    figure = plots.register_budget(roles, 168)
    assert "64,512 of the CTA's 64,512: fits" in figure.alt and figure.png()
    assert "waits for ever" in plots.register_budget(roles | {"producer": (4, 48)}, 168).alt
    with pytest.raises(GemmlabError, match="multiples of 8"):
        plots.register_budget({"producer": (4, 20)}, 168)
