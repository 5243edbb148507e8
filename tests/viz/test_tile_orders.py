"""Orders of tiles: each tile once, the kernel's own formula, and the waves' working sets."""

import re
from pathlib import Path

import numpy as np
import pytest

import gemmlab as gl
import kernels
from gemmlab import plots
from gemmlab.errors import GemmlabError
from gemmlab.plots.tile_orders import order_of, waves_of
from tests.viz.fakes import Access, Site

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


def test_the_order_of_a_trace_is_that_of_its_stores():
    def store(cta, element):
        access = Access(Site(3, 3, "st.global.u32"), np.full(32, 0x30000 + 2 * element), name="C", base=0x30000)
        access.cta, access.kind, access.itemsize = cta, "st", 2
        return access

    # C is 4 x 4 in tiles of 2 x 2; CTA 0 takes two of them, CTA 1 the others
    trace = [store((0, 0, 0), 0), store((0, 0, 0), 1), store((1, 0, 0), 2), store((0, 0, 0), 10), store((1, 0, 0), 8)]
    taken = plots.tiles_taken(trace, (4, 4), (2, 2))
    assert taken == [(0, 0), (0, 1), (1, 1), (1, 0)]
    assert "first 2 CTAs need 1 rows" in plots.tile_order({"traced": taken}, (2, 2), wave=2).alt
    with pytest.raises(GemmlabError, match="stores nothing to C"):
        plots.tiles_taken(trace[:0], (4, 4), (2, 2))


def test_a_kernel_of_the_ladder_takes_tiles_along_rows():
    trace = gl.trace("k05_tiled", 96, 64, 32, cta=None, warp=None)
    tile = kernels.spec("k05_tiled").tile
    size = tile["BM"], tile["BN"]
    count = -(-96 // size[0]), -(-64 // size[1])
    assert plots.tiles_taken(trace, (96, 64), size) == [tuple(t) for t in order_of(*count).tolist()]
