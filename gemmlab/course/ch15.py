"""Exercises of chapter 15: wgmma."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Choice, Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import Keeps, NoRemarks

SMALL = replace(
    kernels.spec("k15_wgmma"),
    block=(128, 1, 1),
    tile=MappingProxyType({"BM": 64, "BN": 128, "BK": 64}),
    shared_bytes="2*BK*(BM+BN)+64",
)
PROBE = (64, 128, 192)  # three tiles
TARGETS = (
    NoDouble(),
    StoredOnce(),
    Keeps(r"wgmma\.mma_async", "nothing is multiplied by wgmma: call wgmma_m64k16"),
    NoRemarks(),
)


def address(start, sbo, row, chunk):
    """Where a K-major operand's chunk lies, 128-byte swizzle (PTX ISA, "Shared Memory Matrix Layout")."""
    place = int(start) + int(row) // 8 * int(sbo) + int(row) % 8 * 128 + 16 * int(chunk)
    return place ^ (place >> 7 & 7) << 4


def draw_places(rng):
    """Sixteen hidden cases (start, sbo, row, chunk)."""
    return [
        (int(rng.integers(0, 64) * 1024 + rng.integers(0, 4) * 32), int(rng.integers(1, 5) * 1024),
         int(rng.integers(0, 64)), int(rng.integers(0, 2)))
        for _ in range(16)
    ]  # fmt: skip


SHAPES = {
    "n40": "N = 40 is a multiple of 8",
    "n36": "N is a multiple of 8",
    "n264": "N is at most 256",
    "m128": "M is 64, always: four warps of 16 rows",
    "mixed": "both factors are f16 or both are bf16",
    "int40": "integers take N = 8, 16, 24, 32 and above that multiples of 16",
    "int48": "48 is a multiple of 16",
    "fp8": "e4m3 and e5m2 may be mixed",
    "fp8_turned": "only 16-bit operands may be N-major: FP8 has no such flag",
    "tf32": "TF32 takes K = 8",
}

EXERCISES = (
    Function(
        id="15.1",
        title="Where does it look?",
        parameters=("start", "sbo", "row", "chunk"),
        reference=address,
        public=(
            (0, 1024, 0, 0), (0, 1024, 0, 1), (0, 1024, 3, 0), (0, 1024, 3, 1), (0, 1024, 8, 0), (0, 2048, 13, 1),
            (8192, 1024, 63, 1), (32, 1024, 1, 0), (8256, 1024, 7, 1),
        ),
        draw=draw_places,
        because="as the hardware reads it",
        rel=1e-9,
        hints=(
            (lambda s, o, r, c: s + r // 8 * o + r % 8 * 128 + 16 * c, "that is the place without the swizzle"),
            (lambda s, o, r, c: s + r // 8 * o + r % 8 * 128 + 16 * (c ^ r % 8),
             "the swizzle XORs bits of the whole address: the step along K in `start` takes part"),
            (lambda s, o, r, c: (p := s + r * 128 + 16 * c) ^ (p >> 7 & 7) << 4,
             "groups of eight rows lie sbo bytes apart"),
        ),
    ),
    Kernel(
        id="15.2",
        title="Multiply a stage",
        spec=replace(SMALL, name="15.2"),
        targets=TARGETS,
        probe_shape=PROBE,
    ),
    Kernel(
        id="15.3",
        title="Repair",
        spec=replace(SMALL, name="15.3"),
        targets=TARGETS,
        probe_shape=PROBE,
    ),
    Choice(
        id="15.4",
        title="Which exist?",
        given=SHAPES,
        expected=frozenset({"n40", "int48", "fp8", "tf32"}),
        why=SHAPES,
        because="four of the ten exist",
    ),
)  # fmt: skip
