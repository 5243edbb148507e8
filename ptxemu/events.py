"""The log of what runs asynchronously: mbarriers, bulk copies, cp.async groups and wgmma, in the order it happens.

The emulator has no clock: an event's place in the log is its order under the launch's schedule, not a time. Events of
one launch are collected by wrapping the methods of the machine's ledgers, so that a launch without a log pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .places import locate, triple

KINDS = {
    "init": "an mbarrier is initialised", "arrive": "threads arrive at it (nbytes: expect_tx in the same instruction)",
    "expect": "expect_tx alone", "bytes": "a copy brings its bytes", "complete": "a phase is complete",
    "wait": "threads start to wait for a phase", "pass": "their wait is over",
    "issue": "a copy starts", "land": "its data is in place", "read": "a store has read its source",
    "commit": "a group is closed", "wait_group": "threads wait for groups",
    "multiply": "wgmma is issued", "multiplied": "a wait_group has waited for it",
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One entry. ``kind``: a key of KINDS; ``what``: "mbarrier" | "bulk" | "cp.async" | "wgmma"; ``cta`` (x, y, z);
    ``warps``: whose threads act, () for the copy engine; ``site``: the instruction (opcode, file, line) or None;
    ``number``: of the copy or multiplication in its CTA, the groups that may go on of a wait_group, else 0.

    Of an mbarrier (``barrier``: its address in shared memory, ``place``: its name): ``phase``, ``pending`` arrivals
    and ``tx`` expected bytes after the event; of a wait and a pass ``phase`` is the one waited for.
    """

    kind: str
    what: str
    cta: tuple
    warps: tuple = ()
    site: object = None
    number: int = 0
    nbytes: int = 0
    barrier: int | None = None
    place: str = ""
    phase: int = 0
    pending: int = 0
    tx: int = 0


