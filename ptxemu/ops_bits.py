"""Integer instructions on bits and bytes: counting, fields, dot products (PTX ISA 9.7.1)."""

from __future__ import annotations

from .ir import BITS
from .ops_int import extend
from .registry import native


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
    """Position and length are the low 8 bits of their operands; beyond the register lies the sign bit or zero."""
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
