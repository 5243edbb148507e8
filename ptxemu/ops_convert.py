"""cvt (PTX ISA 9.7.9.21) for integers, FP16, BF16, TF32, FP32, FP64 and FP8."""

from __future__ import annotations

from .ir import BITS
from .ops_float import MODES, bits_of, flush, from_bits, narrow, saturate, widen
from .ops_half import flush16, from_f32, from_f64, relu, to_f32
from .ops_int import extend, is_integer
from .registry import native

_INTEGRAL = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}
_TYPES = {*BITS, "tf32"}
_FLAGS = {"ftz", "sat", "satfinite", "relu", "rna", "rn", "rz", "rm", "rp", *_INTEGRAL}


@native("cvt")
def cvt(e, ins, site):
    for mod in ins.mods:
        if mod not in _TYPES and mod not in _FLAGS:
            e.unsupported(f"{ins.opcode!r} (modifier .{mod})")
    to, source = ins.mods[-2:]
    if to in ("f16x2", "bf16x2") and source == "f32":
        _pack_halves(e, ins, to[:-2])
    elif to in ("e4m3x2", "e5m2x2") or source in ("e4m3x2", "e5m2x2"):
        _fp8(e, ins, to, source)
    elif to == "tf32":
        _tf32(e, ins)
    elif is_integer(source) and is_integer(to):
        _integers(e, ins, to, source)
    elif is_integer(source):
        _integer_to_float(e, ins, to, source)
    elif is_integer(to):
        _float_to_integer(e, ins, to, source)
    else:
        _floats(e, ins, to, source)


def _mode(ins):
    return next((m for m in ins.mods if m in MODES), "rn")


def _integers(e, ins, to, source):
    value = e.src(ins.operands[1], source)
    if "sat" not in ins.mods:
        e.dst(ins.operands[0], to, e.fit(value, BITS[source], BITS[to], source[0] == "s"))
        return
    wide = extend(e, value, source, 72)
    low, high = _range(to)
    wide = e.call("llvm.smax.i72", "i72", ("i72", wide), ("i72", str(low)))
    wide = e.call("llvm.smin.i72", "i72", ("i72", wide), ("i72", str(high)))
    e.dst(ins.operands[0], to, e.op(f"trunc i72 {wide} to i{BITS[to]}"))


def _range(kind):
    bits = BITS[kind]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def _integer_to_float(e, ins, to, source):
    value = e.src(ins.operands[1], source)
    mode, signed = _mode(ins), source[0] == "s"
    convert = "sitofp" if signed else "uitofp"
    if to == "f64" and (mode == "rn" or BITS[source] <= 32):
        out = e.op(f"{convert} i{BITS[source]} {value} to double")
    elif to == "f32" and mode == "rn":
        out = e.op(f"{convert} i{BITS[source]} {value} to float")
    elif BITS[source] <= 32:
        wide = e.op(f"{convert} i{BITS[source]} {value} to double")
        out = narrow(e, wide, mode) if to == "f32" else from_f64(e, wide, to, mode)
    else:
        odd = from_bits(
            e,
            e.helper(
                "i64_to_f64",
                "i64",
                ("i64", value),
                ("i32", str(int(signed))),
                ("i32", str(MODES[mode] if to == "f64" else 4)),
            ),
            "f64",
        )
        out = odd if to == "f64" else narrow(e, odd, mode) if to == "f32" else from_f64(e, odd, to, mode)
    if "sat" in ins.mods and to in ("f32", "f64"):
        out = saturate(e, out, to)
    e.dst(ins.operands[0], to if to in ("f32", "f64") else "b16", out)


def _read(e, operand, kind, ftz):
    """(LLVM type, value) of a floating-point source; 16-bit types become float."""
    if kind in ("f16", "bf16"):
        return "float", to_f32(e, e.src(operand, "b16"), kind)
    value = e.src(operand, kind)
    return ("float", flush(e, value) if ftz else value) if kind == "f32" else ("double", value)


def _float_to_integer(e, ins, to, source):
    """Rounded, then clamped to the range. NaN gives 0, or the top bit alone where source or result has 64 bits: as
    on an H200.
    """
    carrier, value = _read(e, ins.operands[1], source, "ftz" in ins.mods)
    suffix = "f32" if carrier == "float" else "f64"
    name = next((_INTEGRAL[m] for m in ins.mods if m in _INTEGRAL), "llvm.trunc")
    value = e.call(f"{name}.{suffix}", carrier, (carrier, value))
    bits = BITS[to]
    sign = "s" if to[0] == "s" else "u"
    out = e.call(f"llvm.fpto{sign}i.sat.i{bits}.{suffix}", f"i{bits}", (carrier, value))
    if bits == 64 or source == "f64":
        nan = e.op(f"fcmp uno {carrier} {value}, {value}")
        out = e.op(f"select i1 {nan}, i{bits} {-(1 << (bits - 1))}, i{bits} {out}")
    e.dst(ins.operands[0], to, out)


def _floats(e, ins, to, source):
    ftz = "ftz" in ins.mods
    carrier, value = _read(e, ins.operands[1], source, ftz)
    integral = next((_INTEGRAL[m] for m in ins.mods if m in _INTEGRAL), None)
    if integral:
        value = e.call(f"{integral}.{'f32' if carrier == 'float' else 'f64'}", carrier, (carrier, value))
    if "sat" in ins.mods:
        value = saturate(e, value, "f32" if carrier == "float" else "f64")
    mode = _mode(ins)
    if to in ("f16", "bf16"):
        bits = from_f32(e, value, to, mode) if carrier == "float" else from_f64(e, value, to, mode)
        if "satfinite" in ins.mods:
            bits = _finite16(e, bits, to)
        bits = relu(e, bits) if "relu" in ins.mods else bits
        e.dst(ins.operands[0], "b16", flush16(e, bits) if ftz and to == "f16" and source == "f16" else bits)
        return
    if to == "f64":
        value = value if carrier == "double" else widen(e, value)
    elif carrier == "double":
        value = narrow(e, value, mode)
    if ftz and to == "f32":
        value = flush(e, value)
    e.dst(ins.operands[0], to, value)