@dataclass
class Events:
    """What to log: ``ctas``, (x, y, z) each, and at most ``limit`` events; ``log`` holds them after the launch."""

    ctas: tuple = ((0, 0, 0),)
    limit: int = 1 << 14
    log: list[Event] = field(default_factory=list)

    def attach(self, machine):
        """Listen to a machine that is about to run."""
        self.machine, self.numbers = machine, {}
        barriers, bulk, copies, wgmma = machine.mbarriers, machine.bulk, machine.copies, machine.wgmma
        before(barriers, "arrive", self._arrive)
        before(barriers, "expect", self._expect)
        before(barriers, "complete_tx", self._bytes)
        before(barriers, "_release", self._complete)
        before(barriers, "wait", self._wait)
        before(barriers, "_succeed", self._pass)
        after(barriers, "init", lambda site, key, lane, count: self._barrier("init", key, site, [lane]))
        before(bulk, "issue", self._bulk_issue)
        before(bulk, "_land", lambda copy: self._bulk("land", copy))
        before(bulk, "_read", lambda copy: copy.data is None and self._bulk("read", copy))
        before(bulk, "_write", lambda copy: copy.landed or self._bulk("land", copy))
        before(bulk, "commit", lambda idx: self._add("commit", "bulk", idx))
        before(bulk, "wait", lambda site, idx, keep, _: self._add("wait_group", "bulk", idx, site, number=keep))
        before(copies, "issue", self._copy)
        before(copies, "commit", lambda idx: self._add("commit", "cp.async", idx))
        before(copies, "wait", lambda site, idx, keep: self._add("wait_group", "cp.async", idx, site, number=keep))
        before(wgmma, "issue", self._multiply)
        before(wgmma, "commit", lambda warps: self._add("commit", "wgmma", warps))
        around_wait(wgmma, self._multiplied)

    def detach(self):
        """Let the machine's memory go; the log stays."""
        self.machine = None

    # what is entered

    def _enter(self, kind, what, slot, warps, site=None, serial=None, **values):
        cta = int(self.machine.slot_cta[slot])
        if cta < 0 or len(self.log) >= self.limit:
            return
        place = triple(cta, self.machine.grid)
        if place in self.ctas:
            if serial is not None:
                mine = self.numbers.setdefault((what, place), {})
                values["number"] = mine.setdefault(serial, len(mine) + 1)
            info = None if site is None else self.machine.program.sites[site]
            self.log.append(Event(kind, what, place, warps, info, **values))

    def _by_slot(self, idx):
        """(slot, warps) of lanes."""
        idx = np.asarray(idx)
        slots = self.machine.slot_of[idx]
        for slot in np.unique(slots).tolist():
            yield slot, tuple(np.unique(self.machine.tid_of[idx[slots == slot]] >> 5).tolist())

    def _add(self, kind, what, idx, site=None, **values):
        for slot, warps in self._by_slot(idx):
            self._enter(kind, what, slot, warps, site, **values)

    def _barrier(self, kind, key, site=None, idx=(), barrier=None, **values):
        """An event of an mbarrier, entered for the CTA whose memory it is in; warps of other CTAs are left out."""
        barrier = barrier or self.machine.mbarriers.table.get(key)
        if barrier is None:
            return
        state = {"phase": barrier.phase, "pending": barrier.pending, "tx": barrier.tx} | values
        place = locate(self.machine.memory, "shared", key[1], self.machine.program.shared_layout())
        warps = next((w for slot, w in self._by_slot(idx) if slot == key[0]), ()) if len(idx) else ()
        self._enter(kind, "mbarrier", key[0], warps, site, barrier=key[1], place=place, **state)

    # what the ledgers do

    def _arrive(self, site, key, idx, counts, *, drop=False, expect=None, keeps_phase=False):
        barrier = self.machine.mbarriers.table.get(key)
        if barrier is not None:
            nbytes = 0 if expect is None else int(expect.sum())
            pending = max(barrier.pending - int(counts.sum()), 0)
            self._barrier("arrive", key, site, idx, nbytes=nbytes, pending=pending, tx=barrier.tx + nbytes)

    def _expect(self, site, key, idx, nbytes):
        barrier = self.machine.mbarriers.table.get(key)
        if barrier is not None:
            self._barrier("expect", key, site, idx, nbytes=nbytes, tx=barrier.tx + nbytes)

    def _bytes(self, site, key, barrier, nbytes):
        self._barrier("bytes", key, site, nbytes=nbytes, tx=barrier.tx - nbytes)

    def _complete(self, key, barrier):
        self._barrier("complete", key, barrier=barrier)

    def _wait(self, key, wait):
        barrier = self.machine.mbarriers.table.get(key)
        if barrier is not None and not wait.ready(barrier.phase).all():
            self._barrier("wait", key, wait.site, wait.idx[~wait.ready(barrier.phase)])

    def _pass(self, key, barrier, wait):
        self._barrier("pass", key, wait.site, wait.idx, phase=barrier.phase - 1)

    def _bulk_issue(self, copy):
        copy.serial = self.machine.bulk.serial + 1
        self._bulk("issue", copy, (copy.lane,))

    def _bulk(self, kind, copy, idx=()):
        where = {} if copy.key is None else {"barrier": copy.key[1]}
        warps = next((w for _, w in self._by_slot(idx)), ()) if idx else ()
        self._enter(kind, "bulk", copy.slot, warps, copy.site, serial=copy.serial, nbytes=copy.nbytes, **where)

    def _copy(self, site, nbytes, idx, src, dst, size):
        self._add("issue", "cp.async", idx, site, serial=self.machine.copies.serial + 1, nbytes=nbytes * len(idx))

    def _multiply(self, site, first, form, desc_a, desc_b, scale):
        idx = (np.asarray(first)[:, None] + 32 * np.arange(4)).ravel()
        self._add("multiply", "wgmma", idx, site, serial=self.machine.wgmma.serial + 1)

    def _multiplied(self, site, idx, keep, done):
        self._add("wait_group", "wgmma", idx, site, number=keep)
        for serial, warps in done:
            self._add("multiplied", "wgmma", warps, site, serial=serial)


def before(ledger, name, tell):
    """Call ``tell`` with a method's arguments before it runs."""
    method = getattr(ledger, name)

    def run(*args, **keywords):
        tell(*args, **keywords)
        return method(*args, **keywords)

    setattr(ledger, name, run)


def after(ledger, name, tell):
    """Call ``tell`` with a method's arguments after it ran."""
    method = getattr(ledger, name)

    def run(*args, **keywords):
        result = method(*args, **keywords)
        tell(*args, **keywords)
        return result

    setattr(ledger, name, run)


def around_wait(wgmma, tell):
    """Call ``tell(site, warps, keep, [(serial, warps), …])`` with what a wait_group of wgmma has waited for."""
    method = wgmma.wait

    def under_way():
        found = {}
        for issue in wgmma.pending:
            found.setdefault(issue.serial, set()).update(issue.warps.tolist())
        return found

    def run(site, warps, keep):
        old = under_way()
        result = method(site, warps, keep)
        new = under_way()
        gone = ((serial, sorted(mine - new.get(serial, set()))) for serial, mine in old.items())
        tell(site, warps, keep, [(serial, mine) for serial, mine in gone if mine])
        return result

    wgmma.wait = run
