"""Checks of bulk copies: what is still under way, and who touches it.

Shared memory that a load will still write, or a store will still read, is marked in 16-byte chunks until a wait has
seen it done; what is ordered is left to the race check, where a copy's accesses are those of the thread that issued it.
"""

from __future__ import annotations

import numpy as np

from .flags import CTA_SCOPE, GPU_SCOPE, join
from .proxy_check import ProxyChecks

NEVER = np.iinfo(np.int32).max  # a stamp that is not before anything


class BulkChecks(ProxyChecks):
    """The part of AsyncChecks about copies."""

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
            other = self._overlaps(copy, chunks, shared_site)
            if other is not None and other.site == copy.site:  # told; more copies of the line tell nothing new
                self._mark(copy, chunks)
                return
            self._proxy(copy, tid, shared_site)
            self._shadow(shared_site, "shared", copy, copy.offsets(), tid)
        else:
            self._into_a_peer(copy, chunks, shared_site, tid)
        self._in_global(copy, global_site, tid)
        if copy.load:
            self._barrier_copied_over(copy, chunks, shared_site)
            if copy.map_address:
                self.maps[copy.serial] = copy.map_address
        self._mark(copy, chunks)

    def _in_global(self, copy, site, tid):
        """Its accesses to global memory; a store's as of a moment that nobody knows yet: see ``bulk_written``."""
        if self.observer.proxies.everywhere and not copy.echo:
            self._global_proxy(copy, site)
        if copy.load:
            self._shadow(site, "global", copy, copy.span(), tid)
            return
        clock, here = self.clocks.clock, (copy.slot, tid)
        now, clock[here] = clock[here], NEVER
        self._shadow(site, "global", copy, copy.span(), tid)
        clock[here] = now

    def _mark(self, copy, chunks):
        self.live[copy.serial] = copy
        (self.writing if copy.load else self.reading)[chunks] = copy.serial

    def _barriers_hit(self, site, nbytes, addr, lanes):
        """A generic store to memory that holds an mbarrier."""
        base = 2 * self.row * lanes.slot.astype(np.int64)
        hit = self.words[base + (addr >> 3)] | self.words[base + ((addr + nbytes - 1) >> 3)]
        if hit.any():
            first = np.flatnonzero(hit)[0]
            slot = int(lanes.slot[first])
            place = self.place((slot, int(addr[first])))
            lane = slot * self.observer.lanes_per_cta + int(lanes.tid[first])
            self.say("mbarrier-overwritten", site, lane, f"writes to {place}, where an mbarrier is in use")

    def _barrier_copied_over(self, copy, chunks, site):
        hit = np.flatnonzero(self.words[2 * chunks] | self.words[2 * chunks + 1])
        if len(hit):
            place = self.place((copy.slot, int(copy.offsets()[hit[0]])))
            self.say("mbarrier-overwritten", site, copy.lane, f"copies to {place}, where an mbarrier is in use")

    def _into_a_peer(self, copy, chunks, site, tid):
        """The same for a multicast copy that goes to another CTA of the cluster."""
        self.observer.clusters.reached(site, self._lanes([copy.lane]), np.array([copy.slot]))
        self._overlaps(copy, chunks, site)
        self._shadow(site, "shared", copy, copy.offsets(), tid, home=copy.slot)

    def _chunks(self, copy):
        """Indices of a copy's chunks in ``writing`` and ``reading``."""
        return copy.slot * self.row + (copy.offsets() >> 4)

    def _shadow(self, site, space, copy, addr, tid, report=True, home=None):
        from .observe import Lanes

        n = len(addr)
        if n:
            slot = copy.lane // self.observer.lanes_per_cta
            lanes = Lanes(np.full(n, slot, np.int32), np.full(n, tid, np.int32))
            home = None if home is None else np.full(n, home)
            self.observer.race.access(site, space, np.ascontiguousarray(addr, np.int64), lanes, None, report, home)

    def _overlaps(self, copy, chunks, site):
        """Tell what is still under way in the copy's bytes; return a load that will write them too."""
        told = None
        for marks, kind in ((self.writing, "write"), (self.reading, "read")):
            if kind == "read" and not copy.load:
                continue
            busy = marks[chunks]
            hit = np.flatnonzero(busy)
            if not len(hit):
                continue
            other = self.live[int(busy[hit[0]])]
            place = self.place((copy.slot, int(copy.offsets()[hit[0]])))
            if kind == "read":
                self._source_reused(site, copy.lane, place, other, "copies to")
            else:
                rule, verb = ("copy-overwritten", "copies to") if copy.load else ("missing-copy-wait", "copies from")
                self.say(rule, site, copy.lane, f"{verb} {place}, {self._under_way(other)}", other.site)
                told = other
        return told

    def _source_reused(self, site, lane, place, other, verb):
        words = (
            f"{verb} {place}, which the bulk store of {self.line(other.site)} may still be reading; "
            f"{self.who(other.lane)}, which issued it, has not waited with cp.async.bulk.wait_group.read"
        )
        self.say("copy-source-overwritten", site, lane, words, other.site)

    def _under_way(self, copy):
        copy.told = True
        return f"to which the copy of {self.line(copy.site)} is still under way; {self.standing(copy)}"

    def standing(self, copy):
        """Why a load counts as under way."""
        if not copy.load:
            return "nobody has waited for its bulk group"
        where = f"mbarrier {self.place(copy.key)}"
        if copy.phase is not None:
            return f"nobody has waited for phase {copy.phase} of {where}, which its {copy.nbytes} bytes complete"
        return f"no wait has seen its {copy.nbytes} bytes arrive at {where}"

    def bulk_landed(self, copy, barrier):
        """A wait saw the phase of a load complete: its write is entered anew, as an event that only those know who
        wait.
        """
        self.live.pop(copy.serial, None)
        self.maps.pop(copy.serial, None)
        if copy.refused:
            return
        chunks = self._chunks(copy)
        mine = chunks[self.writing[chunks] == copy.serial]
        self.writing[mine] = 0
        slot, tid = self._thread(copy.lane)
        clocks, order = self.clocks, barrier.order
        clocks.clock[slot, tid] = clocks._tick(slot)
        home = None if slot == copy.slot else copy.slot
        self._shadow(copy.site + 1, "shared", copy, copy.offsets(), tid, report=False, home=home)
        clocks.clock[slot, tid] = c = clocks._tick(slot)
        if home is not None:
            row = np.zeros(self.n_threads, np.int32)
            row[tid] = c
            cta = int(clocks.cta_of[slot])
            join(order["foreign"], {(cta, scope): row for scope in (CTA_SCOPE, GPU_SCOPE)})
            return
        row = np.zeros(clocks.columns, np.int32) if order["row"] is None else order["row"].copy()
        clocks.mark(row, [tid], c)
        order["row"] = row

    def bulk_read(self, copy):
        """A wait_group saw that a store has read its source."""
        if self.live.pop(copy.serial, None) is None or copy.refused:
            return
        chunks = self._chunks(copy)
        self.reading[chunks[self.reading[chunks] == copy.serial]] = 0
        slot, tid = self._thread(copy.lane)
        if slot == copy.slot:
            self._shadow(copy.site, "shared", copy, copy.offsets(), tid, report=False)

    def bulk_written(self, copy):
        """A wait_group, not .read, saw that a store is complete: its write is entered anew."""
        if copy.refused:
            return
        slot, tid = self._thread(copy.lane)
        clocks = self.clocks
        clocks.clock[slot, tid] = clocks._tick(slot)
        race = self.observer.race
        counting, race.count_stores = race.count_stores, False  # it was counted when it was issued
        self._shadow(copy.site + 1, "global", copy, copy.span(), tid, report=False)
        race.count_stores = counting
        clocks.clock[slot, tid] = clocks._tick(slot)

    def unfinished(self, copy):
        """A CTA ended with a copy under way."""
        if self.live.pop(copy.serial, None) is None:
            return
        if copy.load:
            if copy.told:
                return
            place = self.place((copy.slot, copy.at))
            words = f"starts a copy of {copy.nbytes} bytes to {place}, and its block ends; {self.standing(copy)}"
            self.say("copy-unfinished", copy.site, copy.lane, words)
        else:
            words = (
                f"starts a bulk store of {copy.nbytes} bytes and ends without waiting until it has read "
                f"{self.place((copy.slot, copy.at))}"
            )
            self.say("copy-unfinished", copy.site, copy.lane, words, severity="warning")  # published kernels do so

    def touched(self, site, addr, lanes, same):
        """Report generic accesses to shared memory that meet a copy under way; return the rest of the lanes."""
        info = self.sites[site]
        if info.op != "ld":
            self._barriers_hit(site, info.width * info.vec, addr, lanes)
        if not self.live:
            return addr, lanes, same
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
            self.say(rule, site, lane, f"{verb} {place}, {self._under_way(copy)}", copy.site)
        rest = np.flatnonzero(met == 0)
        return addr[rest], lanes.part(rest), None if same is None else same[rest]
