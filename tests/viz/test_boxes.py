"""Swizzles and tensor maps: pictures and components use the emulator's places and the driver's refusals."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import gemmlab as gl
from gemmlab import plots, widgets
from gemmlab.errors import GemmlabError
from gemmlab.plots.boxes import inside
from gemmlab.plots.swizzles import placement, wavefronts_of_column
from gemmlab.widgets.twin import asset
from ptxemu.tensormap import View, planes, swizzled

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: the component's arithmetic cannot be run")


def run_script(part, expression):
    page = "globalThis.window = globalThis; globalThis.document = {};\n" + asset("core.js") + asset(f"{part}.js")
    script = f"{page}\nconsole.log(JSON.stringify({expression}))"
    return json.loads(subprocess.run([NODE, "-e", script], capture_output=True, text=True, check=True).stdout)


def test_a_swizzle_of_the_row_length_is_free_of_conflicts():
    for span in (32, 64, 128):
        places = placement(span)
        assert sorted(places.ravel().tolist()) == list(range(places.size))
        assert [wavefronts_of_column(places, c) for c in range(places.shape[1])] == [1] * places.shape[1]
    assert wavefronts_of_column(placement(0)) == 8
    assert wavefronts_of_column(placement(128, 64), 0) == 1 and wavefronts_of_column(placement(0, 64), 0) == 4


def test_the_figure_tells_the_wavefronts():
    figure = plots.swizzle(0, 128, chunk=3)
    assert "no swizzle: 8 wavefronts" in figure.alt and "128-byte swizzle: 1 wavefront for" in figure.alt
    assert figure.png()


@pytest.mark.parametrize("span", [16, 256])
def test_unknown_swizzles_are_refused(span):
    for draw in (plots.swizzle, widgets.swizzle_explorer):
        with pytest.raises(GemmlabError, match="0, 32, 64 and 128"):
            draw(span)
    with pytest.raises(GemmlabError, match="at most 64"):
        placement(64, 128)


@needs_node
@pytest.mark.parametrize("span", [0, 32, 64, 128])
def test_the_swizzle_component_places_as_the_emulator_does(span):
    places = json.dumps(widgets.swizzle_explorer().data["places"])
    got = run_script("swizzle", f"[...Array(128).keys()].map((i) => gemmLadder.swizzlePlace({places}, {span}, i))")
    assert got == swizzled(np.arange(128), span).tolist()


def test_a_row_takes_the_whole_span_of_a_swizzle():
    assert placement(128, 16)[:, 0].tolist() == [8 * row + row for row in range(8)]
    assert placement(64, 32, 4).tolist() == [[0, 1], [4, 5], [9, 8], [13, 12]]


@needs_node
@pytest.mark.parametrize(("start", "length"), [(0, 8), (-4, 8), (90, 16), (96, 8), (-16, 8), (-8, 200)])
def test_the_part_inside_is_what_the_emulator_copies(start, length):
    view = View(0, "bfloat16", 2, (96, 1), (192,), (length, 1), (1, 1), 0, False)
    copied = sum(high - low for *_, (low, high) in planes(view, (start, 0)))
    assert inside(96, start, length) == copied == run_script("tensormap", f"gemmLadder.inside(96, {start}, {length})")


def test_box_figure_counts_elements_inside():
    tensor_map = gl.tensor_map(np.zeros((96, 104), np.float16), (32, 64), swizzle=128, shape=(96, 100))
    figure = plots.tensor_box(tensor_map, (0, 0), (32, 64))
    assert "at coordinates (64, 32) 1152 of 2048 elements are inside" in figure.alt and "4,096 bytes" in figure.caption
    with pytest.raises(GemmlabError, match="two dimensions"):
        plots.tensor_box(gl.tensor_map(np.zeros(64, np.float16), 8))


def test_the_explorer_refuses_what_tensor_map_refuses():
    data = widgets.tensor_map_explorer(columns=100).data
    array = np.zeros((96, 100), np.float16)
    with pytest.raises(GemmlabError) as caught:
        gl.tensor_map(array, (16, 64), swizzle=128)
    assert data["reasons"][data["refusals"]["bfloat16,100,64,128"]] == str(caught.value)
    assert "bfloat16,96,64,128" not in data["refusals"] and "bfloat16,96,128,128" in data["refusals"]
    with pytest.raises(GemmlabError, match="box columns = 20: the explorer takes"):
        widgets.tensor_map_explorer(box=(16, 20))


@pytest.mark.parametrize("make", [widgets.swizzle_explorer, widgets.tensor_map_explorer])
def test_components_are_small_and_load_nothing(make):
    page = make().html()
    assert len(page.encode()) < 100_000 and not re.search(r"https?://(?!www\.w3\.org)", page)
