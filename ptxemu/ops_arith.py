"""Mnemonics that exist for several kinds of type: pick the family by the type."""

from __future__ import annotations

from . import ops_carry, ops_float, ops_half, ops_int, ops_minmax
from .registry import native


def _choose(integer, floating, half):
    def handler(e, ins, site):
        kind = ins.mods[-1]
        if kind in ("f16", "f16x2", "bf16", "bf16x2"):
            choice = half
        elif kind in ("f32", "f64"):
            choice = floating
        elif kind in ("f32x2",):
            choice = ops_float.packed_pair
        elif "cc" in ins.mods:
            ops_carry.extended(e, ins, carry_in=False)
            return
        else:
            choice = integer
        if choice is None:
            e.unsupported()
        choice(e, ins)

    return handler


native("add", "sub")(_choose(ops_int.add_sub, ops_float.add_mul, ops_half.add_mul))
native("mul")(_choose(ops_int.multiply, ops_float.add_mul, ops_half.add_mul))
native("mad")(_choose(ops_int.multiply_add, ops_float.fma, None))
native("fma")(_choose(None, ops_float.fma, ops_half.fma))
native("div")(_choose(ops_int.divide, ops_float.divide, None))
native("rem")(_choose(ops_int.divide, None, None))
native("min", "max")(_choose(ops_int.min_max, ops_minmax.min_max, ops_half.min_max))
native("abs", "neg")(_choose(ops_int.negate, ops_minmax.sign, ops_half.sign))
native("ex2", "tanh")(_choose(None, ops_float.approximate, ops_half.approximate))
