"""Opcodes against exact arithmetic on edge values and random bits."""

import numpy as np
import pytest
from reference import FORMATS, decode, encode, is_number, signed
from snippet import run

RNG = np.random.default_rng(7)
EDGE32 = np.array(
    [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x12345678],
    np.uint32,
)
EDGE_F32 = np.array(
    [
        0,
        1 << 31,
        1,
        0x007FFFFF,
        0x00800000,
        0x3F800000,
        0xBF800000,
        0x3F800001,
        0x7F7FFFFF,
        0xFF7FFFFF,
        0x7F800000,
        0xFF800000,
        0x7FC00000,
        0x33800000,
        0x4B800000,
        0x5F000000,
    ],
    np.uint32,
)


def grid(edge, count=400, dtype=np.uint32):
    """All pairs of edge values, then random bits."""
    a, b = (m.ravel() for m in np.meshgrid(edge, edge))
    r = RNG.integers(0, 1 << (8 * np.dtype(dtype).itemsize), (2, count), dtype=np.uint64).astype(dtype)
    return np.concatenate((a, r[0])).astype(dtype), np.concatenate((b, r[1])).astype(dtype)


def check(out, expected):
    wrong = np.flatnonzero(out != np.array(expected, out.dtype))
    assert not len(wrong), f"element {wrong[0]}: got {int(out[wrong[0]]):#x}, expected {int(expected[wrong[0]]):#x}"


def clamp(value, low, high):
    return max(low, min(high, value))


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


INT32 = {
    "add.s32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "add.sat.s32": lambda a, b: clamp(signed(a, 32) + signed(b, 32), -(1 << 31), (1 << 31) - 1),
    "sub.sat.s32": lambda a, b: clamp(signed(a, 32) - signed(b, 32), -(1 << 31), (1 << 31) - 1),
    "mul.lo.s32": lambda a, b: a * b,
    "mul.hi.s32": lambda a, b: signed(a, 32) * signed(b, 32) >> 32,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "mul24.lo.s32": lambda a, b: signed(a, 24) * signed(b, 24),
    "mul24.hi.u32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16,
    "div.s32": lambda a, b: -1 if b == 0 else trunc_div(signed(a, 32), signed(b, 32)),
    "div.u32": lambda a, b: -1 if b == 0 else a // b,
    "rem.s32": lambda a, b: -1 if b == 0 else signed(a, 32) - signed(b, 32) * trunc_div(signed(a, 32), signed(b, 32)),
    "rem.u32": lambda a, b: -1 if b == 0 else a % b,
    "min.s32": lambda a, b: min(signed(a, 32), signed(b, 32)),
    "max.u32": lambda a, b: max(a, b),
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "xor.b32": lambda a, b: a ^ b,
    "shl.b32": lambda a, b: 0 if b > 31 else a << b,
    "shr.u32": lambda a, b: a >> min(b, 32),
    "shr.s32": lambda a, b: signed(a, 32) >> min(b, 31),
    "add.s16x2": lambda a, b: ((a >> 16) + (b >> 16) & 0xFFFF) << 16 | (a + b & 0xFFFF),
    "max.s16x2": lambda a, b: (
        (max(signed(a >> 16, 16), signed(b >> 16, 16)) & 0xFFFF) << 16 | (max(signed(a, 16), signed(b, 16)) & 0xFFFF)
    ),
    "bmsk.clamp.b32": lambda a, b: ((1 << min(b, 32)) - 1) << min(a, 32),
    "bmsk.wrap.b32": lambda a, b: ((1 << (b & 31)) - 1) << (a & 31),
}


@pytest.mark.parametrize("opcode", INT32)
def test_int32(opcode):
    a, b = grid(EDGE32)
    if opcode.startswith("sh"):
        b = np.where(b > 100, b % 40, b).astype(np.uint32)
    out = run(f"{opcode} %o, %a0, %a1;", [a, b], np.uint32, target="sm_90")
    check(out, [INT32[opcode](int(x), int(y)) & 0xFFFFFFFF for x, y in zip(a, b, strict=True)])


