"""CTA barriers: ``bar.sync``, ``bar.arrive``, ``bar.red`` and their ``barrier`` forms, full and partial (PTX ISA
9.7.13.1).

A barrier without a count completes when every thread of the CTA that has not exited arrived (the rule since Volta).
With a count it completes when that many threads arrived. Arrivals are counted per thread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class _Wait:
    """Lanes that wait at one barrier instruction."""

    idx: np.ndarray
    segment: object
    site: int
    count: int | None
    values: np.ndarray | None = None  # predicates of a reduction


class Barriers:
    """The sixteen barriers of every slot."""

    def __init__(self, machine):
        self.machine = machine
        program = machine.program
        self.used = any(s.kind == "collective" and s.instrs[0][0].op in ("bar", "barrier") for s in program.segments)
        self.arrived = np.zeros((machine.slots, 16), np.int32)
        self.pending = {}
        self._reach = {}

    def reset(self, slots):
        self.arrived[slots] = 0

    def waiting(self):
        """(site, lanes, description) of everything that waits."""
        for number, waits in self.pending.items():
            for wait in waits:
                slot = int(self.machine.slot_of[wait.idx[0]])
                expected = wait.count or int(self.machine.live[slot])
                yield (
                    wait.site,
                    wait.idx,
                    f"barrier {number}: {self.arrived[slot, number]} of {expected} threads arrived",
                )

    def arrive(self, group, number, count, segment, site, waits, values=None):
        """Lanes reach barrier ``number``; the waiting ones are parked, then whatever is complete is released."""
        machine = self.machine
        counts = np.bincount(machine.slot_of[group.idx], minlength=machine.slots)
        self.arrived[:, number] += counts.astype(np.int32)
        touched = np.flatnonzero(counts)
        if waits:
            self.pending.setdefault(number, []).append(_Wait(group.idx, segment, site, count, values))
        else:
            if machine.observer is not None:
                lanes = machine.lanes(group)
                for slot in touched:
                    machine.observer.arrive(site, int(slot), number, lanes.tid[lanes.slot == slot])
            machine.push(segment.next, group, segment.index)
        self.complete(number, touched, count)

    def after_exit(self, slots):
        """Threads left: barriers without a count may now be complete."""
        for number in list(self.pending):
            self.complete(number, slots, self.pending[number][0].count)

    def complete(self, number, slots, count):
        """Release barrier ``number`` in those of ``slots`` where enough threads arrived."""
        machine, waits = self.machine, self.pending.get(number, [])
        if not waits:
            return
        arrived = self.arrived[slots, number]
        expected = machine.live[slots] if count is None else count
        done = slots[(arrived >= expected) & (arrived > 0)]
        if not len(done):
            return
        flags = np.zeros(machine.slots, bool)
        flags[done] = True
        released, kept = [], []
        for wait in waits:
            mask = flags[machine.slot_of[wait.idx]]
            if mask.all():
                released.append(wait)
            elif mask.any():
                values = wait.values
                released.append(
                    _Wait(wait.idx[mask], wait.segment, wait.site, wait.count, None if values is None else values[mask])
                )
                kept.append(
                    _Wait(
                        wait.idx[~mask], wait.segment, wait.site, wait.count, None if values is None else values[~mask]
                    )
                )
            else:
                kept.append(wait)
        if kept:
            self.pending[number] = kept
        else:
            del self.pending[number]
        self.arrived[done, number] = 0
        if machine.observer is not None:
            self._tell(number, done, released, count)
        if any(w.values is not None for w in released):
            self._reduce(released)
        for segment in {w.segment.index: w.segment for w in released}.values():
            mine = [w.idx for w in released if w.segment is segment]
            idx = np.sort(np.concatenate(mine)) if len(mine) > 1 else mine[0]
            machine.last_store[idx] = -1
            machine.push(segment.next, machine.reuse(idx), segment.index)

    def _tell(self, number, slots, released, count):
        machine, observer = self.machine, self.machine.observer
        full = count is None or count >= machine.threads
        site = released[0].site
        if full and len({w.segment.index for w in released}) > 1:
            self._divergent(slots, released)
        idx = released[0].idx if len(released) == 1 else np.sort(np.concatenate([w.idx for w in released]))
        owner = machine.slot_of[idx]
        bounds = np.searchsorted(owner, np.append(slots, machine.slots))
        for k, slot in enumerate(slots):
            first = bounds[k]
            last = np.searchsorted(owner, slot, side="right")
            observer.barrier(site, int(slot), number, machine.tid_of[idx[first:last]], full)
        if count is None:  # with a count, every arrival was counted: threads that arrived may have left
            short = slots[machine.live[slots] < machine.threads]
            if len(short):
                self._after_early_exit(short, released)

    def _divergent(self, slots, released):
        """Threads of one CTA met at different barrier instructions: an error within a warp, a warning between warps."""
        machine = self.machine
        where = np.full(machine.capacity, -1, np.int32)
        for wait in released:
            where[wait.idx] = wait.site
        for slot in slots:
            span = where[slot * machine.stride : (slot + 1) * machine.stride].reshape(-1, 32)
            present = span >= 0
            low = np.where(present, span, np.iinfo(np.int32).max).min(axis=1)
            high = span.max(axis=1)
            used = present.any(axis=1)
            mixed = used & (low != high)
            sites = np.unique(span[present])
            if len(sites) < 2:
                continue
            warps = np.flatnonzero(mixed) if mixed.any() else np.flatnonzero(used)
            first, second = (int(s) for s in ((low[warps[0]], high[warps[0]]) if mixed.any() else sites[:2]))
            lanes = machine.lanes_of(np.flatnonzero((where == second) & (machine.slot_of == slot)).astype(np.int32))
            if mixed.any():
                detail = f"threads of warp {warps[0]} wait at two different barrier instructions"
                machine.observer.finding("divergent-barrier", first, lanes=lanes, other_site=second, detail=detail)
            else:
                detail = "warps of one CTA wait at different barrier instructions"
                machine.observer.finding(
                    "divergent-barrier", first, lanes=lanes, other_site=second, detail=detail, severity="warning"
                )

    def _after_early_exit(self, slots, released):
        """Threads exited before the barrier: a warning, or an error when they skipped it and went on behind it."""
        machine = self.machine
        wait = released[0]
        reach = self._reachable(wait.segment.index)
        for slot in slots:
            lanes = np.arange(slot * machine.stride, slot * machine.stride + machine.threads, dtype=np.int32)
            gone = lanes[~machine.alive[lanes]]
            last = machine.last_store[gone]
            skipped = gone[(last >= 0) & reach[np.maximum(last, 0)]]
            if len(skipped):
                other = machine.site_of(int(machine.last_store[skipped[0]]))
                detail = f"threads skipped the barrier and went on to {machine.line(other)}"
                machine.observer.finding(
                    "divergent-barrier", wait.site, lanes=machine.lanes_of(skipped), other_site=other, detail=detail
                )
            else:
                machine.observer.finding("barrier-after-exit", wait.site, lanes=machine.lanes_of(gone))

    def _reachable(self, index):
        """bool per segment: can be reached after segment ``index``."""
        found = self._reach.get(index)
        if found is None:
            program = self.machine.program
            found = np.zeros(len(program.segments), bool)
            work = program.successors(program.segments[index])
            while work:
                at = work.pop()
                if not found[at]:
                    found[at] = True
                    work.extend(program.successors(program.segments[at]))
            self._reach[index] = found
        return found

    def _reduce(self, released):
        """Results of bar.red: popc, and, or over the released threads of each slot."""
        machine = self.machine
        idx = np.concatenate([w.idx for w in released])
        values = np.concatenate([w.values for w in released])
        slots = machine.slot_of[idx]
        total = np.bincount(slots, weights=values, minlength=machine.slots).astype(np.int64)
        present = np.bincount(slots, minlength=machine.slots)
        for wait in released:
            ins = wait.segment.instrs[0][0]
            mine = machine.slot_of[wait.idx]
            if "popc" in ins.mods:
                result = total[mine]
            elif "and" in ins.mods:
                result = total[mine] == present[mine]
            else:
                result = total[mine] > 0
            machine.row(ins.operands[0])[wait.idx] = result
