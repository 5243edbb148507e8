"""Exercises of chapter 10: tensor cores and WMMA."""

from dataclasses import replace

import kernels
from gemmlab.grading.exercise import Choice, Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import Keeps
from gemmlab.grading.targets_shared import TileTraffic

WMMA = kernels.spec("k10_wmma_global_f16")
ON_TENSOR_CORES = Keeps(r"wmma\.mma", "nothing is multiplied by a tensor core: keep wmma::mma_sync")
SHAPES = ((16, 8, 16, 16), (16, 8, 8, 16), (16, 8, 32, 8), (8, 8, 4, 16), (16, 8, 8, 32), (16, 16, 16, 16))


def per_register(m, n, k, bits):
    """Multiply-adds per 32-bit register of A, B and FP32 sums in all lanes."""
    return m * n * k / ((m * k + k * n) * bits / 32 + m * n)


def draw_shapes(rng):
    """Eight hidden shapes, some that no GPU has."""
    return [(*(int(2**e) for e in rng.integers(3, 8, 3)), int(rng.choice((4, 8, 16, 32)))) for _ in range(8)]


STATEMENTS = {
    "clip": "every element is treated alike, wherever it lies",
    "scale": "every element is treated alike, wherever it lies",
    "blend": "both fragments have the same type, and so the same layout",
    "round": "an accumulator of half may be dealt out in another way than one of float",
    "bias": "the column of x[i] is assumed",
    "mask": "which lane holds element (0, 0) is assumed",
    "row": "that these elements share a row is assumed",
    "chain": "a factor is dealt out in another way than an accumulator",
    "largest": "every element of the tile is in some lane, and the largest stays the largest if it is there twice",
    "memory": "in memory the places are known: row by row, 16 apart",
}

EXERCISES = (
    Function(
        id="10.1",
        title="Multiply-adds per register",
        parameters=("m", "n", "k", "bits"),
        reference=per_register,
        public=SHAPES,
        draw=draw_shapes,
        because="the multiply-adds of the warp over the registers of all its lanes",
        hints=(
            (lambda m, n, k, bits: 32 * per_register(m, n, k, bits),
             "those are the registers of one lane; the multiply-adds are the warp's"),
            (lambda m, n, k, bits: m * n * k / (m * k + k * n + m * n),
             "a register holds 32 / bits elements of A or B"),
            (lambda m, n, k, bits: m * n * k / ((m * k + k * n) * bits / 32),
             "the sums lie in registers too, one each"),
            (lambda m, n, k, bits: m * n * k / ((m * k + k * n + m * n) * bits / 32),
             "the sums are FP32, whatever the factors are"),
            (lambda m, n, k, bits: 2 * per_register(m, n, k, bits), "that counts FLOP, two per multiply-add"),
            (lambda m, n, k, bits: m * n * k / ((m * k + k * n) * bits / 32 + 2 * m * n),
             "D takes the registers of C: count the sums once"),
        ),
    ),
    Kernel(
        id="10.2",
        title="Repair a published kernel",
        spec=replace(WMMA, name="10.2", block=(32, 4, 1), grid=("cdiv(N,16)", "cdiv(M,64)", "1")),
        targets=(NoDouble(), StoredOnce(), ON_TENSOR_CORES),
    ),
    Kernel(
        id="10.3",
        title="Use a fragment twice",
        spec=replace(WMMA, name="10.3", block=(32, 1, 1), grid=("cdiv(N,32)", "cdiv(M,32)", "1")),
        targets=(NoDouble(), StoredOnce(), ON_TENSOR_CORES, TileTraffic(32, 32, itemsize=2)),
        probe_shape=(64, 96, 64),
    ),
    Choice(
        id="10.4",
        title="Who relies on a layout?",
        given=STATEMENTS,
        expected=frozenset({"round", "bias", "mask", "row", "chain"}),
        why=STATEMENTS,
        because="five assume where an element lies",
    ),
)
