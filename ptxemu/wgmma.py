"""wgmma under way: what is issued, committed and waited for (PTX ISA 9.7.15.7), per warp.

Schedule "late": a multiplication reads its operands, from shared memory and from A's registers, at the ``wait_group``
that completes it, and its accumulators hold all ones (a NaN) until then. "early": everything at the issue. Seeded: each
time one or the other; what was issued before on the same warps comes first. Results are those of an H200, bit for bit
in every case of tests/ptxemu/data/wgmma_goldens_nvidia_h200.json.gz: see adding.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .warps import words
from .wgmma_checks import Checks
from .wgmma_descriptor import chunk_addresses
from .wgmma_loops import TABLE8, TABLE16, TF32, gather, multiply, poison, read, scatter

WARPS = np.arange(4) * 32


@dataclass(eq=False, slots=True)
class Issue:
    """One wgmma.mma_async of some warps. ``warps`` int64[n]: first lanes; ``part``: 0-3, which 16 rows; ``desc_a``,
    ``desc_b`` uint64[n] (``desc_a`` None: A from registers); ``scale`` bool[n]; ``group``: the number of the group
    that it belongs to, per warp; ``operands``: where the registers of D and A stand.
    """

    site: int
    form: object
    warps: np.ndarray
    part: np.ndarray
    desc_a: np.ndarray | None
    desc_b: np.ndarray
    scale: np.ndarray
    group: np.ndarray
    serial: int
    done: bool = False  # its results are in the registers

    @property
    def step(self):
        """4 where the warps are whole warpgroups, in order; else 1."""
        if len(self.warps) % 4:
            return 1
        together = (self.warps.reshape(-1, 4) - self.warps[::4, None] == WARPS).all()
        return 4 if together and not self.part[::4].any() else 1

    def take(self, mask):
        """The same for some of its warps."""
        picked = [None if v is None else v[mask] for v in (self.warps, self.part, self.desc_a, self.desc_b)]
        return Issue(self.site, self.form, *picked, self.scale[mask], self.group[mask], self.serial, self.done)


class Wgmma:
    """All multiplications under way, oldest first. Per lane (of which the first of a warp counts): ``committed``
    groups, of which the first ``complete`` landed.
    """

    def __init__(self, machine):
        self.machine = machine
        self.pending = []
        self.committed = np.zeros(machine.capacity, np.int32)
        self.complete = np.zeros(machine.capacity, np.int32)
        self.waited = np.zeros((machine.capacity, 3), np.int32)  # last wait: site, groups kept, groups committed
        self.serial = 0
        self.sums = {}  # registers of D -> accumulators float64[warps, 16, N], while something is under way
        self.busy = {}  # registers of D -> multiplications under way, per warp
        self.checks = Checks(machine, self) if machine.observer is not None else None
        self.watched = bool(self.checks and self.checks.touch and machine.observer.race)

    def reset(self, slots):
        """New CTAs in ``slots``: what the old ones left under way is forgotten."""
        if not self.serial:
            return
        fresh = np.zeros(self.machine.slots + 1, bool)
        fresh[slots] = True
        old = fresh[np.minimum(self.machine.slot_of, self.machine.slots)]
        self.committed[old] = self.complete[old] = self.waited[old] = 0
        for busy in self.busy.values():
            busy[old[::32]] = 0
        kept = []
        for issue in self.pending:
            gone = old[issue.warps]
            if not gone.all():
                kept.append(issue.take(~gone) if gone.any() else issue)
        self.pending = kept
        if self.checks:
            self.checks.reset(old)

    # instructions

    def fence(self, site, warps):
        if self.checks:
            self.checks.fence(site, warps)

    def commit(self, warps):
        """Close the open group of these warps."""
        self.committed[warps] += 1
        if self.machine.events:
            self.machine.events.group("commit", "wgmma", warps)

    def issue(self, site, first, form, desc_a, desc_b, scale):
        """Warpgroups that start at ``first`` multiply."""
        warps = (first[:, None] + WARPS).ravel()
        self.serial += 1
        if self.machine.events:
            self.machine.events.group("multiply", "wgmma", warps, site, serial=self.serial)
        repeated = [None if v is None else np.repeat(v, 4) for v in (desc_a, desc_b, scale)]
        issue = Issue(
            site, form, warps, np.tile(np.arange(4), len(first)), *repeated, self.committed[warps], self.serial
        )
        machine = self.machine
        if self.checks:
            self.checks.issued(issue)
        self._open(issue)
        self.pending.append(issue)
        early = machine.schedule == "early" or (machine.random is not None and machine.random.random() < 0.5)
        if early:
            mine = np.zeros(machine.capacity, bool)
            mine[warps] = True
            self._compute_all(mine)

    def wait(self, site, warps, keep):
        """Warps wait at ``site`` until at most ``keep`` of their groups are under way."""
        self.waited[warps, 0], self.waited[warps, 1], self.waited[warps, 2] = site, keep, self.committed[warps]
        self.complete[warps] = np.maximum(self.complete[warps], self.committed[warps] - keep)
        landed, kept = [], []
        for issue in self.pending:
            over = issue.group < self.complete[issue.warps]
            if over.any():
                landed.append(issue if over.all() else issue.take(over))
            if not over.all():
                kept.append(issue.take(~over) if over.any() else issue)
        self.pending = kept
        if self.machine.events:
            self.machine.events.group("wait_group", "wgmma", warps, site, number=keep)
            self.machine.events.multiplied(site, landed)
        for issue in landed:
            if not issue.done:
                self._compute(issue)
            if self.checks:
                self.checks.landed(issue)
        if landed and self.watched:
            self.checks.waited(site, warps)

    def standing(self, issue, warp):
        """Why a multiplication of the warp at ``warp`` is not complete, in words."""
        if int(issue.group[np.flatnonzero(issue.warps == warp)[0]]) >= self.committed[warp]:
            return "no wgmma.commit_group has followed it"
        site, keep, known = self.waited[warp].tolist()
        if known <= int(issue.group[np.flatnonzero(issue.warps == warp)[0]]):
            return "no wgmma.wait_group has followed its commit_group"
        line = self.machine.program.sites[site].line
        return f"the wait_group {keep} of line {line} lets the newest {keep} go on, and it is among them"

    # what happens to the data

    def _compute_all(self, mine):
        """Compute, in their order, everything under way of the warps ``mine`` (bool per lane)."""
        pending = []
        for issue in self.pending:
            now = mine[issue.warps]
            if issue.done or not now.any():
                pending.append(issue)
                continue
            part = issue if now.all() else issue.take(now)
            self._compute(part)
            part.done = True
            pending += [part] if now.all() else [part, issue.take(~now)]
        self.pending = pending

    def _open(self, issue):
        """Take the accumulators of warps that have nothing under way on them, and leave all ones."""
        form, machine = issue.form, self.machine
        busy = self.busy.get(form.d_regs)
        if busy is None:
            busy = self.busy[form.d_regs] = np.zeros(machine.capacity // 32, np.int32)
            self.sums[form.d_regs] = np.zeros((machine.capacity // 32, 16, form.n))
        fresh = issue.warps[busy[issue.warps >> 5] == 0]
        if len(fresh):
            sums = self.sums[form.d_regs]
            gather(words(machine), rows_of(machine, form.d_regs), fresh, form.d.index, *form.decode(0), sums)
            poison(words(machine), rows_of(machine, form.d_regs), fresh)
        busy[issue.warps >> 5] += 1

    def _compute(self, issue):
        """sum = sum * scale + A B, and write the registers where nothing else is under way on them."""
        form, machine = issue.form, self.machine
        sums, busy = self.sums[form.d_regs], self.busy[form.d_regs]
        number = issue.warps >> 5
        if not issue.scale.all():
            sums[number[~issue.scale]] = 0.0
        a, b, step = self._factors(issue)
        if form.sign < 0:
            np.negative(a, out=a)
        if form.kinds[0] == "s32":
            product = np.matmul(a, b).reshape(-1, 16, form.n)
            sums[number] = _wrapped(sums[number] + product, form.saturate)
        else:
            multiply(a, b, sums, number[::step], form.lowest, *form.adding)
        busy[number] -= 1
        last = issue.warps[busy[number] == 0]
        if len(last):
            scatter(words(machine), rows_of(machine, form.d_regs), last, form.d.index, form.code(0), sums)

    def _factors(self, issue):
        """(A float64[groups, rows, k], B float64[groups, k, N], warps of a group: 4 or 1)."""
        form, machine, n = issue.form, self.machine, len(issue.warps)
        step = issue.step
        b = self._shared(issue.warps[::step], issue.desc_b[::step], form, "b")
        if issue.desc_a is None:
            a = np.empty((machine.capacity // 32, 16, form.k))
            gather(words(machine), rows_of(machine, form.a_regs), issue.warps, form.a.index, *form.decode(1), a)
            a = a[issue.warps >> 5].reshape(n // step, -1, form.k)
        else:
            a = self._shared(issue.warps[::step], issue.desc_a[::step], form, "a")
            if step == 1:
                a = a.reshape(n, 4, 16, form.k)[np.arange(n), issue.part]
        return a, np.ascontiguousarray(b.transpose(0, 2, 1)), step

    def _shared(self, first, descriptors, form, which):
        """An operand that lies in shared memory: float64[n, rows, k]."""
        machine = self.machine
        major = form.major(which)
        addr = chunk_addresses(descriptors, major, form.rows(which))
        code, table = form.decode(1 if which == "a" else 2)
        view = machine.shared.reshape(-1).view({TABLE8: np.uint8, TABLE16: np.uint16, TF32: np.uint32}[code])
        out = np.empty((len(first), 64 if which == "a" else form.n, form.k))
        base = machine.slot_of[first].astype(np.int64) * machine.shared.shape[1]
        read(view, base, addr, machine.shared_bytes, view.itemsize, table, major == "MN", out)
        return out


def rows_of(machine, registers):
    """int64: where each register's row of words starts."""
    return np.array([machine.unit.slot(r)[0] // 4 for r in registers], np.int64)


def _wrapped(total, saturate):
    """Sums of integers in 32 bits: saturated, or wrapped around."""
    if saturate:
        return np.clip(total, -(2.0**31), 2.0**31 - 1)
    return (total + 2.0**31) % 2.0**32 - 2.0**31
