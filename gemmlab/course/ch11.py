"""Exercises of chapter 11: mma.sync and ldmatrix."""

from dataclasses import replace

import kernels
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import Keeps
from gemmlab.grading.targets_pipeline import Copies, GroupsKept
from gemmlab.grading.targets_shared import NoConflicts, SharedBytes

ON_TENSOR_CORES = Keeps(r"mma\.sync", "nothing is multiplied by a tensor core: keep mma_m16n8k16_f32_T")
WARP = replace(kernels.spec("k11_mma"), block=(32, 1, 1), grid=("cdiv(N,16)", "cdiv(M,16)", "1"))


def owner(row, col):
    """8 · lane + element of A[row, col] in mma.m16n8k16 (PTX ISA, matrix fragments for m16n8k16)."""
    return 8 * (row % 8 * 4 + col % 8 // 2) + col // 8 * 4 + row // 8 * 2 + col % 2


EXERCISES = (
    Function(
        id="11.1",
        title="Who holds it?",
        parameters=("row", "col"),
        reference=owner,
        public=tuple((row, col) for row in range(16) for col in range(16)),
        draw=lambda rng: [],
        because="each of 256 elements has its one place",
        hints=(
            (lambda row, col: 8 * (row % 8 * 4 + col % 8 // 2) + row // 8 * 4 + col // 8 * 2 + col % 2,
             "the second register holds the rows below, the third the columns to the right"),
            (lambda row, col: 8 * (row * 2 % 32 + col % 8 // 2) + col // 8 * 4 + row // 8 * 2 + col % 2,
             "four lanes share a row: A[1, 0] belongs to lane 4"),
            (lambda row, col: row % 8 * 4 + col % 8 // 2, "that is the lane; 8 times it, plus the element's number"),
            (lambda row, col: owner(row, col) // 8 * 4 + owner(row, col) % 8 // 2,
             "that counts registers; each holds two elements"),
            (lambda row, col: owner(row, col) ^ 1, "of two neighbours in k the first lies in the lower half"),
            (lambda row, col: owner(col, row), "row and column have changed places: that is A transposed"),
        ),
    ),
    Kernel(
        id="11.2",
        title="Repair the fragments",
        spec=replace(WARP, name="11.2"),
        targets=(NoDouble(), StoredOnce(), ON_TENSOR_CORES),
        probe_shape=(32, 32, 32),
    ),
    Kernel(
        id="11.3",
        title="Rows of 32 bytes",
        spec=replace(WARP, name="11.3", block=(128, 1, 1), grid=("cdiv(N,64)", "cdiv(M,64)", "1")),
        targets=(NoDouble(), StoredOnce(), ON_TENSOR_CORES, SharedBytes(2 * 64 * 16 * 2), NoConflicts()),
        probe_shape=(64, 64, 32),
    ),
    Kernel(
        id="11.4",
        title="Repair the pipeline",
        spec=replace(WARP, name="11.4"),
        targets=(NoDouble(), StoredOnce(), ON_TENSOR_CORES, Copies(), GroupsKept(1)),
        probe_shape=(32, 32, 64),
    ),
)
