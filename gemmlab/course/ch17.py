"""Exercises of chapter 17: clusters."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, ProductsOnce, StoredOnce
from gemmlab.grading.targets_async import Keeps
from gemmlab.grading.targets_shared import TileTraffic

PAIRED = replace(
    kernels.spec("k17_multicast"),
    block=(160, 1, 1),
    grid=("cdiv(N,64)", "2*cdiv(M,128)", "1"),
    args=("map(A,64,64,128)", "map(B,32,64,128)", "C", "M", "N", "K"),
    tile=MappingProxyType({"BM": 64, "BN": 64, "BK": 64}),
    shared_bytes="3*2*BK*(BM+BN)+64",
)
TRADED = replace(
    kernels.spec("k03_naive_cuda"), block=(64, 1, 1), grid=("cdiv(N,16)", "cdiv(M,16)", "2"), needs=(9, 0)
)
ONE_COPY_FOR_BOTH = TileTraffic(128, 64, itemsize=2, cure="copy each element of B once per pair, to both CTAs")
CROSSES = Keeps(
    r"mapa\.",
    "no CTA touches the other's shared memory: st_shared_cluster_v4 wants what mapa_shared_cluster gives",
)


def bytes_per_step(BM, BN, BK, rows, columns):
    """Bytes of bf16 that one CTA asks of L2 per step, with multicast along rows and columns of the cluster."""
    return 2 * BK * (BM // columns + BN // rows)


def draw_clusters(rng):
    """Eight hidden cases (BM, BN, BK, rows, columns)."""
    return [
        (int(64 * rng.integers(1, 5)), int(64 * rng.integers(1, 5)), int(16 * rng.integers(1, 9)),
         int(2 ** rng.integers(0, 4)), int(2 ** rng.integers(0, 4)))
        for _ in range(8)
    ]  # fmt: skip


EXERCISES = (
    Kernel(
        id="17.1",
        title="Repair the multicast",
        spec=replace(PAIRED, name="17.1"),
        targets=(NoDouble(), StoredOnce(), ONE_COPY_FOR_BOTH),
        probe_shape=(128, 64, 448),
    ),
    Function(
        id="17.2",
        title="Bytes per step",
        parameters=("BM", "BN", "BK", "rows", "columns"),
        reference=bytes_per_step,
        public=((128, 256, 64, 1, 1), (128, 256, 64, 2, 1), (128, 256, 64, 1, 2), (128, 256, 64, 2, 2),
                (128, 128, 64, 4, 2), (256, 128, 32, 1, 4), (64, 256, 128, 8, 1)),
        draw=draw_clusters,
        because="A is shared along a row of CTAs, B along a column",
        hints=(
            (lambda bm, bn, bk, r, c: 2 * bk * (bm // r + bn // c),
             "CTAs one above the other need the same columns of B, those side by side the same rows of A"),
            (lambda bm, bn, bk, r, c: bk * (bm // c + bn // r), "an element of bf16 has 2 bytes"),
            (lambda bm, bn, bk, r, c: 2 * bk * (bm + bn) // (r * c), "nobody shares both operands with everybody"),
            (lambda bm, bn, bk, r, c: 2 * bk * (bm + bn), "nothing is shared here"),
            (lambda bm, bn, bk, r, c: 2 * bk * (bm * r + bn * c), "that is what the whole cluster asks for: one CTA"),
            (lambda bm, bn, bk, r, c: 2 * bk * (bm + bn // r), "A can be shared as well, along a row of CTAs"),
        ),
    ),
    Kernel(
        id="17.3",
        title="Trade sums",
        spec=replace(TRADED, name="17.3"),
        targets=(NoDouble(), StoredOnce(), ProductsOnce(), CROSSES),
        probe_shape=(32, 32, 16),
    ),
)
