"""Exercises of chapter 09: double buffering."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab import stages
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_pipeline import Barriers, Copies, Overlap

SMALL = replace(
    kernels.spec("k09_double_buffer"),
    block=(64, 1, 1),
    tile=MappingProxyType({"BM": 32, "BN": 32, "BK": 8}),
)
PROBE = (32, 32, 40)  # five tiles


def time_per_tile(load, compute, stages_, transfer):
    """The stage model for threads that issue their own loads."""
    return stages.time_per_tile(load, compute, int(stages_), transfer=transfer)


def draw_times(rng):
    """Eight hidden cases (load, compute, stages, transfer)."""
    return [tuple(int(n) for n in (rng.integers(50, 900), rng.integers(50, 900), rng.integers(1, 8),
                                   rng.integers(0, 900))) for _ in range(8)]


EXERCISES = (
    Kernel(
        id="09.1",
        title="Hide the load",
        spec=replace(SMALL, name="09.1"),
        targets=(NoDouble(), StoredOnce(), Overlap(64), Barriers(BK=8)),
        probe_shape=PROBE,
    ),
    Function(
        id="09.2",
        title="Time per tile",
        parameters=("load", "compute", "stages", "transfer"),
        reference=time_per_tile,
        public=((300, 100, 1, 0), (300, 100, 2, 0), (300, 100, 3, 0), (300, 100, 8, 0), (100, 300, 2, 0),
                (300, 100, 2, 250), (300, 100, 4, 250), (100, 300, 4, 350), (100, 50, 1, 200)),
        draw=draw_times,
        because="the slowest of arithmetic, exposed latency and memory",
        hints=(
            (lambda ld, c, s, t: max(c, (ld + c) / s, t) if s > 1 else max(ld, t) + c,
             "that is a producer's order: here the threads that multiply issue the loads, S - 1 tiles ahead"),
            (lambda ld, c, s, t: c + ld / s, "nothing adds up with two buffers or more: the larger counts"),
            (lambda ld, c, s, t: max(c, ld / (s - 1)) if s > 1 else ld + c, "memory's own time, transfer, is missing"),
            (lambda ld, c, s, t: max(c, ld / s, t), "with S buffers S - 1 loads are under way beside the multiply"),
            (lambda ld, c, s, t: max(c, ld / (s - 1), t) if s > 1 else max(ld + c, t),
             "with one buffer the multiply waits for the load or the transfer, whichever takes longer"),
        ),
    ),
    Kernel(
        id="09.3",
        title="Repair",
        spec=replace(SMALL, name="09.3"),
        targets=(NoDouble(), StoredOnce(), Overlap(64), Barriers(BK=8)),
        probe_shape=PROBE,
    ),
    Kernel(
        id="09.4",
        title="Groups and waits",
        spec=replace(SMALL, name="09.4", needs=(8, 0)),
        targets=(NoDouble(), StoredOnce(), Copies(), Barriers(BK=8)),
        probe_shape=PROBE,
    ),
)