INT64 = {
    "add.s64": lambda a, b: a + b,
    "mul.lo.s64": lambda a, b: a * b,
    "mul.hi.s64": lambda a, b: signed(a, 64) * signed(b, 64) >> 64,
    "mul.hi.u64": lambda a, b: a * b >> 64,
    "div.s64": lambda a, b: -1 if b == 0 else trunc_div(signed(a, 64), signed(b, 64)),
    "rem.u64": lambda a, b: -1 if b == 0 else a % b,
    "max.s64": lambda a, b: max(signed(a, 64), signed(b, 64)),
}


@pytest.mark.parametrize("opcode", INT64)
def test_int64(opcode):
    edge = np.array([0, 1, 2, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 32, 0xFFFFFFFF], np.uint64)
    a, b = grid(edge, dtype=np.uint64)
    out = run(f"{opcode} %o, %a0, %a1;", [a, b], np.uint64)
    check(out, [INT64[opcode](int(x), int(y)) & ((1 << 64) - 1) for x, y in zip(a, b, strict=True)])


UNARY = {
    "neg.s32": lambda a: -a,
    "abs.s32": lambda a: abs(signed(a, 32)),
    "not.b32": lambda a: ~a,
    "cnot.b32": lambda a: int(a == 0),
    "popc.b32": lambda a: a.bit_count(),
    "clz.b32": lambda a: 32 - a.bit_length(),
    "brev.b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "bfind.u32": lambda a: a.bit_length() - 1,
    "bfind.shiftamt.u32": lambda a: 32 - a.bit_length() if a else -1,
    "bfind.s32": lambda a: (a if a < 1 << 31 else ~a & 0xFFFFFFFF).bit_length() - 1,
    "cvt.s32.s8": lambda a: signed(a, 8),
    "cvt.u32.u16": lambda a: a & 0xFFFF,
    "cvt.sat.s32.u32": lambda a: min(a, (1 << 31) - 1),
    "cvt.sat.u8.s32": lambda a: clamp(signed(a, 32), 0, 255),
    "cvt.sat.s16.s32": lambda a: clamp(signed(a, 32), -(1 << 15), (1 << 15) - 1),
    "cvt.s8.s32": lambda a: signed(a, 8),
}


@pytest.mark.parametrize("opcode", UNARY)
def test_unary(opcode):
    a, _ = grid(EDGE32)
    out = run(f"{opcode} %o, %a0;", [a], np.uint32)
    check(out, [UNARY[opcode](int(x)) & 0xFFFFFFFF for x in a])


def _bfe(a, b, c, is_signed):
    position, length = b & 255, c & 255
    value = signed(a, 32) if is_signed else a
    if length == 0:
        return 0
    field = value >> position
    return signed(field, length) if is_signed else field & ((1 << length) - 1)


def _bfi(a, b, c, d):
    position, length = c & 255, d & 255
    mask = ((1 << length) - 1) << position & 0xFFFFFFFF
    return (a << position & mask) | (b & ~mask)


def _prmt(a, b, c, mode):
    data = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    out = 0
    for k in range(4):
        n = c & 3
        index = {
            "": c >> 4 * k & 7, "f4e": n + k, "b4e": (n - k) % 8, "rc8": n, "ecl": max(n, k), "ecr": min(n, k), "rc16": 2 * (n & 1) + (k & 1),
        }[mode]  # fmt: skip
        byte = data[index]
        if mode == "" and c >> 4 * k & 8:
            byte = 255 if byte & 128 else 0
        out |= byte << 8 * k
    return out


def _lop3(table):
    def compute(a, b, c):
        out = 0
        for i in range(32):
            out |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i
        return out

    return compute


def _shf(a, b, c, left, wrap):
    n = c & 31 if wrap else min(c, 32)
    pair = b << 32 | a
    return pair << n >> 32 if left else pair >> n


def _dot(a, b, c, sa, sb):
    out = c
    for k in range(4):
        x, y = a >> 8 * k & 255, b >> 8 * k & 255
        out += (signed(x, 8) if sa else x) * (signed(y, 8) if sb else y)
    return out


