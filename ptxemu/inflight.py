"""Which bytes of shared memory a copy under way will still write, and who touches them before its wait."""

from __future__ import annotations

import numpy as np
from numba import njit

GRANULE = 4  # bytes: the least that cp.async copies


def copies_to_shared(site):
    """Whether a site is the shared-memory half of a cp.async, whose first half, the read, is the site before it."""
    return site.op == "st" and site.opcode.startswith("cp.async") and ".bulk" not in site.opcode


@njit(cache=True)
def touching(pending, row, slot, addr, nbytes, out):
    """Enter the positions of lanes whose access meets a pending granule in ``out``; return their number."""
    n = 0
    for i in range(len(addr)):
        first = slot[i] * row
        for g in range(addr[i] >> 2, ((addr[i] + nbytes - 1) >> 2) + 1):
            if pending[first + g]:
                out[n] = i
                n += 1
                break
    return n


class InFlight:
    """The pending copies of every slot: ``pending`` holds a copy's serial number per granule, 0 for none."""

    def __init__(self, sites, slots, shared_bytes, report):
        self.sites, self.report = sites, report
        self.row = (shared_bytes >> 2) + 4
        self.pending = np.zeros(slots * self.row, np.int32)
        self.owner = np.zeros(slots * self.row, np.int32)
        self.live = {}  # serial -> [the copy, lanes that have not landed]

    def begin(self, slots):
        """New CTAs in ``slots``."""
        if self.live:
            self.pending.reshape(-1, self.row)[slots] = 0
            left = set(np.unique(self.pending).tolist())
            self.live = {serial: state for serial, state in self.live.items() if serial in left}

    def _granules(self, copy, lanes):
        first = lanes.slot.astype(np.int64) * self.row + (copy.dst >> 2)
        return [first + k for k in range(copy.nbytes // GRANULE)]

    def issued(self, copy, lanes):
        """Lanes start a copy; a granule that another copy is still to write is a finding."""
        granules = self._granules(copy, lanes)
        if self.live:
            for g in granules:
                busy = np.flatnonzero(self.pending[g])
                if len(busy):
                    self._tell("copy-overwritten", copy.site, lanes, copy.dst, busy, g[busy])
                    break
        self.live[copy.serial] = [copy, lanes.n]
        for g in granules:
            self.pending[g] = copy.serial
            self.owner[g] = lanes.tid

    def landed(self, copy, lanes):
        """Lanes' part of a copy is complete."""
        for g in self._granules(copy, lanes):
            mine = self.pending[g] == copy.serial
            self.pending[g if mine.all() else g[mine]] = 0
        state = self.live.get(copy.serial)
        if state is not None:
            state[1] -= lanes.n
            if state[1] <= 0:
                del self.live[copy.serial]

    def touched(self, site, addr, lanes):
        """Report the lanes that access a granule under way."""
        nbytes = self.sites[site].width * self.sites[site].vec
        out = np.empty(lanes.n, np.int64)
        n = touching(self.pending, self.row, lanes.slot, addr, nbytes, out)
        if not n:
            return
        out = out[:n]
        first = lanes.slot[out].astype(np.int64) * self.row
        granule = first + (addr[out] >> 2)
        for k in range(1, (nbytes + 3) // 4):
            granule = np.where(self.pending[granule] != 0, granule, first + (addr[out] >> 2) + k)
        rule = "missing-copy-wait" if self.sites[site].op == "ld" else "copy-overwritten"
        self._tell(rule, site, lanes, addr, out, granule)

    def _tell(self, rule, site, lanes, addr, positions, granules):
        serials = self.pending[granules]
        for serial in np.unique(serials).tolist():
            rows = np.flatnonzero(serials == serial)
            copy = self.live[serial][0]
            self.report(rule, site, copy, lanes, addr, positions[rows], self.owner[granules[rows]])
