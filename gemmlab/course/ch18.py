"""Exercises of chapter 18: persistent kernels."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import UnderWay

RING = replace(
    kernels.spec("k16_warp_specialised"),
    block=(160, 1, 1),
    grid=("min(2,cdiv(M,64)*cdiv(N,64))", "1", "1"),
    args=("map(A,64,64,128)", "map(B,64,64,128)", "C", "M", "N", "K"),
    tile=MappingProxyType({"BM": 64, "BN": 64, "BK": 64}),
    shared_bytes="2*2*BK*(BM+BN)+64",
)
PROBE = (128, 256, 128)  # eight tiles for two CTAs
TARGETS = (NoDouble(), StoredOnce("each tile belongs to one CTA: which ones come after the first?"), UnderWay())


def efficiency(M, N, BM, BN, sms):
    """The share of the SMs' time that is work, in whole rounds of equal tiles."""
    tiles = -(-M // BM) * -(-N // BN)
    return tiles / (-(-tiles // sms) * sms)


def draw_grids(rng):
    """Eight hidden cases (M, N, BM, BN, sms)."""
    return [
        (int(rng.integers(1, 9000)), int(rng.integers(1, 9000)), int(64 * rng.integers(1, 5)),
         int(64 * rng.integers(1, 5)), int(rng.integers(40, 160)))
        for _ in range(8)
    ]  # fmt: skip


def _tiles(M, N, BM, BN):
    return -(-M // BM) * -(-N // BN)


EXERCISES = (
    Kernel(
        id="18.1",
        title="A scheduler",
        spec=replace(RING, name="18.1"),
        targets=TARGETS,
        probe_shape=PROBE,
    ),
    Kernel(
        id="18.2",
        title="Repair the stay",
        spec=replace(RING, name="18.2"),
        targets=TARGETS,
        probe_shape=PROBE,
    ),
    Function(
        id="18.3",
        title="Waves",
        parameters=("M", "N", "BM", "BN", "sms"),
        reference=efficiency,
        public=((4096, 4096, 128, 256, 132), (1024, 1024, 128, 128, 132), (4097, 4095, 128, 256, 132),
                (17024, 128, 128, 128, 132), (16896, 128, 128, 128, 132), (64, 64, 128, 256, 132),
                (8192, 8192, 128, 256, 108)),
        draw=draw_grids,
        because="whole rounds are paid for, whole tiles are computed",
        hints=(
            (lambda M, N, bm, bn, s: _tiles(M, N, bm, bn) / s / max(1, _tiles(M, N, bm, bn) // s),
             "the last round counts as a whole one: round up"),
            (lambda M, N, bm, bn, s: (M * N / (bm * bn)) / (-(-_tiles(M, N, bm, bn) // s) * s),
             "a tile that reaches beyond the edge takes as long as any: count whole tiles"),
            (lambda M, N, bm, bn, s: min(1.0, _tiles(M, N, bm, bn) / s), "there may be more than one round"),
            (lambda M, N, bm, bn, s: (-(-_tiles(M, N, bm, bn) // s) * s) / _tiles(M, N, bm, bn),
             "that is its reciprocal: work over what is paid for"),
        ),
    ),
)
