"""FP32 and FP64 instructions that choose or change signs: min, max, abs, neg, copysign, testp (PTX ISA 9.7.3)."""

from __future__ import annotations

from .ir import BITS
from .ops_float import CARRIER, bits_of, finish, flush, from_bits, inputs
from .registry import native


def min_max(e, ins):
    """One NaN: the other operand (``.NaN``: canonical NaN). Both: canonical NaN. -0 is less than +0."""
    e.allow("ftz", "NaN", "abs", "xorsign")
    kind = ins.mods[-1]
    values = inputs(e, ins, len(ins.operands) - 1)
    sign = None
    if "xorsign" in ins.mods:
        mask = -(1 << (BITS[kind] - 1))
        mixed = e.op(f"xor i{BITS[kind]} {bits_of(e, values[0], kind)}, {bits_of(e, values[1], kind)}")
        sign = e.op(f"and i{BITS[kind]} {mixed}, {mask}")
    if "abs" in ins.mods:
        values = [_magnitude(e, v, kind) for v in values]
    value = values[0]
    for other in values[1:]:
        value = select_min_max(e, ins.op, kind, value, other, "NaN" in ins.mods)
    if sign is not None:
        value = from_bits(e, e.op(f"or i{BITS[kind]} {bits_of(e, value, kind)}, {sign}"), kind)
    if "ftz" in ins.mods and kind == "f32":
        value = flush(e, value)
    e.dst(ins.operands[0], kind, value)


def select_min_max(e, op, kind, a, b, nan):
    """The minimum or maximum of two values by PTX's rules."""
    carrier, width = CARRIER[kind], f"i{BITS[kind]}"
    first = e.op(f"fcmp {'olt' if op == 'min' else 'ogt'} {carrier} {a}, {b}")
    value = e.op(f"select i1 {first}, {carrier} {a}, {carrier} {b}")
    equal = e.op(f"fcmp oeq {carrier} {a}, {b}")
    both = e.op(f"{'or' if op == 'min' else 'and'} {width} {bits_of(e, a, kind)}, {bits_of(e, b, kind)}")
    value = e.op(f"select i1 {equal}, {carrier} {from_bits(e, both, kind)}, {carrier} {value}")
    nan_a, nan_b = e.op(f"fcmp uno {carrier} {a}, {a}"), e.op(f"fcmp uno {carrier} {b}, {b}")
    canonical = from_bits(e, str(0x7FFFFFFF if kind == "f32" else 0x7FFFFFFFFFFFFFFF), kind)
    if nan:
        either = e.op(f"or i1 {nan_a}, {nan_b}")
        return e.op(f"select i1 {either}, {carrier} {canonical}, {carrier} {value}")
    value = e.op(f"select i1 {nan_b}, {carrier} {a}, {carrier} {value}")
    both_nan = e.op(f"and i1 {nan_a}, {nan_b}")
    return e.op(f"select i1 {both_nan}, {carrier} {canonical}, {carrier} {value}")


def _magnitude(e, value, kind):
    mask = (1 << (BITS[kind] - 1)) - 1
    return from_bits(e, e.op(f"and i{BITS[kind]} {bits_of(e, value, kind)}, {mask}"), kind)


def sign(e, ins):
    """abs and neg, which only touch the sign bit (NaN included)."""
    e.allow("ftz")
    kind = ins.mods[-1]
    (a,) = inputs(e, ins, 1)
    if ins.op == "abs":
        value = _magnitude(e, a, kind)
    else:
        value = from_bits(e, e.op(f"xor i{BITS[kind]} {bits_of(e, a, kind)}, {-(1 << (BITS[kind] - 1))}"), kind)
    finish(e, ins, value)


@native("copysign")
def copysign(e, ins, site):
    """Sign of the first operand, magnitude of the second."""
    kind = ins.mods[-1]
    width = f"i{BITS[kind]}"
    a, b = (bits_of(e, e.src(o, kind), kind) for o in ins.operands[1:])
    signed = e.op(f"and {width} {a}, {-(1 << (BITS[kind] - 1))}")
    rest = e.op(f"and {width} {b}, {(1 << (BITS[kind] - 1)) - 1}")
    e.dst(ins.operands[0], kind, from_bits(e, e.op(f"or {width} {signed}, {rest}"), kind))


@native("testp")
def testp(e, ins, site):
    e.allow("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    kind = ins.mods[-1]
    width = f"i{BITS[kind]}"
    magnitude = e.op(f"and {width} {bits_of(e, e.src(ins.operands[1], kind), kind)}, {(1 << (BITS[kind] - 1)) - 1}")
    infinity = 0x7F800000 if kind == "f32" else 0x7FF0000000000000
    smallest = 0x00800000 if kind == "f32" else 0x0010000000000000
    test = ins.mods[0]
    if test in ("normal", "subnormal"):
        low, high = (smallest, infinity) if test == "normal" else (1, smallest)
        at_least = e.op(f"icmp uge {width} {magnitude}, {low}")
        below = e.op(f"icmp ult {width} {magnitude}, {high}")
        value = e.op(f"and i1 {at_least}, {below}")
        if test == "normal":  # zero counts as normal (PTX ISA, testp)
            value = e.op(f"or i1 {value}, {e.op(f'icmp eq {width} {magnitude}, 0')}")
    else:
        relation = {"finite": "ult", "infinite": "eq", "number": "ule", "notanumber": "ugt"}[test]
        value = e.op(f"icmp {relation} {width} {magnitude}, {infinity}")
    e.dst(ins.operands[0], "pred", value)
