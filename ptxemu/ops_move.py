"""Moves, selection and comparison (PTX ISA 9.7.6, 9.7.7 and 9.7.9), and instructions without effect here."""

from __future__ import annotations

from .ir import BITS, SINK, Symbol, Vector
from .layout import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE
from .ops_float import flush
from .ops_half import to_f32
from .registry import native

_INT_COMPARE = {
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
    "lo": "ult",
    "ls": "ule",
    "hi": "ugt",
    "hs": "uge",
}
_FLOAT_COMPARE = {
    "eq": "oeq",
    "ne": "one",
    "lt": "olt",
    "le": "ole",
    "gt": "ogt",
    "ge": "oge",
    "equ": "ueq",
    "neu": "une",
    "ltu": "ult",
    "leu": "ule",
    "gtu": "ugt",
    "geu": "uge",
    "num": "ord",
    "nan": "uno",
}
_BOOLEAN = {"and", "or", "xor"}


@native("mov")
def mov(e, ins, site):
    kind = ins.mods[-1]
    to, value = ins.operands
    if isinstance(to, Vector):
        _unpack(e, to.items, value, kind)
    elif isinstance(value, Vector):
        e.dst(to, kind, _pack(e, value.items, BITS[kind]))
    else:
        e.dst(to, kind, e.src(value, kind))


def _pack(e, items, bits):
    each = bits // len(items)
    total = None
    for k, item in enumerate(items):
        part = e.op(f"zext i{each} {e.src(item, f'b{each}')} to i{bits}")
        if k:
            part = e.op(f"shl i{bits} {part}, {k * each}")
        total = part if total is None else e.op(f"or i{bits} {total}, {part}")
    return total


def _unpack(e, items, value, kind):
    bits = BITS[kind]
    each = bits // len(items)
    whole = e.src(value, f"b{bits}")
    for k, item in enumerate(items):
        if item is SINK:
            continue
        part = e.op(f"lshr i{bits} {whole}, {k * each}") if k else whole
        e.dst(item, f"b{each}", e.op(f"trunc i{bits} {part} to i{each}"))


@native("selp")
def selp(e, ins, site):
    kind = ins.mods[-1]
    carrier = {"f32": "float", "f64": "double"}.get(kind, f"i{BITS[kind]}")
    a, b = (e.src(o, kind) for o in ins.operands[1:3])
    p = e.src(ins.operands[3], "pred")
    e.dst(ins.operands[0], kind, e.op(f"select i1 {p}, {carrier} {a}, {carrier} {b}"))


