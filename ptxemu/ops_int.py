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
        e.dst(ins.operands[0], kind, packed(e, [e.src(o, "b32") for o in operands], lambda *v: compute(_PACKED[kind], *v)))
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


@native("popc", "clz", "brev")
def count_bits(e, ins, site):
    kind = ins.mods[-1]
    width = f"i{BITS[kind]}"
    a = e.src(ins.operands[1], kind)
    if ins.op == "brev":
        e.dst(ins.operands[0], kind, e.call(f"llvm.bitreverse.{width}", width, (width, a)))
        return
    if ins.op == "popc":
        value = e.call(f"llvm.ctpop.{width}", width, (width, a))
    else:
        value = e.call(f"llvm.ctlz.{width}", width, (width, a), ("i1", "false"))
    e.dst(ins.operands[0], "u32", e.fit(value, BITS[kind], 32, False))


@native("bfind")
def bfind(e, ins, site):
    e.allow("shiftamt")
    kind = ins.mods[-1]
    bits = BITS[kind]
    width = f"i{bits}"
    a = e.src(ins.operands[1], kind)
    if kind[0] == "s":
        flipped, negative = e.op(f"xor {width} {a}, -1"), e.op(f"icmp slt {width} {a}, 0")
        a = e.op(f"select i1 {negative}, {width} {flipped}, {width} {a}")
    zeros = e.call(f"llvm.ctlz.{width}", width, (width, a), ("i1", "false"))
    place = zeros if "shiftamt" in ins.mods else e.op(f"sub {width} {bits - 1}, {zeros}")
    none = e.op(f"icmp eq {width} {a}, 0")
    e.dst(ins.operands[0], "u32", e.fit(e.op(f"select i1 {none}, {width} -1, {width} {place}"), bits, 32, False))


@native("bfe")
def bfe(e, ins, site):
    """Position and length are the low 8 bits of their operands; what lies beyond the register is the sign bit or zero."""
    kind = ins.mods[-1]
    bits = BITS[kind]
    width = f"i{bits}"
    a = e.src(ins.operands[1], kind)
    position, length = (e.op(f"and i32 {e.src(o, 'u32')}, 255") for o in ins.operands[2:4])
    wide = "i128"
    value = extend(e, a, kind, 128)
    pos_w = e.op(f"zext i32 {e.call('llvm.umin.i32', 'i32', ('i32', position), ('i32', str(bits)))} to {wide}")
    len_w = e.op(f"zext i32 {e.call('llvm.umin.i32', 'i32', ('i32', length), ('i32', '64'))} to {wide}")
    up = e.op(f"sub {wide} 128, {len_w}")
    right = "ashr" if kind[0] == "s" else "lshr"
    moved = e.op(f"{right} {wide} {value}, {pos_w}")
    empty = e.op(f"icmp eq i32 {length}, 0")
    safe = e.op(f"select i1 {empty}, {wide} 0, {wide} {up}")
    high = e.op(f"shl {wide} {moved}, {safe}")
    field = e.op(f"{right} {wide} {high}, {safe}")
    field = e.op(f"select i1 {empty}, {wide} 0, {wide} {field}")
    e.dst(ins.operands[0], kind, e.op(f"trunc {wide} {field} to {width}"))


@native("bfi")
def bfi(e, ins, site):
    kind = ins.mods[-1]
    bits = BITS[kind]
    a, b = e.src(ins.operands[1], kind), e.src(ins.operands[2], kind)
    position, length = (e.op(f"and i32 {e.src(o, 'u32')}, 255") for o in ins.operands[3:5])
    position = e.call("llvm.umin.i32", "i32", ("i32", position), ("i32", str(bits)))
    length = e.call("llvm.umin.i32", "i32", ("i32", length), ("i32", str(bits)))
    wide = "i128"
    pos_w, len_w = e.op(f"zext i32 {position} to {wide}"), e.op(f"zext i32 {length} to {wide}")
    ones = e.op(f"sub {wide} {e.op(f'shl {wide} 1, {len_w}')}, 1")
    mask = e.op(f"shl {wide} {ones}, {pos_w}")
    field = e.op(f"and {wide} {e.op(f'shl {wide} {extend(e, a, kind, 128)}, {pos_w}')}, {mask}")
    rest = e.op(f"and {wide} {extend(e, b, kind, 128)}, {e.op(f'xor {wide} {mask}, -1')}")
    e.dst(ins.operands[0], kind, e.op(f"trunc {wide} {e.op(f'or {wide} {field}, {rest}')} to i{bits}"))


@native("bmsk")
def bmsk(e, ins, site):
    """``.clamp`` stops at 32, ``.wrap`` takes both operands modulo 32."""
    e.allow("clamp", "wrap")
    a, b = (e.op(f"zext i32 {e.src(o, 'u32')} to i64") for o in ins.operands[1:3])
    if "wrap" in ins.mods:
        a, b = e.op(f"and i64 {a}, 31"), e.op(f"and i64 {b}, 31")
    else:
        a, b = (e.call("llvm.umin.i64", "i64", ("i64", v), ("i64", "32")) for v in (a, b))
    ones = e.op(f"sub i64 {e.op(f'shl i64 1, {b}')}, 1")
    e.dst(ins.operands[0], "u32", e.op(f"trunc i64 {e.op(f'shl i64 {ones}, {a}')} to i32"))


@native("szext")
def szext(e, ins, site):
    e.allow("clamp", "wrap")
    kind = ins.mods[-1]
    value = extend(e, e.src(ins.operands[1], kind), kind, 64)
    n = e.op(f"zext i32 {e.src(ins.operands[2], 'u32')} to i64")
    if "wrap" in ins.mods:
        n = e.op(f"and i64 {n}, 31")
    n = e.call("llvm.umin.i64", "i64", ("i64", n), ("i64", "32"))
    empty = e.op(f"icmp eq i64 {n}, 0")
    shift = e.op(f"select i1 {empty}, i64 0, i64 {e.op(f'sub i64 64, {n}')}")
    up = e.op(f"shl i64 {value}, {shift}")
    down = e.op(f"{'ashr' if kind[0] == 's' else 'lshr'} i64 {up}, {shift}")
    down = e.op(f"select i1 {empty}, i64 0, i64 {down}")
    e.dst(ins.operands[0], kind, e.op(f"trunc i64 {down} to i32"))


@native("dp4a", "dp2a")
def dot_product(e, ins, site):
    """Four 8-bit products, or two 16-bit by 8-bit products (``.lo``/``.hi`` half of b), added to c."""
    e.allow("lo", "hi", "u32", "s32")
    types = [m for m in ins.mods if m in ("u32", "s32")]
    a, b = (e.src(o, "b32") for o in ins.operands[1:3])
    total = e.src(ins.operands[3], "b32")

    def part(value, shift, bits, sign):
        moved = e.op(f"lshr i32 {value}, {shift}")
        return e.op(f"{'sext' if sign == 's' else 'zext'} i{bits} {e.op(f'trunc i32 {moved} to i{bits}')} to i32")

    for k in range(4 if ins.op == "dp4a" else 2):
        if ins.op == "dp4a":
            x, y = part(a, 8 * k, 8, types[0][0]), part(b, 8 * k, 8, types[1][0])
        else:
            x, y = part(a, 16 * k, 16, types[0][0]), part(b, 8 * k + 16 * ("hi" in ins.mods), 8, types[1][0])
        total = e.op(f"add i32 {total}, {e.op(f'mul i32 {x}, {y}')}")
    e.dst(ins.operands[0], "b32", total)
