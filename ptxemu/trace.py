"""The addresses that chosen warps really used, for pictures and exercises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .places import array_at, triple


@dataclass(frozen=True)
class Trace:
    """What to record: linear or (x, y, z) ids of ``ctas``, ``warps`` in each, memory ``spaces``, at most ``limit``
    accesses.
    """

    ctas: tuple = ((0, 0, 0),)
    warps: tuple = (0,)
    spaces: tuple = ("global", "shared")
    limit: int = 4096


@dataclass(frozen=True)
class Access:
    """One memory instruction of one warp. ``site``: the instruction (opcode, file, line, ptx_line). ``addresses``
    int64[32] in bytes, -1 for inactive lanes; ``width`` bytes per lane; ``kind`` "ld" | "st" | "atom" | "red".
    Global: ``name`` and ``base`` identify the array, element index = (address - base) // ``itemsize``. Shared:
    addresses are byte offsets in the CTA's shared memory, ``name`` is None and ``base`` 0.
    """

    site: object
    cta: tuple
    warp: int
    addresses: np.ndarray
    width: int
    space: str
    kind: str
    name: str | None
    base: int
    itemsize: int = 4


class Recorder:
    """Keeps the accesses that a :class:`Trace` asks for."""

    def __init__(self, trace, grid, memory, sites):
        self.trace, self.memory, self.sites = trace, memory, sites
        self.ctas = {c if isinstance(c, int) else _linear(c, grid): c for c in trace.ctas}
        self.grid = grid
        self.accesses = []

    def access(self, site, space, addr, lanes, slot_cta):
        """Record the chosen warps' part of one instruction; cheap when no chosen CTA runs."""
        if space not in self.trace.spaces or len(self.accesses) >= self.trace.limit:
            return
        info = self.sites[site]
        for slot in np.flatnonzero(np.isin(slot_cta, list(self.ctas))):
            lo, hi = np.searchsorted(lanes.slot, (slot, slot + 1))
            tid, part = lanes.tid[lo:hi], addr[lo:hi]
            for warp in self.trace.warps:
                a, b = np.searchsorted(tid, (32 * warp, 32 * warp + 32))
                if a == b or len(self.accesses) >= self.trace.limit:
                    continue
                addresses = np.full(32, -1, np.int64)
                addresses[tid[a:b] & 31] = part[a:b]
                array = array_at(self.memory, int(part[a])) if space == "global" else None
                self.accesses.append(
                    Access(
                        info,
                        triple(int(slot_cta[slot]), self.grid),
                        warp,
                        addresses,
                        info.width * info.vec,
                        space,
                        info.op,
                        array.name if array else None,
                        array.address if array else 0,
                        array.itemsize if array else 4,
                    )
                )


def _linear(cta, grid):
    x, y, z = (*cta, 0, 0, 0)[:3]
    return x + grid[0] * (y + grid[1] * z)
