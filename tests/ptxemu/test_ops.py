"""Integer and logic opcodes against Python integers, on edge values and random bits."""

import functools

import numpy as np
import pytest
from reference import signed
from snippet import RNG, check, grid, run

EDGE32 = np.array(
    [0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x12345678],
    np.uint32,
)


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
            "": c >> 4 * k & 7,
            "f4e": n + k,
            "b4e": (n - k) % 8,
            "rc8": n,
            "ecl": max(n, k),
            "ecr": min(n, k),
            "rc16": 2 * (n & 1) + (k & 1),
        }[mode]
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
    f"prmt.b32{'.' + m if m else ''} %o, %a0, %a1, %a2": functools.partial(_prmt, mode=m)
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


@pytest.mark.parametrize("relation,function", [("lt", lambda a, b: a < b), ("ge", lambda a, b: a >= b)])
@pytest.mark.parametrize("kind", ["s32", "u32"])
def test_integer_comparison_with_boolean(relation, function, kind):
    a, b = grid(EDGE32)
    convert = (lambda v: signed(v, 32)) if kind == "s32" else (lambda v: v)
    body = f"setp.ne.u32 %q, %a1, 0; setp.{relation}.and.{kind} %p, %a0, %a1, !%q; selp.u32 %o, 1, 0, %p;"
    out = run(body, [a, b], np.uint32, ".reg .pred %p, %q;")
    check(out, [int(function(convert(int(x)), convert(int(y))) and y == 0) for x, y in zip(a, b, strict=True)])


def test_unpack_and_sink():
    a = np.array([0x1122334455667788], np.uint64)
    out = run("mov.b64 {_, %u}, %a0; mov.b32 {%x, %y}, %u; mov.b32 %o, {%y, %x};", [a], np.uint32, ".reg .b16 %x, %y;")
    check(out, [0x33441122])