@native("slct")
def slct(e, ins, site):
    """a where c >= 0, else b; a NaN in c chooses b."""
    e.allow("ftz", "b16", "b32", "b64", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64")
    kind, test = ins.mods[-2], ins.mods[-1]
    carrier = {"f32": "float", "f64": "double"}.get(kind, f"i{BITS[kind]}")
    a, b = (e.src(o, kind) for o in ins.operands[1:3])
    c = e.src(ins.operands[3], test)
    if test == "f32":
        p = e.op(f"fcmp oge float {flush(e, c) if 'ftz' in ins.mods else c}, 0.0")
    else:
        p = e.op(f"icmp sge i32 {c}, 0")
    e.dst(ins.operands[0], kind, e.op(f"select i1 {p}, {carrier} {a}, {carrier} {b}"))


def compare(e, relation, kind, a, b, ftz=False):
    """i1 of a comparison of two operands of a type."""
    if kind in ("f32", "f64", "f16", "bf16"):
        carrier = "double" if kind == "f64" else "float"
        if kind in ("f16", "bf16"):
            a, b = to_f32(e, a, kind), to_f32(e, b, kind)
        if ftz and kind == "f32":
            a, b = flush(e, a), flush(e, b)
        return e.op(f"fcmp {_FLOAT_COMPARE[relation]} {carrier} {a}, {b}")
    name = _INT_COMPARE[relation]
    if name in ("lt", "le", "gt", "ge"):
        name = ("s" if kind[0] == "s" else "u") + name
    return e.op(f"icmp {name} i{BITS[kind]} {a}, {b}")


def _relation(e, ins, kind):
    table = _FLOAT_COMPARE if kind[0] in "f" or kind.startswith("bf") else _INT_COMPARE
    relation = ins.mods[0]
    if relation not in table:
        e.unsupported()
    return relation


@native("setp")
def setp(e, ins, site):
    kind = ins.mods[-1]
    e.allow("ftz", *_INT_COMPARE, *_FLOAT_COMPARE, *_BOOLEAN)
    relation = _relation(e, ins, kind)
    boolean = next((m for m in ins.mods if m in _BOOLEAN), None)
    to = ins.operands[0]
    first, second = (to.first, to.second) if hasattr(to, "first") else (to, SINK)
    if kind in ("f16x2", "bf16x2"):
        pairs = _halves(e, ins, kind)
        results = [compare(e, relation, kind[:-2], a, b) for a, b in pairs]
    else:
        a, b = (e.src(o, kind) for o in ins.operands[1:3])
        result = compare(e, relation, kind, a, b, "ftz" in ins.mods)
        results = [result, None]
    c = e.src(ins.operands[3], "pred") if boolean else None
    if results[1] is None and second is not SINK:
        results[1] = e.op(f"xor i1 {results[0]}, true")
    for operand, value in zip((first, second), results, strict=True):
        if value is not None and operand is not SINK:
            e.dst(operand, "pred", e.op(f"{boolean} i1 {value}, {c}") if boolean else value)


def _halves(e, ins, kind):
    values = [e.src(o, "b32") for o in ins.operands[1:3]]
    out = []
    for shift in (0, 16):
        out.append([e.op(f"trunc i32 {e.op(f'lshr i32 {v}, {shift}')} to i16") for v in values])
    return out


@native("set")
def set_compare(e, ins, site):
    """All ones or 1.0 where the comparison holds."""
    kind, out = ins.mods[-1], ins.mods[-2]
    boolean = next((m for m in ins.mods if m in _BOOLEAN), None)
    relation = _relation(e, ins, kind)
    c = e.src(ins.operands[3], "pred") if boolean else None
    if kind in ("f16x2", "bf16x2"):
        total = "0"
        for k, (a, b) in enumerate(_halves(e, ins, kind)):
            p = compare(e, relation, kind[:-2], a, b)
            p = e.op(f"{boolean} i1 {p}, {c}") if boolean else p
            one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(out, 0xFFFF)
            total = e.op(f"or i32 {total}, {e.op(f'select i1 {p}, i32 {_word(one << 16 * k)}, i32 0')}")
        e.dst(ins.operands[0], "b32", total)
        return
    a, b = (e.src(o, kind) for o in ins.operands[1:3])
    p = compare(e, relation, kind, a, b, "ftz" in ins.mods)
    p = e.op(f"{boolean} i1 {p}, {c}") if boolean else p
    if out == "f32":
        value = e.op(f"select i1 {p}, float 1.0, float 0.0")
    elif out in ("f16", "bf16"):
        value = e.op(f"select i1 {p}, i16 {0x3C00 if out == 'f16' else 0x3F80}, i16 0")
    else:
        value = e.op(f"sext i1 {p} to i{BITS[out]}")
    e.dst(ins.operands[0], out, value)


def _word(value):
    return value - (1 << 32) if value >> 31 else value


@native("cvta")
def cvta(e, ins, site):
    """Generic addresses: global and param as they are, shared and local in windows of their own."""
    space = next(
        (m.split("::")[0] for m in ins.mods if m.split("::")[0] in ("global", "shared", "local", "const", "param")),
        None,
    )
    kind = ins.mods[-1]
    bits = BITS[kind]
    window = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}.get(space, 0)
    operand = ins.operands[1]
    value = str(e.symbol(operand)) if isinstance(operand, Symbol) else e.src(operand, kind)
    if window and bits == 64:
        value = e.op(f"{'sub' if 'to' in ins.mods else 'add'} i64 {value}, {window}")
    e.dst(ins.operands[0], kind, value)


@native("isspacep")
def isspacep(e, ins, site):
    space = ins.mods[-1].split("::")[0]
    address = e.src(ins.operands[1], "b64")

    def inside(window):
        return e.op(f"icmp ult i64 {e.op(f'sub i64 {address}, {window}')}, {WINDOW_SIZE}")

    if space in ("shared", "local"):
        value = inside(SHARED_WINDOW if space == "shared" else LOCAL_WINDOW)
    elif space == "global":
        value = e.op(f"xor i1 {e.op(f'or i1 {inside(SHARED_WINDOW)}, {inside(LOCAL_WINDOW)}')}, true")
    else:
        value = "false"
    e.dst(ins.operands[0], "pred", value)


@native(
    "nanosleep",
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "membar",
    "fence",
    "griddepcontrol",
    "pmevent",
    "brkpt",
)
def no_effect(e, ins, site):
    """Hints, and orderings that hold anyway because lanes run one after the other."""


@native("createpolicy")
def createpolicy(e, ins, site):
    e.dst(ins.operands[0], "b64", "0")
