"""Exercises of chapter 04: coalescing."""

from dataclasses import replace

import kernels

from ..exercise import Function
from ..kernel_exercise import Kernel
from ..targets import NoDouble, Sectors, StoredOnce

COALESCED = kernels.spec("k04_coalesced")


def sectors(stride, width):
    """Sectors of 32 bytes that a warp touches when lane i loads `width` bytes at i · stride · width."""
    return len({lane * stride * width // 32 for lane in range(32)})


def draw_patterns(rng):
    """Eight hidden pairs of stride and width."""
    return [(int(rng.integers(0, 70)), int(rng.choice([1, 2, 4, 8, 16]))) for _ in range(8)]


EXERCISES = (
    Kernel(
        id="04.1",
        title="Turn the mapping",
        spec=replace(COALESCED, name="04.1"),
        targets=(NoDouble(), StoredOnce(), Sectors(("A",), 1), Sectors(("B",), 4), Sectors(("C",), 4)),
    ),
    Function(
        id="04.2",
        title="Sectors of a strided load",
        parameters=("stride", "width"),
        reference=sectors,
        public=tuple((stride, width) for width in (1, 2, 4, 8, 16) for stride in (0, 1, 2, 3, 4, 5, 7, 8, 16, 33)),
        draw=draw_patterns,
        because="the emulator counts the same",
        hints=(
            (lambda stride, width: 32, "that counts lanes, not sectors"),
        ),
    ),
    Kernel(
        id="04.3",
        title="When no mapping is coalesced",
        spec=replace(
            COALESCED, name="04.3", layout="row,col->row", grid=("cdiv(N,BX)", "cdiv(M,BY)", "1"), block=(32, 8, 1)
        ),
        targets=(NoDouble(), StoredOnce(), Sectors(("A", "B"), 12), Sectors(("C",), 4)),
        choose_block=True,
    ),
)
