"""Order between the CTAs of a cluster, and accesses to a CTA that may not have started or may be gone."""

from __future__ import annotations

import numpy as np

from .flags import CTA_SCOPE, GPU_SCOPE
from .proxy import INIT


class ClusterChecks:
    """Per slot: ``arrived`` int32[threads], when each thread arrived at the cluster's barrier (0: not, or relaxed), and
    ``came``, after how many visits; ``met``: the cluster has met since the CTA started; ``visits`` {(site, slot):
    stamps and numbers of its threads' last accesses} to this slot's shared memory; ``inits``: each thread's latest
    fence.mbarrier_init before it arrived, and before a barrier that is complete: it releases what it covers, so that a
    relaxed arrival will do.
    """

    def __init__(self, observer, slots, n_threads):
        self.observer, self.n_threads = observer, n_threads
        self.arrived = np.zeros((slots, n_threads), np.int32)
        self.came = np.zeros((slots, n_threads), np.int64)
        self.inits = np.zeros((2, slots, n_threads), np.int32)
        self.number = 0
        self.met = np.zeros(slots, bool)
        self.gone = np.zeros(slots, bool)
        self.visits = [{} for _ in range(slots)]

    @property
    def clocks(self):
        return self.observer.race.clocks

    def begin(self, slots):
        """New CTAs in ``slots``."""
        self.arrived[slots] = 0
        self.inits[:, slots] = 0
        self.met[slots] = self.gone[slots] = False
        for slot in np.asarray(slots).tolist():
            self.visits[slot] = {}

    def arrive(self, lanes, release):
        """Threads arrive at barrier.cluster."""
        for slot in np.unique(lanes.slot).tolist():
            tids = lanes.tid[lanes.slot == slot]
            self.arrived[slot, tids] = self._event(slot, tids) if release else 0
            self.came[slot, tids] = self.number
            if self.observer.proxies:
                self.inits[0, slot, tids] = self.observer.proxies.stamps[INIT, slot, tids, 0]

    def complete(self, slots):
        """The barrier of the cluster in ``slots`` is complete: whoever released is ordered before whoever waits."""
        clocks, known = self.clocks, {}
        for slot in slots:
            row = self.arrived[slot].copy()
            for scope in (CTA_SCOPE, GPU_SCOPE):
                known[int(clocks.cta_of[slot]), scope] = row
            tables = [clocks.cta_foreign.get(slot, {})]
            tables += [t for (s, _), t in clocks.thread_foreign.items() if s == slot]
            for table in tables:
                _join(known, table)
        for slot in slots:
            if (self.arrived[slot] > 0).all():
                clocks.full_barrier(slot)
            _join(clocks.cta_foreign.setdefault(slot, {}), known)
            self.met[slot] = True
            self.inits[1, slot] = self.inits[0, slot]
            for (_, visitor), (stamps, numbers) in self.visits[slot].items():
                stamps[numbers <= self.came[visitor]] = 0  # over, whether the barrier orders memory or not
        clocks.any_acquire = True
        self.arrived[slots] = 0

    def _event(self, slot, tids):
        """A new stamp: what the threads did so far carries smaller ones."""
        clocks = self.clocks
        clocks.any_fence = True
        stamp = clocks._tick(slot)
        clocks.clock[slot, tids] = stamp
        return stamp

    def reached(self, site, lanes, home):
        """Threads ``lanes`` reach into the CTAs in slots ``home``: they must have started, and not ended."""
        observer = self.observer
        gone = self.gone[home]
        for rule, bad in (("cluster-not-started", ~self.met[home] & ~gone), ("cluster-exit", gone)):
            if bad.any():
                observer.finding(rule, site, lanes.part(bad), detail="after")

    def touched(self, site, lanes, home):
        """Threads ``lanes`` access shared memory of the CTAs in slots ``home``, which must not end before that."""
        self.reached(site, lanes, home)
        self.number += 1
        for slot in np.unique(home).tolist():
            mine = home == slot
            for other in np.unique(lanes.slot[mine]).tolist():
                tids = lanes.tid[mine & (lanes.slot == other)]
                new = np.zeros(self.n_threads, np.int32), np.zeros(self.n_threads, np.int64)
                stamps, numbers = self.visits[slot].setdefault((site, other), new)
                stamps[tids], numbers[tids] = self.clocks.clock[other, tids], self.number

    def exited(self, slot):
        """The last thread of the CTA in ``slot`` leaves: does any of its threads know that every visit is over?"""
        from .observe import Lanes

        self.gone[slot] = True
        clocks = self.clocks
        tables = [clocks.cta_foreign.get(slot, {})]
        tables += [table for (s, _), table in clocks.thread_foreign.items() if s == slot]
        for (site, other), (stamps, _) in self.visits[slot].items():
            tids = np.flatnonzero(stamps)
            known = np.zeros(len(tids), bool)
            for table in tables:
                row = table.get((int(clocks.cta_of[other]), GPU_SCOPE))
                if row is not None:
                    known |= stamps[tids] < row[tids]
            if not known.all():
                late = tids[~known]
                lanes = Lanes(np.full(len(late), other), late)
                self.observer.finding("cluster-exit", site, lanes, detail="before")


def _join(into, other):
    """Add what is known of other CTAs: {(cta, scope): bound per thread}."""
    for key, row in other.items():
        into[key] = np.maximum(into[key], row) if key in into else row
