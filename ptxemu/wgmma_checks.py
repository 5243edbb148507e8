"""What is wrong around a wgmma: fences, registers and shared memory touched while it runs (PTX ISA 9.7.15.2, 9.7.15.7).

Registers are bits of Python integers, numbered as in ``program.numbers``; only those that some wgmma uses count.
"""

from __future__ import annotations

import numpy as np

from .observe import Lanes
from .operands import destinations, sources
from .wgmma_descriptor import chunk_addresses

EVERYTHING = -1
_LANE = np.arange(32)


def is_multiply(ins):
    """Whether an instruction is a wgmma.mma_async."""
    return ins.op == "wgmma" and ins.mods[0] == "mma_async"


class Checks:
    """Per warp: ``dirty`` registers touched since the last wgmma.fence, ``flight`` {registers of D: their mask} and
    ``inputs``, the mask of A's registers, of what is under way.
    """

    def __init__(self, machine, ledger):
        self.machine, self.ledger, self.program = machine, ledger, machine.program
        forms = [s.plan[1] for s in self.program.segments if s.kind == "collective" and is_multiply(s.instrs[0][0])]
        self.mask = 0
        for form in forms:
            self.mask |= form.d_mask | form.a_mask
        warps = machine.capacity // 32
        self.dirty = [EVERYTHING] * warps
        self.fences = [None] * warps  # site of the last fence
        self.shapes = [{} for _ in range(warps)]  # registers of D -> mask, since the last fence
        self.flight = [{} for _ in range(warps)]
        self.inputs = [0] * warps
        self.touch = {s.index: self._touched(s) for s in self.program.segments} if forms else {}
        self.relevant = {}

    def _touched(self, segment):
        """(mask of registers that the segment touches, that it writes)."""
        numbers, every, written = self.program.numbers, 0, 0
        for ins, _ in segment.instrs:
            if ins.op == "wgmma":
                continue
            for reg in destinations(ins):
                written |= 1 << numbers[reg]
            for reg in sources(ins):
                every |= 1 << numbers[reg]
        return (every | written) & self.mask, written & self.mask

    def reset(self, old):
        """The warps of the lanes ``old`` (bool) belong to new CTAs."""
        for w in np.flatnonzero(old[::32]).tolist():
            self.dirty[w], self.fences[w], self.inputs[w] = EVERYTHING, None, 0
            self.shapes[w], self.flight[w] = {}, {}

    def fence(self, site, warps):
        for w in (warps >> 5).tolist():
            self.dirty[w], self.fences[w] = 0, site
            self.shapes[w] = {}

    # registers

    def ran(self, segment, group):
        """A group runs a segment that is no wgmma."""
        every, written = self.touch.get(segment.index, (0, 0))
        if not every:
            return
        for w in np.unique(group.idx >> 5).tolist():
            for mask in self.flight[w].values():
                if mask & every:
                    self._in_flight(segment, group, w, mask & every, "accumulator")
                    break
            else:
                if self.inputs[w] & written:
                    self._in_flight(segment, group, w, self.inputs[w] & written, "input")
            if self.dirty[w] != EVERYTHING:
                self.dirty[w] |= self._counting(segment, self.fences[w])

    def _counting(self, segment, fence):
        """Registers of the segment whose use calls for another fence. Moves do not count, nor do calculations that a
        compiler moved down past the fence, according to their source lines.
        """
        key = segment.index, fence
        if key not in self.relevant:
            mask, at = 0, self.program.sites[fence]
            for ins, site in segment.instrs:
                info = self.program.sites[site]
                moved = not info.op and at.line and info.file == at.file and info.line <= at.line
                if ins.op not in ("mov", "wgmma") and not moved:
                    for reg in destinations(ins) + sources(ins):
                        mask |= 1 << self.program.numbers[reg]
            self.relevant[key] = mask & self.mask
        return self.relevant[key]

    def _in_flight(self, segment, group, warp, mask, what):
        numbers = self.program.numbers
        place = segment.instrs[0][1]
        for ins, site in reversed(segment.instrs):
            used = destinations(ins) if what == "input" else destinations(ins) + sources(ins)
            if any(mask >> numbers[r] & 1 for r in used):
                place = site
        issue = next(
            i
            for i in self.ledger.pending
            if 32 * warp in i.warps and (i.form.a_mask if what == "input" else i.form.d_mask) & mask
        )
        lanes = group.idx[group.idx >> 5 == warp]
        detail = f"{what}|{self.ledger.standing(issue, 32 * warp)}"
        self.machine.observer.finding(
            "wgmma-registers", place, lanes=self.machine.lanes_of(lanes), other_site=issue.site, detail=detail
        )

    # multiplications

    def issued(self, issue):
        """A multiplication starts; it is not among the pending ones yet."""
        if self.machine.observer.race:
            self._registers(issue)
        self._memory(issue)

    def _registers(self, issue):
        form = issue.form
        used = form.d_mask | form.a_mask
        for w in (issue.warps >> 5).tolist():
            flight = self.flight[w]
            if self.dirty[w] & used:
                self._unfenced(issue, w, self.dirty[w] == EVERYTHING)
            elif any(mask & used for key, mask in self.shapes[w].items() if key != form.d_regs):
                self._unfenced(issue, w, False)
            for key, mask in flight.items():
                if mask & form.a_mask or (mask & form.d_mask and key != form.d_regs):
                    self._overlap(issue, w, mask)
            self.shapes[w][form.d_regs] = form.d_mask
            flight[form.d_regs] = form.d_mask
            self.inputs[w] |= form.a_mask

    def _unfenced(self, issue, warp, never):
        detail = "never" if never else "since"
        lanes = self.machine.lanes_of((32 * warp + _LANE).astype(np.int32))
        self.machine.observer.finding("missing-wgmma-fence", issue.site, lanes=lanes, detail=detail)

    def _overlap(self, issue, warp, mask):
        other = next(i for i in self.ledger.pending if 32 * warp in i.warps and i.form.d_mask & mask)
        lanes = self.machine.lanes_of((32 * warp + _LANE).astype(np.int32))
        detail = f"accumulator|{self.ledger.standing(other, 32 * warp)}"
        self.machine.observer.finding("wgmma-registers", issue.site, lanes=lanes, other_site=other.site, detail=detail)

    def _operands(self, issue):
        """("a" | "b", first lanes, addresses int64[n, chunks]) of the operands in shared memory, per warpgroup."""
        step = issue.step
        first = issue.warps[::step]
        for which, words in (("a", issue.desc_a), ("b", issue.desc_b)):
            if words is not None:
                form = issue.form
                yield which, first, step, chunk_addresses(words[::step], form.major(which), form.rows(which))

    def _memory(self, issue):
        """Tell who reads what."""
        machine, observer = self.machine, self.machine.observer
        for which, first, step, addr in self._operands(issue):
            self._bounds(issue, which, first, addr)
            if observer.reading:
                observer.reading.started(issue, machine.slot_of[first].astype(np.int64), addr, step)
            observer.wgmma_reads(issue, which, *self._readers(issue, which, first, step, addr))

    def _bounds(self, issue, which, first, addr):
        machine = self.machine
        bad = addr + 16 > machine.shared_bytes
        if not bad.any():
            return
        machine.had_faults = True
        rows = np.flatnonzero(bad.any(axis=1))
        low, high = int(addr[rows[0]].min()), int(addr[rows[0]].max()) + 16
        detail = f"{which.upper()}|{low:x}|{high:x}|{machine.shared_bytes}"
        lanes = machine.lanes_of(first[rows].astype(np.int32))
        machine.observer.finding(
            "out-of-bounds", issue.site, lanes=lanes, addr=addr[rows].max(axis=1), space="shared", detail=detail
        )

    def _readers(self, issue, which, first, step, addr):
        """(addresses, lanes), one per chunk and reader: rows of A are read by their warp, B by every warp."""
        machine, chunks = self.machine, addr.shape[1]
        if issue.form.major(which) == "K":  # by core matrices, whose eight rows make one wavefront
            addr = addr.reshape(len(addr), -1, 8, 2).transpose(0, 1, 3, 2).reshape(len(addr), chunks)
        lane = np.arange(chunks) % 32
        if which == "a":
            warp = np.arange(chunks) * 4 // chunks
            reader = first[:, None] + 32 * warp + lane
            if step == 1:  # single warps: each its own quarter
                reader = first[:, None] + lane
                mine = warp == issue.part[:, None]
                addr, reader = addr[mine], reader[mine]
        else:
            addr, reader = np.tile(addr, step), first[:, None] + np.concatenate([32 * w + lane for w in range(step)])
        addr, reader = addr.ravel(), reader.ravel().astype(np.int32)
        inside = addr + 16 <= machine.shared_bytes
        if not inside.all():
            addr, reader = addr[inside], reader[inside]
        return addr, Lanes(machine.slot_of[reader], machine.tid_of[reader])

    def waited(self, site, warps):
        """Every lane of a warp passes its wait_group.sync with the others: one may announce the end of all reads."""
        machine = self.machine
        for first in warps.tolist():
            tids = machine.tid_of[first : first + 32]
            machine.observer.syncwarp(site, int(machine.slot_of[first]), int(tids[0]) >> 5, tids)

    def landed(self, issue):
        """Warps waited for a multiplication, which is not among the pending ones any more."""
        machine, observer = self.machine, self.machine.observer
        if not observer.race:
            return
        for which, first, step, addr in self._operands(issue):
            observer.reading.ended(issue, machine.slot_of[first].astype(np.int64), addr, step)
            observer.wgmma_read(issue, *self._readers(issue, which, first, step, addr))
        observer.reading.finished(issue.serial, len(issue.warps))
        for w in (issue.warps >> 5).tolist():
            self.flight[w], self.inputs[w] = {}, 0
        for other in self.ledger.pending:
            for w in (other.warps >> 5).tolist():
                self.flight[w][other.form.d_regs] = other.form.d_mask
                self.inputs[w] |= other.form.a_mask
