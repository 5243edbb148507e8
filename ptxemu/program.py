"""From a parsed function to what the machine runs: calls inlined, variables placed, code cut into segments, liveness
known.

A *segment* is a piece of a basic block. The machine runs a whole segment for one lane after the other, so it is cut
wherever lanes exchange values (shuffles, votes, barriers) and after every access that orders others (atomics,
fences, volatile and ordered accesses).
"""

from __future__ import annotations

import functools
import os
from dataclasses import replace

from .errors import made_out
from .inline import Inliner
from .ir import Instr, Label, Reg
from .operands import destinations, sources, symbols
from .ops import COLLECTIVE
from .segments import MEMORY_OPS, SCOPES, STRONG, TERMINATORS, Segment, Site, collective_facts, memory_facts


def _reaches_others(ins):
    """Whether an instruction has to do with the shared memory of other CTAs."""
    return ins.op in ("mapa", "getctarank") or (ins.op in MEMORY_OPS and "shared::cluster" in ins.mods)


class Program:
    """One entry, ready for code generation."""

    def __init__(self, module, entry):
        self.module, self.function = module, entry
        flat = Inliner(module)
        flat.run(entry)
        self.tables = flat.tables
        self.sites, self.segments = [], []
        self.clusters = any(isinstance(i, Instr) and _reaches_others(i) for i in flat.body)
        self._place(flat)
        self._cut(flat.body)
        self._liveness()

    def _place(self, flat):
        """Give every variable an address: local frame offsets, shared offsets, parameter offsets."""
        self.local_offsets, at = {}, 0
        for name, variable in flat.locals.items():
            at = -(-at // variable.align) * variable.align
            self.local_offsets[name] = at
            at += variable.size
        self.local_size = -(-at // 16) * 16
        self.param_offsets, at = {}, 0
        for variable in self.function.params:
            at = -(-at // variable.align) * variable.align
            self.param_offsets[variable.name] = at
            at += variable.size
        self.param_size = at
        used = set()
        for item in flat.body:
            if isinstance(item, Instr):
                for operand in item.operands:
                    used.update(symbols(operand))
        shared = dict(flat.shared)
        shared.update((n, v) for n, v in self.module.variables.items() if v.space == "shared" and n in used)
        self.shared_offsets, at = {}, 0
        for name, variable in shared.items():
            if not variable.extern:
                at = -(-at // variable.align) * variable.align
                self.shared_offsets[name] = at
                at += variable.size
        self.static_shared = at
        dynamic_align = max((v.align for v in shared.values() if v.extern), default=1)
        self.dynamic_offset = -(-at // dynamic_align) * dynamic_align
        self._shared_sizes = {name: variable.size for name, variable in shared.items()}
        for name, variable in shared.items():
            if variable.extern:
                self.shared_offsets[name] = self.dynamic_offset

    def shared_layout(self):
        """(name, byte offset, bytes) of every shared variable; an extern array has no size of its own."""
        return [(name, at, self._shared_sizes[name] or 1 << 20) for name, at in self.shared_offsets.items()]

    def malformed(self, ins):
        """The line for an instruction whose parts are not those that it has in the PTX ISA."""
        shown = f"{self.where(ins)}: {ins.opcode!r} with {len(ins.operands)} operands"
        return f"{shown} is no form of this instruction that ptxemu can make out: check it with ptxas"

    def _new_site(self, ins, block):
        with made_out(lambda: self.malformed(ins)):
            destinations(ins), sources(ins)
            return self._site(ins, block)

    def _site(self, ins, block):
        file, line = ins.loc or (0, 0)
        site = Site(len(self.sites), ins.opcode, self.module.files.get(file, ""), line, ins.ptx_line, block)
        if ins.op in MEMORY_OPS:
            site.space, site.op, site.width, site.vec, site.sem, site.scope = memory_facts(ins)
        elif ins.op in COLLECTIVE:
            site.space, site.op, site.width = collective_facts(ins)
        elif ins.op in ("fence", "membar"):
            site.sem = next((m for m in ins.mods if m in STRONG), "sc" if ins.op == "membar" else "acq_rel")
            site.scope = (
                {"gl": "gpu"}.get(ins.mods[-1], ins.mods[-1])
                if ins.op == "membar"
                else next((m for m in ins.mods if m in SCOPES), "")
            )
        self.sites.append(site)
        if ins.op == "cp" and site.op:
            to = "global" if site.space == "shared" else "shared"
            kind = "red" if "reduce" in ins.mods else "st"
            sem = "relaxed" if kind == "red" else ""
            self.sites.append(replace(site, index=len(self.sites), space=to, op=kind, sem=sem))
        return site

    def _cut(self, body):
        segments, labels = self.segments, {}
        targets = {o.name for i in body if isinstance(i, Instr) and i.op == "bra" for o in i.operands}
        targets.update(label for table in self.tables.values() for label in table)
        current = Segment(0)

        def close(fall_through):
            nonlocal current
            current.next = len(segments) + 1 if fall_through else None
            segments.append(current)
            current = Segment(len(segments))

        for item in body:
            if isinstance(item, Label):
                if item.name in targets and current.instrs:
                    close(True)
                labels[item.name] = current.index
                continue
            if item.op in COLLECTIVE:
                if current.instrs:
                    close(True)
                current.kind = "collective"
                current.instrs.append((item, self._new_site(item, current.index).index))
                close(True)
                continue
            site = self._new_site(item, current.index)
            current.instrs.append((item, site.index))
            if item.op in TERMINATORS:
                current.end = current.instrs[-1]
                close(item.guard is not None or item.op == "trap")
                continue
            current.stores |= site.op in ("st", "atom", "red") and site.space != "local"
            waits = site.op in ("ld", "atom") and bool(site.sem) and site.space != "local"
            current.spins |= waits or item.op == "nanosleep"
            current.waits |= waits and site.space in ("global", "generic")
            if (site.op and site.sem) or item.op in ("fence", "membar"):
                close(True)
        if (
            current.instrs
            or not segments
            or segments[-1].next is not None
            or any(s == current.index for s in labels.values())
        ):
            exit_ins = Instr(
                "exit", (), [], None, body[-1].ptx_line if body and isinstance(body[-1], Instr) else 0, None
            )
            current.instrs.append((exit_ins, self._new_site(exit_ins, current.index).index))
            current.end = current.instrs[-1]
            close(False)
        for segment in segments:
            if segment.end is None:
                continue
            ins = segment.end[0]
            if ins.op == "bra":
                segment.target = labels[ins.operands[0].name]
            elif ins.op == "brx":
                segment.targets = [labels[name] for name in self.tables[ins.operands[1].name]]

    def successors(self, segment):
        """Indices of the segments that may follow."""
        out = [s for s in (segment.next, segment.target) if s is not None]
        return out + (segment.targets or [])

    def _liveness(self):
        """Live registers as bit sets (Python ints) and the registers' numbers."""
        self.numbers = numbers = {}
        for segment in self.segments:
            for ins, _ in segment.instrs:
                for reg in destinations(ins) + sources(ins) + ([ins.guard[0]] if ins.guard else []):
                    if isinstance(reg, Reg) and reg not in numbers:
                        numbers[reg] = len(numbers)
        uses, kills = [], []
        for segment in self.segments:
            use = kill = 0
            for ins, _ in segment.instrs:
                read = sources(ins) + ([ins.guard[0]] if ins.guard else [])
                written = destinations(ins)
                if ins.guard:
                    read = read + written
                for reg in read:
                    bit = 1 << numbers[reg]
                    use |= bit & ~kill
                for reg in written:
                    kill |= 1 << numbers[reg]
            uses.append(use)
            kills.append(kill)
        changed = True
        while changed:
            changed = False
            for segment in reversed(self.segments):
                out = 0
                for s in self.successors(segment):
                    out |= self.segments[s].live_in
                new = uses[segment.index] | (out & ~kills[segment.index])
                if new != segment.live_in or out != segment.live_out:
                    segment.live_in, segment.live_out = new, out
                    changed = True

    @functools.cached_property
    def never_defined(self):
        """Registers that some instruction reads although no path defines them: [(register, site index)]."""
        numbers = self.numbers
        made = [sum(1 << n for n in {numbers[r] for i, _ in s.instrs for r in destinations(i)}) for s in self.segments]
        reach = [0] * len(self.segments)
        seen = {0}
        work = [0]
        out = {}
        while work:
            segment = self.segments[work.pop()]
            defined = reach[segment.index] | made[segment.index]
            for s in self.successors(segment):
                if s not in seen or defined & ~reach[s]:
                    seen.add(s)
                    reach[s] |= defined
                    work.append(s)
        for index in sorted(seen):
            missing = ~reach[index]
            mine = set()
            for ins, site in self.segments[index].instrs:
                for reg in sources(ins, sums=False) + ([ins.guard[0]] if ins.guard else []):
                    if reg not in mine and missing >> numbers[reg] & 1:
                        out.setdefault(reg, site)
                mine.update(destinations(ins))
        return list(out.items())

    def where(self, ins):
        """ "line 12 (k.cu:7)" for messages."""
        file, line = ins.loc or (0, 0)
        path = self.module.files.get(file)
        return f"line {ins.ptx_line}" + (f" ({os.path.basename(path)}:{line})" if path and line else "")
