"""FP32 and FP64 arithmetic (PTX ISA 9.7.3).

Round-to-nearest is LLVM's own operation (``llvm.fma`` is fused). The other rounding modes of FP32 go through FP64:
a product of two FP32 values is exact there, a sum is rounded to odd (53 bits >= 24 + 2, so the second rounding, in
whatever mode, gives the correctly rounded result: Boldo and Melquiond, "Emulation of FMA and correctly rounded
sums", IEEE TC 2008). FP64 in directed modes: ptxemu/exact.py. ``.approx`` instructions give the correctly computed
FP64 function rounded to FP32, which is more accurate than the hardware's. The payload of a NaN result is not
modelled, except where PTX names the canonical NaN (min, max, cvt).
"""

from __future__ import annotations

from .ir import BITS
from .registry import native

MODES = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}  # as numbered in helpers.py
CARRIER = {"f32": "float", "f64": "double"}


def rounding(ins):
    """Rounding mode of an instruction; nearest even where none is written."""
    return next((m for m in ins.mods if m in MODES), "rn")


def bits_of(e, value, kind):
    return e.op(f"bitcast {CARRIER[kind]} {value} to i{BITS[kind]}")


def from_bits(e, value, kind):
    return e.op(f"bitcast i{BITS[kind]} {value} to {CARRIER[kind]}")


def flush(e, value, kind="f32"):
    """Subnormals to zero of the same sign."""
    bits = bits_of(e, value, kind)
    exponent = e.op(f"and i32 {bits}, 2139095040")
    tiny = e.op(f"icmp eq i32 {exponent}, 0")
    sign = e.op(f"and i32 {bits}, -2147483648")
    return from_bits(e, e.op(f"select i1 {tiny}, i32 {sign}, i32 {bits}"), kind)


def saturate(e, value, kind="f32"):
    """Clamp to [0, 1]; NaN gives +0."""
    carrier = CARRIER[kind]
    above = e.op(f"fcmp ogt {carrier} {value}, 0.0")
    low = e.op(f"select i1 {above}, {carrier} {value}, {carrier} 0.0")
    over = e.op(f"fcmp ogt {carrier} {low}, 1.0")
    return e.op(f"select i1 {over}, {carrier} 1.0, {carrier} {low}")


def inputs(e, ins, count, first=1):
    """Sources, flushed under .ftz."""
    kind = ins.mods[-1]
    values = [e.src(o, kind) for o in ins.operands[first : first + count]]
    return [flush(e, v) for v in values] if "ftz" in ins.mods and kind == "f32" else values


def finish(e, ins, value):
    """Apply .ftz and .sat to a result and write it."""
    kind = ins.mods[-1]
    if "ftz" in ins.mods and kind == "f32":
        value = flush(e, value)
    if "sat" in ins.mods:
        value = saturate(e, value, kind)
    e.dst(ins.operands[0], kind, value)


def narrow(e, value, mode):
    """FP64 to FP32 in a rounding mode."""
    if mode == "rn":
        return e.op(f"fptrunc double {value} to float")
    bits = e.helper("f64_to_f32", "i32", ("i64", bits_of(e, value, "f64")), ("i32", str(MODES[mode])))
    return from_bits(e, bits, "f32")


def widen(e, value):
    return e.op(f"fpext float {value} to double")


def odd_sum(e, a, b):
    """FP64 sum rounded to odd."""
    bits = e.helper("add_odd", "i64", ("i64", bits_of(e, a, "f64")), ("i64", bits_of(e, b, "f64")))
    return from_bits(e, bits, "f64")


def add_mul(e, ins):
    """add, sub, mul."""
    e.allow("ftz", "sat", *MODES)
    kind, mode = ins.mods[-1], rounding(ins)
    a, b = inputs(e, ins, 2)
    finish(e, ins, _binary(e, ins.op, kind, mode, a, b))


def _binary(e, op, kind, mode, a, b):
    carrier = CARRIER[kind]
    if mode == "rn":
        return e.op(f"f{op} {carrier} {a}, {b}")
    if op == "sub":
        b, op = e.op(f"fneg {carrier} {b}"), "add"
    if kind == "f64":
        return _directed64(e, op, mode, a, b)
    a, b = widen(e, a), widen(e, b)
    exact = e.op(f"fmul double {a}, {b}") if op == "mul" else odd_sum(e, a, b)
    return _signed_zero(e, op, mode, a, b, narrow(e, exact, mode))


def _signed_zero(e, op, mode, a, b, value):
    """x + (-x) is -0 when rounding down."""
    if mode != "rm" or op != "add":
        return value
    total = e.op(f"fadd double {a}, {b}")
    zero = e.op(f"fcmp oeq double {total}, 0.0")
    opposite = e.op(f"fneg double {b}")
    cancel = e.op(f"fcmp oeq double {a}, {opposite}")
    nonzero = e.op(f"fcmp one double {a}, 0.0")
    sign_a, sign_b = bits_of(e, a, "f64"), bits_of(e, b, "f64")
    differ = e.op(f"icmp slt i64 {e.op(f'xor i64 {sign_a}, {sign_b}')}, 0")
    either = e.op(f"or i1 {e.op(f'and i1 {cancel}, {nonzero}')}, {differ}")
    minus = e.op(f"and i1 {zero}, {either}")
    return e.op(f"select i1 {minus}, float -0.0, float {value}")


