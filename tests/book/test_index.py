"""The first page's table of sectors is what the emulator counts."""

import re

import pytest

import gemmlab as gl
from tools.common import ROOT


@pytest.mark.parametrize(("chapter", "kernel"), [("03", "k03_naive"), ("04", "k04_coalesced")])
def test_sectors_on_the_first_page(chapter, kernel):
    page = (ROOT / "book/index.md").read_text()
    row = re.search(rf"^\| chapter {chapter} \| (\d+) \| (\d+) \| (\d+) \|$", page, re.M)
    counts = gl.count(kernel, 64, 64, 64)
    for name, printed in zip("ABC", row.groups(), strict=True):
        assert counts.arrays[name].sectors_per_request == int(printed)
