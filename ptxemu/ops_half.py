"""FP16 and BF16 arithmetic, scalar and packed (PTX ISA 9.7.4).

Sums, differences and products are computed in FP32 and rounded once more. That is the correctly rounded result
because FP32 carries 24 >= 2p + 2 bits for p = 11 (FP16) and p = 8 (BF16) (Figueroa, "When is double rounding
innocuous?", 1995). A fused multiply-add has an exact product in FP64, whose sum with c is rounded to odd before the
single rounding to 16 bits.
"""

from __future__ import annotations

from .ops_float import bits_of, from_bits, function, odd_sum, saturate, widen
from .ops_int import packed
from .ops_minmax import select_min_max

MODES = {"rn": 0, "rz": 1, "rm": 2, "rp": 3}


def to_f32(e, value, kind):
    """i16 bits of FP16 or BF16 to float."""
    if kind == "bf16":
        wide = e.op(f"zext i16 {value} to i32")
        return from_bits(e, e.op(f"shl i32 {wide}, 16"), "f32")
    half = e.op(f"bitcast i16 {value} to half")
    return e.op(f"fpext half {half} to float")


def from_f32(e, value, kind, mode="rn"):
    """float to i16 bits of FP16 or BF16."""
    if mode != "rn":
        return from_f64(e, widen(e, value), kind, mode)
    if kind == "f16":
        half = e.op(f"fptrunc float {value} to half")
        bits = e.op(f"bitcast half {half} to i16")
    else:
        raw = bits_of(e, value, "f32")
        odd = e.op(f"and i32 {e.op(f'lshr i32 {raw}, 16')}, 1")
        total = e.op(f"add i32 {e.op(f'add i32 {raw}, {odd}')}, 32767")
        bits = e.op(f"trunc i32 {e.op(f'lshr i32 {total}, 16')} to i16")
    nan = e.op(f"fcmp uno float {value}, {value}")
    return e.op(f"select i1 {nan}, i16 32767, i16 {bits}")


def from_f64(e, value, kind, mode="rn"):
    """double to i16 bits of FP16 or BF16, rounded once."""
    bits = bits_of(e, value, "f64")
    shape = ("i32", "5" if kind == "f16" else "8"), ("i32", "10" if kind == "f16" else "7")
    wide = e.helper("f64_to_small", "i32", ("i64", bits), *shape, ("i32", str(MODES[mode])))
    return e.op(f"trunc i32 {wide} to i16")


def _elementwise(e, ins, compute):
    kind = ins.mods[-1]
    if kind.endswith("x2"):
        scalar = kind[:-2]
        values = [e.src(o, "b32") for o in ins.operands[1:]]
        e.dst(ins.operands[0], "b32", packed(e, values, lambda *v: compute(scalar, *v)))
    else:
        e.dst(ins.operands[0], "b16", compute(kind, *[e.src(o, "b16") for o in ins.operands[1:]]))


def flush16(e, value):
    """FP16 subnormals to zero of the same sign."""
    tiny = e.op(f"icmp eq i16 {e.op(f'and i16 {value}, 31744')}, 0")
    signed = e.op(f"and i16 {value}, -32768")
    return e.op(f"select i1 {tiny}, i16 {signed}, i16 {value}")


def _finish(e, ins, kind, value):
    """Round a float, apply .ftz/.sat/.relu; returns bits."""
    if "sat" in ins.mods:
        value = saturate(e, value)
    if "ftz" in ins.mods and kind == "f16":
        value = _flush_result(e, value, "float")
    bits = from_f32(e, value, kind)
    return relu(e, bits) if "relu" in ins.mods else bits


def _flush_result(e, value, carrier):
    """Results below the smallest normal FP16 number become zero; hardware decides before it rounds."""
    suffix = "f32" if carrier == "float" else "f64"
    size = e.call(f"llvm.fabs.{suffix}", carrier, (carrier, value))
    tiny = e.op(f"fcmp olt {carrier} {size}, 0x3F10000000000000")  # 2^-14
    zero = e.call(f"llvm.copysign.{suffix}", carrier, (carrier, "0.0"), (carrier, value))
    return e.op(f"select i1 {tiny}, {carrier} {zero}, {carrier} {value}")


def relu(e, bits):
    """Negative values to +0; NaN stays the canonical NaN."""
    magnitude = e.op(f"and i16 {bits}, 32767")
    negative = e.op(f"icmp slt i16 {bits}, 0")
    nan = e.op(f"icmp eq i16 {magnitude}, 32767")
    drop = e.op(f"and i1 {negative}, {e.op(f'xor i1 {nan}, true')}")
    return e.op(f"select i1 {drop}, i16 0, i16 {bits}")


def _read(e, ins, kind, value):
    if "ftz" in ins.mods and kind == "f16":
        value = flush16(e, value)
    return to_f32(e, value, kind)


def add_mul(e, ins):
    """add, sub, mul."""
    e.allow("ftz", "sat", "rn")

    def compute(kind, a, b):
        return _finish(e, ins, kind, e.op(f"f{ins.op} float {_read(e, ins, kind, a)}, {_read(e, ins, kind, b)}"))

    _elementwise(e, ins, compute)


def fma(e, ins):
    """fma, rounded once."""
    e.allow("ftz", "sat", "rn", "relu", "oob")
    if "oob" in ins.mods:
        e.unsupported()

    def compute(kind, *values):
        a, b, c = (widen(e, _read(e, ins, kind, v)) for v in values)
        exact = odd_sum(e, e.op(f"fmul double {a}, {b}"), c)
        if "sat" in ins.mods:
            exact = saturate(e, exact, "f64")
        if "ftz" in ins.mods and kind == "f16":
            exact = _flush_result(e, exact, "double")
        bits = from_f64(e, exact, kind)
        return relu(e, bits) if "relu" in ins.mods else bits

    _elementwise(e, ins, compute)


def min_max(e, ins):
    """min and max by PTX's rules for NaN and signed zero."""
    e.allow("ftz", "NaN", "xorsign", "abs")
    if "xorsign" in ins.mods:
        e.unsupported()

    def compute(kind, a, b):
        value = select_min_max(e, ins.op, "f32", _read(e, ins, kind, a), _read(e, ins, kind, b), "NaN" in ins.mods)
        return from_f32(e, value, kind)

    _elementwise(e, ins, compute)


def sign(e, ins):
    """abs and neg."""
    e.allow("ftz")

    def compute(kind, a):
        if "ftz" in ins.mods and kind == "f16":
            a = flush16(e, a)
        return e.op(f"and i16 {a}, 32767") if ins.op == "abs" else e.op(f"xor i16 {a}, -32768")

    _elementwise(e, ins, compute)


def approximate(e, ins):
    """ex2 and tanh: the FP64 function rounded once."""
    e.allow("ftz", "approx")

    def compute(kind, a):
        return from_f64(e, function(e, ins.op, widen(e, _read(e, ins, kind, a))), kind)

    _elementwise(e, ins, compute)
