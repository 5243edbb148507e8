"""The race check: runs every access past the shadow memory and turns unordered pairs into findings."""

from __future__ import annotations

import numpy as np

from . import shadow as sh
from .flags import CTA_SCOPE, GPU_SCOPE, READS, OrderedClocks
from .race_text import EXAMPLES, Example, Pair, Seen, Words

CANDIDATES = 1 << 15
FEW, MANY = 2, 4
_PARTIAL = ("bar.arrive", "barrier.arrive", "membar", "fence")
_SCOPE = {"cta": CTA_SCOPE, "": GPU_SCOPE, "cluster": GPU_SCOPE, "gpu": GPU_SCOPE, "gl": GPU_SCOPE, "sys": GPU_SCOPE}
_NO_SHADOW = {"local", "const", "param"}
_AT_MBARRIERS = ("mbarrier.arrive", "mbarrier.test_wait", "mbarrier.try_wait")


def is_relaxed(site):
    """Whether an arrival at an mbarrier, or a wait for one, publishes or acquires no writes."""
    return site.opcode.startswith(_AT_MBARRIERS) and ".relaxed" in site.opcode


def is_bulk(site):
    """Whether a site is one half of a bulk copy."""
    return site.opcode.startswith("cp.") and ".bulk" in site.opcode


def is_asynchronous(site):
    """Whether a site accesses shared memory through the async proxy."""
    return is_bulk(site) or site.opcode.startswith("wgmma.mma_async")


