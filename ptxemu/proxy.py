"""The generic and the async proxy: stores of threads that an asynchronous reader (wgmma, a bulk copy out of shared
memory) may not see, because no ``fence.proxy.async`` stands between (PTX ISA 8.6, "Proxies", and 9.7.13.4).

Every 4 bytes of shared memory remember the thread that wrote them last through the generic proxy, and when; every
thread remembers its last fence. The fence may be the writer's, after the store, or the reader's, after the barrier.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _mark(writer, time, site_of, row, slot, tid, addr, nbytes, now, site):
    for i in range(len(addr)):
        first = slot[i] * row
        for g in range(addr[i] >> 2, ((addr[i] + nbytes - 1) >> 2) + 1):
            writer[first + g] = tid[i] + 1
            time[first + g] = now
            site_of[first + g] = site


@njit(cache=True)
def _unfenced(writer, time, row, fenced, slot, tid, addr, nbytes, out):
    """Enter (position, granule) of reads that meet an unfenced write in ``out`` int64[cap, 2]; return their number."""
    n = 0
    for i in range(len(addr)):
        s = slot[i]
        for g in range(addr[i] >> 2, ((addr[i] + nbytes - 1) >> 2) + 1):
            w = writer[s * row + g]
            if w == 0:
                continue
            at = time[s * row + g]
            if fenced[s, w - 1] <= at and fenced[s, tid[i]] <= at:
                if n == len(out):
                    return n
                out[n, 0], out[n, 1] = i, s * row + g
                n += 1
                break
    return n


class Proxies:
    """Marks of one launch. ``report(site, other_site, lanes, addr, writers)`` gets what :meth:`read` finds."""

    def __init__(self, slots, n_threads, shared_bytes, report):
        self.report = report
        self.row = (shared_bytes >> 2) + 4
        self.writer = np.zeros(slots * self.row, np.int32)
        self.time = np.zeros(slots * self.row, np.int32)
        self.site_of = np.zeros(slots * self.row, np.int32)
        self.fenced = np.zeros((slots, n_threads), np.int32)
        self.now = 1
        self.out = np.empty((256, 2), np.int64)

    def begin(self, slots):
        """New CTAs in ``slots``."""
        self.writer.reshape(-1, self.row)[slots] = 0
        self.fenced[slots] = 0

    def written(self, site, slot, tid, addr, nbytes):
        """Threads write shared memory through the generic proxy (int32, int32, int64 per lane)."""
        self.now += 1
        _mark(self.writer, self.time, self.site_of, self.row, slot, tid, addr, nbytes, self.now, site)

    def written_async(self, slot, addr, nbytes):
        """Shared memory is written through the async proxy."""
        _mark(self.writer, self.time, self.site_of, self.row, slot, np.full_like(slot, -1), addr, nbytes, self.now, 0)

    def fence(self, slot, tid):
        """Threads execute fence.proxy.async."""
        self.now += 1
        self.fenced[slot, tid] = self.now

    def read(self, site, lanes, addr, nbytes):
        """Reads through the async proxy, on behalf of the threads ``lanes``."""
        n = _unfenced(self.writer, self.time, self.row, self.fenced, lanes.slot, lanes.tid, addr, nbytes, self.out)
        if not n:
            return
        position, granule = self.out[:n].T
        writers = self.writer[granule] - 1
        other = int(self.site_of[granule[0]])
        self.report(site, other, lanes.part(position), granule % self.row << 2, writers)
