"""The generic and the async proxy: which accesses of threads an asynchronous operation (a wgmma, a bulk copy) may not
see, because no ``fence.proxy.async`` stands between (PTX ISA 8.6, "Proxies", and 9.7.13.4).

Who accessed what through the generic proxy stands in the shadow of the race check; here is what every proxy fence was
ordered after. An access is fenced where a fence comes after it, and the operation after that fence: the fence of the
thread that made the access, of the one that starts the operation, or of any other on the way.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numba import njit

from . import shadow as sh
from .proxy_global import GlobalFences

FENCES = 4  # latest fences remembered per thread
DATA, INIT = 0, 1  # kinds of fence: fence.mbarrier_init covers initialisations only
UNFENCED, BY_ISSUER, FENCED = 0, 1, 2


@njit(cache=True)
def _latest(shadow, width, first, granules, columns, cta, asynchronous, bounds, latest, entry, threads):
    """Enter, per thread, the stamp and id of its latest ordered generic access to the granules ``first + granules``;
    ``threads``: who has one. Returns their number.
    """
    n = 0
    for i in range(len(granules)):
        base = (first + granules[i]) * width * sh.ENTRY
        for column in columns:
            at = base + column * sh.ENTRY
            stamp = shadow[at]
            if stamp == 0 or shadow[at + 2] != cta:
                continue
            who = shadow[at + 1]
            thread = who & sh.TID
            if asynchronous[who >> sh.SITE_SHIFT] or stamp >= bounds[thread]:
                continue
            if latest[thread] == 0:
                threads[n] = thread
                n += 1
            if stamp > latest[thread]:
                latest[thread], entry[thread] = stamp, who
    return n


class Proxies:
    """Proxy fences of one launch. ``race``: the check whose shadow and clocks count."""

    def __init__(self, race, slots, n_threads):
        self.race, self.asynchronous, self.n_threads = race, race.asynchronous, n_threads
        pairs = zip(race.sites, self.asynchronous, strict=False)
        written = {s.space for s, moved in pairs if s.op not in ("", "ld") and not moved}  # by threads
        self.everywhere = GlobalFences(race.clocks) if written & {"global", "generic"} else None
        self.in_shared = bool(written & {"shared", "generic"})
        self.stamps = np.zeros((2, slots, n_threads, FENCES), np.int32)  # of each thread's latest fences
        self.known = {}  # (kind, slot) -> {warp: its latest fences (threads, stamp, what was ordered before)}
        self.latest = np.zeros(n_threads, np.int32)
        self.entry = np.zeros(n_threads, np.int64)
        self.threads = np.zeros(n_threads, np.int64)

    def begin(self, slots):
        """New CTAs in ``slots``."""
        self.stamps[:, slots] = 0
        gone = set(slots.tolist())
        self.known = {key: warps for key, warps in self.known.items() if key[1] not in gone}

    def bounds(self, slot, tid, reads=False):
        """int32[n_threads]: accesses (``reads``) of each thread of the CTA with a smaller stamp are ordered before what
        ``tid`` does next.
        """
        clocks = self.race.clocks
        row = clocks.beyond_base(slot, tid, reads)
        row = np.full(self.n_threads, clocks.base[slot], np.int32) if row is None else row
        row = np.maximum(row, clocks.base[slot])
        row[tid] = np.iinfo(np.int32).max
        return row

    def _common(self, slot, tids):
        """int32[n_threads]: what all of ``tids``, of one warp, are ordered after."""
        clocks = self.race.clocks
        if clocks.dense_index[slot] >= 0:
            row = clocks.dense[clocks.dense_index[slot], tids, : self.n_threads].min(axis=0)
        else:
            warp = int(tids[0]) >> 5
            row = np.zeros(self.n_threads, np.int32)
            row[32 * warp : 32 * warp + 32] = clocks.warp_base[slot, warp]
        return np.maximum(row, clocks.base[slot])

    def fence(self, opcode, lanes):
        """Threads execute fence.proxy.async or fence.mbarrier_init."""
        clocks = self.race.clocks
        kinds = (INIT,) if "mbarrier_init" in opcode else (DATA, INIT)
        for slot in np.unique(lanes.slot).tolist():
            tids = lanes.tid[lanes.slot == slot]
            stamp = clocks._tick(slot)
            for warp in np.unique(tids >> 5).tolist():
                mine = tids[tids >> 5 == warp]
                row = self._common(slot, mine)
                for kind in kinds:
                    latest = self.known.setdefault((kind, slot), {}).setdefault(warp, deque(maxlen=FENCES))
                    latest.append((mine, stamp, row))
                if self.everywhere and DATA in kinds and "shared" not in opcode:
                    self.everywhere.add(slot, mine, stamp, row)
            clocks.clock[slot, tids] = stamp
            for kind in kinds:
                self.stamps[kind, slot, tids, 1:] = self.stamps[kind, slot, tids, :-1]
                self.stamps[kind, slot, tids, 0] = stamp

    def fenced(self, kind, slot, tid, others, stamps, bounds=None):
        """UNFENCED, BY_ISSUER or FENCED for accesses of threads ``others`` at ``stamps`` before an operation that
        ``tid`` starts now.
        """
        bounds = self.bounds(slot, tid) if bounds is None else bounds
        fences = self.stamps[kind, slot, others]
        own = ((fences > stamps[:, None]) & (fences < bounds[others][:, None])).any(axis=1)
        level = np.where(own, FENCED, UNFENCED)
        if own.all():
            return level
        for latest in self.known.get((kind, slot), {}).values():
            for threads, stamp, row in latest:
                by_issuer = tid in threads
                if by_issuer or (stamp < bounds[threads]).any():
                    level[stamps < row[others]] |= BY_ISSUER if by_issuer else FENCED
        return np.minimum(level, FENCED)

    def before(self, kind, slot, tid, addr, reads):
        """The generic accesses, writes or ``reads``, to the 16-byte chunks at ``addr`` int64[n] of shared memory that
        are ordered before an operation that ``tid`` starts: (threads, shadow ids, how fenced).
        """
        race = self.race
        if not reads and not self.in_shared:
            return self.threads[:0], self.entry[:0], self.threads[:0]
        width = race.entries
        columns = np.arange(1, race.readers + 1) if reads else np.array([0, width - 2, width - 1])
        granules = (addr >> race.shift)[:, None] + np.arange(max(1, 16 >> race.shift))
        bounds, cta = self.bounds(slot, tid, reads), int(race.clocks.cta_of[slot])
        n = _latest(
            race.shared, width, slot * race.granules, granules.ravel(), columns, cta, self.asynchronous, bounds,
            self.latest, self.entry, self.threads,
        )  # fmt: skip
        if not n:
            return self.threads[:0], self.entry[:0], self.threads[:0]
        threads = np.sort(self.threads[:n])
        level = self.fenced(kind, slot, tid, threads, self.latest[threads], bounds)
        self.latest[threads] = 0
        return threads, self.entry[threads], level
