"""The components' data and HTML: self-contained, safe, small, and equal to the Python model where both compute."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from gemmlab import roofline, widgets
from gemmlab.errors import GemmlabError
from gemmlab.hardware import ITEM_BYTES, gpu
from gemmlab.plots import palette
from gemmlab.plots.access import wavefronts_of
from gemmlab.plots.export import compact, gpu_table, trace_data
from gemmlab.widgets.twin import STATIC, Twin, asset
from tests.viz import fakes

ROOT = Path(__file__).resolve().parents[2]
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: the components' arithmetic cannot be run")


def walk(kernel):
    return [access for k in range(fakes.K) for access in kernel(k)]


def all_components():
    own = lambda row, column: ((row % 8) * 4 + column % 8 // 2, f"a{column % 2}")  # noqa: E731
    roles = {"copy": [(0, 4, "load", "tile 0")], "math": [(0, 4, "wait", ""), (4, 8, "compute", "tile 0")]}
    return [
        widgets.roofline_explorer(),
        widgets.sector_explorer(naive=walk(fakes.naive), coalesced=walk(fakes.coalesced)),
        widgets.bank_explorer(),
        widgets.tile_explorer(),
        widgets.bank_explorer(plain=[fakes.shared(32)], padded=[fakes.shared(33)]),
        widgets.timeline({"": roles}),
        widgets.fragment_map({"A": (16, 8, own)}),
    ]


def run_script(source: str):
    """Run JavaScript with the components loaded on an empty stand-in for the page; return its JSON output."""
    page = "globalThis.window = globalThis; globalThis.document = {};\n"
    parts = "\n".join(asset(f"{name}.js") for name in ("core", "sectors", "banks", "roofline"))
    done = subprocess.run([NODE, "-e", page + parts + source], capture_output=True, text=True, timeout=30, check=True)
    return json.loads(done.stdout)


LANE = np.arange(32)


@pytest.mark.parametrize(
    "addresses",
    [LANE * 4 + 64, 0 * LANE + 8, np.where(LANE < 7, 96, -1), LANE[::-1] * 12 + 16, LANE * 7919 % 1024, 0 * LANE - 1],
)
def test_compact_addresses_lose_nothing(addresses):
    step = compact(addresses, base=0)
    if len(step) == 32:
        back = [-1 if value is None else value for value in step]
    else:
        start, stride, mask = (*step, 0xFFFFFFFF)[:3]
        back = [start + stride * lane if mask >> lane & 1 else -1 for lane in range(32)]
    assert back == addresses.tolist()
    if NODE:
        script = f"\nconsole.log(JSON.stringify(gemmLadder.addresses({json.dumps(step)})))"
        assert [-1 if value is None else value for value in run_script(script)] == addresses.tolist()


def test_trace_data_keeps_every_execution_of_every_site():
    data = trace_data({"naive": walk(fakes.naive)}, "global", shapes={"A": (32, 32)})
    (warp,) = data["variants"][0]["warps"]
    kept = [(site["label"], len(site["steps"])) for site in warp["sites"]]
    assert kept == [("read A", 32), ("read B", 32), ("write C", 32)]
    assert warp["sites"][0]["steps"][5] == [20, 128]
    assert trace_data(fakes.naive(), "shared")["variants"] == []


def test_equal_labels_are_told_apart():
    one, two = fakes.shared(1), fakes.shared(2)
    two.site = fakes.Site(22, 95)
    sites = trace_data([one, two], "shared")["variants"][0]["warps"][0]["sites"]
    assert [site["label"] for site in sites] == ["read (line 21)", "read (line 22)"]


def test_page_with_all_components_is_self_contained_and_small():
    page = "".join(component.html() for component in all_components())
    assert len(page.encode()) < 175_000  # seven of them; a lesson has at most three
    assert not re.search(r"https?://(?!www\.w3\.org)", page)
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers)) == 7


def test_same_component_twice_has_two_identifiers():
    twin = widgets.bank_explorer()
    assert re.search(r'id="([^"]+)"', twin.html())[1] != re.search(r'id="([^"]+)"', twin.html())[1]


def test_data_cannot_end_its_script():
    title = "</script><script>alert(1)</script>"
    page = Twin("banks", {"title": title, "explore": True}, alt=title).html()
    assert "alert(1)</script>" not in page


def test_every_component_has_a_text_alternative_and_a_label():
    for component in all_components():
        bundle = component._repr_mimebundle_()
        assert component.alt in bundle["text/plain"]
        assert re.search(r'aria-label="[^"]+"', bundle["text/html"]) and 'class="gl-fallback"' in bundle["text/html"]


def test_unknown_component_and_bad_input():
    with pytest.raises(ValueError, match="unknown component"):
        Twin("pie", {}, "")
    with pytest.raises(GemmlabError, match="powers of two"):
        widgets.roofline_explorer(M=1000)
    with pytest.raises(GemmlabError, match="at least one kernel"):
        widgets.sector_explorer()
    with pytest.raises(GemmlabError, match="none of the kernels touches global memory"):
        widgets.sector_explorer(x=[fakes.shared(1)])
    with pytest.raises(GemmlabError, match="recorded data"):
        widgets.sector_explorer(x=fakes.naive()).live()


def test_live_view_remakes_the_component_and_shows_errors_as_one_line():
    def make(stride):
        if stride == 3:
            raise GemmlabError("no such stride")
        return widgets.bank_explorer(walk=[fakes.shared(stride)])

    box = widgets.live.view({"stride": ("stride", [1, 3, 32], 1)}, make)
    menu, area = box.children[0].children[0], box.children[1]
    assert "1 wavefront, no conflict" in area.outputs[0]["data"]["text/plain"]
    menu.value = 32
    assert "32-way conflict" in area.outputs[0]["data"]["text/plain"]
    menu.value = 3
    assert area.outputs[0]["data"] == {"text/plain": "no such stride"}


def test_live_view_is_left_out_of_stored_outputs(monkeypatch):
    monkeypatch.setenv("GEMMLAB_STATIC", "1")
    assert not widgets.live.available()


@needs_node
@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [("h200", "float32", (4096, 4096, 4096)), ("a100-80", "float16", (1, 4096, 4096)), ("b200", "fp4", (512, 2048, 8))],
)
def test_roofline_component_computes_what_python_does(name, dtype, shape):
    card = next(entry for entry in gpu_table() if entry["key"] == name)
    arguments = ", ".join(json.dumps(v) for v in (card, ITEM_BYTES[dtype], dtype, *shape))
    got = run_script(f"\nconsole.log(JSON.stringify(gemmLadder.limits({arguments})))")
    floor = roofline.time_floor(*shape, name, dtype)
    value = roofline.intensity(*shape, dtype)
    assert got["intensity"] == pytest.approx(value)
    assert got["ridge"] == pytest.approx(gpu(name).ridge(dtype))
    assert got["reach"] == pytest.approx(roofline.attainable(value, name, dtype))
    assert (got["compute"], got["memory"]) == (pytest.approx(floor.compute_s), pytest.approx(floor.memory_s))
    assert got["bound"] == floor.bound


@needs_node
@pytest.mark.parametrize(("stride", "width"), [(0, 4), (1, 4), (8, 4), (33, 4), (1, 8), (2, 16), (1, 1)])
def test_bank_component_counts_what_python_does(stride, width):
    access = fakes.shared(stride, width)
    script = f"\nconsole.log(gemmLadder.wavefronts({json.dumps(access.addresses.tolist())}, {width}, 'ld').length)"
    assert run_script(script) == len(wavefronts_of(access))


@needs_node
@pytest.mark.parametrize("name", [f"{part}.js" for part in ("core", *widgets.PARTS)])
def test_scripts_parse(name):
    subprocess.run([NODE, "--check", str(STATIC / name)], check=True, capture_output=True, timeout=30)


def test_book_palette_equals_the_figures_palette():
    assert palette.css() in (ROOT / "book" / "_static" / "palette.css").read_text(encoding="utf-8")


def test_the_tile_explorer_takes_powers_of_two():
    with pytest.raises(GemmlabError, match="BK = 24: the explorer takes powers of two"):
        widgets.tile_explorer(BK=24)