TERNARY = {
    "bfe.u32 %o, %a0, %a1, %a2": lambda a, b, c: _bfe(a, b, c, False),
    "bfe.s32 %o, %a0, %a1, %a2": lambda a, b, c: _bfe(a, b, c, True),
    "bfi.b32 %o, %a0, %a1, %a2, 7": lambda a, b, c: _bfi(a, b, c, 7),
    "shf.l.wrap.b32 %o, %a0, %a1, %a2": lambda a, b, c: _shf(a, b, c, True, True),
    "shf.r.wrap.b32 %o, %a0, %a1, %a2": lambda a, b, c: _shf(a, b, c, False, True),
    "shf.l.clamp.b32 %o, %a0, %a1, %a2": lambda a, b, c: _shf(a, b, c, True, False),
    "shf.r.clamp.b32 %o, %a0, %a1, %a2": lambda a, b, c: _shf(a, b, c, False, False),
    "lop3.b32 %o, %a0, %a1, %a2, 0x96": _lop3(0x96),
    "lop3.b32 %o, %a0, %a1, %a2, 0xE8": _lop3(0xE8),
    "mad.lo.s32 %o, %a0, %a1, %a2": lambda a, b, c: a * b + c,
    "mad.hi.s32 %o, %a0, %a1, %a2": lambda a, b, c: (signed(a, 32) * signed(b, 32) >> 32) + c,
    "sad.s32 %o, %a0, %a1, %a2": lambda a, b, c: abs(signed(a, 32) - signed(b, 32)) + c,
    "dp4a.s32.s32 %o, %a0, %a1, %a2": lambda a, b, c: _dot(a, b, c, True, True),
    "dp4a.u32.s32 %o, %a0, %a1, %a2": lambda a, b, c: _dot(a, b, c, False, True),
    "slct.b32.s32 %o, %a0, %a1, %a2": lambda a, b, c: a if signed(c, 32) >= 0 else b,
} | {
    f"prmt.b32{'.' + m if m else ''} %o, %a0, %a1, %a2": (lambda m: lambda a, b, c: _prmt(a, b, c, m))(m)
    for m in ("", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
}


@pytest.mark.parametrize("text", TERNARY)
def test_ternary(text):
    a, b = grid(EDGE32)
    c = RNG.integers(0, 1 << 32, len(a), dtype=np.uint64).astype(np.uint32)
    c[::3] %= 70
    if text.startswith("bfe"):
        b %= 70
    out = run(text + ";", [a, b, c], np.uint32)
    check(out, [TERNARY[text](int(x), int(y), int(z)) & 0xFFFFFFFF for x, y, z in zip(a, b, c, strict=True)])


def test_carry_chain():
    """A 128-bit sum and difference out of 32-bit pieces."""
    a, b = grid(np.array([0, 1, (1 << 64) - 1, 1 << 63, 0xFFFFFFFF], np.uint64), dtype=np.uint64)
    body = """mov.b64 {%l, %h}, %a0; mov.b64 {%m, %n}, %a1;
        add.cc.u32 %l, %l, %m; addc.cc.u32 %h, %h, %n; addc.u32 %t2, 0, 0;
        sub.cc.u32 %l, %l, %m; subc.u32 %h, %h, %n; add.u32 %h, %h, %t2; mov.b64 %o, {%l, %h};"""
    out = run(body, [a, b], np.uint64, registers=".reg .b32 %l, %h, %m, %n, %t2;")
    expected = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        total = x + y
        difference = (total - y) & ((1 << 64) - 1)
        expected.append(difference & 0xFFFFFFFF | ((difference >> 32) + (total >> 64) & 0xFFFFFFFF) << 32)
    check(out, expected)


FLOAT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: None if y == 0 else x / y,
}


def float_case(kind, opcode, mode, compute, arity=2):
    """Compare every finite case whose exact result is not zero."""
    e, m = FORMATS[kind]
    dtype = {16: np.uint16, 32: np.uint32, 64: np.uint64}[1 + e + m]
    one, top = ((1 << e - 1) - 1) << m, (((1 << e) - 1) << m) - 1
    edge = np.array(
        [
            0,
            1,
            (1 << m) - 1,
            1 << m,
            one,
            one + 1,
            one + (3 << m - 1),
            top,
            top - 1,
            one - (m << m),
            one + (m << m) + 1,
        ],
        np.uint64,
    )
    edge = np.concatenate((edge, edge | 1 << e + m))
    a, b = (v.astype(dtype) for v in grid(edge.astype(dtype), 500, dtype))
    near = (a.astype(np.uint64) ^ (RNG.integers(0, 1 << m, len(a), dtype=np.uint64) << np.uint64(0))).astype(dtype)
    c = np.where(np.arange(len(a)) % 2, near, b).astype(dtype)
    sources = [a, b, c][:arity]
    suffix = "" if mode is None else "." + mode
    out = run(f"{opcode}{suffix}.{kind} %o, " + ", ".join(f"%a{i}" for i in range(arity)) + ";", sources, dtype)
    checked = 0
    for i, bits in enumerate(zip(*[s.tolist() for s in sources], strict=True)):
        values = [decode(v, kind) for v in bits]
        if not is_number(*values):
            continue
        exact = compute(*values)
        if exact is None or exact == 0:
            continue
        checked += 1
        expected = encode(exact, kind, mode or "rn")
        assert int(out[i]) == expected, (
            f"{opcode}.{mode}.{kind}({[hex(v) for v in bits]}) = {int(out[i]):#x}, expected {expected:#x}"
        )
    assert checked > 200


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("opcode", FLOAT)
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_float_arithmetic(kind, opcode, mode):
    float_case(kind, opcode, mode, FLOAT[opcode])


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma(kind, mode):
    float_case(kind, "fma", mode, lambda x, y, z: x * y + z, arity=3)


