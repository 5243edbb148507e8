"""The pictures of a thread's patch: arithmetic, owners from a kernel's own stores, bad input, the explorer's model."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from gemmlab import plots, widgets
from gemmlab.errors import GemmlabError
from gemmlab.widgets.twin import asset
from ptxemu.counters import Site
from ptxemu.trace import Access

NODE = shutil.which("node")


def store(addresses, width=4, name="C", kind="st"):
    site = Site("st.global.f32", "kernel.py", 7, 7, "global", "st")
    return Access(site, (0, 0, 0), 0, np.asarray(addresses), width, "global", kind, name, 0x1000)


def test_intensity_of_a_patch():
    assert plots.patch_intensity_of(1, 1) == 0.25 and plots.patch_intensity_of(8, 8) == 2
    assert plots.patch_intensity_of(8, 8, itemsize=2) == 4
    with pytest.raises(GemmlabError, match="at least one row"):
        plots.patch_intensity_of(0, 8)


def test_outer_product_states_its_counts():
    alt = plots.outer_product(8, 4).alt
    assert "8 + 4 = 12 values" in alt and "a2 is used 4 times" in alt
    with pytest.raises(GemmlabError, match="up to 16"):
        plots.outer_product(17, 8)


def test_intensity_map_names_square_patches():
    figure = plots.patch_intensity(mark=[(8, 8)])
    assert "8 × 8: 2" in figure.alt and figure.png()


@pytest.mark.parametrize("width", [4, 16])
def test_owners_come_from_the_stores(width):
    lanes = np.arange(32)
    owner = plots.owners_of([store(0x1000 + width * lanes, width)], (4, 8 * width // 4))
    assert owner.ravel().tolist() == np.repeat(lanes, width // 4).tolist()
    figure = plots.warp_patches({"k": [store(0x1000 + 4 * lanes)]}, (8, 8))
    assert "k: 4 rows by 8 columns" in figure.alt


def test_a_trace_without_stores_is_refused():
    with pytest.raises(GemmlabError, match="stores nothing to C"):
        plots.warp_patches({"k": [store(0x1000 + 4 * np.arange(32), name="A", kind="ld")]}, (8, 8))


@pytest.mark.parametrize("bad", [{"TM": 0}, {"TN": 17}, {"BK": 9}])
def test_the_explorer_refuses_other_sizes(bad):
    with pytest.raises(GemmlabError, match="1 to 16"):
        widgets.patch_explorer(**bad)


@pytest.mark.skipif(NODE is None, reason="node is not installed: the component's arithmetic cannot be run")
@pytest.mark.parametrize(("TM", "TN"), [(1, 1), (4, 4), (8, 8), (16, 16)])
def test_the_explorer_computes_as_python_does(TM, TN):
    page = "globalThis.window = globalThis; globalThis.document = {};\n" + asset("core.js") + asset("patch.js")
    script = page + f"\nconsole.log(JSON.stringify(gemmLadder.patchStep({TM}, {TN}, 8, 256)))"
    step = json.loads(subprocess.run([NODE, "-e", script], capture_output=True, text=True, check=True).stdout)
    assert step["intensity"] == plots.patch_intensity_of(TM, TN)
    assert step["share"] == min(1, TM * TN / 4 / (TM + TN))
    assert (step["blocks"] == 0) == (TM == TN == 16)


def test_owners_of_16_bit_elements():
    access = store(0x1000 + 4 * np.arange(32))
    narrow = Access(*(getattr(access, name) for name in access.__dataclass_fields__ if name != "itemsize"), itemsize=2)
    assert plots.owners_of([narrow], (2, 32)).ravel().tolist() == np.repeat(np.arange(32), 2).tolist()
