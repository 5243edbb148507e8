"""Formats, generations and errors: derived from libraries, layouts and tables, never typed."""

import numpy as np
import pytest

from gemmlab import plots
from gemmlab.errors import GemmlabError
from gemmlab.hardware import gpu
from gemmlab.plots.error_curves import spread
from gemmlab.plots.formats import FORMATS
from gemmlab.plots.generations import fma_per_register_of


def test_formats_are_what_they_are_called():
    assert {name: f.bits for name, f in FORMATS.items()} == {
        "FP32": 32, "TF32": 19, "BF16": 16, "FP16": 16, "FP8 e4m3": 8, "FP8 e5m2": 8, "INT8": 8,
    }  # fmt: skip
    assert FORMATS["TF32"].mantissa == FORMATS["FP16"].mantissa == 10 and FORMATS["FP8 e4m3"].largest == 448
    kept = np.array([FORMATS["TF32"].largest], np.float32)
    assert kept.view(np.uint32)[0] == 0x7F7FE000  # the largest FP32 whose last 13 bits are zero


def test_the_figure_of_formats_tells_the_bits():
    assert "BF16: 1 sign, 8 exponent, 7 mantissa bits" in plots.number_formats("BF16", "FP16").alt
    assert plots.number_formats().png()
    with pytest.raises(GemmlabError, match="unknown format 'FP12'"):
        plots.number_formats("FP12")


def test_what_a_register_earns():
    found = fma_per_register_of()
    assert found["mma m16n8k16 BF16"] == 2048 / 320 and found["wgmma m64n256k16 BF16"] == 16
    assert "6.4" in plots.fma_per_register().alt


def test_the_table_of_generations_keeps_dense_and_sparse_apart():
    table = plots.tensor_core_table(("float16", "fp8"))
    hopper = next(row for row in table.rows if row[0].startswith("Hopper"))
    dense = gpu("h100").peak("float16")
    assert hopper[4] == f"{dense:,g} / {2 * dense:,g}" and hopper[-1] == "2,048"
    assert table.rows[0][5] == "–" and "clock not published" in str(table)
    page = table._repr_html_()
    assert page.count("<a href") == len(table.links) > 4 and "dense / with 2:4" in page


def records(*formats):
    return [{"format": f, "data": d, "K": k, "rms": 1e-3 / (i + 1), "max": 1e-2, "date": "2026-11-30"}
            for i, f in enumerate(formats) for d in ("normal", "uniform") for k in (1024, 8192)]  # fmt: skip


def test_error_curves_name_every_format_and_the_date():
    figure = plots.error_curves(records("TF32", "BF16"))
    assert "uniform, BF16: 0.0005 at K = 1024" in figure.alt and "2026-11-30" in figure.caption
    assert "TF32" not in plots.error_curves(records("TF32", "BF16"), formats=["BF16"], kind="max").alt
    assert plots.error_curves([]).alt == "No errors recorded yet."


def test_labels_of_close_curves_keep_apart_and_in_order():
    values = [1e-3, 1.01e-3, 0.99e-3, 1e-7]
    heights = spread(values, 1.3)
    assert sorted(range(4), key=heights.__getitem__) == sorted(range(4), key=values.__getitem__)
    ordered = sorted(heights)
    assert all(b >= 1.29 * a for a, b in zip(ordered, ordered[1:], strict=False))
