"""Which lanes run next, and how groups split, merge and wait for each other."""

from __future__ import annotations

import numpy as np

from .group import Group
from .ops_warp import value
from .postmortem import PostMortem

SPIN_PATIENCE = 8  # back edges of a waiting loop before it sleeps until nothing else can run
NAPS = 16  # how often loops sleep before mbarriers answer, too, that something is not over
LOOP_PATIENCE = 20_000  # the same for a loop that does not look like a waiting one


class Scheduler(PostMortem):
    """Runnable groups by segment, and parked ones."""

    def push(self, segment, group, source=None):
        """Make a group runnable at a segment; merge with what waits there."""
        if not group.n:
            return
        if source is not None and segment <= source:
            group.back_edges += 1
            if self.program.segments[segment].spins:
                self.latches[segment] = max(source, self.latches.get(segment, 0))
        other = self.runnable.get(segment)
        self.runnable[segment] = group if other is None else self.merge(group, other)

    @staticmethod
    def merge(a, b):
        """Union of two disjoint groups."""
        parent = a.parent
        if parent is not None and parent is b.parent and a.n + b.n == parent.n:
            parent.back_edges = max(a.back_edges, b.back_edges)
            return parent
        idx = np.concatenate((a.idx, b.idx))
        idx.sort()
        merged = Group(idx)
        merged.back_edges = max(a.back_edges, b.back_edges)
        return merged

    @staticmethod
    def split(group, mask):
        """(lanes where mask holds, the others)."""
        inside, outside = Group(group.idx[mask], group), Group(group.idx[~mask], group)
        inside.back_edges = outside.back_edges = group.back_edges
        return inside, outside

    def reuse(self, idx):
        """A group for these lanes: the whole batch keeps one object, so that what is known about it stays known."""
        if self.everyone is not None and len(idx) == self.everyone.n:
            return self.everyone
        return Group(idx)

    def converge(self, segment, mask_operand, group):
        """Lanes of ``group`` whose whole mask (of threads that have not exited) is there; the others are parked at the
        segment.

        Returns None when nobody can go on.
        """
        mask = value(self, mask_operand, group)
        lane_bit = np.uint32(1) << (group.idx & 31).astype(np.uint32)
        present = np.zeros(self.capacity // 32, np.uint32)
        np.bitwise_or.at(present, group.idx >> 5, lane_bit)
        warp = group.idx >> 5
        alive = np.packbits(self.alive.reshape(-1, 32), axis=1, bitorder="little").view("<u4").ravel()
        missing = mask & alive[warp] & ~present[warp]
        if not missing.any():
            return group
        ready, waiting = self.split(group, missing == 0)
        self.parked[segment.index] = waiting
        return ready if ready.n else None

    def pick(self):
        """Take the next group: lowest segment first. A loop that waits goes to sleep, another that goes on for long
        lets others go before it. None where all sleep.
        """
        segment = self._choose()
        while self.runnable[segment].back_edges > SPIN_PATIENCE and self.program.segments[segment].spins:
            group = self.runnable.pop(segment)
            group.back_edges = 0
            self.waiting_loops.update(range(segment, self.latches.get(segment, segment) + 1))
            other = self.asleep.get(segment)
            self.asleep[segment] = group if other is None else self.merge(group, other)
            if not self.runnable:
                return None
            segment = self._choose()
        group = self.runnable.pop(segment)
        if self.random is not None and group.n > 32 and self.random.random() < 0.5:
            warps = group.idx >> 5
            keep = self.random.random(self.capacity // 32) < 0.5
            chosen, rest = self.split(group, keep[warps])
            if chosen.n and rest.n:
                self.runnable[segment] = rest
                group = chosen
        return segment, group

    def _choose(self):
        """The segment whose group goes next."""
        if len(self.runnable) == 1:
            return next(iter(self.runnable))
        if self.random is not None:
            return list(self.runnable)[self.random.integers(len(self.runnable))]
        segment = min(self.runnable)
        group = self.runnable[segment]
        if group.back_edges > LOOP_PATIENCE:
            group.back_edges = 0
            segment = self._next_after(segment)
        return segment

    def wait(self):
        """Nothing can run: land the copies that somebody waits for, else wake the waiting loops, else let waits for
        mbarriers answer that their phase is not over. Ends the launch where there is none.
        """
        self.mbarriers.land()
        if self.runnable:
            return
        if self.asleep:
            self.runnable, self.asleep = self.asleep, {}
            self.naps += 1
            if self.naps % NAPS == 0:
                self.mbarriers.idle()
                self._look_for_change()
        elif not self.mbarriers.idle():
            self.deadlock()

    def _look_for_change(self):
        """End the launch where nothing but waiting loops has run for NAPS, and no register and no memory changed."""
        now = self.registers, self.shared, self.memory.arena
        if self.others_ran:
            self.before = None
        elif self.before is not None and all(map(np.array_equal, now, self.before)):
            number = min(self.runnable)
            self.livelock(number, self.runnable.pop(number))
        else:
            self.before = tuple(part.copy() for part in now)
        self.others_ran = False

    def _next_after(self, segment):
        """The waiting group that ran longest ago: round robin over segments."""
        later = [s for s in self.runnable if s > segment]
        if self.last_group is not None:
            beyond = [s for s in later if s > self.last_group]
            later = beyond or later
        self.last_group = min(later) if later else segment
        return self.last_group
