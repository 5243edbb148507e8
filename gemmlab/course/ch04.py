"""Exercises of chapter 04: coalescing."""

from dataclasses import replace
from functools import cache

import numpy as np

import kernels
import ptxemu
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, Sectors, StoredOnce

COALESCED = kernels.spec("k04_coalesced")
WIDTHS = {1: "u8 %h", 2: "u16 %h", 4: "u32 %r", 8: "u64 %d", 16: "v4.u32 {%r, %r1, %r2, %r3}"}
LOAD = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry load(.param .u64 base, .param .u32 step)
{{
    .reg .b16 %h; .reg .b32 %r; .reg .b32 %r<6>; .reg .b64 %d; .reg .b64 %d<4>;
    ld.param.u64 %d1, [base];
    cvta.to.global.u64 %d1, %d1;
    ld.param.u32 %r4, [step];
    mov.u32 %r5, %tid.x;
    mul.wide.u32 %d2, %r5, %r4;
    add.s64 %d3, %d1, %d2;
    ld.global.{load}, [%d3];
    ret;
}}
"""


@cache
def _load(width):
    return ptxemu.load(LOAD.format(load=WIDTHS[width])).entry("load")


@cache
def sectors(stride, width):
    """Count, on the emulator, the sectors that a warp touches when lane i loads `width` bytes at i · stride · width."""
    memory = np.zeros(31 * stride * width + width, np.uint8)
    report = ptxemu.launch(_load(width), 1, 32, [memory, np.uint32(stride * width)])
    return report.counters.total(space="global", op="ld").sectors


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
            (lambda stride, width: 32, "that counts lanes, not sectors: lanes may share one"),
            (lambda stride, width: max(1, stride * width), "32 lanes touch at most 32 sectors"),
            (lambda stride, width: len({lane * stride // 32 for lane in range(32)}), "the width is missing"),
            (lambda stride, width: len({lane * stride * width // 128 for lane in range(32)}),
             "that counts 128-byte cache lines; a sector has 32 bytes"),
            (lambda stride, width: len({lane * stride * width // 32 for lane in range(31)}), "a warp has 32 lanes"),
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
