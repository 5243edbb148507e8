"""Exercises of chapter 07: register tiling."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, Sectors, StoredOnce
from gemmlab.grading.targets_shared import NoConflicts
from gemmlab.grading.targets_width import SharedWords

PATCH = replace(
    kernels.spec("k07_register_2d"),
    block=(16, 16, 1),
    tile=MappingProxyType({"BM": 64, "BN": 64, "BK": 8}),
)
SQUARE = replace(PATCH, tile=MappingProxyType({"BM": 32, "BN": 32, "BK": 32}))


def flop_per_byte(TM, TN, BK, itemsize):
    """FLOP per byte that a thread reads from shared memory in BK steps."""
    return 2 * TM * TN * BK / ((TM + TN) * BK * itemsize)


def draw_patches(rng):
    """Eight hidden patches."""
    return [tuple(int(n) for n in (*rng.integers(1, 17, 2), 8 * rng.integers(1, 9), rng.choice([2, 4, 8])))
            for _ in range(8)]


EXERCISES = (
    Function(
        id="07.1",
        title="FLOP per byte of a patch",
        parameters=("TM", "TN", "BK", "itemsize"),
        reference=flop_per_byte,
        public=((8, 8, 16, 4), (8, 8, 8, 4), (1, 1, 32, 4), (8, 1, 8, 4), (4, 4, 64, 4), (4, 8, 8, 2), (16, 8, 8, 8)),
        draw=draw_patches,
        because="BK cancels",
        hints=(
            (lambda TM, TN, BK, itemsize: TM * TN * BK / (TM + TN),
             "the loads happen in every step of k, too: BK cancels; and a multiply-add is two FLOP"),
            (lambda TM, TN, BK, itemsize: 2 * TM * TN * BK / ((TM + TN) * itemsize),
             "the loads happen in every step of k, too: BK cancels"),
            (lambda TM, TN, BK, itemsize: TM * TN / (TM + TN) / itemsize, "a multiply-add is two FLOP"),
            (lambda TM, TN, BK, itemsize: 2 * TM * TN / (TM + TN), "that is per element: divide by its bytes"),
            (lambda TM, TN, BK, itemsize: 2 * TM * TN / (TM * TN * itemsize),
             "a step reads TM + TN values, not TM * TN: that is the point of a patch"),
            (lambda TM, TN, BK, itemsize: 2 * TM * TN / ((TM + TN) * 4), "the itemsize varies"),
        ),
    ),
    Kernel(
        id="07.2",
        title="The outer product",
        spec=replace(PATCH, name="07.2"),
        targets=(NoDouble(), StoredOnce(), SharedWords(0.5)),
    ),
    Kernel(
        id="07.3",
        title="Repair a published listing",
        spec=replace(SQUARE, name="07.3"),
        targets=(NoDouble(), StoredOnce(), SharedWords(1)),
    ),
    Kernel(
        id="07.4",
        title="Choose the columns",
        spec=replace(PATCH, name="07.4"),
        targets=(NoDouble(), StoredOnce(), SharedWords(0.5), NoConflicts(), Sectors(("C",), 4)),
    ),
)
