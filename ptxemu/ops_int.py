"""Integer arithmetic (PTX ISA 9.7.1), without the extended-precision instructions."""

from __future__ import annotations

from .ir import BITS
from .registry import native

_PACKED = {"s16x2": "s16", "u16x2": "u16"}


def is_integer(kind):
    """True for s/u/b types that are not packed."""
    return kind[0] in "sub" and kind not in ("bf16", "bf16x2") and not kind.endswith("x2")


def extend(e, value, kind, bits):
    """Widen an integer by the signedness of its type."""
    return e.op(f"{'sext' if kind[0] == 's' else 'zext'} i{BITS[kind]} {value} to i{bits}")


def arithmetic(e, ins, compute):
    """``compute(kind, *sources)`` for plain types and halves of packed ones."""
    kind = ins.mods[-1]
    operands = ins.operands[1:]
    if kind in _PACKED:
        e.dst(
            ins.operands[0], kind, packed(e, [e.src(o, "b32") for o in operands], lambda *v: compute(_PACKED[kind], *v))
        )
    else:
        e.dst(ins.operands[0], kind, compute(kind, *[e.src(o, kind) for o in operands]))


def packed(e, values, compute):
    """Apply ``compute`` to both 16-bit halves of 32-bit values."""
    halves = []
    for shift in (0, 16):
        parts = []
        for value in values:
            moved = e.op(f"lshr i32 {value}, {shift}") if shift else value
            parts.append(e.op(f"trunc i32 {moved} to i16"))
        halves.append(e.op(f"zext i16 {compute(*parts)} to i32"))
    high = e.op(f"shl i32 {halves[1]}, 16")
    return e.op(f"or i32 {high}, {halves[0]}")


def add_sub(e, ins):
    """add/sub of integer types."""
    kind = ins.mods[-1]
    e.allow("sat", "cc")
    saturate = "sat" in ins.mods

    def compute(k, a, b):
        width = f"i{BITS[k]}"
        if saturate:
            return e.call(f"llvm.s{ins.op}.sat.{width}", width, (width, a), (width, b))
        return e.op(f"{ins.op} {width} {a}, {b}")

    if saturate and kind != "s32":
        e.unsupported()
    arithmetic(e, ins, compute)


def multiply(e, ins):
    """mul of integer types: .lo, .hi, .wide."""
    e.allow("lo", "hi", "wide")
    kind = ins.mods[-1]
    a, b = (e.src(o, kind) for o in ins.operands[1:3])
    value, out = product(e, ins, kind, a, b)
    e.dst(ins.operands[0], out, value)


def product(e, ins, kind, a, b):
    """(value, type) of a product by the .lo/.hi/.wide modifier."""
    bits = BITS[kind]
    if "lo" in ins.mods:
        return e.op(f"mul i{bits} {a}, {b}"), kind
    wide = e.op(f"mul i{2 * bits} {extend(e, a, kind, 2 * bits)}, {extend(e, b, kind, 2 * bits)}")
    if "wide" in ins.mods:
        return wide, f"{kind[0]}{2 * bits}"
    high = e.op(f"lshr i{2 * bits} {wide}, {bits}")
    return e.op(f"trunc i{2 * bits} {high} to i{bits}"), kind


def multiply_add(e, ins):
    """mad of integer types."""
    e.allow("lo", "hi", "wide", "sat")
    kind = ins.mods[-1]
    a, b = (e.src(o, kind) for o in ins.operands[1:3])
    value, out = product(e, ins, kind, a, b)
    c = e.src(ins.operands[3], out)
    width = f"i{BITS[out]}"
    if "sat" in ins.mods:
        if out != "s32" or "hi" not in ins.mods:
            e.unsupported()
        e.dst(ins.operands[0], out, e.call("llvm.sadd.sat.i32", "i32", ("i32", value), ("i32", c)))
    else:
        e.dst(ins.operands[0], out, e.op(f"add {width} {value}, {c}"))


@native("mul24", "mad24")
def mul24(e, ins, site):
    e.allow("lo", "hi")
    kind = ins.mods[-1]
    shift, right = 8, "ashr" if kind[0] == "s" else "lshr"
    parts = []
    for operand in ins.operands[1:3]:
        up = e.op(f"shl i32 {e.src(operand, kind)}, {shift}")
        parts.append(extend(e, e.op(f"{right} i32 {up}, {shift}"), kind, 64))
    value = e.op(f"mul i64 {parts[0]}, {parts[1]}")
    if "hi" in ins.mods:
        value = e.op(f"lshr i64 {value}, 16")
    value = e.op(f"trunc i64 {value} to i32")
    if ins.op == "mad24":
        value = e.op(f"add i32 {value}, {e.src(ins.operands[3], kind)}")
    e.dst(ins.operands[0], kind, value)


@native("sad")
def sad(e, ins, site):
    kind = ins.mods[-1]
    a, b, c = (e.src(o, kind) for o in ins.operands[1:])
    width, sign = f"i{BITS[kind]}", kind[0]
    less = e.op(f"icmp {sign}lt {width} {a}, {b}")
    ab, ba = e.op(f"sub {width} {a}, {b}"), e.op(f"sub {width} {b}, {a}")
    distance = e.op(f"select i1 {less}, {width} {ba}, {width} {ab}")
    e.dst(ins.operands[0], kind, e.op(f"add {width} {c}, {distance}"))


def divide(e, ins):
    """Integer div and rem. A zero divisor gives all ones, as the machine's division routine does; MIN / -1 wraps."""
    kind = ins.mods[-1]
    bits, sign = BITS[kind], kind[0]
    width = f"i{bits}"
    a, b = (e.src(o, kind) for o in ins.operands[1:])
    zero = e.op(f"icmp eq {width} {b}, 0")
    unsafe = zero
    if sign == "s":
        lowest = e.op(f"icmp eq {width} {a}, {-(1 << bits - 1)}")
        minus = e.op(f"icmp eq {width} {b}, -1")
        overflow = e.op(f"and i1 {lowest}, {minus}")
        unsafe = e.op(f"or i1 {zero}, {overflow}")
    safe = e.op(f"select i1 {unsafe}, {width} 1, {width} {b}")
    value = e.op(f"{sign}{ins.op} {width} {a}, {safe}")  # a / 1 = MIN and a % 1 = 0 are the wrapped results
    e.dst(ins.operands[0], kind, e.op(f"select i1 {zero}, {width} -1, {width} {value}"))


def negate(e, ins):
    """neg and abs of integer types."""

    def compute(kind, a):
        width = f"i{BITS[kind]}"
        minus = e.op(f"sub {width} 0, {a}")
        if ins.op == "neg":
            return minus
        negative = e.op(f"icmp slt {width} {a}, 0")
        return e.op(f"select i1 {negative}, {width} {minus}, {width} {a}")

    arithmetic(e, ins, compute)


def min_max(e, ins):
    """min and max of integer types, with .relu."""
    e.allow("relu")

    def compute(kind, a, b):
        width = f"i{BITS[kind]}"
        value = e.call(f"llvm.{kind[0]}{ins.op}.{width}", width, (width, a), (width, b))
        return e.call(f"llvm.smax.{width}", width, (width, value), (width, "0")) if "relu" in ins.mods else value

    arithmetic(e, ins, compute)
