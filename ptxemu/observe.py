"""What the executor tells, and what is made of it: counters, findings and the access trace of one launch.

The executor makes one :class:`Observer` per launch when ``check``, ``count`` or ``trace`` is on, and calls it as
follows.

``entry.sites``
    One object per instruction, in program order, with ``opcode`` (with modifiers, "ld.global.v4.f32"), ``file``,
    ``line``, ``ptx_line``, ``block`` (index of its basic block), ``space`` ("" for non-memory, else "global",
    "shared", "local", "const", "param" or "generic"), ``op`` ("" | "ld" | "st" | "atom" | "red"), ``width`` (bytes
    of one element), ``vec`` (1, 2, 4 or 8), ``sem`` ("" weak | "volatile" | "relaxed" | "acquire" | "release" |
    "acq_rel" | "sc"; "relaxed" for atom/red without one) and ``scope`` ("" | "cta" | "cluster" | "gpu" | "sys").
``memory``
    ``global_base`` and ``global_size`` (virtual address and bytes of the arena, guard zones included) and
    ``arrays``: a list of objects with ``name``, ``address``, ``nbytes``, ``role`` ("in" | "out" | "inout" |
    "module"), ``shape``, ``strides`` (bytes) and ``itemsize``.
``n_threads``
    Threads of a CTA, ``block`` is (x, y, z). CTAs are numbered linearly, x fastest.

Order of calls: ``begin(slots, ctas)`` when CTAs start in slots (shared memory of those slots is new), then the
events below in the order in which they happen, then ``finish()`` once. Lanes with a bad address are reported through
``finding`` and left out of ``access``.
"""

from __future__ import annotations

import numpy as np

from .async_check import AsyncChecks, needs_checks
from .cluster_check import ClusterChecks
from .facts import EXAMPLES, Facts
from .inflight import InFlight, copies_to_shared
from .outputs import output_findings
from .places import ThreadNames
from .proxy import DATA, UNFENCED, Proxies
from .race import RaceChecker, is_asynchronous
from .reading import Reading
from .shadow import SITE_SHIFT
from .tally import Tally
from .trace import Recorder


class Lanes:
    """The active lanes of one group: ``slot`` and ``tid`` int32[n], sorted by (slot, tid). Reuse one object for a
    whole block: it caches.
    """

    __slots__ = ("slot", "tid", "n", "_starts")

    def __init__(self, slot, tid):
        self.slot = np.ascontiguousarray(slot, dtype=np.int32)
        self.tid = np.ascontiguousarray(tid, dtype=np.int32)
        self.n = len(self.slot)
        self._starts = None

    @property
    def starts(self):
        """int64[w + 1]: where each warp's lanes begin, with the end appended."""
        if self._starts is None:
            warp = (self.slot.astype(np.int64) << 5) | (self.tid >> 5)
            change = np.flatnonzero(warp[1:] != warp[:-1]) + 1
            self._starts = np.concatenate(([0], change, [self.n])) if self.n else np.zeros(1, np.int64)
        return self._starts

    def part(self, which):
        """The lanes that a mask or an index array picks."""
        return Lanes(self.slot[which], self.tid[which])

    @property
    def warps(self):
        return len(self.starts) - 1


