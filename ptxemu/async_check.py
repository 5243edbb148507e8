"""Checks of mbarriers and bulk copies: what is under way, what is ordered, and what the async proxy may not see.

Order. An arrival releases what its thread knows into the mbarrier, a successful wait acquires it; a copy's write belongs
to the thread that issued it, at a moment that only those know who saw the phase complete. Shared memory that a load will
still write, or a store will still read, is marked in 16-byte chunks until a wait has seen it done.

Proxies (PTX ISA 8.6, "Proxies"). What a thread did through the generic proxy is ordered before a bulk copy only by a
``fence.proxy.async``: the writer's after the store and before the barrier, or, fragile, the issuer's after it.
"""

from __future__ import annotations

import numpy as np

from . import shadow as sh

FENCES = 4  # latest fences remembered per thread
DATA, INIT = 0, 1  # kinds of proxy fence


def is_bulk(site):
    """Whether a site is one half of a bulk copy."""
    return site.opcode.startswith("cp.") and ".bulk" in site.opcode


def needs_checks(sites):
    """Whether a kernel has anything for these checks."""
    return any(s.opcode.startswith("mbarrier.") or is_bulk(s) or "async.mbarrier" in s.opcode for s in sites)


class AsyncChecks:
    """Checks of one launch. ``observer``: whose race check, names and findings are used."""

    def __init__(self, observer, slots, shared_bytes, n_threads):
        self.observer, self.sites, self.n_threads = observer, observer.entry.sites, n_threads
        self.row = (shared_bytes >> 4) + 2
        self.writing = np.zeros(slots * self.row, np.int32)  # serial of the load that will write a chunk
        self.reading = np.zeros(slots * self.row, np.int32)  # ... of the store that will read it
        self.live = {}
        self.fences = np.zeros((2, slots, n_threads, FENCES), np.int32)
        self.fence_base = np.zeros((2, slots, n_threads), np.int32)
        self.map_fences = set()
        self.asynchronous = np.array([is_bulk(s) for s in self.sites] + [False])

    @property
    def clocks(self):
        return self.observer.race.clocks

    def begin(self, slots):
        """New CTAs in ``slots``."""
        gone = set(slots.tolist())
        self.writing.reshape(-1, self.row)[slots] = 0
        self.reading.reshape(-1, self.row)[slots] = 0
        self.fences[:, slots] = self.fence_base[:, slots] = 0
        self.live = {serial: copy for serial, copy in self.live.items() if copy.slot not in gone}
        self.map_fences = {key for key in self.map_fences if key[0] not in gone}

    # words

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
        from .places import locate

        return locate(self.observer.memory, "shared", key[1], self.observer.shared_layout)

    # order

    def bounds(self, slot, tid):
        """int32[n_threads]: accesses of each thread of the CTA with a smaller stamp are ordered before ``tid``'s next."""
        clocks = self.clocks
        row = clocks.beyond_base(slot, tid)
        row = np.full(self.n_threads, clocks.base[slot], np.int32) if row is None else row
        row = np.maximum(row, clocks.base[slot])
        row[tid] = np.iinfo(np.int32).max
        return row

    def _known(self, slot, tids, other, stamp):
        """bool per thread: whether ``other``'s event at ``stamp`` is ordered before what it does now."""
        if stamp < self.clocks.base[slot]:
            return np.ones(len(tids), bool)
        return np.array([t == other or stamp < self.bounds(slot, t)[other] for t in tids.tolist()])

    def initialised(self, barrier, key):
        """mbarrier.init: remember when, and what has released and completed into the object so far."""
        slot, tid = self._thread(barrier.owner)
        stamp = int(self.clocks.clock[slot, tid])
        barrier.order = {"stamp": stamp, "known": set(), "row": None, "foreign": {}, "skipped": 0}

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
        known = self._known(key[0], tids, owner, order["stamp"])
        if not known.all():
            lane = idx[inside][np.flatnonzero(~known)[0]]
            words = (
                f"uses mbarrier {self.place(key)}, which {self.who(barrier.owner)} initialises at "
                f"{self.line(barrier.site)}, and nothing orders the two"
            )
            self.say("mbarrier-init-not-visible", site, lane, words, barrier.site)
        elif copies and not self._fenced(INIT, key[0], int(tids[0]), np.array([owner]), np.array([order["stamp"]]))[0]:
            words = (
                f"lets a copy report to mbarrier {self.place(key)}, but its initialisation at {self.line(barrier.site)} was "
                "not made visible to the async proxy"
            )
            self.say("mbarrier-init-not-visible", site, idx[0], words, barrier.site)
        else:
            order["known"].add(mark)

    def arrive(self, key, barrier, idx):
        """Lanes release what they know into the object."""
        clocks, order = self.clocks, barrier.order
        self.observer.race.partial_order()
        slots = idx // self.observer.lanes_per_cta
        for slot in np.unique(slots).tolist():
            tids = idx[slots == slot] - slot * self.observer.lanes_per_cta
            dense = clocks._densify(slot)
            c = clocks._tick(slot)
            row = dense[tids].max(axis=0)
            row[tids] = c
            clocks.clock[slot, tids] = c
            if slot == key[0]:
                order["row"] = row if order["row"] is None else np.maximum(order["row"], row)
            else:
                cta = int(clocks.cta_of[slot])
                for scope in (0, 1):
                    old = order["foreign"].get((cta, scope))
                    order["foreign"][cta, scope] = row if old is None else np.maximum(old, row)

    def acquire(self, key, barrier, idx):
        """Lanes saw a phase complete: they are ordered after everything that was released into it."""
        clocks, order = self.clocks, barrier.order
        slot = key[0]
        tids = idx - slot * self.observer.lanes_per_cta
        if order["row"] is not None and (tids >= 0).all() and (tids < self.n_threads).all():
            self.observer.race.partial_order()
            dense = clocks._densify(slot)
            dense[tids] = np.maximum(dense[tids], order["row"])
            clocks.clock[slot, tids] = clocks._tick(slot)
        if order["foreign"]:
            from .flags import _join

            clocks.any_acquire = True
            for tid in tids.tolist():
                _join(clocks.thread_foreign.setdefault((slot, tid), {}), order["foreign"])

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
                f"arrival{'s' if barrier.expected != 1 else ''}, although nobody has waited for phase {barrier.phase - 1}"
            )
            self.say("mbarrier-over-arrival", site, lane, words, barrier.site)

    # copies

    def bulk_issued(self, copy):
        """Compare a copy with what it races against, and mark its bytes."""
        observer = self.observer
        tid = copy.lane % observer.lanes_per_cta
        own = copy.lane // observer.lanes_per_cta == copy.slot
        if copy.refused:
            return
        chunks = self._chunks(copy)
        shared_site, global_site = copy.site + copy.load, copy.site + (not copy.load)
        if own:
            self._overlaps(copy, chunks, shared_site)
            self._proxy(copy, chunks, tid, shared_site)
            self._shadow(shared_site, "shared", copy, self._offsets(copy), tid)
        self._shadow(global_site, "global", copy, copy.span(), tid)
        self.live[copy.serial] = copy
        (self.writing if copy.load else self.reading)[chunks] = copy.serial

    def _chunks(self, copy):
        """Indices of a copy's chunks in ``writing`` and ``reading``."""
        return copy.slot * self.row + (self._offsets(copy) >> 4)

    def _offsets(self, copy):
        from .tensormap import swizzled

        pieces = copy.offsets() >> 4
        return (swizzled(pieces, copy.view.swizzle) if copy.view is not None else pieces) << 4

    def _shadow(self, site, space, copy, addr, tid, report=True):
        from .observe import Lanes

        n = len(addr)
        if n:
            slot = copy.lane // self.observer.lanes_per_cta
            lanes = Lanes(np.full(n, slot, np.int32), np.full(n, tid, np.int32))
            self.observer.race.access(site, space, np.ascontiguousarray(addr, np.int64), lanes, None, report)

    def _overlaps(self, copy, chunks, site):
        """What is still under way in the copy's bytes."""
        for marks, kind in ((self.writing, "write"), (self.reading, "read")):
            if kind == "read" and not copy.load:
                continue
            busy = marks[chunks]
            hit = np.flatnonzero(busy)
            if not len(hit):
                continue
            other = self.live[int(busy[hit[0]])]
            place = self.place((copy.slot, int(self._offsets(copy)[hit[0]])))
            if kind == "read":
                self._source_reused(site, copy.lane, place, other, "copies to")
            else:
                rule, verb = ("copy-overwritten", "copies to") if copy.load else ("missing-copy-wait", "copies from")
                words = f"{verb} {place}, to which the copy of {self.line(other.site)} is still under way; {self.standing(other)}"
                self.say(rule, site, copy.lane, words, other.site)

    def _source_reused(self, site, lane, place, other, verb):
        words = (
            f"{verb} {place}, which the bulk store of {self.line(other.site)} may still be reading; {self.who(other.lane)}, "
            "which issued it, has not waited with cp.async.bulk.wait_group.read"
        )
        self.say("copy-source-overwritten", site, lane, words, other.site)

    def standing(self, copy):
        """Why a load counts as under way."""
        if not copy.load:
            return "nobody has waited for its bulk group"
        where = f"mbarrier {self.place(copy.key)}"
        if copy.phase is not None:
            return f"nobody has waited for phase {copy.phase} of {where}, which its {copy.nbytes} bytes complete"
        return f"no wait has seen its {copy.nbytes} bytes arrive at {where}"

    def bulk_landed(self, copy, barrier):
        """A wait saw the phase of a load complete: its write is entered anew, as an event that only those know who wait."""
        self.live.pop(copy.serial, None)
        if copy.refused:
            return
        chunks = self._chunks(copy)
        mine = chunks[self.writing[chunks] == copy.serial]
        self.writing[mine] = 0
        slot, tid = self._thread(copy.lane)
        if slot != copy.slot:
            return
        clocks, order = self.clocks, barrier.order
        clocks.clock[slot, tid] = clocks._tick(slot)
        self._shadow(copy.site + 1, "shared", copy, self._offsets(copy), tid, report=False)
        clocks.clock[slot, tid] = c = clocks._tick(slot)
        row = np.zeros(self.n_threads, np.int32) if order["row"] is None else order["row"].copy()
        row[tid] = max(row[tid], c)
        order["row"] = row

    def bulk_read(self, copy):
        """A wait_group saw that a store has read its source."""
        if self.live.pop(copy.serial, None) is None or copy.refused:
            return
        chunks = self._chunks(copy)
        self.reading[chunks[self.reading[chunks] == copy.serial]] = 0
        slot, tid = self._thread(copy.lane)
        if slot == copy.slot:
            self._shadow(copy.site, "shared", copy, self._offsets(copy), tid, report=False)

    def unfinished(self, copy):
        """A CTA ended with a copy under way."""
        if self.live.pop(copy.serial, None) is None:
            return
        if copy.load:
            words = f"starts a copy of {copy.nbytes} bytes to {self.place((copy.slot, copy.at))}, and its block ends before {self.standing(copy).replace('nobody has waited', 'anybody waits').replace('no wait has seen', 'a wait sees')}"
            self.say("copy-unfinished", copy.site, copy.lane, words)
        else:
            words = (
                f"starts a bulk store of {copy.nbytes} bytes and ends without waiting until it has read "
                f"{self.place((copy.slot, copy.at))}"
            )
            self.say("copy-unfinished", copy.site, copy.lane, words, severity="warning")

    def touched(self, site, addr, lanes, same):
        """Report generic accesses to shared memory that meet a copy under way; return the rest of the lanes."""
        info = self.sites[site]
        chunk = lanes.slot.astype(np.int64) * self.row + (addr >> 4)
        met = self.writing[chunk]
        if info.op != "ld":
            met = np.where(met, met, self.reading[chunk])
        hit = np.flatnonzero(met)
        if not len(hit):
            return addr, lanes, same
        first = hit[0]
        copy = self.live[int(met[first])]
        lane = int(lanes.slot[first]) * self.observer.lanes_per_cta + int(lanes.tid[first])
        place = self.place((copy.slot, int(addr[first])))
        if not copy.load:
            self._source_reused(site, lane, place, copy, "writes to")
        else:
            rule, verb = ("missing-copy-wait", "reads") if info.op == "ld" else ("copy-overwritten", "writes to")
            words = (
                f"{verb} {place}, to which the copy of {self.line(copy.site)} is still under way; {self.standing(copy)}"
            )
            self.say(rule, site, lane, words, copy.site)
        rest = np.flatnonzero(met == 0)
        return addr[rest], lanes.part(rest), None if same is None else same[rest]

    # proxies

    def fence(self, site, lanes):
        """fence.proxy.* and fence.mbarrier_init. Returns whether it was one."""
        opcode = self.sites[site].opcode
        if "proxy.tensormap" in opcode:
            if "acquire" in opcode:
                self.map_fences.update(zip(lanes.slot.tolist(), lanes.tid.tolist(), strict=True))
            return True
        if "mbarrier_init" not in opcode and "proxy.async" not in opcode:
            return "proxy" in opcode
        clocks = self.clocks
        kinds = (INIT,) if "mbarrier_init" in opcode else (DATA, INIT)
        for slot in np.unique(lanes.slot).tolist():
            tids = lanes.tid[lanes.slot == slot]
            c = clocks._tick(slot)
            clocks.clock[slot, tids] = c
            for kind in kinds:
                self.fences[kind, slot, tids, 1:] = self.fences[kind, slot, tids, :-1]
                self.fences[kind, slot, tids, 0] = c
                self.fence_base[kind, slot, tids] = clocks.base[slot]
        return True

    def _fenced(self, kind, slot, tid, others, stamps):
        """2 where a writer's own fence stands between, 1 where only ``tid``'s after the barrier does, else 0."""
        bounds = self.bounds(slot, tid)
        fences = self.fences[kind, slot, others]
        good = ((fences > stamps[:, None]) & (fences < bounds[others][:, None])).any(axis=1)
        issuer = stamps < self.fence_base[kind, slot, tid]
        own = others == tid
        issuer |= own & (self.fences[kind, slot, tid, 0] > stamps)
        return np.where(good, 2, np.where(issuer, 1, 0))

    def _proxy(self, copy, chunks, tid, site):
        """Generic accesses to a copy's shared memory that no proxy fence orders before it."""
        race = self.observer.race
        slot = copy.slot
        width = race.entries
        view = race.shared.reshape(-1, width, sh.ENTRY)
        first = (slot * race.granules) + (self._offsets(copy) >> race.shift)
        granules = (first[:, None] + np.arange(max(1, 16 >> race.shift))).ravel()
        entries = view[granules]
        cta = int(self.observer.slot_cta[slot])
        bounds = self.bounds(slot, tid)
        columns = [("write", [0, width - 2, width - 1])]
        if copy.load:
            columns.append(("read", list(range(1, race.readers + 1))))
        for kind, which in columns:
            rows = entries[:, which].reshape(-1, sh.ENTRY)
            stamp, who, owner = rows.T
            others = who & sh.TID
            keep = (stamp != 0) & (owner == cta) & ~self.asynchronous[who >> sh.SITE_SHIFT]
            keep &= stamp < bounds[np.where(keep, others, 0)]
            if not keep.any():
                continue
            pairs, index = np.unique(rows[keep][:, :2], axis=0, return_index=True)
            fenced = self._fenced(DATA, slot, tid, pairs[:, 1] & sh.TID, pairs[:, 0])
            if fenced.min() == 2:
                continue
            worst = int(fenced.argmin())
            self._tell_proxy(copy, site, kind, int(pairs[worst, 1]), int(fenced[worst]))

    def _tell_proxy(self, copy, site, kind, entry, fenced):
        other_site, other = entry >> sh.SITE_SHIFT, entry & sh.TID
        if fenced == 1 and (kind == "read" or other == copy.lane % self.observer.lanes_per_cta):
            return
        verb = "copies to" if copy.load else "copies from"
        who = self.who(copy.slot * self.observer.lanes_per_cta + other)
        past = "wrote" if kind == "write" else "read"
        words = f"{verb} {self.place((copy.slot, copy.at))}, which {who} {past} at {self.line(other_site)}"
        words += (
            " without a fence.proxy.async after it"
            if not fenced
            else "; the fence.proxy.async stands here and not with the thread that wrote"
        )
        severity = "warning" if kind == "read" or fenced else "error"
        self.say("missing-proxy-fence", site, copy.lane, words, other_site, severity)

    # tensor maps

    def bad_map(self, site, lane, address, view, rank):
        if view is None:
            words = f"copies through a tensor map at {address:#x}, where there is none"
        else:
            words = f"copies {rank} dimensions through a tensor map of rank {view.rank}"
        self.say("bad-tensor-map", site, lane, words)

    def map_address(self, site, lane, address):
        """A map must lie in a parameter, in constant memory, or in global memory behind a fence."""
        from .layout import LOCAL_WINDOW, WINDOW_SIZE
        from .places import array_at

        memory = self.observer.memory
        if memory.param_address <= address < memory.param_address + memory.param_size:
            return
        if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_SIZE:
            self.say(
                "tensor-map-passing",
                site,
                lane,
                "copies through a tensor map in its local memory, a copy of the parameter",
            )
            return
        array = array_at(memory, address)
        if array is not None and array.role == "module" and array.name in self.observer.entry.constants:
            return
        if self._thread(lane) not in self.map_fences:
            name = array.name if array is not None else f"{address:#x}"
            words = (
                f"copies through the tensor map {name} in global memory without a fence.proxy.tensormap acquire before"
            )
            self.say("tensor-map-passing", site, lane, words)
