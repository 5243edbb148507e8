"""Order between the CTAs of a cluster, and accesses to a CTA that may not have started or may be gone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from .flags import CTA_SCOPE, GPU_SCOPE, READS, join
from .proxy import INIT


@dataclass
class Meeting:
    """A completed barrier of the cluster, for those who wait for it. ``known`` {(cta, scope): bound per thread} of who
    released; ``full``: all threads of the CTA did; ``came`` {slot: visits that its threads had made when they arrived}.
    """

    known: dict
    full: bool
    came: dict


class ClusterChecks:
    """Per slot: ``arrived`` int32[threads], when each thread arrived at the cluster's barrier (0: not, or relaxed),
    ``open``: it has not waited since, and ``came``, after how many visits; ``met``: one of its threads has waited for
    the cluster; ``visits`` {(site, slot): stamps and numbers of its threads' last accesses} to this slot's shared
    memory; ``inits``: each thread's latest fence.mbarrier_init before it arrived, and before a barrier that somebody
    has waited for: it releases what it covers, so that a relaxed arrival will do.
    """

    def __init__(self, observer, slots, n_threads):
        self.observer, self.n_threads = observer, n_threads
        self.arrived = np.zeros((slots, n_threads), np.int32)
        self.open = np.zeros((slots, n_threads), bool)
        self.came = np.zeros((slots, n_threads), np.int64)
        self.meetings = {}
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
        self.arrived[slots] = self.open[slots] = 0
        self.inits[:, slots] = 0
        self.met[slots] = self.gone[slots] = False
        for slot in np.asarray(slots).tolist():
            self.visits[slot] = {}
            self.meetings.pop(slot, None)

    def arrive(self, site, lanes, release):
        """Threads arrive at barrier.cluster."""
        twice = self.open[lanes.slot, lanes.tid]
        if twice.any():
            self.observer.finding("cluster-barrier", site, lanes.part(twice), detail="twice")
        self.open[lanes.slot, lanes.tid] = True
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
                join(known, table)
        came = {slot: self.came[slot].copy() for slot in slots}
        for slot in slots:
            self.meetings[slot] = Meeting(known, bool((self.arrived[slot] > 0).all()), came)
        clocks.any_acquire = True
        self.arrived[slots] = 0

    def wait(self, site, lanes):
        """Threads leave barrier.cluster.wait: they know what the arrivals released, and their CTA lasted until then."""
        early = ~self.open[lanes.slot, lanes.tid]
        if early.any():
            self.observer.finding("cluster-barrier", site, lanes.part(early), detail="early")
        for slot in np.unique(lanes.slot).tolist():
            meeting, tids = self.meetings.get(slot), lanes.tid[lanes.slot == slot]
            if meeting is None:
                continue
            together = len(tids) == int(self.open[slot].sum())
            self.open[slot, tids] = False
            self._acquire(slot, tids, meeting, together)
            self.met[slot] = True
            for visitor in meeting.came:
                self.inits[1, visitor] = self.inits[0, visitor]
            for (_, visitor), (stamps, numbers) in self.visits[slot].items():
                stamps[numbers <= meeting.came[visitor]] = 0  # over, whether the barrier orders memory or not

    def _acquire(self, slot, tids, meeting, together):
        clocks = self.clocks
        if together:  # all that arrived wait now
            if meeting.full:
                clocks.full_barrier(slot)
            join(clocks.cta_foreign.setdefault(slot, {}), meeting.known)
            return
        made = {}
        for tid in tids.tolist():
            join(clocks.thread_foreign.setdefault((slot, tid), {}), meeting.known, made)

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
        for rule, bad in (("cluster-not-started", ~self.met[lanes.slot] & ~gone), ("cluster-exit", gone)):
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
            scopes = (GPU_SCOPE, READS) if self.observer.entry.sites[site].op == "ld" else (GPU_SCOPE,)
            for table, scope in itertools.product(tables, scopes):
                row = table.get((int(clocks.cta_of[other]), scope))
                if row is not None:
                    known |= stamps[tids] < row[tids]
            if not known.all():
                late = tids[~known]
                lanes = Lanes(np.full(len(late), other), late)
                self.observer.finding("cluster-exit", site, lanes, detail="before")
