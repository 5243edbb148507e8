"""Logic, shifts and byte permutation (PTX ISA 9.7.8 and 9.7.9.7)."""

from __future__ import annotations

from .ir import BITS, Int
from .registry import native


@native("and", "or", "xor")
def logic(e, ins, site):
    kind = ins.mods[-1]
    a, b = (e.src(o, kind) for o in ins.operands[1:])
    e.dst(ins.operands[0], kind, e.op(f"{ins.op} i{BITS[kind]} {a}, {b}"))


@native("not")
def invert(e, ins, site):
    kind = ins.mods[-1]
    e.dst(
        ins.operands[0],
        kind,
        e.op(f"xor i{BITS[kind]} {e.src(ins.operands[1], kind)}, {'true' if kind == 'pred' else -1}"),
    )


@native("cnot")
def cnot(e, ins, site):
    kind = ins.mods[-1]
    zero = e.op(f"icmp eq i{BITS[kind]} {e.src(ins.operands[1], kind)}, 0")
    e.dst(ins.operands[0], kind, e.op(f"zext i1 {zero} to i{BITS[kind]}"))


@native("lop3")
def lop3(e, ins, site):
    """Any function of three bits, by its truth table: the OR of the chosen minterms."""
    if ins.mods[-1] != "b32" or len(ins.mods) > 1:
        e.unsupported()
    a, b, c = (e.src(o, "b32") for o in ins.operands[1:4])
    table = ins.operands[4].value & 0xFF
    flipped = [e.op(f"xor i32 {v}, -1") for v in (a, b, c)]
    total = "0"
    for row in range(8):
        if table >> row & 1:
            x = a if row & 4 else flipped[0]
            y = b if row & 2 else flipped[1]
            z = c if row & 1 else flipped[2]
            minterm = e.op(f"and i32 {e.op(f'and i32 {x}, {y}')}, {z}")
            total = e.op(f"or i32 {total}, {minterm}")
    e.dst(ins.operands[0], "b32", total)


@native("shl", "shr")
def shift(e, ins, site):
    """Amounts are unsigned 32-bit and clamped to the register width."""
    kind = ins.mods[-1]
    bits = BITS[kind]
    width = f"i{bits}"
    a = e.src(ins.operands[1], kind)
    right = "ashr" if kind[0] == "s" else "lshr"
    name = "shl" if ins.op == "shl" else right
    amount = ins.operands[2]
    if isinstance(amount, Int):
        n = amount.value & 0xFFFFFFFF
        if n < bits:
            value = e.op(f"{name} {width} {a}, {n}")
        else:
            value = e.op(f"ashr {width} {a}, {bits - 1}") if name == "ashr" else "0"
        e.dst(ins.operands[0], kind, value)
        return
    n = e.src(amount, "u32")
    big = e.op(f"icmp ugt i32 {n}, {bits - 1}")
    safe = e.op(f"select i1 {big}, i32 {bits - 1}, i32 {n}")
    value = e.op(f"{name} {width} {a}, {e.fit(safe, 32, bits, False)}")
    if name != "ashr":
        value = e.op(f"select i1 {big}, {width} 0, {width} {value}")
    e.dst(ins.operands[0], kind, value)


@native("shf")
def funnel_shift(e, ins, site):
    """Shift the pair {b, a}: ``.l`` keeps the high word, ``.r`` the low one."""
    e.allow("l", "r", "wrap", "clamp")
    a, b, n = (e.op(f"zext i32 {e.src(o, 'b32')} to i64") for o in ins.operands[1:4])
    if "wrap" in ins.mods:
        n = e.op(f"and i64 {n}, 31")
    else:
        n = e.call("llvm.umin.i64", "i64", ("i64", n), ("i64", "32"))
    pair = e.op(f"or i64 {e.op(f'shl i64 {b}, 32')}, {a}")
    if "l" in ins.mods:
        value = e.op(f"lshr i64 {e.op(f'shl i64 {pair}, {n}')}, 32")
    else:
        value = e.op(f"lshr i64 {pair}, {n}")
    e.dst(ins.operands[0], "b32", e.op(f"trunc i64 {value} to i32"))


@native("prmt")
def prmt(e, ins, site):
    """Pick four bytes of {b, a}. Default mode: a nibble each, its high bit replicates the sign. Others: two low bits of
    c.
    """
    e.allow("b32", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    mode = next((m for m in ins.mods if m != "b32"), None)
    a, b, c = (e.src(o, "b32") for o in ins.operands[1:4])
    wide_a, wide_b = e.op(f"zext i32 {a} to i64"), e.op(f"zext i32 {b} to i64")
    pair = e.op(f"or i64 {e.op(f'shl i64 {wide_b}, 32')}, {wide_a}")
    total = "0"
    for k in range(4):
        sign = None
        if mode is None:
            nibble = e.op(f"lshr i32 {c}, {4 * k}")
            index = e.op(f"and i32 {nibble}, 7")
            sign = e.op(f"icmp ne i32 {e.op(f'and i32 {nibble}, 8')}, 0")
        else:
            n = e.op(f"and i32 {c}, 3")
            index = _mode_index(e, mode, n, k)
        amount = e.op(f"shl i64 {e.op(f'zext i32 {index} to i64')}, 3")
        byte = e.op(f"trunc i64 {e.op(f'lshr i64 {pair}, {amount}')} to i8")
        if sign is not None:
            byte = e.op(f"select i1 {sign}, i8 {e.op(f'ashr i8 {byte}, 7')}, i8 {byte}")
        placed = e.op(f"shl i32 {e.op(f'zext i8 {byte} to i32')}, {8 * k}")
        total = e.op(f"or i32 {total}, {placed}")
    e.dst(ins.operands[0], "b32", total)


def _mode_index(e, mode, n, k):
    if mode == "f4e":
        return e.op(f"add i32 {n}, {k}")
    if mode == "b4e":
        return e.op(f"and i32 {e.op(f'sub i32 {n}, {k}')}, 7")
    if mode == "rc8":
        return n
    if mode == "rc16":
        low = e.op(f"and i32 {n}, 1")
        return e.op(f"add i32 {e.op(f'shl i32 {low}, 1')}, {k & 1}")
    if mode == "ecl":
        return e.call("llvm.umax.i32", "i32", ("i32", n), ("i32", str(k)))
    return e.call("llvm.umin.i32", "i32", ("i32", n), ("i32", str(k)))
