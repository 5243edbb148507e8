"""Extended-precision integer arithmetic (PTX ISA 9.7.2): the carry flag is a register of its own, ``CC``."""

from __future__ import annotations

from .ir import BITS
from .ops_int import product
from .registry import native


@native("addc", "subc", "madc")
def with_carry(e, ins, site):
    e.allow("cc", "lo", "hi")
    extended(e, ins, carry_in=True)


def extended(e, ins, carry_in):
    """add/sub/mad with ``.cc`` and/or carry in. For subtraction CC holds the borrow."""
    kind = ins.mods[-1]
    bits = BITS[kind]
    wide = f"i{bits + 8}"
    operands = ins.operands[1:-1]  # the last operand is CC, added by the parser's caller
    cc = ins.operands[-1]
    values = [e.src(o, kind) for o in operands]
    if ins.op.startswith("mad"):
        value, _ = product(e, ins, kind, values[0], values[1])
        values = [value, values[2]]
    a, b = (e.op(f"zext i{bits} {v} to {wide}") for v in values)
    name = "sub" if ins.op.startswith("sub") else "add"
    total = e.op(f"{name} {wide} {a}, {b}")
    if carry_in:
        carry = e.src(cc, "pred")
        total = e.op(f"{name} {wide} {total}, {e.op(f'zext i1 {carry} to {wide}')}")
    e.dst(ins.operands[0], kind, e.op(f"trunc {wide} {total} to i{bits}"))
    if "cc" in ins.mods:
        over = e.op(f"trunc {wide} {e.op(f'lshr {wide} {total}, {bits}')} to i1")
        e.dst(cc, "pred", over)
