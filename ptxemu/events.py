"""The log of what runs asynchronously: mbarriers, bulk copies, cp.async groups and wgmma, in the order it happens.

The emulator has no clock: an event's place in the log is its order under the launch's schedule, not a time. The
machine's ledgers (mbarrier.py, bulk.py, copies.py, wgmma.py) announce what happens where ``machine.events`` is set.
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
        self.machine, machine.events, self.numbers = machine, self, {}

    def detach(self):
        """Let the machine's memory go; the log stays."""
        self.machine.events = None
        self.machine = None

    # what the ledgers announce

    def group(self, kind, what, idx, site=None, **values):
        """Lanes ``idx`` close a group, wait for groups, or start and end what has the number ``serial``."""
        for slot, warps in self._by_slot(idx):
            self._enter(kind, what, slot, warps, site, **values)

    def multiplied(self, site, issues):
        """Warps have waited for multiplications (wgmma.Issue, some of them in parts)."""
        whole = {}
        for issue in issues:
            whole.setdefault(issue.serial, []).append(issue.warps)
        for serial, warps in whole.items():
            self.group("multiplied", "wgmma", np.concatenate(warps), site, serial=serial)

    def barrier(self, kind, key, barrier, site=None, idx=(), **values):
        """An event of an mbarrier, entered for the CTA whose memory it is in; warps of other CTAs are left out."""
        state = {"phase": barrier.phase, "pending": barrier.pending, "tx": barrier.tx} | values
        place = locate(self.machine.memory, "shared", key[1], self.machine.program.shared_layout())
        warps = next((w for slot, w in self._by_slot(idx) if slot == key[0]), ()) if len(idx) else ()
        self._enter(kind, "mbarrier", key[0], warps, site, barrier=key[1], place=place, **state)

    def bulk(self, kind, copy, idx=()):
        """An event of a bulk copy; ``idx``: the lane that issues it, () for the copy engine."""
        where = {} if copy.key is None else {"barrier": copy.key[1]}
        warps = next((w for _, w in self._by_slot(idx)), ()) if idx else ()
        self._enter(kind, "bulk", copy.slot, warps, copy.site, serial=copy.serial, nbytes=copy.nbytes, **where)

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
