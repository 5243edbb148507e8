"""The generated tables, and the command that records: what can be seen of both without a GPU."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

import kernels
from gemmlab import results, sanitizer
from gemmlab.errors import GemmlabError
from tests.gemmlab.sample_records import MACHINE, record
from tools import ncu, record_gpu, results_tables

ROOT = Path(__file__).resolve().parents[2]


def recorded(tmp_path):
    profile = {
        "dram_read_bytes": 1e8,
        "dram_write_bytes": 5e7,
        "l2_hit_pct": 97.5,
        "load_sectors": 33,
        "load_requests": 2,
    }
    ceiling = {"value": 4250.0, "unit": "GB/s", "how": "copy", "clocks_mhz": {"median": 1980}, "date": "2026-11-30"}
    results.merge(
        tmp_path / "nvidia_h200.json",
        MACHINE,
        [
            record(size=4096, samples=(1e5, 2e5, 3e5), rival=(2.5e3, 2.6e3, 2.7e3), profile=profile),
            record("k04_coalesced", profile=profile),
            record(size=4096, mode="sustained", power_w={"median": 691.6}),
        ],
        {"dram_copy": ceiling},
    )
    spec = kernels.spec("k11_mma")
    entry = sanitizer.record(spec, (128, 128, 64), "memcheck", ["Invalid __global__ read"], "2026-11-30")
    sanitizer.merge(tmp_path / "sanitizer" / "nvidia_h200.json", {}, [entry])
    return tmp_path


def test_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, "tools/results_tables.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stderr


def test_ladder_shows_records_with_their_origin(tmp_path):
    text = results_tables.ladder(recorded(tmp_path))
    first, second = text.splitlines()[2:4]
    assert first.startswith("| 1 | 03 | Naive") and first.endswith("| 0.687 | 1.3 % |")
    assert second.endswith("| – | – |")  # recorded at 1024 only: never shown as 4096
    assert "Recorded on NVIDIA H200, 2026-11-30: driver 580.1, CUDA 13.0, cuBLAS 13.1.0" in text
    climb = results_tables.climb(tmp_path)
    assert "| CUDA cores | 03 to 09 | float32 | 0.687 | 0.687 | 1.3 % | `k03_naive` |" in climb
    assert f"| Tensor cores, a warp at a time | 10 to 14 | bfloat16 |{' – |' * 4}" in climb
    full = results_tables.ladder_full(tmp_path)
    assert "| `k03_naive` | 4096³ | 200 ms |" in full and "| `k04_coalesced` | 1024³ |" in full
    assert "| `k03_naive` | 4096³ | 150.0 | – | 97.5 | – | 16.50 |" in results_tables.ladder_traffic(tmp_path)
    assert "4,250.0 GB/s" in results_tables.ceilings(tmp_path)


def test_counters_stand_beside_the_profiler(tmp_path):
    profile = {"load_requests": 67108864.0, "load_sectors": 1.0, "shared_load_wavefronts": 0.0}
    results.merge(tmp_path / "nvidia_h200.json", MACHINE, [record(profile=profile)])
    row = results_tables.ladder_counters(tmp_path).splitlines()[2]
    assert row.startswith("| `k03_naive` | 1024³ | 67,108,864 | 1,107,296,256 / 1 | 1,048,576 | 0 |")


def test_nothing_recorded_is_said(tmp_path):
    for name in ("ladder", "ladder-full", "ladder-traffic", "ladder-counters", "sustained", "ceilings", "sanitizer"):
        assert "recorded yet" in results_tables.TABLES[name](tmp_path)


def test_every_row_of_a_table_has_the_same_number_of_cells(tmp_path):
    for name, make in results_tables.TABLES.items():
        rows = [line for line in make(recorded(tmp_path)).splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in rows}) == 1 and len(rows) > 2, name


def test_sustained_runs_are_shown_apart(tmp_path):
    row = results_tables.sustained(recorded(tmp_path)).splitlines()[2]
    assert row.startswith("| `k03_naive` | 4096³ |") and row.endswith("| 1,900 | 692 | 2026-11-30 |")
    assert results_tables.ladder_full(tmp_path).count("`k03_naive`") == 1


def test_render_replaces_between_markers_only():
    text = "before\n<!-- begin: ceilings (tools/results_tables.py) -->\nold\n<!-- end: ceilings -->\nafter\n"
    new = results_tables.render(text, "page.md")
    assert new.startswith("before\n<!-- begin: ceilings (tools/results_tables.py) -->\n") and new.endswith(
        "<!-- end: ceilings -->\nafter\n"
    )
    assert "old" not in new and results_tables.render(new, "page.md") == new


def test_bad_pages_are_named():
    with pytest.raises(GemmlabError, match="page.md has no <!-- begin: NAME"):
        results_tables.render("text", "page.md")
    with pytest.raises(GemmlabError, match="page.md: no table 'speeds'; known are ladder"):
        results_tables.render("<!-- begin: speeds (tools/results_tables.py) -->\n<!-- end: speeds -->", "page.md")


def test_check_fails_on_a_page_that_is_out_of_date(monkeypatch, tmp_path, capsys):
    (tmp_path / "page.md").write_text(
        "<!-- begin: hardware-memory (tools/results_tables.py) -->\nold\n<!-- end: hardware-memory -->\n"
    )
    monkeypatch.setattr(results_tables, "ROOT", tmp_path)
    monkeypatch.setattr(results_tables, "PAGES", ("page.md",))
    assert results_tables.main(["--check"]) == 1
    assert "out of date: page.md; run python3 tools/results_tables.py" in capsys.readouterr().err
    assert results_tables.main([]) == 0 and results_tables.main(["--check"]) == 0
    monkeypatch.setattr(results_tables, "PAGES", ("gone.md",))
    assert results_tables.main(["--check"]) == 2


def test_shapes_are_parsed():
    assert record_gpu.shapes_of("1024,512x4096x8") == [(1024, 1024, 1024), (512, 4096, 8)]
    for text in ("", "12x", "0", "1x2", "a"):
        with pytest.raises(argparse.ArgumentTypeError):
            record_gpu.shapes_of(text)


def test_a_failing_case_is_printed_and_does_not_raise(capsys):
    def broken():
        raise ValueError("one line")

    assert record_gpu.attempt("case", broken) is False and record_gpu.attempt("case", lambda: "fine") is True
    assert capsys.readouterr().out.splitlines()[0] == "FAILED case: ValueError: one line"


def test_workers_get_the_same_options(tmp_path):
    options = record_gpu.parse(["k03_naive", "--shapes", "64,8x16x32", "--rounds", "7", "--out", str(tmp_path)])
    again = record_gpu.parse(record_gpu.child(options, "measure", "k03_naive")[2:])
    assert again.worker == "measure" and again.kernels == ["k03_naive"]
    assert (again.shapes, again.rounds, again.out, again.mode) == (options.shapes, 7, tmp_path, "cold")
    options = record_gpu.parse(["k03_naive", "--sustained", "2.5"])
    again = record_gpu.parse(record_gpu.child(options, "measure", "a", "b", shapes=[(8, 8, 8)])[2:])
    assert (again.mode, again.seconds, again.kernels, again.shapes) == ("sustained", 2.5, ["a", "b"], [(8, 8, 8)])


def test_kernels_of_one_problem_share_a_process():
    specs = [kernels.spec(name) for name in ("k03_naive", "k11_mma", "k04_coalesced", "k11_mma_f16", "k11_swizzled")]
    assert record_gpu.groups_of(specs) == [["k03_naive", "k04_coalesced"], ["k11_mma", "k11_swizzled"], ["k11_mma_f16"]]


NCU = """==PROF== Connected to process 1
==PROF== Profiling "naive": 0%....50%....100% - 3 passes
==PROF== Disconnected from process 1
"ID","Process ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sector_hit_rate.pct"
"","","","byte","byte","%"
"0","1","naive","8,454,144","4096","98.25"
"1","1","naive","33,554,432","n/a","99.5"
"""


def test_profiler_output_is_read():
    first, second = ncu.rows(NCU)
    assert first == {
        "entry": "naive",
        "dram_read_bytes": 8454144.0,
        "dram_write_bytes": 4096.0,
        "l2_hit_pct": 98.25,
    }
    assert "dram_write_bytes" not in second
    assert ncu.rows("==ERROR== No kernels were profiled.") == []


def test_recording_without_a_gpu_is_one_clear_line(monkeypatch, capsys):
    monkeypatch.setenv("GEMMLAB_BACKEND", "emulator")
    import importlib

    importlib.import_module("gemmlab.device").device.cache_clear()
    assert record_gpu.main([]) == 2
    error = capsys.readouterr().err
    assert error.startswith("no GPU to measure on: ") and error.count("\n") == 1
    importlib.import_module("gemmlab.device").device.cache_clear()


@pytest.mark.parametrize(
    "value, text", [(0.5012, "0.501"), (5, "5.00"), (31.04, "31.0"), (989.4, "989"), (9000, "9,000")]
)
def test_three_digits(value, text):
    assert results_tables.three_digits(value) == text
