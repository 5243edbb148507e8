"""What the parser makes of PTX text: plain data, no behaviour.

Types are named as in PTX without the dot: "u32", "f16x2", "pred". ``BITS`` gives the width of one register of a type.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_WIDTHS = {
    1: "pred",
    8: "u8 s8 b8 e4m3 e5m2",
    16: "u16 s16 b16 f16 bf16 e4m3x2 e5m2x2 ue8m0x2",
    32: "u32 s32 b32 f32 tf32 f16x2 bf16x2 u16x2 s16x2",
    64: "u64 s64 b64 f64 f32x2",
    128: "b128",
}
BITS = {name: width for width, names in _WIDTHS.items() for name in names.split()}


class Reg:
    """A virtual register of one function; ``name`` is unique in it. Compared by identity."""

    __slots__ = ("name", "type", "bits")

    def __init__(self, name, type):
        self.name, self.type, self.bits = name, type, BITS[type]

    def __repr__(self):
        return self.name


@dataclass(frozen=True, slots=True)
class Special:
    """A special register such as ``%tid.x``; ``name`` without the percent sign."""

    name: str


@dataclass(frozen=True, slots=True)
class Int:
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class Float:
    """A floating-point literal by its bits: ``width`` 32 or 64, or 0 for a decimal literal (``value`` a float)."""

    value: int | float
    width: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, function or label by name, plus a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """Operands in braces."""

    items: tuple


@dataclass(frozen=True, slots=True)
class Address:
    """Operands in brackets: ``base`` (Reg, Symbol, Int or Special), a byte ``offset``, and what follows a comma."""

    base: object
    offset: int = 0
    rest: tuple = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """``a|b``: two destinations."""

    first: object
    second: object


@dataclass(frozen=True, slots=True)
class Not:
    """A negated predicate operand ``!%p``."""

    reg: object


SINK = Special("_")  # the destination ``_``


@dataclass(slots=True)
class Instr:
    """One instruction: "ld" with mods ("global", "f32"), operands in PTX order, guard (register, negated) or None."""

    op: str
    mods: tuple
    operands: list
    guard: tuple | None
    ptx_line: int
    loc: tuple | None  # (file index, line)
    scope: object = None  # where labels are looked up

    @property
    def opcode(self):
        """Mnemonic with its modifiers, "ld.global.f32"."""
        return ".".join((self.op, *self.mods))


@dataclass(slots=True)
class Label:
    """A position in a function's body; ``name`` is unique in the function."""

    name: str


@dataclass(slots=True)
class Variable:
    """A module, shared, local or param variable. ``data``: initial bytes (None: zeros); ``size`` 0 for ``.extern
    .shared x[]``.
    """

    name: str
    space: str
    type: str
    size: int
    align: int
    data: bytes | None = None
    extern: bool = False
    relocations: tuple = ()  # (byte offset, width, symbol name, addend, generic)


@dataclass(slots=True)
class Function:
    """An entry or device function. ``body`` holds Instr and Label in order; ``tables`` the ``.branchtargets`` lists."""

    name: str
    is_entry: bool
    params: list
    returns: list
    body: list | None = None
    variables: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)
    directives: dict = field(default_factory=dict)
    ptx_line: int = 0


@dataclass(slots=True)
class ModuleIR:
    """A parsed PTX module. ``files``: index to path."""

    target: str
    version: str
    functions: dict
    variables: dict
    files: dict
