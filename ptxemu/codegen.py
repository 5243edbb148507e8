"""Segments to LLVM IR text: one function per segment that loops over the lanes of a group.

Inside a segment registers are SSA values; registers that live across segments stand in a register file, one row per
register and one column per lane. A row is ``CAPACITY`` elements plus one cache line, so that a lane's registers do
not fall into one cache set. ``fn(ctx, lanes, n) -> count``: ``ctx`` is the address of an int64 table (``CTX`` names
its fields), ``lanes`` that of int32 lane numbers, and ``count`` how many lanes take the branch at the end; which
ones stands in the byte table ``taken``.
"""

from __future__ import annotations

from .addressing import Addressing
from .errors import made_out
from .llvm import POINTER
from .ops import NATIVE


class Emitter(Addressing):
    """Writes one segment's function."""

    def run(self):
        """Return the function's text."""
        count = "0"
        for ins, site in self.segment.instrs:
            with made_out(lambda: self.program.malformed(self.ins)):
                count = self._instruction(ins, site)
        for reg in self.defined:
            if self.segment.live_out >> self.program.numbers[reg] & 1:
                self._save(reg)
        return self._assemble(count)

    def _instruction(self, ins, site):
        """Write one instruction; of the last one, return how many lanes take the branch."""
        self.ins, self.guard = ins, None
        if ins.guard is not None:
            reg, negated = ins.guard
            self.guard = self.src(reg, "pred")
            if negated:
                self.guard = self.op(f"xor i1 {self.guard}, true")
        if (ins, site) == self.segment.end:
            return self._terminator(ins)
        handler = NATIVE.get(ins.op)
        if handler is None:
            self.unsupported()
        if self.observe and self.guard is not None and not self.program.sites[site].op:
            self._count_guard(site)
        handler(self, ins, site)
        return "0"

    def _count_guard(self, site):
        """Count the lanes for which a guarded instruction is really executed."""
        self.guarded_sites.append(site)
        address = self.hoist(("guard", site), f"add i64 {self.ctx('guards')}, {8 * site}")
        pointer = self.hoist(("guard pointer", site), f"inttoptr i64 {address} to {POINTER('i64')}")
        before = self.op(f"load i64, {POINTER('i64')} {pointer}")
        one = self.op(f"zext i1 {self.guard} to i64")
        self.emit(f"store i64 {self.op(f'add i64 {before}, {one}')}, {POINTER('i64')} {pointer}")

    def _save(self, reg):
        as_float = self.values.get((reg, "f"))
        pointer_kind = "i8" if reg.bits == 1 else f"i{reg.bits}"
        value = self.values.get((reg, "i"))
        if value is None:
            value, pointer_kind = as_float, "float" if reg.bits == 32 else "double"
        elif reg.bits == 1:
            value = self.op(f"zext i1 {value} to i8")
        offset, size = self.unit.slot(reg)
        address = self.op(f"add i64 %lane{size}, {offset}")
        pointer = self.op(f"inttoptr i64 {address} to {POINTER(pointer_kind)}")
        self.emit(f"store {pointer_kind} {value}, {POINTER(pointer_kind)} {pointer}")

    def _terminator(self, ins):
        if ins.op == "brx":
            if self.guard is not None:
                self.unsupported("a guarded brx.idx")
            index = self.src(ins.operands[0], "u32")
            address = self.op(f"add i64 {self.ctx('index')}, %i4")
            pointer = self.op(f"inttoptr i64 {address} to {POINTER('i32')}")
            self.emit(f"store i32 {index}, {POINTER('i32')} {pointer}")
            return "0"
        if self.guard is None:
            return "0"
        address = self.op(f"add i64 {self.ctx('taken')}, %i")
        pointer = self.op(f"inttoptr i64 {address} to {POINTER('i8')}")
        byte = self.op(f"zext i1 {self.guard} to i8")
        self.emit(f"store i8 {byte}, {POINTER('i8')} {pointer}")
        return self.op(f"zext i1 {self.guard} to i64")

    def _assemble(self, count):
        registers = self.ctx("registers")
        text = [
            f"define i64 @seg{self.segment.index}(i64 %ctx, i64 %lanes, i64 %n) {{",
            "entry:",
            *self.entry_lines,
            "br label %loop",
            "loop:",
            "%i = phi i64 [ 0, %entry ], [ %i.next, %latch ]",
            "%count = phi i64 [ 0, %entry ], [ %count.next, %latch ]",
            "%i4 = shl i64 %i, 2",
            "%i8 = shl i64 %i, 3",
            "%lane.address = add i64 %lanes, %i4",
            f"%lane.pointer = inttoptr i64 %lane.address to {POINTER('i32')}",
            f"%lane = load i32, {POINTER('i32')} %lane.pointer",
            "%lane64 = zext i32 %lane to i64",
            "%lane.offset = shl i64 %lane64, 2",
            "%lane.offset8 = shl i64 %lane64, 3",
            "%lane.offset2 = shl i64 %lane64, 1",
            "%lane.offset16 = shl i64 %lane64, 4",
            f"%lane1 = add i64 {registers}, %lane64",
            f"%lane2 = add i64 {registers}, %lane.offset2",
            f"%lane4 = add i64 {registers}, %lane.offset",
            f"%lane8 = add i64 {registers}, %lane.offset8",
            f"%lane16 = add i64 {registers}, %lane.offset16",
            *self.lines,
            "br label %latch",
            "latch:",
            f"%count.next = add i64 %count, {count}",
            "%i.next = add i64 %i, 1",
            "%more = icmp ult i64 %i.next, %n",
            "br i1 %more, label %loop, label %done",
            "done:",
            "ret i64 %count.next",
            "}",
        ]
        return "\n".join(text)
