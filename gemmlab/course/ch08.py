"""Exercises of chapter 08: wide loads."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_shared import NoConflicts
from gemmlab.grading.targets_width import SharedWavefronts, Wide

COLUMNS = replace(kernels.spec("k04_coalesced"), grid=("cdiv(N,128)", "cdiv(M,8)", "1"))
TILE = replace(
    kernels.spec("k08_vectorised_cuda"), block=(64, 1, 1), tile=MappingProxyType({"BM": 32, "BN": 32, "BK": 8})
)
WARP = replace(
    kernels.spec("k08_vectorised"), block=(32, 1, 1), tile=MappingProxyType({"BM": 32, "BN": 16, "BK": 8})
)


def widest(offset, pitch, itemsize):
    """Bytes of the widest power of two up to 16 that divides the address of every row."""
    return max(width for width in (2, 4, 8, 16) if offset * itemsize % width == pitch * itemsize % width == 0)


def draw_matrices(rng):
    """Twelve hidden matrices."""
    return [(int(rng.integers(0, 17)), int(rng.integers(1, 80)), int(rng.choice([2, 4, 8]))) for _ in range(12)]


EXERCISES = (
    Function(
        id="08.1",
        title="The widest aligned load",
        parameters=("offset", "pitch", "itemsize"),
        reference=widest,
        public=tuple((offset, pitch, itemsize) for itemsize in (4, 2, 8) for offset in (0, 1, 2, 4, 8)
                     for pitch in (32, 33, 34, 36, 100)),
        draw=draw_matrices,
        because="base and pitch are multiples of it, and no wider one is",
        hints=(
            (lambda offset, pitch, itemsize: widest(0, pitch, itemsize), "the matrix need not begin at element 0"),
            (lambda offset, pitch, itemsize: widest(offset, 0, itemsize),
             "that is row 0 alone: where does row 1 begin?"),
            (lambda offset, pitch, itemsize: widest(offset, pitch, 4), "the itemsize varies"),
            (lambda offset, pitch, itemsize: widest(offset + pitch, 0, itemsize), "row 1 alone is not enough"),
            (lambda offset, pitch, itemsize: widest(offset, pitch, itemsize) // itemsize,
             "that counts elements; the answer is in bytes"),
            (lambda offset, pitch, itemsize: 16 if widest(offset, pitch, itemsize) == 16 else itemsize,
             "between 16 bytes and one element there are 4 and 8"),
        ),
    ),
    Kernel(
        id="08.2",
        title="Four columns per thread",
        spec=replace(COLUMNS, name="08.2"),
        targets=(NoDouble(), StoredOnce(), Wide(("B", "C"))),
    ),
    Kernel(
        id="08.3",
        title="Repair a float4 kernel",
        spec=replace(TILE, name="08.3"),
        targets=(NoDouble(), StoredOnce(), NoConflicts(), Wide(("A", "B", "C"))),
    ),
    Kernel(
        id="08.4",
        title="Lanes that share",
        spec=replace(WARP, name="08.4"),
        targets=(NoDouble(), StoredOnce(), NoConflicts(), SharedWavefronts(0.25)),
    ),
)
