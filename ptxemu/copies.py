"""Copies of cp.async between their issue and their landing in shared memory (PTX ISA 9.7.9.25.3).

A thread issues copies, closes them into groups with ``commit_group``, and waits for groups; in between, a copy may take
effect at any time. Schedule "late": it reads its source and writes its destination at the wait that requires it, and
the destination holds all ones (a NaN) until then. "early": at once. Seeded: each copy does one or the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .checked import byte_index, flat

WORD = {4: np.uint32, 8: np.uint64, 16: np.complex128}  # moved, never computed with


@dataclass(eq=False, slots=True)
class Copy:
    """One cp.async of some lanes. ``idx`` their numbers; ``source``, ``target`` byte indices in the arena and in all
    slots' shared memory; ``dst`` the offset in the CTA's; ``size`` bytes to read per lane, or None: all ``nbytes``;
    ``group`` the number of the group that it belongs to, per lane; ``landed``: its data is in place.
    """

    site: int
    nbytes: int
    idx: np.ndarray
    src: np.ndarray
    dst: np.ndarray
    source: np.ndarray
    target: np.ndarray
    size: np.ndarray | None
    group: np.ndarray
    serial: int
    ledger: object  # the Copies that it belongs to
    landed: bool = False

    def standing(self, lane):
        """Why lane ``lane``'s part is not complete: None where its group is open, () where no wait followed its
        commit, (site, N) of a ``wait_group N`` that let it go on.
        """
        ledger, group = self.ledger, int(self.group[np.searchsorted(self.idx, lane)])
        if group >= ledger.committed[lane]:
            return None
        site, keep, known = ledger.waited[lane].tolist()
        return (site, keep) if known > group else ()

    def part(self, mask):
        """The same copy for some of its lanes."""
        arrays = [getattr(self, name)[mask] for name in ("idx", "src", "dst", "source", "target")]
        size = None if self.size is None else self.size[mask]
        return Copy(self.site, self.nbytes, *arrays, size, self.group[mask], self.serial, self.ledger, self.landed)


class Copies:
    """All copies under way, oldest first. Per lane: ``committed`` groups, of which the first ``complete`` landed."""

    def __init__(self, machine):
        self.machine = machine
        self.pending = []
        self.committed = np.zeros(machine.capacity, np.int32)
        self.complete = np.zeros(machine.capacity, np.int32)
        self.waited = np.zeros((machine.capacity, 3), np.int32)  # last wait: site, groups kept, groups committed
        self.serial = 0

    def reset(self, slots):
        """New CTAs in ``slots``: what the old ones left under way is forgotten."""
        if not self.serial:
            return
        stride = self.machine.stride
        fresh = np.zeros(self.machine.slots, bool)
        fresh[slots] = True
        lanes = np.flatnonzero(np.repeat(fresh, stride))
        self.committed[lanes] = self.complete[lanes] = self.waited[lanes] = 0
        kept = []
        for copy in self.pending:
            old = fresh[self.machine.slot_of[copy.idx]]
            if not old.all():
                kept.append(copy.part(~old) if old.any() else copy)
        self.pending = kept

    def issue(self, site, nbytes, idx, src, dst, size):
        """Lanes ``idx`` start a copy of ``size`` (None: ``nbytes``) bytes from ``src`` to ``dst`` and zeros after."""
        machine = self.machine
        self.serial += 1
        if machine.events:
            machine.events.group("issue", "cp.async", idx, site, serial=self.serial, nbytes=nbytes * len(idx))
        source, target = byte_index(machine, "global", idx, src), byte_index(machine, "shared", idx, dst)
        copy = Copy(site, nbytes, idx, src, dst, source, target, size, self.committed[idx], self.serial, self)
        self.pending.append(copy)
        if machine.lands_now():
            self._move(copy)
        else:
            self._poison(target, nbytes)
        if machine.observer is not None:
            machine.observer.copy_issued(copy, machine.lanes_of(idx))

    def _poison(self, target, nbytes):
        width = min(nbytes, 8)
        words = flat(self.machine, "shared").view(WORD[width])
        for k in range(0, nbytes, width):
            words[(target + k) // width] = ~np.zeros(1, WORD[width])

    def _move(self, copy):
        shared, arena = flat(self.machine, "shared"), flat(self.machine, "global")
        copy.landed = True
        if copy.size is None:
            word, shift = WORD[copy.nbytes], copy.nbytes.bit_length() - 1
            shared.view(word)[copy.target >> shift] = arena.view(word)[copy.source >> shift]
            return
        bytes_ = np.arange(copy.nbytes)
        inside = bytes_ < copy.size[:, None]
        values = arena[np.where(inside, copy.source[:, None] + bytes_, 0)]
        shared[copy.target[:, None] + bytes_] = np.where(inside, values, 0)

    def commit(self, idx):
        """Close the open group of these lanes."""
        self.committed[idx] += 1
        if self.machine.events:
            self.machine.events.group("commit", "cp.async", idx)

    def wait(self, site, idx, keep):
        """Lanes ``idx`` wait at ``site`` until at most ``keep`` of their groups are under way."""
        if self.machine.events:
            self.machine.events.group("wait_group", "cp.async", idx, site, number=keep)
        self.waited[idx, 0], self.waited[idx, 1], self.waited[idx, 2] = site, keep, self.committed[idx]
        self.complete[idx] = np.maximum(self.complete[idx], self.committed[idx] - keep)
        kept = []
        for copy in self.pending:
            done = copy.group < self.complete[copy.idx]
            if done.all():
                self._land(copy)
            elif done.any():
                self._land(copy.part(done))
                kept.append(copy.part(~done))
            else:
                kept.append(copy)
        self.pending = kept

    def land_for(self, idx, serial, seen=True):
        """Lanes ``idx`` get what they issued up to the copy number ``serial``, whatever its group; not ``seen``: the
        data is in place, but for the checks it stays under way.
        """
        due = np.zeros(self.machine.capacity, bool)
        due[idx] = True
        kept = []
        for copy in self.pending:
            done = due[copy.idx] if copy.serial <= serial else np.zeros(1, bool)
            if not done.any():
                kept.append(copy)
                continue
            due_part = copy if done.all() else copy.part(done)
            if seen:
                self._land(due_part)
            else:
                if not due_part.landed:
                    self._move(due_part)
                kept.append(due_part)
            if not done.all():
                kept.append(copy.part(~done))
        self.pending = kept

    def _land(self, copy):
        if not copy.landed:
            self._move(copy)
        if self.machine.observer is not None:
            self.machine.observer.copy_landed(copy, self.machine.lanes_of(copy.idx))
