"""What each role of a warp-specialised kernel does over time: clock stamps taken inside it on a GPU, or recorded ones.

The kernel is k16_two_consumers with a stamp of the SM's clock (%clock) before and after each wait. One CTA in the
middle of the grid writes them; the stamps themselves cost a few cycles per tile. The record is called "roles".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemmlab.measuring import stamps
from gemmlab.source import CudaSource
from kernels import spec

KERNEL, SHAPE, CTA = "k16_two_consumers", (4096, 4096, 4096), 200
ROLES = ("producer", "consumer 1", "consumer 2")
MOMENTS = 3  # of a role in each tile: before its wait, after it, after its work
MACRO = """#define STAMP(i) \\
  if (blockIdx.x + blockIdx.y * gridDim.x == CTA && (threadIdx.x < 128 || threadIdx.x % 128 == 0)) \\
    stamps[((threadIdx.x / 128) * ((K + BK - 1) / BK) + k / BK) * 3 + i] = clock();
"""
# What stands in the kernel, and the stamps before and after it.
PLACES = (
    ("        mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);\n", "STAMP(0)\n", "STAMP(1)\n"),
    ("          tma_load_2d(stage.b[box], &B, n + box * 64, k, full);\n", "", "STAMP(2)\n"),
    ("    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);\n", "STAMP(0)\n", "STAMP(1)\n"),
    ("    wgmma_wait_group<1>();\n", "", "STAMP(2)\n"),
)


@dataclass(frozen=True)
class Roles:
    """`spans`: {role: [(start, end, kind, label), …]} for `gl.widgets.timeline`, in cycles; empty without a record.

    `busy`: the share of the time from the first to the last tile in which each role did not wait.
    """

    spans: dict[str, list]
    busy: dict[str, float]
    label: str


def stamped() -> CudaSource:
    """Return the kernel with stamps; its last parameter is `int* stamps`, (roles, tiles, moments)."""
    return stamps.placed(KERNEL, "int* stamps", MACRO, PLACES, CTA=CTA)


def measure_roles(shape: tuple[int, int, int] = SHAPE) -> np.ndarray:
    """Run the stamped kernel on the GPU at hand; return int64[roles, tiles, moments]: cycles after the first stamp."""
    clocks = np.zeros((len(ROLES), -(-shape[2] // spec(KERNEL).tile["BK"]), MOMENTS), np.int32)
    stamps.take(KERNEL, stamped(), clocks, shape, sms=1)
    return _since(clocks.astype(np.int64), int(clocks[0, 0, 0]))


def _since(clocks: np.ndarray, start: int) -> np.ndarray:
    """Return stamps as cycles after (or before) `start`; the clock has 32 bits."""
    return (clocks - start + (1 << 31)) % (1 << 32) - (1 << 31)


def spans(cycles: np.ndarray, first: int, count: int) -> dict[str, list]:
    """Return `count` tiles from `first` on as rows of a timeline; times start at 0."""
    start = int(cycles[:, first, 0].min())
    rows = {}
    for role, moments in zip(ROLES, cycles[:, first : first + count], strict=True):
        work = "issue" if role == "producer" else "compute"
        rows[role] = []
        for tile, (asked, got, done) in enumerate((moments - start).tolist()):
            rows[role] += [(asked, got, "wait", ""), (got, done, work, str(first + tile))]
    return rows


def roles(first: int = 16, count: int = 8, directory=None) -> Roles:
    """Return `count` tiles from tile `first` on, of the recorded run of `k16_two_consumers` at 4096 x 4096 x 4096."""
    stored, label = stamps.recorded("roles", directory)
    if stored is None:
        return Roles({}, {}, label)
    cycles = _since(np.array(stored["cycles"]), 0)
    waits = (cycles[..., 1] - cycles[..., 0]).sum(axis=1) / (cycles[:, -1, 2] - cycles[:, 0, 0])
    busy = dict(zip(ROLES, (1 - waits).tolist(), strict=True))
    return Roles(spans(cycles, first, count), busy, label)
