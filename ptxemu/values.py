"""SSA values of one segment: reading operands, writing registers, plain emission of LLVM IR."""

from __future__ import annotations

import struct

from .errors import PtxError
from .ir import BITS, SINK, Float, Int, Not, Reg, Special, Symbol
from .layout import CTX
from .llvm import POINTER


def llvm_type(kind):
    """LLVM type that carries a PTX type; 16-bit floats and packed types travel as integers."""
    return {"f32": "float", "f64": "double", "pred": "i1"}.get(kind, f"i{BITS[kind]}")


def to_signed(value, bits):
    """Two's complement value of the low ``bits`` bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


class Values:
    """What the handlers in the ``ops_*`` files use: ``op`` emits, ``src`` reads an operand, ``dst`` writes one."""

    def __init__(self, unit, segment):
        self.unit, self.program, self.segment = unit, unit.program, segment
        self.observe = unit.observe
        self.entry_lines, self.lines = [], []
        self.values = {}  # (Reg, "i" | "f") -> SSA name
        self.defined = {}  # registers written in this segment
        self.temps = 0
        self.hoisted = {}
        self.block = "loop"
        self.guard = None
        self.seen_sites, self.guarded_sites = [], []
        self.ins = None

    # plain emission

    def temp(self):
        self.temps += 1
        return f"%t{self.temps}"

    def op(self, text):
        """Emit ``text`` as the definition of a new SSA name."""
        name = self.temp()
        self.lines.append(f"{name} = {text}")
        return name

    def emit(self, text):
        self.lines.append(text)

    def unsupported(self, what=None):
        ins = self.ins
        raise PtxError(
            f"{self.program.where(ins)}: {what or repr(ins.opcode)} is not supported by ptxemu; "
            f"run this kernel on a GPU of {self.program.module.target} or avoid the instruction"
        )

    def allow(self, *mods):
        """Refuse modifiers (the last one is the type) that the handler does not know."""
        for mod in self.ins.mods[:-1]:
            if mod not in mods:
                self.unsupported(f"{self.ins.opcode!r} (modifier .{mod})")

    def hoist(self, key, text):
        """Define a value once, before the loop over lanes."""
        if key not in self.hoisted:
            name = f"%h{len(self.hoisted)}"
            self.entry_lines.append(f"{name} = {text}")
            self.hoisted[key] = name
        return self.hoisted[key]

    def ctx(self, field):
        """Value of a ctx field, read before the loop."""
        if field in self.hoisted:
            return self.hoisted[field]
        address = self.hoist(("ctx address", field), f"add i64 %ctx, {8 * CTX[field]}")
        pointer = self.hoist(("ctx pointer", field), f"inttoptr i64 {address} to {POINTER('i64')}")
        return self.hoist(field, f"load i64, {POINTER('i64')} {pointer}")

    def call(self, name, result, *arguments):
        """Call an LLVM intrinsic or a function of the C library: arguments are (type, value) pairs."""
        self.unit.declare(f"declare {result} @{name}({', '.join(t for t, _ in arguments)})")
        return self.op(f"call {result} @{name}({', '.join(f'{t} {v}' for t, v in arguments)})")

    def helper(self, name, result, *arguments):
        """Call a helper of ptxemu/helpers.py by its address."""
        kinds = ", ".join(t for t, _ in arguments)
        address = self.unit.helper(name)
        pointer = "ptr" if POINTER("i8") == "ptr" else f"{result} ({kinds})*"
        target = self.op(f"inttoptr i64 {address} to {pointer}")
        return self.op(f"call {result} {target}({', '.join(f'{t} {v}' for t, v in arguments)})")

    # values

    def constant(self, operand, kind):
        if isinstance(operand, Int):
            if kind == "f32":
                return (
                    f"bitcast (i32 {to_signed(struct.unpack('<i', struct.pack('<f', operand.value))[0], 32)} to float)"
                )
            if kind == "f64":
                return f"bitcast (i64 {struct.unpack('<q', struct.pack('<d', operand.value))[0]} to double)"
            if kind == "pred":
                return "true" if operand.value else "false"
            return str(to_signed(operand.value, BITS[kind]))
        value, width = operand.value, operand.width
        if width == 0:
            value = struct.unpack("<q", struct.pack("<d", value))[0]
            width = 64
        if BITS[kind] == 32 and width == 64:
            value, width = (
                struct.unpack(
                    "<i", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", value & (1 << 64) - 1))[0])
                )[0],
                32,
            )
        elif BITS[kind] == 64 and width == 32:
            value = struct.unpack("<q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", value))[0]))[0]
        bits = to_signed(value, BITS[kind])
        kind_l = llvm_type(kind)
        return f"bitcast (i{BITS[kind]} {bits} to {kind_l})" if kind_l in ("float", "double") else str(bits)

    def src(self, operand, kind):
        """SSA name or constant of an operand read as ``kind``."""
        if isinstance(operand, Reg):
            return self._read(operand, kind)
        if isinstance(operand, (Int, Float)):
            return self.constant(operand, kind)
        if isinstance(operand, Not):
            return self.op(f"xor i1 {self.src(operand.reg, 'pred')}, true")
        if isinstance(operand, Special):
            value, bits = self.special(operand.name)
            return self.fit(value, bits, BITS[kind], False) if kind not in ("f32", "f64") else self.unsupported()
        if isinstance(operand, Symbol):
            return str(self.symbol(operand))
        return self.unsupported(f"operand of {self.ins.opcode!r}")

    def fit(self, value, have, want, signed):
        """Truncate or extend an integer value."""
        if have == want:
            return value
        if have > want:
            return self.op(f"trunc i{have} {value} to i{want}")
        return self.op(f"{'sext' if signed else 'zext'} i{have} {value} to i{want}")

    def _read(self, reg, kind):
        want = llvm_type(kind)
        is_float = want in ("float", "double")
        if is_float and reg.bits == BITS[kind]:
            found = self.values.get((reg, "f"))
            if found is None:
                integer = self._integer(reg)
                found = self.values[(reg, "f")] = self.op(f"bitcast i{reg.bits} {integer} to {want}")
            return found
        value = self._integer(reg)
        value = self.fit(value, reg.bits, BITS[kind], False)
        return self.op(f"bitcast i{BITS[kind]} {value} to {want}") if is_float else value

    def _integer(self, reg):
        found = self.values.get((reg, "i"))
        if found is None:
            as_float = self.values.get((reg, "f"))
            if as_float is not None:
                found = self.op(f"bitcast {'float' if reg.bits == 32 else 'double'} {as_float} to i{reg.bits}")
            else:
                found = self.load_register(reg)
            self.values[(reg, "i")] = found
        return found

    def load_register(self, reg):
        pointer = self.register_pointer(reg)
        if reg.bits == 1:
            byte = self.op(f"load i8, {POINTER('i8')} {pointer}")
            return self.op(f"trunc i8 {byte} to i1")
        return self.op(f"load i{reg.bits}, {POINTER(f'i{reg.bits}')} {pointer}")

    def register_pointer(self, reg):
        offset, size = self.unit.slot(reg)
        address = self.op(f"add i64 %lane{size}, {offset}")
        kind = "i8" if reg.bits == 1 else f"i{reg.bits}"
        return self.op(f"inttoptr i64 {address} to {POINTER(kind)}")

    def dst(self, operand, kind, value, signed=None):
        """Write an SSA value of type ``kind`` to a destination register, under the instruction's guard."""
        if operand is SINK:
            return
        if not isinstance(operand, Reg):
            self.unsupported(f"destination of {self.ins.opcode!r}")
        reg, carrier = operand, llvm_type(kind)
        is_float = carrier in ("float", "double")
        if reg.bits != BITS[kind]:
            if is_float:
                value, is_float = self.op(f"bitcast {carrier} {value} to i{BITS[kind]}"), False
            if signed is None:
                signed = kind[0] == "s"
            value = self.fit(value, BITS[kind], reg.bits, signed)
            carrier = f"i{reg.bits}"
        if self.guard is not None:
            old = self._read(reg, kind) if is_float else self._integer(reg)
            value = self.op(f"select i1 {self.guard}, {carrier} {value}, {carrier} {old}")
        self.values.pop((reg, "i"), None)
        self.values.pop((reg, "f"), None)
        self.values[(reg, "f" if is_float else "i")] = value
        self.defined[reg] = None
