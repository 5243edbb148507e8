"""mbarrier objects: arrivals, transaction bytes, phases, and who waits for which (PTX ISA 9.7.13.15).

A phase is complete when no arrival is pending and its transaction count is zero; the next one starts at once. Waiting
lanes are kept aside until then. Whatever is under way (bulk copies, cp.async with ``cp.async.mbarrier.arrive``) lands
as late as it may: when nothing else can run and somebody waits for it. A wait that stays unanswered returns false, as
it does on hardware when its time is over (in seeded schedules sometimes at once); after ``ROUNDS`` rounds in which
nothing happens it is a deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ROUNDS = 200
GIVES_UP = 0.25
TX_LIMIT = (1 << 20) - 1


@dataclass(eq=False, slots=True)
class Mbarrier:
    """One object. ``phase``: number of the incomplete phase; ``observed``: phases that a successful wait has seen;
    ``site``, ``owner``: where and by which lane it was initialised; ``brought``: bytes that copies brought in this
    phase; ``order``: what the checks keep.
    """

    expected: int
    pending: int
    site: int
    owner: int
    tx: int = 0
    phase: int = 0
    observed: int = 0
    brought: int = 0
    order: object = None


@dataclass(eq=False, slots=True)
class Wait:
    """Lanes that wait at one instruction for one object. ``want``: per lane the parity, or the phase of a state."""

    idx: np.ndarray
    want: np.ndarray
    by_parity: bool
    segment: object
    site: int

    def ready(self, phase):
        """bool per lane: whether the phase that it waits for is complete when ``phase`` is the current one."""
        return (phase & 1) != self.want if self.by_parity else phase > self.want

    def part(self, mask):
        return Wait(self.idx[mask], self.want[mask], self.by_parity, self.segment, self.site)


@dataclass(eq=False, slots=True)
class Deferred:
    """Arrivals of cp.async.mbarrier.arrive by ``idx``: due when the copies up to ``serial`` have landed.
    ``phase``: of the object when they came.
    """

    key: tuple
    idx: np.ndarray
    serial: int
    site: int
    phase: int = 0


class Mbarriers:
    """All objects of a launch by (slot, address)."""

    def __init__(self, machine):
        self.machine = machine
        self.table, self.waits = {}, {}
        self.deferred = []
        self.arrived = {}  # key -> deferred arrivals that came and that no wait has seen
        self.rounds = 0
        self.given_up = set()  # sites of waits that once returned false at once

    def reset(self, slots):
        """New CTAs in ``slots``."""
        if self.table or self.deferred:
            gone = set(slots.tolist())
            for key in [k for k in self.table if k[0] in gone]:
                del self.table[key]
            self.deferred = [d for d in self.deferred if d.key[0] not in gone]
            self.arrived = {k: v for k, v in self.arrived.items() if k[0] not in gone}

    def checks(self):
        """The observer's checks of asynchronous instructions, or None."""
        observer = self.machine.observer
        return None if observer is None else observer.async_

    def find(self, site, key, idx):
        """The object at ``key``; None, and a finding, where there is none."""
        found = self.table.get(key)
        checks = self.checks()
        if found is None:
            self.machine.had_faults = True
            if checks:
                checks.uninitialised(site, key, idx)
        elif checks:
            checks.used(site, key, found, idx)
        return found

    def init(self, site, key, lane, count):
        """mbarrier.init by one lane."""
        checks, old = self.checks(), self.table.get(key)
        if old is not None and checks:
            checks.initialised_again(site, key, old, lane, bool(self.waits.get(key)))
        barrier = self.table[key] = Mbarrier(count, count, site, int(lane))
        if checks:
            checks.initialised(barrier, key)
        self._store(key, barrier)
        if self.machine.events:
            self.machine.events.barrier("init", key, barrier, site, [lane])

    def invalidate(self, site, key, idx):
        if self.find(site, key, idx) is not None:
            del self.table[key]
            checks = self.checks()
            if checks:
                checks.invalidated(key)

    def arrive(self, site, key, idx, counts, *, drop=False, expect=None, keeps_phase=False):
        """Lanes ``idx`` arrive with ``counts`` each (``expect``: bytes announced first). Returns int64 states."""
        barrier = self.find(site, key, idx)
        if barrier is None:
            return np.zeros(len(idx), np.int64)
        checks = self.checks()
        if checks:
            checks.arrive(site, key, barrier, idx)
        nbytes = 0 if expect is None else int(expect.sum())
        barrier.tx += nbytes
        total = int(counts.sum())
        if self.machine.events:
            pending = max(barrier.pending - total, 0)
            self.machine.events.barrier("arrive", key, barrier, site, idx, nbytes=nbytes, pending=pending)
        if total <= barrier.pending:
            states = np.full(len(idx), self.state(barrier), np.int64)
            self._take(site, key, barrier, total, idx, drop, keeps_phase)
            return states
        states = np.empty(len(idx), np.int64)
        for k, count in enumerate(counts.tolist()):
            states[k] = self.state(barrier)
            self._take(site, key, barrier, count, idx[k : k + 1], drop, keeps_phase)
        return states

    def _take(self, site, key, barrier, count, idx, drop, keeps_phase):
        checks = self.checks()
        if count > barrier.pending or (keeps_phase and count >= barrier.pending):
            if checks:
                checks.over_arrival(site, key, barrier, idx, count, keeps_phase)
            count = min(count, barrier.pending)
        barrier.pending -= count
        if drop:
            barrier.expected = max(barrier.expected - count, 0)
        self.settle(site, key, barrier, idx)

    @staticmethod
    def state(barrier):
        """The opaque state that arrive returns: phase in the low half, pending arrivals in the high half."""
        return (barrier.phase & 0x7FFFFFFF) | barrier.pending << 32

    def expect(self, site, key, idx, nbytes):
        """mbarrier.expect_tx, or complete_tx with negative bytes."""
        barrier = self.find(site, key, idx)
        if barrier is not None:
            barrier.tx += nbytes
            if self.machine.events:
                self.machine.events.barrier("expect", key, barrier, site, idx, nbytes=nbytes)
            self.settle(site, key, barrier, idx)

    def complete_tx(self, site, key, barrier, nbytes):
        """A copy brought ``nbytes``. Returns the phase in which they count."""
        phase = barrier.phase
        barrier.tx -= nbytes
        barrier.brought += nbytes
        if self.machine.events:
            self.machine.events.barrier("bytes", key, barrier, site, nbytes=nbytes)
        self.settle(site, key, barrier, None)
        return phase

    def settle(self, site, key, barrier, idx):
        """Complete the phase if it is; let those go on that wait for it."""
        if barrier.pending == 0 and barrier.tx == 0 and barrier.expected:
            checks = self.checks()
            if checks:
                checks.phase_complete(site, key, barrier, idx)
            barrier.phase += 1
            barrier.pending, barrier.brought = barrier.expected, 0
            self.rounds = 0
            if self.machine.events:
                self.machine.events.barrier("complete", key, barrier)
            self._release(key, barrier)
        self._store(key, barrier)

    def _store(self, key, barrier):
        word = self.state(barrier) | (barrier.expected & 0xFFFFF) << 40
        self.machine.shared[key[0], key[1] : key[1] + 8] = np.frombuffer(
            (word & (1 << 63) - 1).to_bytes(8, "little"), np.uint8
        )

    def wait(self, key, wait):
        """Lanes wait for an object: those whose phase is complete go on, the others are kept aside."""
        barrier = self.find(wait.site, key, wait.idx)
        if barrier is None:
            self._answer(wait, False)
            return
        ready = wait.ready(barrier.phase)
        if ready.all():
            self._succeed(key, barrier, wait)
            return
        if self.machine.events:
            self.machine.events.barrier("wait", key, barrier, wait.site, wait.idx[~ready])
        if ready.any():
            self._succeed(key, barrier, wait.part(ready))
            wait = wait.part(~ready)
        if self._gives_up(wait.site):
            self._answer(wait, False)
        else:
            self.waits.setdefault(key, []).append(wait)

    def _gives_up(self, site):
        """In seeded schedules: a wait in vain returns false at once, the first one at a site and some others."""
        random, first = self.machine.random, site not in self.given_up
        if random is None:
            return False
        self.given_up.add(site)
        return first or random.random() < GIVES_UP

    def _release(self, key, barrier):
        left = []
        for wait in self.waits.pop(key, ()):
            ready = wait.ready(barrier.phase)
            if ready.any():
                self._succeed(key, barrier, wait if ready.all() else wait.part(ready))
            if not ready.all():
                left.append(wait if not ready.any() else wait.part(~ready))
        if left:
            self.waits[key] = left

    def _succeed(self, key, barrier, wait):
        if self.machine.events:
            self.machine.events.barrier("pass", key, barrier, wait.site, wait.idx, phase=barrier.phase - 1)
        barrier.observed = barrier.phase
        if self.machine.observer is not None:
            self.machine.bulk.observed(key, barrier)
            checks = self.checks()
            self._see_copies(key, barrier, checks)
            if checks:
                checks.acquire(wait.site, key, barrier, wait.idx)
        self._answer(wait, True)

    def _see_copies(self, key, barrier, checks):
        """A wait saw the arrivals of earlier phases: what they stood for is no longer under way."""
        waiting = self.arrived.get(key)
        if not waiting:
            return
        self.arrived[key] = [d for d in waiting if d.phase >= barrier.phase]
        for deferred in waiting:
            if deferred.phase < barrier.phase:
                self.machine.copies.land_for(deferred.idx, deferred.serial)
                if checks:
                    checks.arrive(deferred.site, key, barrier, deferred.idx)

    def _answer(self, wait, value):
        machine = self.machine
        machine.row(wait.segment.instrs[0][0].operands[0])[wait.idx] = value
        machine.push(wait.segment.next, machine.reuse(wait.idx), wait.segment.index)

    def defer(self, site, key, idx, no_increment):
        """cp.async.mbarrier.arrive: the lanes arrive when their copies so far have landed."""
        barrier = self.find(site, key, idx)
        if barrier is None:
            return
        if not no_increment:
            barrier.pending += len(idx)
        deferred = Deferred(key, idx, self.machine.copies.serial, site)
        if self.machine.lands_now():
            self._arrive_deferred(deferred)
        else:
            self.deferred.append(deferred)

    def _arrive_deferred(self, deferred):
        ones, observed = np.ones(len(deferred.idx), np.int64), self.machine.observer is not None
        self.machine.copies.land_for(deferred.idx, deferred.serial, not observed)
        if observed:
            deferred.phase = self.table[deferred.key].phase
            self.arrived.setdefault(deferred.key, []).append(deferred)
        self.arrive(deferred.site, deferred.key, deferred.idx, ones)

    def land(self):
        """Land what somebody waits for."""
        for deferred in [d for d in self.deferred if d.key in self.waits]:
            if deferred.key in self.waits:
                self.deferred.remove(deferred)
                self._arrive_deferred(deferred)
        self.machine.bulk.land_awaited(self.waits)

    def idle(self):
        """Nothing can run: land what somebody waits for, else answer the waits with false. False: a deadlock."""
        machine = self.machine
        if not self.waits:
            return False
        self.land()
        if machine.runnable:
            return True
        self.rounds += 1
        if self.rounds > ROUNDS:
            return False
        waits, self.waits = self.waits, {}
        for waiting in waits.values():
            for wait in waiting:
                self._answer(wait, False)
        return True

    def waiting(self):
        """(site, lanes, description) of everything that waits, for the post-mortem; equal ones of many CTAs once."""
        told = {}
        for key, waits in self.waits.items():
            barrier = self.table[key]
            for wait in waits:
                text = self.describe(key, barrier, wait)
                if (wait.site, text) in told:
                    told[wait.site, text].append(wait.idx)
                else:
                    told[wait.site, text] = [wait.idx]
        for (site, text), lanes in told.items():
            yield site, np.concatenate(lanes), text

    def describe(self, key, barrier, wait):
        """What one wait lacks, in words."""
        lines = [f"mbarrier {self.place(key)} is in phase {barrier.phase} (parity {barrier.phase & 1})"]
        if wait.by_parity:
            lines.append(f"the wait is for parity {int(wait.want[0])}")
        else:
            lines.append(f"the wait is for the end of phase {int(wait.want[0])}")
        if barrier.pending:
            lines.append(f"{barrier.pending} of {barrier.expected} arrivals are missing")
        else:
            lines.append("all arrivals came")
        flying = self.machine.bulk.bytes_for(key)
        if barrier.tx > 0:
            lines.append(f"{barrier.tx} expected bytes have not come, and copies of {flying} bytes are under way")
        elif barrier.tx < 0:
            lines.append(f"copies brought {-barrier.tx} bytes more than expect_tx announced")
        return ", ".join(lines)

    def place(self, key):
        """Name of an object for messages."""
        from .places import locate

        return locate(self.machine.memory, "shared", key[1], self.machine.program.shared_layout())
