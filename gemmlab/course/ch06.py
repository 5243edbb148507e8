"""Exercises of chapter 06: bank conflicts."""

from dataclasses import replace
from functools import cache
from types import MappingProxyType

import kernels
from gemmlab import bank_probe
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.layout_exercise import Layout, Request
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_shared import NoConflicts, SharedBytes, TileTraffic

TILE = 16
PADDED = replace(
    kernels.spec("k06_padded"), block=(TILE, TILE, 1), tile=MappingProxyType({"BM": TILE, "BN": TILE, "BK": TILE})
)
WIDTHS = (2, 4, 8, 16)
PERIODS = (8, 16, 32)  # not below 8: neighbours that want one address are served together (ptxemu.counting)


@cache
def wavefronts(stride, width, period):
    """Count, on the emulator, the wavefronts when lane i loads `width` bytes at (i % period) · stride · width."""
    return bank_probe.wavefronts([lane % period * stride * width for lane in range(32)], width)[0]


def draw_patterns(rng):
    """Twelve hidden triples of stride, width and period."""
    return [(int(rng.integers(1, 96)), int(rng.choice(WIDTHS)), int(rng.choice(PERIODS))) for _ in range(12)]


def _words(stride, width, period):
    starts = [lane % period * stride * width for lane in range(32)]
    return [(start + byte) // 4 for start in starts for byte in range(0, width, min(4, width))]


def _ways(words):
    banks = [word % 32 for word in words]
    return max(banks.count(bank) for bank in banks)


def _row(number, lane):
    return number, lane


def _column(number, lane):
    return lane, number


EXERCISES = (
    Function(
        id="06.1",
        title="Wavefronts of a load",
        parameters=("stride", "width", "period"),
        reference=wavefronts,
        public=tuple(
            (stride, width, period)
            for width in WIDTHS for period in PERIODS for stride in (1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64)
        ),
        draw=draw_patterns,
        because="the emulator counts the same",
        hints=(
            (lambda stride, width, period: wavefronts(stride, width, period) - max(1, width // 4),
             "that counts the excess; the ideal wavefronts are missing"),
            (lambda stride, width, period: wavefronts(stride, 4, period),
             "right for 32 bits; at 64 bits a half-warp is served at a time, at 128 bits a quarter-warp"),
            (lambda stride, width, period: _ways(_words(stride, width, period)),
             "lanes that want the same word share one read of it"),
            (lambda stride, width, period: _ways(set(_words(stride, width, period))),
             "lanes of different half- or quarter-warps are not served together: count each group by itself, then add"),
            (lambda stride, width, period: wavefronts(stride, width, 32), "the period is missing: lanes repeat"),
            (lambda stride, width, period: len(set(_words(stride, width, period))),
             "that counts words; the 32 banks deliver one each"),
        ),
    ),
    Layout(
        id="06.2",
        title="A swizzle by words",
        requests=(Request("along a row", 32, _row), Request("down a column", 32, _column)),
    ),
    Layout(
        id="06.3",
        title="A swizzle by chunks",
        requests=(
            Request("in 128-bit loads along a row", 8, lambda r, i: (4 * r + i // 8, 4 * (i % 8)), words=4),
            Request("in 128-bit loads down a column", 8, lambda r, i: (i, 4 * r), words=4),
            Request("in scalar loads along a row", 32, _row),
        ),
    ),
    Kernel(
        id="06.4",
        title="Repair the padding",
        spec=replace(PADDED, name="06.4"),
        targets=(NoDouble(), StoredOnce(), TileTraffic(TILE, TILE), NoConflicts(), SharedBytes(2304)),
    ),
)  # fmt: skip
