"""Bytes of shared memory that a multiplication under way still reads, and who writes them before its wait."""

from __future__ import annotations

import numpy as np
from numba import njit

SHIFT = 4  # wgmma reads chunks of 16 bytes


@njit(cache=True)
def _add(count, serial, first, addr, limit, step, mark):
    for i in range(len(first)):
        for a in addr[i]:
            if a < limit:
                count[first[i] + (a >> SHIFT)] += step
                if step > 0:
                    serial[first[i] + (a >> SHIFT)] = mark


@njit(cache=True)
def _meeting(count, row, slot, addr, nbytes, out):
    """Enter positions of lanes whose write meets a chunk under way, with the chunk, in ``out``; return their number."""
    n = 0
    for i in range(len(addr)):
        first = slot[i] * row
        for g in range(addr[i] >> SHIFT, ((addr[i] + nbytes - 1) >> SHIFT) + 1):
            if count[first + g] > 0:
                out[n, 0], out[n, 1] = i, first + g
                n += 1
                break
    return n


class Reading:
    """How many multiplications read each chunk of every slot's shared memory, and the latest of them.

    ``report(site, other site, lanes, addr, issue, positions)`` gets what :meth:`written` finds.
    """

    def __init__(self, slots, shared_bytes, report):
        self.report, self.limit = report, shared_bytes
        self.row = (shared_bytes >> SHIFT) + 2
        self.count = np.zeros(slots * self.row, np.int32)
        self.serial = np.zeros(slots * self.row, np.int32)
        self.live = {}  # serial -> [the issue, warps that still read]

    def begin(self, slots):
        """New CTAs in ``slots``."""
        if self.live:
            self.count.reshape(-1, self.row)[slots] = 0
            left = set(np.unique(self.serial.reshape(-1, self.row)[self.count.reshape(-1, self.row) > 0]).tolist())
            self.live = {serial: state for serial, state in self.live.items() if serial in left}

    def started(self, issue, slot, addr, warps):
        """Each of a multiplication's descriptors, for ``warps`` warps, leads to ``addr`` int64[n, chunks] in ``slot``
        int64[n].
        """
        self.live.setdefault(issue.serial, [issue, len(issue.warps)])
        _add(self.count, self.serial, slot * self.row, addr, self.limit, warps, issue.serial)

    def ended(self, issue, slot, addr, warps):
        """Undo :meth:`started` for warps that waited."""
        _add(self.count, self.serial, slot * self.row, addr, self.limit, -warps, 0)

    def finished(self, serial, warps):
        """So many warps of a multiplication are complete."""
        state = self.live.get(serial)
        if state is not None:
            state[1] -= warps
            if state[1] <= 0:
                del self.live[serial]

    def written(self, site, lanes, addr, nbytes):
        """Lanes write shared memory (in any proxy): report those that meet a chunk under way."""
        out = np.empty((lanes.n, 2), np.int64)
        n = _meeting(self.count, self.row, lanes.slot, addr, nbytes, out)
        if not n:
            return
        positions, chunks = out[:n].T
        state = self.live.get(int(self.serial[chunks[0]]))
        if state is not None:
            self.report(site, state[0], lanes.part(positions), addr[positions])
