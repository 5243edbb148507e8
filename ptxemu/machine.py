"""The executor: groups of lanes that share a program counter, run segment by segment, lowest segment first.

A lane is a thread in a slot: lane = slot * (threads of a CTA, rounded up to whole warps) + linear thread id. Groups
at the same segment merge, so that lanes of a warp that diverged come together again where their paths meet.
Everything that may wait parks its lanes; when nothing can run and somebody waits, that is a deadlock.

With an integer schedule the group and the warps of it that run next are drawn at random.
"""

from __future__ import annotations

import time

import numpy as np

from .barriers import Barriers
from .bulk import Bulk
from .cluster import Clusters
from .copies import Copies
from .faults import report_faults
from .group import Group
from .layout import CTX, LANE_SPECIAL
from .mbarrier import Mbarriers
from .ops import COLLECTIVE
from .ops_setmaxnreg import RegisterPool
from .postmortem import Stop
from .scheduler import Scheduler
from .wgmma import Wgmma

NO_PROGRESS = 200_000  # segments run since a CTA last finished: a livelock
LATEST = 2_000  # segments run before copies that somebody waits for land, though others still run (in a waiting loop?)


class Machine(Scheduler):
    """One launch. ``observer`` is None when nothing is checked or counted."""

    def __init__(
        self,
        program,
        unit,
        memory,
        grid,
        block,
        shared_bytes,
        slots,
        observer,
        schedule,
        max_steps,
        total_ctas,
        spins,
        progress,
        profile,
        cluster=(1, 1, 1),
    ):
        self.program, self.unit, self.memory, self.observer = program, unit, memory, observer
        self.grid, self.block, self.cluster = grid, block, cluster
        self.threads = block[0] * block[1] * block[2]
        self.stride = -(-self.threads // 32) * 32
        self.slots, self.total, self.spins, self.progress = slots, total_ctas, spins, progress
        self.max_steps, self.profile = max_steps, profile
        self.schedule = schedule
        self.random = np.random.default_rng(schedule) if isinstance(schedule, int) else None
        self.capacity = unit.capacity
        self.steps = self.last_progress = self.last_landing = 0
        self.runnable, self.parked, self.asleep = {}, {}, {}
        self.naps, self.others_ran, self.before = 0, True, None
        self.latches, self.waiting_loops = {}, set()  # where loops end, and the segments of those that have slept
        self.everyone, self.had_faults = None, False
        self.slot_cta = np.full(slots, -1, np.int64)
        self.live = np.zeros(slots, np.int32)
        self.alive = np.zeros(self.capacity, bool)
        self.last_store = np.full(self.capacity, -1, np.int32)
        self.last_group = None
        self.events = None  # who listens to the ledgers: events.py
        self.next_cta = 0
        self.functions = unit.functions
        self.allocate(shared_bytes)
        self.barriers = Barriers(self)
        self.copies, self.mbarriers, self.bulk = Copies(self), Mbarriers(self), Bulk(self)
        self.clusters = Clusters(self, cluster)
        self.wgmma, self.pool = Wgmma(self), RegisterPool(self)
        memory.machine = self

    def release(self):
        """Break reference cycles, so that the arrays go at once."""
        self.wgmma.checks, self.copies.pending = None, []
        self.barriers = self.copies = self.mbarriers = self.bulk = self.memory.machine = None
        self.wgmma = self.pool = self.clusters = None
        self.runnable, self.parked, self.asleep, self.before = {}, {}, {}, None

    def run(self):
        """Run every CTA. Returns True when the grid completed."""
        try:
            while self.next_cta < self.total:
                self.start(np.arange(min(self.slots, self.total - self.next_cta)))
                self._drain()
            return True
        except Stop:
            return False

    def start(self, slots):
        """Start the next CTAs of the grid in these slots."""
        slots = slots[: self.total - self.next_cta]
        ctas = self.clusters.place(self.next_cta + np.arange(len(slots)))
        self.next_cta += len(slots)
        self.slot_cta[slots] = ctas
        self.live[slots] = self.threads
        gx, gy, _ = self.grid
        position = ctas % gx, ctas // gx % gy, ctas // (gx * gy)
        lanes = (slots[:, None] * self.stride + np.arange(self.stride)).astype(np.int32)
        for row, values in zip((3, 4, 5), position, strict=True):
            self.special[row, lanes] = values[:, None]
        self.special[LANE_SPECIAL.index("smid"), lanes] = (ctas % self.profile.sms)[:, None]
        self.clusters.start(slots, lanes, position)
        self.shared[slots] = 0xFF
        self.barriers.reset(slots)
        for ledger in (self.copies, self.mbarriers, self.bulk):
            ledger.reset(slots)
        self.wgmma.reset(slots)
        self.pool.reset(slots)
        real = np.ascontiguousarray(lanes[:, : self.threads]).ravel()
        self.alive[real] = True
        self.last_store[real] = -1
        if self.observer is not None:
            self.observer.begin(slots.astype(np.int64), ctas.astype(np.int64))
        group = Group(real)
        self.everyone = group if len(slots) == self.slots or not self.spins else None
        self.push(0, group)

    def _drain(self):
        """Run until every started CTA has ended; where CTAs wait for each other, free slots are refilled."""
        segments, limit = self.program.segments, self.max_steps
        while True:
            if not self.runnable:
                if not self.live.any():
                    return
                self.wake_parked()
                if not self.runnable:
                    self.wait()
                self.last_landing = self.steps
            elif self.mbarriers.waits and self.steps - self.last_landing > LATEST:
                self.mbarriers.land()
                self.last_landing = self.steps
            picked = self.pick()
            if picked is None:
                continue
            number, group = picked
            segment = segments[number]
            self.steps += 1
            if number not in self.waiting_loops:
                self.others_ran = True
            if self.steps - self.last_progress > NO_PROGRESS or (limit is not None and self.steps > limit):
                self.livelock(number, group)
            if segment.kind == "native":
                self.native(segment, group)
            else:
                self.collective(segment, group)

    def lands_now(self):
        """Whether something asynchronous that starts now takes effect at once."""
        return self.schedule == "early" or (self.random is not None and self.random.random() < 0.5)

    def wake_parked(self):
        """Try parked lanes again: exits may have made them complete."""
        for number, group in list(self.parked.items()):
            del self.parked[number]
            if not self.collective(self.program.segments[number], group, retry=True):
                self.parked[number] = group

    def collective(self, segment, group, retry=False):
        """Run a collective instruction; False if a retried group could not move."""
        ins, site = segment.instrs[0]
        if not retry and self.observer is not None:
            self.observer.execute(segment.index, self.lanes(group))
        waiting = self.parked.pop(segment.index, None)
        if waiting is not None:
            group = self.merge(group, waiting)
        if ins.guard is not None:
            reg, negated = ins.guard
            mask = self.row(reg)[group.idx].astype(bool) ^ negated
            if not mask.all():
                group, skip = self.split(group, mask)
                self.push(segment.next, skip, segment.index)
                if not group.n:
                    return True
        if self.wgmma.watched and self.wgmma.checks.touch[segment.index][0]:
            self.wgmma.checks.ran(segment, group)
        return COLLECTIVE[ins.op](self, segment, ins, site, group)

    # native segments

    def native(self, segment, group):
        """Run a compiled segment for a group and send its lanes on."""
        function = self.functions[segment.index]
        if self.wgmma.watched and self.wgmma.checks.touch[segment.index][0]:
            self.wgmma.checks.ran(segment, group)
        if self.observer is None:
            count = function(self.ctx_address, group.address, group.n)
            if self.ctx[CTX["n_faults"]]:
                report_faults(self, segment)
        else:
            count = self.observed(segment, function, group)
        if segment.stores and self.barriers.used:
            self.last_store[group.idx] = segment.index
        if segment.end is not None:
            self._leave(segment, group, count)
        else:
            self.push(segment.next, group, segment.index)

    def _leave(self, segment, group, count):
        op = segment.end[0].op
        conditional = segment.end[0].guard is not None
        if op == "brx":
            index = np.minimum(self.index[: group.n].view(np.uint32), len(segment.targets) - 1)
            for value in np.unique(index):
                self.push(segment.targets[value], self.split(group, index == value)[0], segment.index)
            return
        if not conditional or count == group.n:
            taken, rest = group, None
        elif count == 0:
            taken, rest = None, group
        else:
            taken, rest = self.split(group, self.taken[: group.n].view(bool))
        if rest is not None:
            self.push(segment.next, rest, segment.index)
        if taken is None:
            return
        if op == "bra":
            self.push(segment.target, taken, segment.index)
        elif op in ("exit", "ret"):
            self.exit(taken)
        else:
            self.trap(segment, taken)

    # ends

    def exit(self, group):
        """Lanes leave the kernel."""
        self.alive[group.idx] = False
        slots = self.slot_of[group.idx]
        gone = np.bincount(slots, minlength=self.slots)[: self.slots]
        self.live -= gone.astype(np.int32)
        touched = np.flatnonzero(gone)
        ended = touched[self.live[touched] == 0]
        if self.barriers.used:
            self.barriers.after_exit(touched)
        if len(ended):
            self.last_progress = self.steps
            self.bulk.ended(ended)
            if self.observer is not None and self.observer.clusters:
                for slot in ended.tolist():
                    self.observer.clusters.exited(slot)
            self.slot_cta[ended] = -1
            if self.progress is not None:
                self.progress(len(ended))
            if self.spins and self.next_cta < self.total:
                restart = self.clusters.restartable(ended)
                if len(restart):
                    self.start(restart)

    def trap(self, segment, group):
        """``trap`` and failed device assertions end the launch."""
        if self.observer is not None:
            self.observer.finding("trap", segment.end[1], lanes=self.lanes_of(group.idx))
        raise Stop


def timed(machine):
    """Run a machine; return (completed, CPU seconds)."""
    start = time.process_time()
    machine.guarded = [False] * len(machine.program.sites)
    for segment in machine.program.segments:
        for ins, site in segment.instrs:
            machine.guarded[site] = ins.guard is not None
    completed = machine.run()
    return completed, time.process_time() - start