@pytest.mark.parametrize("opcode", ["add", "sub", "mul"])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_half_arithmetic(kind, opcode):
    float_case(kind, opcode, None, FLOAT[opcode])


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_half_fma(kind):
    float_case(kind, "fma", "rn", lambda x, y, z: x * y + z, arity=3)


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("to,source", [("f32", "f64"), ("f16", "f32"), ("bf16", "f32")])
def test_narrowing(to, source, mode):
    if to == "bf16" and mode in ("rm", "rp"):
        pytest.skip("PTX has only rn and rz for bf16")
    a, _ = grid(EDGE_F32, 700)
    if source == "f64":
        a = a.view(np.float32).astype(np.float64).view(np.uint64) ^ RNG.integers(0, 1 << 30, len(a), dtype=np.uint64)
    out = run(f"cvt.{mode}.{to}.{source} %o, %a0;", [a], np.uint32 if to == "f32" else np.uint16)
    for bits, got in zip(a.tolist(), out.tolist(), strict=True):
        value = decode(bits, source)
        if is_number(value) and value != 0:
            assert got == encode(value, to, mode), hex(bits)
        elif value == "nan":
            assert decode(got, to) == "nan"


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("to", ["s32", "u32", "s64", "u8", "s16"])
def test_float_to_integer(to, mode):
    import math

    bits, is_signed = int(to[1:]), to[0] == "s"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    values = np.array(
        [
            0.0,
            -0.0,
            0.5,
            1.5,
            2.5,
            -0.5,
            -1.5,
            1e10,
            -1e10,
            3e38,
            np.inf,
            -np.inf,
            np.nan,
            255.5,
            127.49,
            -128.5,
            2147483648.0,
        ],
        np.float32,
    )
    out = run(f"cvt.{mode}.{to}.f32 %o, %a0;", [values.view(np.uint32)], np.uint64 if bits == 64 else np.uint32)
    expected = []
    for x in values.tolist():
        if x != x:
            value = 1 << 63 if bits == 64 else 0
        elif math.isinf(x):
            value = high if x > 0 else low
        else:
            rounder = {"rni": lambda v: round(v), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode]
            value = clamp(rounder(x), low, high)
        expected.append(value & ((1 << (64 if bits == 64 else 32)) - 1))
    check(out, expected)


def test_min_max_rules():
    """NaN gives the other operand, -0 is below +0; .NaN propagates."""
    a = np.array([0x7FC00000, 0x3F800000, 0x7FC00000, 0x80000000, 0x00000000, 0x40000000], np.uint32)
    b = np.array([0x3F800000, 0x7FC00001, 0xFFC00000, 0x00000000, 0x80000000, 0x3F800000], np.uint32)
    check(
        run("min.f32 %o, %a0, %a1;", [a, b], np.uint32),
        [0x3F800000, 0x3F800000, 0x7FFFFFFF, 0x80000000, 0x80000000, 0x3F800000],
    )
    check(run("max.f32 %o, %a0, %a1;", [a, b], np.uint32), [0x3F800000, 0x3F800000, 0x7FFFFFFF, 0, 0, 0x40000000])
    check(run("max.NaN.f32 %o, %a0, %a1;", [a, b], np.uint32), [0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0, 0, 0x40000000])


