"""Checks of mbarriers and bulk copies: what is under way, what is ordered, and what the async proxy may not see.

An arrival releases what its thread knows into the mbarrier (a relaxed one: only that reads are over), a successful wait
acquires it; a copy's write belongs to the thread that issued it, at a moment that only those know who saw the phase
complete. The copies are in bulk_check.py, the proxies and tensor maps in proxy_check.py.
"""

from __future__ import annotations

import numpy as np

from .bulk_check import BulkChecks
from .flags import CTA_SCOPE, GPU_SCOPE, READS, join, reads_of
from .places import locate
from .proxy import INIT
from .race import is_bulk, is_relaxed


def needs_checks(sites):
    """Whether a kernel has anything for these checks."""
    return any(s.opcode.startswith("mbarrier.") or is_bulk(s) or "async.mbarrier" in s.opcode for s in sites)


class AsyncChecks(BulkChecks):
    """Checks of one launch. ``observer``: whose race check, names and findings are used."""

    def __init__(self, observer, slots, shared_bytes, n_threads):
        self.observer, self.sites, self.n_threads = observer, observer.entry.sites, n_threads
        self.row = (shared_bytes >> 4) + 2
        self.writing = np.zeros(slots * self.row, np.int32)  # serial of the load that will write a chunk
        self.reading = np.zeros(slots * self.row, np.int32)  # ... of the store that will read it
        self.live = {}
        self.words = np.zeros(2 * slots * self.row, bool)  # which 8-byte words are mbarriers
        self.map_fences = set()  # slots whose CTA has acquired maps in global memory
        self.maps = {}  # serial of a load under way -> address of its map in global memory
        self.asynchronous = observer.proxies.asynchronous

    @property
    def clocks(self):
        return self.observer.race.clocks

    def begin(self, slots):
        """New CTAs in ``slots``."""
        gone = set(slots.tolist())
        self.writing.reshape(-1, self.row)[slots] = 0
        self.reading.reshape(-1, self.row)[slots] = 0
        self.words.reshape(-1, 2 * self.row)[slots] = False
        self.live = {serial: copy for serial, copy in self.live.items() if copy.slot not in gone}
        self.map_fences -= gone

    def _thread(self, lane):
        slot, tid = divmod(int(lane), self.observer.lanes_per_cta)
        return slot, tid

    def who(self, lane, same_cta=True):
        slot, tid = self._thread(lane)
        cta = int(self.observer.slot_cta[slot])
        return self.observer.name.text(cta, tid, cta if same_cta else None)

    def say(self, rule, site, lane, words, other_site=None, severity=None):
        """A finding about one thread; ``words`` follow its name."""
        lanes = self._lanes([lane])
        who = self.who(lane, False)
        self.observer.finding(
            rule, site, lanes=lanes, other_site=other_site, detail=f"{who} {words}", severity=severity
        )

    def _lanes(self, lanes):
        from .observe import Lanes

        slot, tid = np.divmod(np.asarray(lanes), self.observer.lanes_per_cta)
        return Lanes(slot, tid)

    def line(self, site):
        info = self.sites[site]
        return f"line {info.line}" if info.line else f"PTX line {info.ptx_line}"

    def place(self, key):
        return locate(self.observer.memory, "shared", key[1], self.observer.shared_layout)

    def _known(self, slot, tids, other, stamp):
        """bool per thread: whether ``other``'s event at ``stamp`` is ordered before what it does now."""
        if stamp < self.clocks.base[slot]:
            return np.ones(len(tids), bool)
        bounds = self.observer.proxies.bounds
        return np.array([t == other or stamp < bounds(slot, t)[other] for t in tids.tolist()])

    def initialised(self, barrier, key):
        """mbarrier.init: remember when, and what has released and completed into the object so far."""
        slot, tid = self._thread(barrier.owner)
        stamp = int(self.clocks.clock[slot, tid])
        self.words[2 * key[0] * self.row + (key[1] >> 3)] = True
        barrier.order = {"stamp": stamp, "known": set(), "row": None, "foreign": {}, "skipped": 0}

    def invalidated(self, key):
        """mbarrier.inval: the memory may be used for something else."""
        self.words[2 * key[0] * self.row + (key[1] >> 3)] = False

    def initialised_again(self, site, key, old, lane, awaited):
        state = f"phase {old.phase}, {old.pending} of {old.expected} arrivals missing"
        if old.tx:
            state += f", transaction count {old.tx}"
        words = f"initialises mbarrier {self.place(key)} again while it is in use ({state})"
        words += "; threads wait for it" if awaited else ""
        self.say("mbarrier-reinitialised", site, lane, words, old.site)

    def uninitialised(self, site, key, idx):
        verb = self.sites[site].opcode.split(".b64")[0]
        self.say(
            "mbarrier-uninitialised", site, idx[0], f"uses {self.place(key)} ({verb}), which is no initialised mbarrier"
        )

    def _visible(self, slot, tid, owner, stamp):
        """Whether a proxy fence stands between ``owner``'s initialisation and what ``tid`` does now."""
        return bool(self.observer.proxies.fenced(INIT, slot, tid, np.array([owner]), np.array([stamp]))[0])

    def used(self, site, key, barrier, idx):
        """Lanes use an object: its initialisation must be ordered before, and visible to the async proxy for copies."""
        order = barrier.order
        owner_slot, owner = self._thread(barrier.owner)
        if key[0] != owner_slot:
            return
        copies = self.asynchronous[site]
        mark = (site, bool(copies))
        if mark in order["known"] and order["stamp"] < self.clocks.base[key[0]]:
            return
        tids = idx - key[0] * self.observer.lanes_per_cta
        inside = (tids >= 0) & (tids < self.n_threads)
        tids = tids[inside]
        if not inside.all() and self.sites[site].opcode.startswith("mbarrier"):
            far = self._lanes(idx[~inside])
            self.observer.clusters.touched(site, far, np.full(far.n, key[0]))
        if not len(tids):
            return
        clusters = self.observer.clusters
        if clusters and order["stamp"] < clusters.inits[1, key[0], owner]:
            order["known"].add(mark)  # fence.mbarrier_init and barrier.cluster
            return
        known = self._known(key[0], tids, owner, order["stamp"])
        if not known.all():
            lane = idx[inside][np.flatnonzero(~known)[0]]
            words = (
                f"uses mbarrier {self.place(key)}, which {self.who(barrier.owner)} initialises at "
                f"{self.line(barrier.site)}, and nothing orders the two"
            )
            self.say("mbarrier-init-not-visible", site, lane, words, barrier.site)
        elif copies and not self._visible(key[0], int(tids[0]), owner, order["stamp"]):
            words = (
                f"lets a copy report to mbarrier {self.place(key)}, but its initialisation at "
                f"{self.line(barrier.site)} was not made visible to the async proxy"
            )
            self.say("mbarrier-init-not-visible", site, idx[0], words, barrier.site)
        else:
            order["known"].add(mark)

    def arrive(self, site, key, barrier, idx):
        """Lanes release what they know into the object."""
        clocks, order, relaxed = self.clocks, barrier.order, is_relaxed(self.sites[site])
        self.observer.race.partial_order()
        slots = idx // self.observer.lanes_per_cta
        for slot in np.unique(slots).tolist():
            tids = idx[slots == slot] - slot * self.observer.lanes_per_cta
            dense = clocks._densify(slot)
            c = clocks._tick(slot)
            row = dense[tids].max(axis=0)
            clocks.mark(row, tids, c)
            clocks.clock[slot, tids] = c
            if relaxed:
                row[: self.n_threads] = 0
            if slot == key[0]:
                order["row"] = row if order["row"] is None else np.maximum(order["row"], row)
            else:
                cta, writes, reads = int(clocks.cta_of[slot]), row[: self.n_threads], row[-self.n_threads :]
                known = {(cta, CTA_SCOPE): writes, (cta, GPU_SCOPE): writes} if not relaxed else {}
                join(order["foreign"], known | {(cta, READS): reads})
            if clocks.any_acquire:
                tables = [clocks.thread_foreign.get((slot, tid)) for tid in tids.tolist()]
                for table in filter(None, (clocks.cta_foreign.get(slot), *tables)):
                    join(order["foreign"], reads_of(table) if relaxed else table)

    def acquire(self, site, key, barrier, idx):
        """Lanes saw a phase complete: they are ordered after everything that was released into it."""
        clocks, order, relaxed = self.clocks, barrier.order, is_relaxed(self.sites[site])
        slot = key[0]
        tids = idx - slot * self.observer.lanes_per_cta
        if order["row"] is not None and (tids >= 0).all() and (tids < self.n_threads).all():
            self.observer.race.partial_order()
            dense, first = clocks._densify(slot), self.n_threads if relaxed else 0
            dense[tids, first:] = np.maximum(dense[tids, first:], order["row"][first:])
            clocks.clock[slot, tids] = clocks._tick(slot)
        if order["foreign"]:
            clocks.any_acquire = clocks.any_fence = True
            made, known = {}, reads_of(order["foreign"]) if relaxed else order["foreign"]
            for tid in tids.tolist():
                join(clocks.thread_foreign.setdefault((slot, tid), {}), known, made)

    def over_arrival(self, site, key, barrier, idx, count, keeps_phase):
        if keeps_phase:
            words = f"completes phase {barrier.phase} of mbarrier {self.place(key)} with an arrive.noComplete"
        else:
            words = (
                f"arrives at mbarrier {self.place(key)} with a count of {count}, but only {barrier.pending} of its "
                f"{barrier.expected} arrivals are still to come in phase {barrier.phase}"
            )
        self.say("mbarrier-over-arrival", site, idx[0], words, barrier.site)

    def phase_complete(self, site, key, barrier, idx):
        """A phase ends; if nobody saw the one before it end, arrivals are one too many."""
        if barrier.phase - barrier.observed >= 1 and not barrier.order["skipped"]:
            barrier.order["skipped"] = 1
            lane = barrier.owner if idx is None else idx[0]
            words = (
                f"completes phase {barrier.phase} of mbarrier {self.place(key)}, which expects {barrier.expected} "
                f"arrival{'s' if barrier.expected != 1 else ''}, although nobody has waited for phase "
                f"{barrier.phase - 1}"
            )
            self.say("mbarrier-over-arrival", site, lane, words, barrier.site)
