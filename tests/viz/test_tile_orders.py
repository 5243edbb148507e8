"""Orders of tiles: each tile once, the kernel's own formula, and the waves' working sets."""

import re
from pathlib import Path

import pytest

from gemmlab import plots
from gemmlab.errors import GemmlabError
from gemmlab.plots.tile_orders import order_of, waves_of

HEADER = Path(__file__).resolve().parents[2] / "kernels" / "tile" / "tile_order.cuh"


@pytest.mark.parametrize("group", [1, 3, 8, 40])
def test_the_grouped_order_is_the_kernels(group):
    body = re.search(r"grouped_tile\(.*?\{(.*?)\n\}", HEADER.read_text(), re.S)[1]
    formula = body.replace("const int", "").replace("/", "//").replace("return {", "tile = (").replace("};", ")")
    lines = [part.strip() for line in formula.split(";") for part in re.split(r",(?=\s*\w+ =)", line) if part.strip()]
    for index, tile in enumerate(order_of(10, 7, group).tolist()):
        names = {"GROUP": group, "index": index, "tiles_m": 10, "tiles_n": 7, "min": min}
        for line in lines:
            exec(line, names)
        assert list(names["tile"]) == tile


def test_a_plain_grid_goes_along_rows():
    assert order_of(2, 3).tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]


def test_a_square_wave_touches_least():
    plain, grouped = (waves_of(order_of(32, 32, g), 128, 128, 128)[0] for g in (None, 8))
    assert (plain.rows, plain.columns) == (4, 32) and (grouped.rows, grouped.columns) == (8, 16)
    assert plain.hit_rate == pytest.approx(1 - 36 / 256) and grouped.hit_rate == pytest.approx(1 - 24 / 256)
    assert sum(wave.tiles for wave in waves_of(order_of(10, 10), 132)) == 100


def test_the_figure_says_what_a_wave_needs():
    figure = plots.tile_order({"plain": None, "groups of 8": 8}, measured={"plain": 0.7})
    assert "plain: the first 132 CTAs need 5 rows" in figure.alt and "measured 70%" in figure.alt and figure.png()


@pytest.mark.parametrize(
    ("orders", "message"),
    [({"x": 0}, "at least 1"), ({"x": lambda i, m, n: (0, 0)}, "each of the"), ({}, "one to three")],
)
def test_bad_orders_are_refused(orders, message):
    with pytest.raises(GemmlabError, match=message):
        plots.tile_order(orders)