@pytest.mark.parametrize(
    "relation", ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
)
def test_float_comparison(relation):
    a, b = grid(EDGE_F32)
    x, y = a.view(np.float32).tolist(), b.view(np.float32).tolist()
    registers = ".reg .pred %p, %q;"
    out = run(
        f"setp.{relation}.f32 %p|%q, %a0, %a1; selp.u32 %o, 1, 0, %p; @%q add.u32 %o, %o, 2;",
        [a, b],
        np.uint32,
        registers,
    )
    base = {"eq": lambda p, q: p == q, "ne": lambda p, q: p != q, "lt": lambda p, q: p < q, "le": lambda p, q: p <= q,
            "gt": lambda p, q: p > q, "ge": lambda p, q: p >= q}  # fmt: skip
    expected = []
    for p, q in zip(x, y, strict=True):
        unordered = p != p or q != q
        if relation in ("num", "nan"):
            value = unordered == (relation == "nan")
        else:
            value = relation.endswith("u") if unordered else base[relation[:2]](p, q)
        expected.append(1 if value else 2)
    check(out, expected)


@pytest.mark.parametrize("relation,function", [("lt", lambda a, b: a < b), ("ge", lambda a, b: a >= b)])
@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_integer_comparison_with_boolean(relation, function, kind):
    a, b = grid(EDGE32)
    convert = (lambda v: signed(v, 32)) if kind == "s32" else (lambda v: v)
    body = f"setp.ne.u32 %q, %a1, 0; setp.{relation}.and.{kind} %p, %a0, %a1, !%q; selp.u32 %o, 1, 0, %p;"
    out = run(body, [a, b], np.uint32, ".reg .pred %p, %q;")
    check(out, [int(function(convert(int(x)), convert(int(y))) and y == 0) for x, y in zip(a, b, strict=True)])


def test_ftz_and_sat():
    a = np.array([1, 0x80000001, 0x3F800000, 0xBF800000, 0x40000000, 0x7FC00000], np.uint32)
    check(run("add.ftz.f32 %o, %a0, 0f80000000;", [a[:2]], np.uint32), [0, 0x80000000])
    check(run("add.sat.f32 %o, %a0, 0f00000000;", [a[2:]], np.uint32), [0x3F800000, 0, 0x3F800000, 0])


def test_unpack_and_sink():
    a = np.array([0x1122334455667788], np.uint64)
    out = run("mov.b64 {_, %u}, %a0; mov.b32 {%x, %y}, %u; mov.b32 %o, {%y, %x};", [a], np.uint32, ".reg .b16 %x, %y;")
    check(out, [0x33441122])


def test_approximate_functions_are_within_an_ulp():
    x = np.linspace(0.01, 20, 500).astype(np.float32)
    table = {"ex2": np.exp2, "lg2": np.log2, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "rcp": lambda v: 1 / v, "rsqrt": lambda v: v**-0.5,
             "tanh": np.tanh}  # fmt: skip
    for name, function in table.items():
        out = run(f"{name}.approx.f32 %o, %a0;", [x.view(np.uint32)], np.uint32).view(np.float32)
        exact = function(x.astype(np.float64))
        assert np.all(np.abs(out - exact) <= np.spacing(np.abs(exact).astype(np.float32)) * 0.51), name


def test_fp8_conversions_match_ml_dtypes():
    import ml_dtypes

    for kind, dtype in (("e4m3x2", ml_dtypes.float8_e4m3fn), ("e5m2x2", ml_dtypes.float8_e5m2)):
        largest = float(ml_dtypes.finfo(dtype).max)
        x = np.concatenate((RNG.normal(0, 100, 500), [0, -0.0, 1e-9, largest, largest * 1.5, -1e30, np.inf])).astype(
            np.float32
        )
        out = run(f"cvt.rn.satfinite.{kind}.f32 %o, %a0, 0f00000000;", [x.view(np.uint32)], np.uint16)
        expected = np.clip(x, -largest, largest).astype(dtype).view(np.uint8)
        check(out, expected.astype(np.uint16) << 8)
        every = np.arange(256, dtype=np.uint16)
        half = run(f"cvt.rn.f16x2.{kind} %o, %a0;", [every], np.uint32)
        reference = every.astype(np.uint8).view(dtype).astype(np.float16)
        got = (half & 0xFFFF).astype(np.uint16).view(np.float16)
        assert np.array_equal(got, reference, equal_nan=True), kind
