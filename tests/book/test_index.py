"""The first page's table is what the emulator counts and what results/ records."""

import re

import pytest

import gemmlab as gl
from gemmlab import results
from gemmlab.hardware import gpu
from tools.common import ROOT, toc_entries

PAGE = (ROOT / "book" / "index.md").read_text()
RECORDS = results.load(ROOT / "results" / "nvidia_h200.json")["records"]


@pytest.mark.parametrize(("chapter", "kernel"), [("03", "k03_naive"), ("04", "k04_coalesced")])
def test_table(chapter, kernel):
    row = re.search(rf"^\| chapter {chapter} \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \|$", PAGE, re.M)
    *sectors, tflops = row.groups()
    counts = gl.count(kernel, 64, 64, 64)
    for name, printed in zip("ABC", sectors, strict=True):
        assert counts.arrays[name].sectors_per_request == int(printed)
    record = next(r for r in RECORDS if r["kernel"] == kernel and (r["M"], r["N"], r["K"]) == (4096, 4096, 4096))
    assert tflops == f"{record['tflops']:.2f}" and f"recorded on {record['date']}" in PAGE


def test_what_is_written():
    pages = [page.split("/")[1][:2] for page in toc_entries() if page.startswith("notebooks/")]
    for text in (PAGE, (ROOT / "README.md").read_text()):
        first, last = re.search(r"[Cc]hapters (\d\d) to (\d\d)", text).groups()
        assert pages == [f"{number:02}" for number in range(int(first), int(last) + 1)]


def test_peaks():
    found = re.search(r"can do (\d+) TFLOP/s in FP32, and (\d+) in FP16", PAGE)
    card = gpu("h200")
    assert [int(text) for text in found.groups()] == [round(card.peak(kind)) for kind in ("float32", "float16")]