class RaceChecker:
    """Shadow memories of one launch and what they found."""

    def __init__(self, sites, memory, n_threads, slots, shared_bytes):
        self.sites, self.memory = sites, memory
        self.clocks = OrderedClocks(slots, n_threads, any(map(is_relaxed, sites)))
        self.asynchronous = np.array([is_asynchronous(s) for s in sites] + [False])
        widths = [s.width for s in sites if s.op and s.space not in _NO_SHADOW]
        self.shift = max(0, min([4, *widths]).bit_length() - 1)
        self.readers = MANY if any(s.opcode.startswith(_PARTIAL) for s in sites) else FEW
        self.warps_meet = any(s.opcode.startswith("bar.warp") for s in sites)
        self.granules = (shared_bytes >> self.shift) + 1
        self.shared = sh.new_shadow(slots * self.granules, self.readers)
        self.global_ = sh.new_shadow((memory.global_size >> self.shift) + 1, self.readers)
        self.lines = np.zeros((memory.global_size >> self.shift >> 5) + 1, np.uint8)
        self.stores = np.zeros((memory.global_size >> self.shift) + 1, np.uint16)
        self.count_stores = any(a.role == "out" for a in memory.arrays)
        self.all_lanes = self.some_lanes = np.empty(0, np.int64)
        self.out = np.empty((CANDIDATES, sh.CANDIDATE_FIELDS), np.int64)
        self.pairs = {}
        self.uninitialised = {}
        self.reading = None  # set where a kernel has wgmma

    def begin(self, slots, ctas):
        self.clocks.begin(slots, ctas)
        self.shared.reshape(-1, self.granules * self.entries * sh.ENTRY)[slots] = 0

    @property
    def entries(self):
        """Entries of a granule."""
        return 3 + self.readers

    def partial_order(self):
        """Something orders a part of a CTA: keep more readers from now on."""
        if self.readers == FEW:
            self.readers = MANY
            self.shared = sh.with_more_readers(self.shared, MANY)
            self.global_ = sh.with_more_readers(self.global_, MANY)

    def access(self, site, space, addr, lanes, same, report=True, home=None):
        """Check and enter one memory instruction; without ``report`` only enter it."""
        if space in _NO_SHADOW:
            return
        info, clocks = self.sites[site], self.clocks
        in_shared = space == "shared"
        nbytes = info.width * info.vec
        kind = sh.LOAD if info.op == "ld" else sh.STORE if info.op == "st" else sh.UPDATE
        if in_shared and kind != sh.LOAD and self.reading and self.reading.live and report and home is None:
            self.reading.written(site, lanes, addr, nbytes)
        flags = (sh.STRONG if info.sem else 0) | (sh.VOLATILE if info.sem == "volatile" else 0)
        if info.sem:
            self._order(info, kind, space, addr, lanes, home)
        table, stride = (self.shared, self.granules) if in_shared else (self.global_, 0)
        offset = 0 if in_shared else self.memory.global_base
        homes = lanes.slot if home is None else home.astype(np.int32)
        rows = kind == sh.LOAD and home is None and self.readers == FEW and not clocks.any_fence
        chosen, lane = self._chosen(rows, in_shared, offset, addr, lanes), 0
        while lane < len(chosen):
            lane, n = sh.check_access(
                table, self.lines, self.readers, stride, offset, self.shift, addr, nbytes, homes, lanes.slot, lanes.tid,
                clocks.cta_of, clocks.clock, clocks.base, clocks.warp_base, clocks.dense_index, clocks.dense,
                clocks.n_threads, self.asynchronous, kind, flags, site, clocks.any_fence, in_shared, self.warps_meet,
                self.out, chosen, lane,
            )  # fmt: skip
            if n and len(chosen) < lanes.n:
                chosen, lane = self.all_lanes[: lanes.n], 0  # something is wrong: let all lanes say it
            elif n and report:
                self._drain(self.out[:n], site, space, addr, lanes, same)
        if kind == sh.STORE and not in_shared and self.count_stores:
            sh.count_stores(self.stores, offset, self.shift, addr, nbytes)

    def _chosen(self, rows, in_shared, offset, addr, lanes):
        """int64: the lanes that are checked first: all, or with ``rows`` some; the others tell nothing where these find
        nothing.
        """
        if len(self.all_lanes) < lanes.n:
            self.all_lanes, self.some_lanes = np.arange(2 * lanes.n), np.empty(2 * lanes.n, np.int64)
        if not rows:
            return self.all_lanes[: lanes.n]
        where = self.lines, in_shared, offset, self.shift + 5
        return self.some_lanes[: sh.choose_readers(*where, addr, lanes.slot, lanes.tid, self.some_lanes)]

    def fence(self, site, lanes):
        self.clocks.fence(lanes.slot, lanes.tid, _SCOPE[self.sites[site].scope])

    def _order(self, info, kind, space, addr, lanes, home):
        """Release and acquire through strong accesses. Lane by lane, but only where a fence or a released flag
        makes it matter.
        """
        clocks = self.clocks
        if kind != sh.LOAD and info.sem in ("release", "acq_rel", "sc"):
            clocks.fence(lanes.slot, lanes.tid, _SCOPE[info.scope])
        if not clocks.any_fence:
            return
        acquires = info.sem in ("acquire", "acq_rel", "sc")
        homes = lanes.slot if home is None else home
        each = zip(homes.tolist(), lanes.slot.tolist(), lanes.tid.tolist(), addr.tolist(), strict=True)
        for where, slot, tid, a in each:
            key = (where if space == "shared" else -1, a)
            if kind != sh.STORE:
                clocks.acquire(key, slot, tid, acquires)
            if kind != sh.LOAD:
                clocks.release(key, slot, tid, kind == sh.UPDATE)
                clocks.updates[key] = clocks.updates.get(key, 0) + 1
            if kind != sh.STORE:
                clocks.seen[slot, tid, key] = clocks.updates.get(key, 0)

    def _drain(self, found, site, space, addr, lanes, same):
        """Sort out one instruction's candidates: drop those that flags order, and group the rest by site pair."""
        self._note_uninitialised(found[found[:, sh.KIND] == sh.UNINITIALISED], site, addr, lanes)
        races = found[found[:, sh.KIND] == sh.RACE]
        if self.clocks.any_acquire and len(races):
            known = self._ordered_by_flags(races, lanes)
            if self.clocks.relaxed and self.sites[site].op != "ld":
                reads = (races[:, sh.OTHER_ENTRY] >= 1) & (races[:, sh.OTHER_ENTRY] <= self.readers)
                reads |= self.asynchronous[races[:, sh.OTHER_ID] >> sh.SITE_SHIFT]
                known[reads] |= self._ordered_by_flags(races[reads], lanes, READS)
            races = races[~known]
        if self.clocks.seen and len(races):
            races = races[~self._observed(races, space, addr, lanes)]
        if not len(races):
            return
        info, lane = self.sites[site], races[:, sh.LANE]
        other_site = races[:, sh.OTHER_ID] >> sh.SITE_SHIFT
        reader = (races[:, sh.OTHER_ENTRY] >= 1) & (races[:, sh.OTHER_ENTRY] <= self.readers)
        equal_store = ~reader & same[lane] if same is not None else np.zeros(len(races), bool)
        kinds = other_site << 2 | reader << 1 | equal_store
        for kind in np.unique(kinds).tolist():
            other, other_reads, equal = kind >> 2, kind >> 1 & 1, kind & 1
            rows = np.flatnonzero(kinds == kind)
            fragile = bool(info.sem and self.sites[other].sem)
            pair = Pair(space, site, other, bool(other_reads), bool(equal), fragile)
            seen = self.pairs.setdefault(pair, Seen())
            seen.count += len(rows)
            cta, tid = self.clocks.cta_of[lanes.slot[lane[rows]]], lanes.tid[lane[rows]]
            other_cta, other_tid = races[rows, sh.OTHER_CTA], races[rows, sh.OTHER_ID] & sh.TID
            seen.across_ctas |= bool((cta != other_cta).any())
            seen.across_warps |= bool((tid >> 5 != other_tid >> 5).any())
            for k in range(min(len(rows), EXAMPLES - len(seen.examples))):
                where = self._granule_address(int(races[rows[k], sh.GRANULE]), space)
                parties = int(cta[k]), int(tid[k]), int(other_cta[k]), int(other_tid[k])
                seen.examples.append(Example(*parties, where))

    def _note_uninitialised(self, rows, site, addr, lanes):
        if not len(rows):
            return
        seen = self.uninitialised.setdefault(site, Seen())
        seen.count += len(rows)
        for lane in rows[: max(0, EXAMPLES - len(seen.examples)), sh.LANE].tolist():
            cta, tid = int(self.clocks.cta_of[lanes.slot[lane]]), int(lanes.tid[lane])
            seen.examples.append((cta, tid, int(addr[lane])))

    def _granule_address(self, granule, space):
        if space == "shared":
            return granule % self.granules << self.shift
        return self.memory.global_base + (granule << self.shift)

    def _ordered_by_flags(self, races, lanes, scope=None):
        """bool per candidate: known through what its thread has acquired, or (``scope`` READS) been told of reads."""
        clocks = self.clocks
        slot, tid = lanes.slot[races[:, sh.LANE]].astype(np.int64), lanes.tid[races[:, sh.LANE]]
        key, group = np.unique((slot << 10 | tid) << 32 | races[:, sh.OTHER_CTA], return_inverse=True)
        rows, places = [np.zeros(clocks.n_threads, np.int32)], {}
        which = np.zeros((2, len(key)), np.int64)
        for g, (thread, cta) in enumerate(zip((key >> 32).tolist(), (key & 0xFFFFFFFF).tolist(), strict=True)):
            s, t = thread >> 10, thread & 0x3FF
            mine = scope or (CTA_SCOPE if cta == clocks.cta_of[s] else GPU_SCOPE)
            for i, row in enumerate(clocks.bounds_of(s, t, cta, mine)):
                if id(row) not in places:
                    places[id(row)] = len(rows)
                    rows.append(row)
                which[i, g] = places[id(row)]
        rows = np.stack(rows)
        other, stamp = races[:, sh.OTHER_ID] & sh.TID, races[:, sh.OTHER_STAMP]
        return (stamp < rows[which[0, group], other]) | (stamp < rows[which[1, group], other])

    def _observed(self, races, space, addr, lanes):
        """Strong writes to the location that an atomic of the thread has read since."""
        strong = races[:, sh.OTHER_ENTRY] > self.readers
        for row in np.flatnonzero(strong).tolist():
            lane = races[row, sh.LANE]
            slot = int(lanes.slot[lane])
            key = (slot if space == "shared" else -1, int(addr[lane]))
            strong[row] = self.clocks.observed(key, slot, int(lanes.tid[lane]))
        return strong

    def findings(self, name, layout, early_exit):
        """The races and uninitialised reads as list[Finding]. ``name``: ThreadNames; ``layout``: shared variables;
        ``early_exit``: threads left before a barrier that others reached.
        """
        words = Words(self.sites, self.memory, name, layout, early_exit)
        return words.races(self.pairs) + words.uninitialised(self.uninitialised)
