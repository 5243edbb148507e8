"""Exercises of chapter 05: tiling in shared memory."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Function, Value
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, Sectors, StoredOnce
from gemmlab.grading.targets_shared import TileTraffic
from gemmlab.hardware import gpu

TILED = kernels.spec("k05_tiled_square")
SMALL = replace(TILED, block=(16, 16, 1), tile=MappingProxyType({"BM": 16, "BN": 16, "BK": 16}))
RIDGE = gpu("H200").ridge("float32")  # FLOP/byte


def requested_bytes(M, N, K, BM, BN):
    """Return the bytes that a tiled float32 GEMM requests; a test holds the formula to the emulator's counts."""
    return 4 * (M * K * -(-N // BN) + K * N * -(-M // BM) + M * N)


def draw_problems(rng):
    """Six hidden problems with tile sizes."""
    sizes = [int(size) for size in rng.integers(1, 5000, 18)]
    edges = [int(edge) for edge in rng.choice([8, 16, 32, 64, 128], 12)]
    return [(*sizes[3 * i : 3 * i + 3], *edges[2 * i : 2 * i + 2]) for i in range(6)]


EXERCISES = (
    Kernel(
        id="05.1",
        title="Build the tiled kernel",
        spec=replace(TILED, name="05.1"),
        targets=(NoDouble(), StoredOnce(), TileTraffic(32, 32), Sectors(("A",), 4), Sectors(("B",), 4)),
    ),
    Function(
        id="05.2",
        title="The traffic of a tile",
        parameters=("M", "N", "K", "BM", "BN"),
        reference=requested_bytes,
        public=(
            (64, 64, 64, 32, 32), (1024, 1024, 1024, 32, 32), (4096, 4096, 4096, 128, 128), (64, 64, 64, 16, 64),
            (33, 17, 40, 32, 32), (100, 70, 50, 16, 64), (1, 1000, 300, 32, 32), (1000, 1, 300, 32, 32),
        ),
        draw=draw_problems,
        because="every byte, on ragged shapes too",
        hints=(
            (lambda M, N, K, BM, BN: requested_bytes(M, N, K, BM, BN) / 4, "those are elements; a float32 has 4 bytes"),
            (lambda M, N, K, BM, BN: requested_bytes(M, N, K, BM, BN) - 4 * M * N, "the store of C is missing"),
            (lambda M, N, K, BM, BN: requested_bytes(M, N, K, BN, BM),
             "an element of A is served by the tile's width, BN, one of B by its height, BM"),
            (lambda M, N, K, BM, BN: 4 * (M * N * K * (1 / BM + 1 / BN) + M * N),
             "right where the tile divides the matrix; at a ragged edge the number of blocks is rounded up"),
            (lambda M, N, K, BM, BN: 4 * (2 * M * N * K + M * N), "that is the kernel without tiles"),
            (lambda M, N, K, BM, BN: 4 * (M * N * K / min(BM, BN) + M * N),
             "MNK / min(BM, BN) is in circulation; count the loads of A and of B separately"),
            (lambda M, N, K, BM, BN: requested_bytes(-(-M // BM) * BM, -(-N // BN) * BN, K, BM, BN),
             "beyond the edge zeros are stored and nothing is requested"),
        ),
    ),  # fmt: skip
    Kernel(
        id="05.3",
        title="Repair",
        spec=replace(SMALL, name="05.3"),
        targets=(NoDouble(), StoredOnce(), TileTraffic(16, 16), Sectors(("A",), 4), Sectors(("B",), 4)),
    ),
    Value(
        id="05.4",
        title="The tile that reaches the ridge",
        unit="elements",
        expected=-(-4 * RIDGE // 8) * 8,
        because="its intensity of T/4 is 14 FLOP/byte, and its 3,136 outputs need more than one per thread",
        rel=1e-3,
        hints=(
            (4 * RIDGE, "take the next multiple of 8"),
            (64, "that is above the ridge; a smaller multiple of 8 will do"),
            (48, "that is 12 FLOP/byte, below the ridge"),
            (32, "that is the lesson's tile: 8 FLOP/byte"),
            (16, "an element has 4 bytes: the intensity of a square tile is T/4"),
            (112, "a multiply-add is 2 FLOP"),
            (24, "a step loads an element of A and one of B for each row and column: the intensity is T/4"),
        ),
    ),
)
