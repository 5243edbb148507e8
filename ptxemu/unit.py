"""One compiled form of a program: a register layout, the LLVM module's text and the native functions."""

from __future__ import annotations

from . import helpers
from .codegen import Emitter
from .errors import made_out
from .ir import Reg
from .layout import CTX, MAX_FAULTS
from .llvm import Native, runtime
from .operands import destinations, sources
from .registry import PLAN


class Unit:
    """``program`` compiled for ``capacity`` lanes, with or without recording addresses.

    ``seen[segment]``: the sites whose addresses that segment records, in the order of the rows of the record;
    ``guarded[segment]``: the guarded instructions whose active lanes it counts.
    """

    def __init__(self, program, capacity, observe, module_addresses, param_address):
        self.program, self.capacity, self.observe = program, capacity, observe
        self.module_addresses, self.param_address = module_addresses, param_address
        self.slots, self.register_bytes = {}, 0
        self.declarations, self.helpers = {}, {}
        self.seen, self.guarded = {}, {}
        texts, names = [], {}
        for segment in program.segments:
            if segment.kind == "native":
                emitter = Emitter(self, segment)
                texts.append(emitter.run())
                names[segment.index] = f"seg{segment.index}"
                self.seen[segment.index] = emitter.seen_sites
                self.guarded[segment.index] = emitter.guarded_sites
            else:
                ins = segment.instrs[0][0]
                if segment.plan is None and ins.op in PLAN:
                    with made_out(lambda ins=ins: program.malformed(ins)):
                        segment.plan = PLAN[ins.op](program, ins)
                for reg in destinations(ins) + sources(ins) + ([ins.guard[0]] if ins.guard else []):
                    if isinstance(reg, Reg):
                        self.slot(reg)
        self.names = names
        self.text = "\n".join([*self.declarations, runtime(CTX, MAX_FAULTS), *texts])
        self._native = None

    @property
    def functions(self):
        """Segment index to native function; compiles on first use."""
        if self._native is None:
            self._native = Native(self.text, self.names)
        return self._native.functions

    def slot(self, reg):
        """(byte offset of the register's row, element bytes)."""
        found = self.slots.get(reg)
        if found is None:
            size = max(reg.bits // 8, 1)
            found = self.slots[reg] = (self.register_bytes, size)
            self.register_bytes += self.capacity * size + 64
        return found

    def declare(self, text):
        self.declarations[text] = None

    def helper(self, name):
        """Address of a helper; the helper stays alive with this unit."""
        if name not in self.helpers:
            self.helpers[name] = helpers.compiled(name)
        return self.helpers[name][0]
