"""Floating-point opcodes and conversions against exact fractions, on edge values and random bits."""

import math

import numpy as np
import pytest
from reference import FORMATS, decode, encode, is_number
from snippet import RNG, check, grid, run

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
        a[np.isnan(a.view(np.float32))] = 0x7FC00000  # quiet NaNs only: NumPy warns about the others
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
            value = max(low, min(high, rounder(x)))
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


def test_ftz_and_sat():
    a = np.array([1, 0x80000001, 0x3F800000, 0xBF800000, 0x40000000, 0x7FC00000], np.uint32)
    check(run("add.ftz.f32 %o, %a0, 0f80000000;", [a[:2]], np.uint32), [0, 0x80000000])
    check(run("add.sat.f32 %o, %a0, 0f00000000;", [a[2:]], np.uint32), [0x3F800000, 0, 0x3F800000, 0])


def test_approximate_functions_are_within_an_ulp():
    x = np.linspace(0.01, 20, 500).astype(np.float32)
    table = {"ex2": np.exp2, "lg2": np.log2, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "sqrt": np.sqrt,
             "rcp": lambda v: 1 / v, "rsqrt": lambda v: v**-0.5}  # fmt: skip
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
