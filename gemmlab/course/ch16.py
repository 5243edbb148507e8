"""Exercises of chapter 16: warp specialisation."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import UnderWay

SM_REGISTERS, WARPGROUP, LEAST, MOST = 65536, 128, 24, 256
RING = replace(
    kernels.spec("k16_warp_specialised"),
    block=(160, 1, 1),
    args=("map(A,64,64,128)", "map(B,64,64,128)", "C", "M", "N", "K"),
    tile=MappingProxyType({"BM": 64, "BN": 64, "BK": 64}),
    shared_bytes="3*2*BK*(BM+BN)+64",
)
PIPED = replace(RING, block=(128, 1, 1), shared_bytes="4*2*BK*(BM+BN)+64")
PROBE = (64, 64, 448)  # seven tiles: the ring goes round twice


def consumer_registers(consumers, producer, ctas):
    """The most registers per consumer thread, beside a producer warpgroup; 0 where no lawful value exists."""
    threads = WARPGROUP * (1 + consumers)
    share = min(SM_REGISTERS // (threads * ctas) // 8 * 8, MOST - 8)
    if producer % 8 or not LEAST <= producer <= share:
        return 0
    return min((share * threads - WARPGROUP * producer) // (WARPGROUP * consumers) // 8 * 8, MOST)


def draw_budgets(rng):
    """Eight hidden cases (consumers, producer, ctas)."""
    return [
        (int(rng.integers(1, 8)), int(rng.integers(3, 14) * 8 + (rng.random() < 0.2) * 4), int(rng.integers(1, 3)))
        for _ in range(8)
    ]


def _without(**changed):
    """A mistake: the same with one rule left out."""

    def wrong(consumers, producer, ctas):
        threads = WARPGROUP * (1 + consumers)
        share = SM_REGISTERS // (threads * (1 if "ctas" in changed else ctas))
        if "rounding" not in changed:
            share = share // 8 * 8
        share = min(share, MOST - 8)
        if "lawful" not in changed and (producer % 8 or not LEAST <= producer <= share):
            return 0
        rest = (share * threads - WARPGROUP * producer) // (WARPGROUP * consumers)
        rest = rest if "step" in changed else rest // 8 * 8
        return rest if "most" in changed else min(rest, MOST)

    return wrong


EXERCISES = (
    Kernel(
        id="16.1",
        title="Fill the ring",
        spec=replace(RING, name="16.1"),
        targets=(NoDouble(), StoredOnce(), UnderWay()),
        probe_shape=PROBE,
    ),
    Kernel(
        id="16.2",
        title="Repair the consumer",
        spec=replace(RING, name="16.2"),
        targets=(NoDouble(), StoredOnce(), UnderWay()),
        probe_shape=PROBE,
    ),
    Function(
        id="16.3",
        title="Register budget",
        parameters=("consumers", "producer", "ctas"),
        reference=consumer_registers,
        public=((2, 24, 1), (2, 40, 1), (1, 24, 2), (1, 40, 1), (3, 24, 1), (3, 32, 1), (2, 20, 1), (2, 176, 1),
                (7, 24, 1), (4, 24, 1), (2, 36, 1), (1, 24, 1), (1, 248, 1)),
        draw=draw_budgets,
        because="what the producer hands back is shared by the consumers",
        hints=(
            (_without(ctas=True), "every CTA on the SM needs its share: divide by ctas as well"),
            (_without(lawful=True), "the producer's own value must be lawful: a multiple of 8, from 24 to its share"),
            (_without(rounding=True), "the share at launch is rounded down to a multiple of 8 first"),
            (_without(step=True), "setmaxnreg takes multiples of 8 only"),
            (_without(most=True), "no thread can have more than 256 registers"),
            (lambda c, p, n: consumer_registers(c, p, n) and consumer_registers(c, 24, n),
             "the producer keeps `producer` registers, not always 24"),
        ),
    ),
    Kernel(
        id="16.4",
        title="Repair a guide's pipeline",
        spec=replace(PIPED, name="16.4"),
        targets=(NoDouble(), StoredOnce(), UnderWay()),
        probe_shape=PROBE,
    ),
)  # fmt: skip