def _directed64(e, op, mode, *values):
    bits = [("i64", bits_of(e, v, "f64")) for v in values]
    return from_bits(e, e.helper(f"{op}_f64", "i64", *bits, ("i32", str(MODES[mode]))), "f64")


def fma(e, ins):
    """fma and floating-point mad (the same on every supported target)."""
    e.allow("ftz", "sat", *MODES)
    kind, mode = ins.mods[-1], rounding(ins)
    a, b, c = inputs(e, ins, 3)
    carrier = CARRIER[kind]
    if mode == "rn":
        value = e.call(f"llvm.fma.{kind}", carrier, (carrier, a), (carrier, b), (carrier, c))
    elif kind == "f64":
        value = _directed64(e, "fma", mode, a, b, c)
    else:
        product = e.op(f"fmul double {widen(e, a)}, {widen(e, b)}")
        wide = widen(e, c)
        value = _signed_zero(e, "add", mode, product, wide, narrow(e, odd_sum(e, product, wide), mode))
    finish(e, ins, value)


def packed_pair(e, ins):
    """add, sub, mul, fma on f32x2, round to nearest."""
    e.allow("ftz", "rn")
    sources = [e.src(o, "b64") for o in ins.operands[1:]]
    out = []
    for shift in (0, 32):
        parts = []
        for value in sources:
            half = e.op(f"trunc i64 {e.op(f'lshr i64 {value}, {shift}')} to i32")
            part = from_bits(e, half, "f32")
            parts.append(flush(e, part) if "ftz" in ins.mods else part)
        if ins.op == "fma":
            value = e.call("llvm.fma.f32", "float", *[("float", p) for p in parts])
        else:
            value = e.op(f"f{ins.op} float {parts[0]}, {parts[1]}")
        value = flush(e, value) if "ftz" in ins.mods else value
        out.append(e.op(f"zext i32 {bits_of(e, value, 'f32')} to i64"))
    e.dst(ins.operands[0], "b64", e.op(f"or i64 {out[0]}, {e.op(f'shl i64 {out[1]}, 32')}"))


def divide(e, ins):
    """div.{rn,rz,rm,rp,approx,full}. The directed modes of FP32 round an FP64 quotient, corrected by its remainder."""
    e.allow("ftz", "approx", "full", *MODES)
    kind, mode = ins.mods[-1], rounding(ins)
    a, b = inputs(e, ins, 2)
    finish(e, ins, _quotient(e, kind, mode, a, b))


def _quotient(e, kind, mode, a, b):
    carrier = CARRIER[kind]
    if mode == "rn":
        return e.op(f"fdiv {carrier} {a}, {b}")
    if kind == "f64":
        return _directed64(e, "div", mode, a, b)
    bits = e.helper("div_odd", "i64", ("i64", bits_of(e, widen(e, a), "f64")), ("i64", bits_of(e, widen(e, b), "f64")))
    return narrow(e, from_bits(e, bits, "f64"), mode)


@native("rcp", "sqrt", "rsqrt")
def reciprocal_root(e, ins, site):
    e.allow("ftz", "approx", *MODES)
    kind, mode = ins.mods[-1], rounding(ins)
    if kind not in CARRIER:
        e.unsupported()
    carrier = CARRIER[kind]
    (a,) = inputs(e, ins, 1)
    if ins.op == "rcp":
        value = _quotient(e, kind, mode, "1.0", a)
    elif ins.op == "sqrt":
        if mode == "rn":
            value = e.call(f"llvm.sqrt.{kind}", carrier, (carrier, a))
        elif kind == "f64":
            value = _directed64(e, "sqrt", mode, a)
        else:
            bits = e.helper("sqrt_odd", "i64", ("i64", bits_of(e, widen(e, a), "f64")))
            value = narrow(e, from_bits(e, bits, "f64"), mode)
    else:
        wide = widen(e, a) if kind == "f32" else a
        root = e.call("llvm.sqrt.f64", "double", ("double", wide))
        value = e.op(f"fdiv double 1.0, {root}")
        value = narrow(e, value, "rn") if kind == "f32" else value
    finish(e, ins, value)


def approximate(e, ins):
    """ex2, tanh, sin, cos, lg2 of FP32: the FP64 function rounded once."""
    e.allow("ftz", "approx")
    if ins.mods[-1] != "f32":
        e.unsupported()
    (a,) = inputs(e, ins, 1)
    finish(e, ins, narrow(e, function(e, ins.op, widen(e, a)), "rn"))


def function(e, name, wide):
    """An elementary function in FP64."""
    intrinsic = {"sin": "llvm.sin.f64", "cos": "llvm.cos.f64", "ex2": "llvm.exp2.f64", "lg2": "llvm.log2.f64"}.get(
        name, "tanh"
    )
    return e.call(intrinsic, "double", ("double", wide))


@native("sin", "cos", "lg2")
def trigonometric(e, ins, site):
    approximate(e, ins)