class Observer:
    """Collects one launch's counters, findings and trace. See the module's docstring for what the executor
    supplies.
    """

    def __init__(
        self, entry, grid, block, memory, profile, check=True, count=True, trace=None, shared_bytes=0, slots=1,
        clustered=False,
    ):  # fmt: skip
        self.entry, self.memory, self.profile = entry, memory, profile
        self.name = ThreadNames(grid, block)
        bx, by, bz = self.name.block
        self.slot_cta = np.full(slots, -1, np.int64)
        self.lanes_per_cta = -(-bx * by * bz // 32) * 32
        self.tally = Tally(entry.sites) if count else None
        self.race = RaceChecker(entry.sites, memory, bx * by * bz, slots, shared_bytes) if check else None
        self.recorder = Recorder(trace, self.name.grid, memory, entry.sites) if trace else None
        self.shared_layout = tuple(getattr(entry, "shared_layout", ()))
        copies = check and any(copies_to_shared(s) for s in entry.sites)
        self.flight = InFlight(entry.sites, slots, shared_bytes, self._copy_finding) if copies else None
        clustered = clustered or any(s.opcode.startswith("barrier.cluster") for s in entry.sites)
        self.clusters = ClusterChecks(self, slots, bx * by * bz) if check and clustered else None
        self.proxies = None
        if check and (needs_checks(entry.sites) or any(is_asynchronous(s) for s in entry.sites)):
            self.proxies = Proxies(self.race, slots, bx * by * bz)
        self.reading = None
        if check and any(s.opcode.startswith("wgmma.mma_async") for s in entry.sites):
            self.reading = self.race.reading = Reading(slots, shared_bytes, self._read_finding)
        self.async_ = None
        if check and needs_checks(entry.sites):
            self.async_ = AsyncChecks(self, slots, shared_bytes, bx * by * bz)
        self.facts = Facts(entry.sites, memory, self.name, self.shared_layout)

    def begin(self, slots, ctas):
        """CTAs with linear ids ``ctas`` int64[n] start in ``slots`` int64[n]; the slots' shared memory is new."""
        slots, ctas = np.asarray(slots), np.asarray(ctas)
        self.slot_cta[slots] = ctas
        if self.race:
            self.race.begin(slots, ctas)
        if self.flight:
            self.flight.begin(slots)
        if self.async_:
            self.async_.begin(slots)
        if self.reading:
            self.reading.begin(slots)
        if self.proxies:
            self.proxies.begin(slots)
        if self.clusters:
            self.clusters.begin(slots)

    def execute(self, block, lanes):
        """Lanes run basic block ``block`` (index) to its end, once. Called once per run of a block, cheap."""
        if self.tally:
            self.tally.warps[block] += lanes.warps
            self.tally.threads[block] += lanes.n

    def guard(self, site, lanes, active):
        """Of the block's ``lanes`` only ``active`` (a number) executed the guarded non-memory instruction ``site``.
        No call: all of them.
        """
        if self.tally:
            self.tally.skipped[site] = self.tally.skipped.get(site, 0) + lanes.n - active

    def access(self, site, space, addr, lanes, same=None, home=None):
        """Lanes access memory at ``addr`` int64[n] (global: virtual address; shared, local, const: byte offset in
        the CTA or thread).

        ``site`` is an index into ``entry.sites``, which gives op, width, vec and ordering. ``space`` is the real
        one, also for generic accesses.

        ``same``: for stores, bool[n]: the store left in memory what was there already (lanes of one instruction
        store in their order); else None. ``home`` int64[n]: the slots whose shared memory it is, where that is
        another CTA's of the cluster.
        """
        if not lanes.n:
            return
        if home is not None:
            self._remote(site, addr, lanes, same, home)
            return
        if self.tally:
            self.tally.access(site, space, addr, lanes)
        if self.recorder:
            self.recorder.access(site, space, addr, lanes, self.slot_cta)
        if self.flight and self.flight.live and space == "shared":
            self.flight.touched(site, addr, lanes)
        if self.async_ and space == "shared":
            addr, lanes, same = self.async_.touched(site, addr, lanes, same)
            if not lanes.n:
                return
        elif self.async_ and self.async_.maps and space == "global":
            self.async_.map_touched(site, addr, lanes)
        if self.race:
            self.race.access(site, space, addr, lanes, same)

    def _remote(self, site, addr, lanes, same, home):
        if self.tally:
            self.tally.access(site, "shared", addr, lanes)
        if self.race:
            self.clusters.touched(site, lanes, home)
            self.race.access(site, "shared", addr, lanes, same, home=home)

    def cluster_arrive(self, site, lanes, release):
        """Threads arrive at barrier.cluster; ``release``: their accesses so far are ordered before its completion."""
        if self.clusters:
            self.clusters.arrive(site, lanes, release)

    def cluster_wait(self, site, lanes):
        """Threads wait at barrier.cluster, which is complete."""
        if self.clusters:
            self.clusters.wait(site, lanes)

    def cluster_barrier(self, slots):
        """barrier.cluster is complete in the cluster in ``slots``."""
        if self.clusters:
            self.clusters.complete(slots)

    def copy_issued(self, copy, lanes):
        """Lanes start an asynchronous copy (copies.Copy) from global to shared memory. The shared half of its
        instruction is the next site. Lanes that read nothing make no global request.
        """
        if self.tally:
            self.tally.copy(copy, slice(None) if copy.size is None else copy.size > 0, lanes)
        source, reading = copy.src, lanes
        if copy.size is not None:
            source, reading = copy.src[copy.size > 0], lanes.part(copy.size > 0)
        if self.recorder:
            if reading.n:
                self.recorder.access(copy.site, "global", source, reading, self.slot_cta)
            self.recorder.access(copy.site + 1, "shared", copy.dst, lanes, self.slot_cta)
        if self.race and reading.n:
            self.race.access(copy.site, "global", source, reading, None)
        if self.flight:
            self.flight.issued(copy, lanes)
        if self.race:
            self.race.access(copy.site + 1, "shared", copy.dst, lanes, None)

    def bulk_issued(self, copy):
        """A thread starts a bulk copy (bulk.BulkCopy). The trace shows its 16-byte pieces in the order of the tile, 32
        at a time, as if the issuing warp moved them.
        """
        if self.tally:
            self.tally.bulk(copy)
        if self.recorder and not copy.refused:
            load = int(copy.load)
            self._trace_pieces(copy.site + load, "shared", copy.offsets(), copy)
            self._trace_pieces(copy.site + 1 - load, "global", copy.span(), copy)
        if self.async_:
            self.async_.bulk_issued(copy)

    def _trace_pieces(self, site, space, addr, copy):
        warp = copy.lane % self.lanes_per_cta & ~31
        for first in range(0, len(addr), 32):
            part = addr[first : first + 32]
            lanes = Lanes(np.full(len(part), copy.slot), warp + np.arange(len(part)))
            self.recorder.access(site, space, part, lanes, self.slot_cta)

    def copy_landed(self, copy, lanes):
        """Lanes waited for their part of a copy: its write is entered anew, since only now it is ordered before
        what the lanes do next. Whoever touched its bytes since the issue has been reported.
        """
        if self.race:
            self.race.access(copy.site + 1, "shared", copy.dst, lanes, None, report=False)
        if self.flight:
            self.flight.landed(copy, lanes)

    def wgmma_reads(self, issue, which, addr, lanes):
        """A multiplication (wgmma.Issue) starts to read 16-byte chunks at ``addr`` of shared memory, operand ``which``
        "a" or "b", on behalf of ``lanes``. B is counted once per warpgroup, though four warps use it.
        """
        if self.tally or self.recorder:
            self._count_chunks(issue, which, addr, lanes)
        if not self.race:
            return
        if self.flight and self.flight.live:
            self.flight.touched(issue.site, addr, lanes)
        if self.async_ and self.async_.live:
            addr, lanes, _ = self.async_.touched(issue.site, addr, lanes, None)
        self.race.access(issue.site, "shared", addr, lanes, None)
        self._proxy_reads(issue, addr, lanes)

    def _count_chunks(self, issue, which, addr, lanes):
        """Count the chunks of an operand once per warpgroup, 32 at a time, as a warp would load them."""
        groups = len(issue.warps)
        if which == "b" and groups % 4 == 0:
            groups //= 4
            once = lanes.tid >> 5 & 3 == 0
            addr, lanes = addr[once], lanes.part(once)
        each = lanes.n // groups if which == "b" else 32
        rounds = np.arange(lanes.n) % max(each, 1) // 32
        for r in range(int(rounds.max(initial=-1)) + 1):
            part, mine = addr[rounds == r], lanes.part(rounds == r)
            if self.tally:
                self.tally.access(issue.site, "shared", part, mine)
            if self.recorder:
                self.recorder.access(issue.site, "shared", part, mine, self.slot_cta)

    def wgmma_read(self, issue, addr, lanes):
        """Warps waited for a multiplication: its reads are entered anew, since only now they are ordered before what
        the warps do next.
        """
        if self.race:
            self.race.access(issue.site, "shared", addr, lanes, None, report=False)

    def _read_finding(self, site, issue, lanes, addr):
        """Lanes write what the multiplication ``issue`` still reads."""
        self.finding("wgmma-operand-overwritten", site, lanes, addr, "shared", other_site=issue.site)

    def _proxy_reads(self, issue, addr, lanes):
        """Stores that a multiplication may not see: each warp reads for itself."""
        if not self.proxies.in_shared:
            return
        starts = lanes.starts
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            slot, tid = int(lanes.slot[first]), int(lanes.tid[first])
            threads, entries, level = self.proxies.before(DATA, slot, tid, addr[first:last], False)
            bad = np.flatnonzero(level == UNFENCED)
            if len(bad):
                other, detail = int(entries[bad[0]]) >> SITE_SHIFT, self.name.text(0, int(threads[bad[0]]), 0)
                part, where = lanes.part(slice(first, first + 1)), addr[first : first + 1]
                self.finding("missing-proxy-fence", issue.site, part, where, "shared", other_site=other, detail=detail)

    def _copy_finding(self, rule, site, copy, lanes, addr, positions, owners):
        """Lanes at ``positions`` touch what ``copy``, issued by threads ``owners``, is still to write."""
        slot, owner = int(lanes.slot[positions[0]]), int(owners[0])
        standing, who = copy.standing(slot * self.lanes_per_cta + owner), self.name.text(0, owner, 0)
        if standing is None:
            detail = f"{who}, which copies, has not committed it"
        elif not standing:
            detail = f"{who}, which copies, has not waited since it committed it"
        else:
            place, kept = self.entry.sites[standing[0]], standing[1]
            detail = f"the wait_group {kept} of line {place.line} lets the newest {kept} go on, and it is among them"
        chosen = lanes.part(positions)
        self.finding(rule, site, chosen, addr[positions], "shared", other_site=copy.site, detail=detail)

    def fence(self, site, lanes):
        """membar / fence; its scope and semantics stand in the site."""
        opcode = self.entry.sites[site].opcode
        if "proxy" in opcode or "mbarrier_init" in opcode:
            if "tensormap" in opcode:
                if self.async_ and "acquire" in opcode:
                    self.async_.map_fences.update(lanes.slot.tolist())
            elif self.proxies and ("proxy.async" in opcode or "mbarrier_init" in opcode):
                self.proxies.fence(opcode, lanes)
        elif self.race:
            self.race.fence(site, lanes)

    def syncwarp(self, site, slot, warp, tids):
        """bar.warp.sync completed for ``tids`` int32[n] of one warp."""
        if self.race:
            if not self.race.clocks.whole_warp(slot, warp, tids):
                self.race.partial_order()
            self.race.clocks.syncwarp(slot, warp, np.asarray(tids))

    def arrive(self, site, slot, barrier, tids):
        """bar.arrive (non-blocking) by ``tids``: their accesses so far will be ordered before what follows the
        barrier's completion.
        """
        if self.race:
            self.race.partial_order()
            self.race.clocks.arrive(slot, barrier, np.asarray(tids))

    def barrier(self, site, slot, barrier, tids, full=True):
        """A barrier of a CTA completed for the waiting ``tids`` (threads that used ``arrive`` before are not
        repeated here).

        ``full``: every thread of the CTA that has not exited takes part. ``site`` is where the first waiting thread
        waits.
        """
        if not self.race:
            return
        if full and (slot, barrier) not in self.race.clocks.arrived:
            self.race.clocks.full_barrier(slot)
        else:
            self.race.partial_order()
            self.race.clocks.partial_barrier(slot, barrier, np.asarray(tids))

    def finding(self, rule, site, lanes=None, addr=None, space=None, other_site=None, detail="", severity=None):
        """Report a fact found by the executor: out-of-bounds, misaligned, divergent-barrier, barrier-after-exit,
        deadlock, livelock, uninitialised-register, trap. ``lanes``: the offending :class:`Lanes`; ``addr`` int64[n]
        for memory rules; ``detail``: one clause or, for deadlock and livelock, the lines of the post-mortem. Equal
        (rule, site, other_site) are merged and counted. ``severity`` replaces the rule's own.
        """
        parties = []
        if lanes is not None:
            parties = [
                (int(self.slot_cta[s]), int(t))
                for s, t in zip(lanes.slot[:EXAMPLES], lanes.tid[:EXAMPLES], strict=True)
            ]
        n = lanes.n if lanes is not None else 1
        self.facts.add(rule, site, parties, n, addr, space, other_site, detail, severity)

    def finish(self):
        """Return (findings: list[Finding], counters: Counters | None, trace: list[Access])."""
        findings = self.facts.findings()
        if self.race:
            early_exit = any(f.rule == "barrier-after-exit" for f in findings)
            findings += self.race.findings(self.name, self.shared_layout, early_exit)
            if not self.facts.hung:
                findings += output_findings(self.memory, self.race, self.entry.sites)
        counters = self.tally.result() if self.tally else None
        accesses = self.recorder.accesses if self.recorder else []
        self.race = self.async_ = self.clusters = None  # large, and in cycles
        self.proxies = self.reading = self.flight = None
        return findings, counters, accesses