def _finite16(e, bits, kind):
    """Infinity to the largest finite value of the same sign."""
    infinity, largest = (0x7C00, 0x7BFF) if kind == "f16" else (0x7F80, 0x7F7F)
    magnitude = e.op(f"and i16 {bits}, 32767")
    inf = e.op(f"icmp eq i16 {magnitude}, {infinity}")
    limit = e.op(f"or i16 {e.op(f'and i16 {bits}, -32768')}, {largest}")
    return e.op(f"select i1 {inf}, i16 {limit}, i16 {bits}")


def _pack_halves(e, ins, kind):
    """cvt.rn.f16x2.f32 d, a, b: a becomes the high half."""
    halves = []
    for operand in ins.operands[1:3]:
        value = e.src(operand, "f32")
        bits = from_f32(e, flush(e, value) if "ftz" in ins.mods else value, kind, _mode(ins))
        if "satfinite" in ins.mods:
            bits = _finite16(e, bits, kind)
        bits = relu(e, bits) if "relu" in ins.mods else bits
        halves.append(e.op(f"zext i16 {bits} to i32"))
    e.dst(ins.operands[0], "b32", e.op(f"or i32 {e.op(f'shl i32 {halves[0]}, 16')}, {halves[1]}"))


def _tf32(e, ins):
    """cvt.{rna,rn,rz}.tf32.f32: 10 explicit mantissa bits, the low 13 bits zero."""
    raw = bits_of(e, e.src(ins.operands[1], "f32"), "f32")
    magnitude = e.op(f"and i32 {raw}, 2147483647")
    special = e.op(f"icmp uge i32 {magnitude}, 2139095040")
    if "rna" in ins.mods:
        rounded = e.op(f"add i32 {raw}, 4096")
    elif "rz" in ins.mods:
        rounded = raw
    else:
        odd = e.op(f"and i32 {e.op(f'lshr i32 {raw}, 13')}, 1")
        rounded = e.op(f"add i32 {e.op(f'add i32 {raw}, {odd}')}, 4095")
    value = e.op(f"and i32 {rounded}, -8192")
    nan = e.op(f"icmp ugt i32 {magnitude}, 2139095040")
    # An H200 cuts a NaN's payload under .rna (0x7f800001 becomes infinity) and gives 0x7fffe000 under .rn and .rz.
    payload = e.op(f"and i32 {raw}, -8192") if "rna" in ins.mods else "2147475456"
    kept = e.op(f"select i1 {nan}, i32 {payload}, i32 {raw}")
    value = e.op(f"select i1 {special}, i32 {kept}, i32 {value}")
    if "satfinite" in ins.mods:
        over = e.op(f"icmp eq i32 {e.op(f'and i32 {value}, 2147483647')}, 2139095040")
        limit = e.op(f"or i32 {e.op(f'and i32 {value}, -2147483648')}, 2139086848")
        value = e.op(f"select i1 {over}, i32 {limit}, i32 {value}")
    if "relu" in ins.mods:
        drop = e.op(f"and i1 {e.op(f'icmp slt i32 {value}, 0')}, {e.op(f'xor i1 {nan}, true')}")
        value = e.op(f"select i1 {drop}, i32 0, i32 {value}")
    e.dst(ins.operands[0], "b32", value)


def _fp8(e, ins, to, source):
    """FP8 pairs: from FP32 or FP16 with .satfinite (overflow to the largest value), and to FP16."""
    kind = to if to.startswith("e") else source
    shape = ("i32", "4" if kind == "e4m3x2" else "5"), ("i32", "3" if kind == "e4m3x2" else "2")
    if source in ("e4m3x2", "e5m2x2"):
        raw = e.src(ins.operands[1], "b16")
        total = "0"
        for k in (0, 1):
            byte = e.op(f"and i32 {e.op(f'zext i16 {raw} to i32')}, {0xFF << 8 * k}")
            byte = e.op(f"lshr i32 {byte}, {8 * k}") if k else byte
            half = e.helper("fp8_to_f16", "i32", ("i32", byte), *shape)
            total = e.op(f"or i32 {total}, {e.op(f'shl i32 {half}, {16 * k}') if k else half}")
        if "relu" in ins.mods:
            e.unsupported()
        e.dst(ins.operands[0], "b32", total)
        return
    if source == "f32":
        values = [widen(e, e.src(o, "f32")) for o in (ins.operands[2], ins.operands[1])]
    else:
        word = e.src(ins.operands[1], "b32")
        values = [
            widen(e, to_f32(e, e.op(f"trunc i32 {e.op(f'lshr i32 {word}, {s}')} to i16"), source[:-2])) for s in (0, 16)
        ]
    total = "0"
    for k, value in enumerate(values):
        if "relu" in ins.mods:
            positive = e.op(f"fcmp ule double {value}, 0.0")
            nan = e.op(f"fcmp uno double {value}, {value}")
            drop = e.op(f"and i1 {positive}, {e.op(f'xor i1 {nan}, true')}")
            value = e.op(f"select i1 {drop}, double 0.0, double {value}")
        byte = e.helper("f64_to_fp8", "i32", ("i64", bits_of(e, value, "f64")), *shape)
        total = e.op(f"or i32 {total}, {e.op(f'shl i32 {byte}, {8 * k}') if k else byte}")
    e.dst(ins.operands[0], "b16", e.op(f"trunc i32 {total} to i16"))
