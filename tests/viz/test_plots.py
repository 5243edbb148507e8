"""The static figures: what they say about an access must be what the access does, and nothing may overlap."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image

from gemmlab import plots
from gemmlab.errors import GemmlabError
from gemmlab.plots import ladder, palette
from gemmlab.plots.access import ideal_wavefronts, sectors_of, wavefronts_of
from gemmlab.roofline import Ceiling
from ptxemu import counting
from tests.viz import fakes
from tests.viz.fakes import Access, Site


def test_sectors_of_column_row_and_broadcast():
    a, b, _ = (sectors_of(access) for access in fakes.naive(3))
    assert (len(a.sectors), a.used, a.moved) == (32, 128, 1024)
    assert (len(b.sectors), b.used, b.words[0x20000 + 3 * 4 * fakes.N]) == (1, 4, tuple(range(32)))
    assert len(sectors_of(fakes.coalesced(3)[1]).sectors) == 4


@pytest.mark.parametrize(("offset", "width", "sectors"), [(0, 4, 4), (4, 4, 5), (0, 8, 8), (0, 16, 16), (16, 16, 17)])
def test_sectors_of_shifted_and_wide_rows(offset, width, sectors):
    access = Access(Site(1, 1), 0x10000 + offset + width * np.arange(32), width=width)
    assert len(sectors_of(access).sectors) == sectors


@pytest.mark.parametrize(
    ("stride", "width", "wavefronts", "ideal"),
    [(0, 4, 1, 1), (1, 4, 1, 1), (2, 4, 2, 1), (8, 4, 8, 1), (32, 4, 32, 1), (33, 4, 1, 1), (1, 8, 2, 2), (1, 16, 4, 4),
     (2, 16, 8, 4), (1, 1, 1, 1)],
)  # fmt: skip
def test_wavefronts(stride, width, wavefronts, ideal):
    access = fakes.shared(stride, width)
    assert (len(wavefronts_of(access)), ideal_wavefronts(access)) == (wavefronts, ideal)


def test_every_lane_is_served_once_per_word():
    served = [lane for front in wavefronts_of(fakes.shared(8)) for _, lanes in front.values() for lane in lanes]
    assert sorted(served) == list(range(32))


def test_idle_lanes_are_not_drawn():
    assert sum(len(front) for front in wavefronts_of(fakes.shared(1, lanes=5))) == 5


def test_sector_map_states_both_variants():
    figure = plots.sector_map({"naive": fakes.naive(), "coalesced": fakes.coalesced()}, arrays=("A",))
    assert "naive: read of A, line 7: 32 sectors, 128 of 1024 bytes moved are used." in figure.alt
    assert "coalesced: read of A, line 7: 1 sector, 4 of 32 bytes moved are used." in figure.alt


def test_step_chooses_the_execution():
    trace = fakes.naive(0) + fakes.naive(9)
    figure = plots.sector_map(trace, arrays=("A",), step=1, shapes={"A": (fakes.M, fakes.K)})
    assert any(text.get_text() == "A[0, 0]" for text in figure.axes[0].texts)
    row = {text.get_position()[0] for text in figure.axes[0].texts if text.get_text() == "7"}
    assert row == {9.5}


def test_bank_grid_without_shared_access_says_zero():
    figure = plots.bank_grid(fakes.naive())
    assert figure.alt == "No shared memory access: 0 bank conflicts."
    assert plots.bank_grid([]).alt == figure.alt
    assert figure.get_figheight() < 1


def test_bank_grid_names_the_conflict():
    assert "32 wavefronts: 32-way conflict" in plots.bank_grid([fakes.shared(32)]).alt
    assert "no conflict" in plots.bank_grid([fakes.shared(33)]).alt


def test_reads_are_counted_per_thread_and_per_request():
    trace = [access for k in range(fakes.K) for access in fakes.naive(k)]
    threads, requests = plots.count_reads(trace, "B", (fakes.K, fakes.N))
    assert threads[:, 0].tolist() == [32] * fakes.K
    assert requests[:, 0].tolist() == [1] * fakes.K
    assert threads[:, 1:].sum() == 0


def test_reads_refuse_what_they_cannot_count():
    with pytest.raises(GemmlabError, match="outside shape"):
        plots.count_reads(fakes.naive(), "A", (2, 2))
    with pytest.raises(GemmlabError, match="holds no read of D"):
        plots.count_reads(fakes.naive(), "D", (2, 2))
    with pytest.raises(GemmlabError, match="give the shapes"):
        plots.reads_per_element(fakes.naive())


def test_roofline_says_which_bytes_and_what_is_a_limit():
    figure = plots.roofline("H200", points=[("naive", 0.25, 1.1), ("ideal", 682.7)], bytes="requested")
    assert "naive: 0.25 FLOP per byte (requested bytes), 1.1 TFLOP/s." in figure.alt
    assert "limit 66.9 TFLOP/s" in figure.alt
    assert "requested bytes" in figure.axes[0].get_xlabel()


def test_roofline_explains_points_above_the_slope():
    figure = plots.roofline("H200", points=[("coalesced", 0.25, 6.5)], bytes="requested")
    assert "caches answer" in figure.caption


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"on": "H900"}, "no GPU"), ({"dtype": "fp12"}, "unknown data type"), ({"points": [("x", 1, 1)], "bytes": "DRAM"},
     "bytes_kind"), ({"points": [("x", -1)]}, "must be a positive number")],
)  # fmt: skip
def test_roofline_bad_input_is_one_line(arguments, message):
    with pytest.raises(GemmlabError, match=message) as caught:
        plots.roofline(**arguments)
    assert "\n" not in str(caught.value)


def test_roofline_labels_of_crowded_points_keep_their_order():
    rates = {"low": 5.09, "high": 7.78, "middle": 6.95}
    figure = plots.roofline(points=[(name, 7.97, rate) for name, rate in rates.items()])
    figure.draw_without_rendering()
    heights = {text.get_text().split(":")[0]: Text.get_window_extent(text).y0 for text in figure.axes[0].texts}
    assert heights["high"] > heights["middle"] > heights["low"]


def test_roofline_labels_do_not_overlap():
    figure = plots.roofline("H200", points=[(f"kernel {i}", 0.25 + 0.01 * i, 5 + 0.1 * i) for i in range(6)])
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts if text.get_text().startswith("kernel")]
    assert len(boxes) == 6
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


@pytest.mark.parametrize("linear", [False, True])
def test_labels_of_nine_fast_kernels_and_three_ceilings_stay_apart(linear):
    points = [(f"k1{i}_a_kernel_of_the_ladder", 1365, 330 + 35 * i) for i in range(9)]
    ceilings = {"mma.sync, registers": 633, "mma.sync and ldmatrix": 608, "wgmma": 860}
    figure = plots.roofline("H200", "bfloat16", points=points, ceilings=ceilings, linear=linear)
    figure.draw_without_rendering()
    texts = [text for text in figure.axes[0].texts if text.get_text().startswith(("k1", "mma", "wgmma"))]
    boxes = [Text.get_window_extent(text) for text in texts]
    assert len(boxes) == 12 and "Measured ceiling, wgmma: 860 TFLOP/s." in figure.alt
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


def test_thread_map_tells_what_a_warp_covers():
    assert "covers 32 rows and 1 column" in plots.thread_map((32, 8), "m").alt
    assert "covers 1 row and 32 columns" in plots.thread_map((32, 8), "n").alt
    assert "covers 2 rows and 16 columns" in plots.thread_map((16, 16), "n").alt
    with pytest.raises(GemmlabError, match="1 to 1024 threads"):
        plots.thread_map((64, 32))


def test_ladder_bars_need_one_shape_and_admit_having_none():
    record = {"kernel": "k03_naive", "tflops": 1.0, "ratio": 0.02, "rival_best_tflops": 50.0, "dtype": "float32",
              "date": "2026-11-30", "M": 1024, "N": 1024, "K": 1024}  # fmt: skip
    assert "k03_naive 1 TFLOP/s; best rival 50" in plots.ladder_bars([record]).alt
    assert plots.ladder_bars([]).alt == "No measurement recorded yet."
    with pytest.raises(GemmlabError, match="2 shapes"):
        plots.ladder_bars([record, record | {"M": 2048}])


def test_counter_bars():
    sites = [SimpleNamespace(space="global", requests=64, sectors_per_request=32.0, line=7, opcode="ld.global.f32")]
    assert "line 7, ld.global.f32: 32 (64 requests)" in plots.sectors_by_line(SimpleNamespace(sites=sites)).alt
    assert plots.sectors_by_line(SimpleNamespace(sites=[])).alt == "No global memory access."
    mix = SimpleNamespace(mix=lambda: {"fma": 1, "ldg": 3})
    assert "global load 75%, multiply-add 25%" in plots.instruction_mix(mix).alt


def test_png_carries_the_alt_text_and_an_opaque_card():
    figure = plots.bank_grid([fakes.shared(2)])
    image = Image.open(io.BytesIO(figure.png()))
    assert image.text["Description"] == figure.alt
    assert image.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)
    data, metadata = figure._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"} and metadata["image/png"]["alt"] == figure.alt


def test_palette_meanings_are_fixed_and_readable():
    assert (palette.A, palette.B, palette.C, palette.PROBLEM, palette.IN_FLIGHT) == (
        "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7",
    )  # fmt: skip
    assert palette.ink_on(palette.B) == "#000000" and palette.ink_on("#000000") == "#FFFFFF"
    assert palette.tint(palette.A, 0) == "#FFFFFF" and palette.tint(palette.A, 1) == palette.A


def _patterns():
    """Access patterns of the kinds that kernels make, and random ones: (byte addresses of 32 lanes, width)."""
    random, lane = np.random.default_rng(7), np.arange(32)
    for width in (1, 2, 4, 8, 16):
        for stride in (0, 1, 2, 3, 8, 31, 32, 33):
            yield lane * stride * width, width
        for _ in range(10):
            yield random.integers(0, 512, 32) * width, width
            yield np.where(random.random(32) < 0.6, random.integers(0, 64, 32) * width, -1), width


@pytest.mark.parametrize("seen", ["sectors", "wavefronts"])
def test_pictures_show_what_the_counters_count(seen):
    for addresses, width in _patterns():
        active = np.flatnonzero(addresses >= 0)
        row, starts = np.zeros(counting.FIELDS, np.int64), np.array([0, len(active)])
        access = Access(Site(1, 1), addresses, width=width)
        if seen == "sectors":
            counting.count_sectors(addresses[active], starts, width, row)
            assert len(sectors_of(access).sectors) == row[counting.SECTORS]
        else:
            for opcode in ("ld.shared.f32", "ldmatrix.sync.aligned.m8n8.x4.shared.b16"):
                row[:] = 0
                access = Access(Site(1, 1, opcode), addresses, width=width)
                counting.count_wavefronts(addresses[active], active, starts, width, row, opcode[:3] == "ld.")
                shown = (len(wavefronts_of(access)), ideal_wavefronts(access))
                assert shown == (row[counting.WAVEFRONTS], row[counting.IDEAL])


RECORD = {
    "kernel": "k03_naive", "tflops": 0.9, "rival_best_tflops": 51.0, "date": "2026-11-30",
    "M": 4096, "N": 4096, "K": 4096, "profile": {"dram_read_bytes": 3e9, "dram_write_bytes": 1e9},
}  # fmt: skip


def _with_records(monkeypatch, *records):
    monkeypatch.setattr(ladder, "find", lambda kernel, *shape, gpu: [r for r in records if r["kernel"] == kernel])


def test_recorded_roofline_names_date_rival_and_what_is_missing(monkeypatch):
    _with_records(monkeypatch, RECORD)
    figure = plots.recorded_roofline("H200", kernels=["k03_naive", "k04_coalesced"])
    assert "k03_naive: 682.7 FLOP per byte (ideal bytes), 0.9 TFLOP/s." in figure.alt
    assert "cuBLAS best: 682.7" in figure.alt
    assert "2026-11-30" in figure.caption and "Not recorded yet: k04_coalesced." in figure.caption


def test_recorded_roofline_uses_the_bytes_it_is_told_to(monkeypatch):
    _with_records(monkeypatch, RECORD)
    counted = {"k03_naive": SimpleNamespace(intensity=0.25)}
    requested = plots.recorded_roofline(kernels=["k03_naive"], bytes="requested", counters=counted)
    assert "k03_naive: 0.25 FLOP per byte (requested bytes)" in requested.alt
    measured = plots.recorded_roofline(kernels=["k03_naive"], bytes="measured DRAM")
    assert f"k03_naive: {2 * 4096**3 / 4e9:.4g} FLOP per byte (measured DRAM bytes)" in measured.alt
    with pytest.raises(GemmlabError, match="pass counters="):
        plots.recorded_roofline(kernels=["k03_naive"], bytes="requested")
    _with_records(monkeypatch, {**RECORD, "profile": {}})
    with pytest.raises(GemmlabError, match="no profiler bytes"):
        plots.recorded_roofline(kernels=["k03_naive"], bytes="measured DRAM")


def test_a_recorded_roofline_of_tensor_cores_has_measured_ceilings(monkeypatch):
    found = [Ceiling("wgmma m64n256k16, both factors in shared memory", 860.0, "recorded")]
    monkeypatch.setattr(ladder, "recorded_ceilings", lambda dtype, gpu: found)
    _with_records(monkeypatch, RECORD)
    figure = plots.recorded_roofline("H200", "bfloat16", kernels=["k03_naive"], linear=True)
    assert "Measured ceiling, wgmma m64n256k16: 860 TFLOP/s." in figure.alt and "Dotted" in figure.caption
    assert "ceiling" not in plots.recorded_roofline("H200", kernels=["k03_naive"]).alt


def test_the_small_table_tells_what_is_recorded(monkeypatch):
    records = [RECORD | {"ratio": 0.02}]
    found = lambda name, *shape, gpu, directory: [r for r in records if r["kernel"] == name]  # noqa: E731
    monkeypatch.setattr(ladder, "find", found)
    table = plots.ladder_table({"k03_naive": ("0.7", "L1 sectors"), "k04_coalesced": ("5", "L1 requests")})
    assert table.rows == (("k03_naive", "0.7", "0.9", "0.02", "L1 sectors"),
                          ("k04_coalesced", "5", "not recorded", "", "L1 requests"))  # fmt: skip
    assert "2026-11-30, 4096 × 4096 × 4096" in str(table) and "<td" in table._repr_html_()
    records[0] = records[0] | {"profile": {"tensor_pct": 61.7}}
    table = plots.ladder_table({"k03_naive": ("0.7", "L1 sectors"), "k04_coalesced": ("5", "L1 requests")})
    assert [row[4] for row in table.rows] == ["62 %", "–"] and "Nsight Compute" in table.note


def test_captions_stay_inside_the_figure(monkeypatch):
    _with_records(monkeypatch, RECORD | {"tflops": 6.4})
    counted = {"k03_naive": SimpleNamespace(intensity=0.25)}
    figures = [
        plots.recorded_roofline(kernels=["k03_naive", "k04_coalesced"], bytes="requested", counters=counted),
        plots.sector_map(fakes.naive()),
        plots.bank_grid([fakes.shared(2)]),
        plots.llm_layers(batch=16),
        plots.thread_map((32, 8), "m"),
    ]
    for figure in figures:
        figure.draw_without_rendering()
        assert figure._supxlabel.get_window_extent().x1 <= figure.bbox.x1
