"""Exercises of chapter 06: bank conflicts."""

from dataclasses import replace
from functools import cache
from types import MappingProxyType

import kernels

from .. import bank_probe
from ..exercise import Function
from ..kernel_exercise import Kernel
from ..layout_exercise import Layout, Request
from ..targets import NoDouble, StoredOnce
from ..targets_shared import NoConflicts, SharedBytes, TileTraffic

TILE = 16
PADDED = replace(
    kernels.spec("k06_padded"), block=(TILE, TILE, 1), tile=MappingProxyType({"BM": TILE, "BN": TILE, "BK": TILE})
)
WIDTHS = (2, 4, 8, 16)


@cache
def wavefronts(stride, width):
    """Count, on the emulator, the wavefronts of a load of `width` bytes at i · stride · width by each lane i."""
    return bank_probe.wavefronts([lane * stride * width for lane in range(32)], width)[0]


def draw_patterns(rng):
    """Ten hidden pairs of stride and width."""
    return [(int(rng.integers(1, 96)), int(rng.choice(WIDTHS))) for _ in range(10)]


def _words(stride, width):
    return {lane * stride * width // 4 for lane in range(32)}


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
        title="Wavefronts of a strided load",
        parameters=("stride", "width"),
        reference=wavefronts,
        public=tuple((stride, width) for width in WIDTHS for stride in (1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64)),
        draw=draw_patterns,
        because="the emulator counts the same",
        hints=(
            (lambda stride, width: wavefronts(stride, width) - max(1, width // 4),
             "that counts the excess; the ideal wavefronts are missing"),
            (lambda stride, width: wavefronts(stride, 4),
             "right for 32 bits; at 64 bits a half-warp is served at a time, at 128 bits a quarter-warp"),
            (lambda stride, width: _ways([lane * stride * width // 4 for lane in range(32)]),
             "lanes that want the same word share one read of it"),
            (lambda stride, width: _ways(_words(stride, width)) * max(1, width // 4),
             "lanes of different half- or quarter-warps never meet: count each group by itself, then add"),
            (lambda stride, width: len(_words(stride, width)), "that counts words; the 32 banks deliver one each"),
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
