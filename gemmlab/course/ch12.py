"""Exercises of chapter 12: multistage pipelines."""

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import kernels
from gemmlab.grading.exercise import Exercise, Function, number
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_pipeline import Barriers, Copies, GroupsKept

SMALL = replace(
    kernels.spec("k12_multistage"),
    block=(64, 1, 1),
    grid=("cdiv(N,BN)", "cdiv(M,BM)", "1"),
    tile=MappingProxyType({"BM": 32, "BN": 32, "BK": 16}),
    shared_bytes=0,
    defines=MappingProxyType({}),
)
PROBE = (32, 32, 160)  # ten tiles
SHARED = 232_448  # bytes of one CTA on Hopper


def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    """The least number of stages with which a copy arrives in time, or what fits."""
    return min(max(2, math.ceil(latency / compute + 1 + 1 / steps)), shared_bytes // tile_bytes)


def draw_queues(rng):
    """Eight hidden cases of 12.2."""
    return [
        (
            int(rng.integers(100, 3000)),
            int(rng.integers(150, 1800)),
            int(rng.choice((2, 4, 8))),
            int(rng.integers(8, 49)) * 1024,
            SHARED,
        )
        for _ in range(8)
    ]


def wave_cost(table, wave=132):
    """Return the strips (rows of A, and columns of B, twice as wide) that waves of CTAs touch, summed."""
    waves = [table[i : i + wave] for i in range(0, len(table), wave)]
    return sum(len({m for m, _ in w}) + 2 * len({n for _, n in w}) for w in waves)


@dataclass(frozen=True, kw_only=True, repr=False)
class Order(Exercise):
    """A function tile_of(i, tiles_m, tiles_n) -> (m, n) that takes each tile of any grid once, in blocks."""

    kind: ClassVar[str] = "order"
    grids: tuple[tuple[int, int], ...] = ((1, 1), (16, 16), (9, 9), (3, 20), (17, 5), (8, 33), (32, 64), (128, 16))
    most: tuple[tuple[tuple[int, int], int], ...]  # (grid, strips that its waves may touch)

    def record(self, answer, inputs):
        if answer is None or answer is Ellipsis:
            raise self.unfinished("define the function")
        if not callable(answer):
            raise self.fail(f"give the function itself, not {type(answer).__name__}")
        return {"tables": [[self._call(answer, i, m, n) for i in range(m * n)] for m, n in self.grids]}

    def _call(self, answer, i, tiles_m, tiles_n):
        try:
            value = answer(i, tiles_m, tiles_n)
        except Exception as error:  # the learner's code may raise anything; the judge reports it
            return f"raised {type(error).__name__}: {str(error)[:120]}"
        if value is None or value is Ellipsis:
            return "unfinished"
        pair = isinstance(value, (tuple, list)) and len(value) == 2
        if not pair or any(number(x) is None or number(x) % 1 != 0 for x in value):
            return f"returned {str(value)[:40]}, not a pair (m, n) of whole numbers"
        return [int(x) for x in value]

    def judge(self, record, inputs=None, backend="emulator"):
        tables = record.get("tables")
        if not isinstance(tables, list) or [len(t) for t in tables] != [m * n for m, n in self.grids]:
            raise self.fail("the function was not called for every tile")
        if all(tile == "unfinished" for table in tables for tile in table):
            raise self.unfinished("the function returns nothing")
        for grid, table in zip(self.grids, tables, strict=True):
            self._require_every_tile(grid, table)
        for grid, most in self.most:
            strips = wave_cost([tuple(tile) for tile in tables[self.grids.index(grid)]])
            if strips > most:
                raise self.fail(
                    f"every tile once, but at {grid[0]} × {grid[1]} tiles the waves of 132 CTAs touch {strips} strips "
                    f"of A and B (a column of B counts twice), the target is {most}: stay inside a group of rows"
                )
        return f"each tile of {len(self.grids)} grids once, and waves of 132 CTAs stay in blocks"

    def _require_every_tile(self, grid, table):
        (tiles_m, tiles_n), owner = grid, {}
        for i, tile in enumerate(table):
            where = f"tile_of({i}, {tiles_m}, {tiles_n})"
            if not isinstance(tile, list):
                raise self.fail(f"{where} {'returned nothing' if tile == 'unfinished' else str(tile)[:160]}")
            m, n = tile
            if not (0 <= m < tiles_m and 0 <= n < tiles_n):
                turned = 0 <= n < tiles_m and 0 <= m < tiles_n
                why = ": the last group is smaller" if min(m, n) >= 0 else ""
                why = ": are m and n in this order?" if turned else why
                raise self.fail(f"{where} is ({m}, {n}), outside of the {tiles_m} × {tiles_n} tiles{why}")
            if (m, n) in owner:
                taken = f"which number {owner[m, n]} has already: another tile is nobody's"
                raise self.fail(f"{where} is ({m}, {n}), {taken}")
            owner[m, n] = i


EXERCISES = (
    Kernel(
        id="12.1",
        title="From two stages to four",
        spec=replace(SMALL, name="12.1"),
        targets=(NoDouble(), StoredOnce(), Copies(), Barriers(BK=16, extra=2), GroupsKept(2)),
        probe_shape=PROBE,
    ),
    Function(
        id="12.2",
        title="How many stages",
        parameters=("latency", "compute", "steps", "tile_bytes", "shared_bytes"),
        reference=stages_needed,
        public=(
            (600, 826, 2, 24 * 1024, SHARED),
            (300, 826, 2, 24 * 1024, SHARED),
            (1200, 826, 2, 24 * 1024, SHARED),
            (1200, 1652, 4, 48 * 1024, SHARED),
            (1300, 1652, 4, 48 * 1024, SHARED),
            (1239, 826, 2, 24 * 1024, SHARED),  # just in time
            (2500, 413, 2, 24 * 1024, SHARED),
            (2500, 413, 2, 48 * 1024, SHARED),
            (100, 826, 2, 32 * 1024, 101_376),
            (2500, 826, 2, 32 * 1024, 101_376),
        ),
        draw=draw_queues,
        because="enough for the copy to arrive, or all that fit",
        hints=(
            (
                lambda ld, c, k, b, s: min(max(2, math.ceil(ld / c) + 1), s // b),
                "fragments are fetched one step ahead: a copy has one step less than the tiles in between",
            ),
            (
                lambda ld, c, k, b, s: max(2, math.ceil(ld / c + 1 + 1 / k)),
                "that many do not always fit: what is the most for shared_bytes?",
            ),
            (
                lambda ld, c, k, b, s: min(math.ceil(ld / c + 1 + 1 / k), s // b),
                "with one stage nothing overlaps: two are the least",
            ),
            (
                lambda ld, c, k, b, s: min(max(2, int(ld / c + 1 + 1 / k)), s // b),
                "with a part of a stage too few the copy is late: round up",
            ),
            (
                lambda ld, c, k, b, s: min(max(2, math.ceil(ld / c + 1 / k)), s // b),
                "with S stages a copy starts S - 1 tiles ahead: one of the stages is being read",
            ),
        ),
    ),
    Kernel(
        id="12.3",
        title="Repair",
        spec=replace(SMALL, name="12.3"),
        targets=(NoDouble(), StoredOnce(), Copies(), Barriers(BK=16, extra=2), GroupsKept(2)),
        probe_shape=PROBE,
    ),
    Order(id="12.4", title="An order for every grid", most=(((32, 64), 720), ((128, 16), 760))),
)
