"""FP64 arithmetic in directed rounding modes, by exact fractions. Generated code calls it back lane by lane; it is
rare and may be slow.

Rounding modes as in ptxemu/helpers.py: 0 nearest even, 1 toward zero, 2 down, 3 up.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
from fractions import Fraction

_MANTISSA = 52
_LOWEST = -1074
_INFINITY = 0x7FF << _MANTISSA


def _float(bits):
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def _bits(value):
    return struct.unpack("<q", struct.pack("<d", value))[0]


def round_fraction(value, mode, zero):
    """int64 bits of a Fraction rounded to FP64; ``zero``: the bits of an exact zero."""
    if value == 0:
        return zero
    negative, value = value < 0, abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 1
    if Fraction(2) ** (exponent + 1) <= value:
        exponent += 1
    unit = max(exponent - _MANTISSA, _LOWEST)
    scaled = value / Fraction(2) ** unit
    kept = math.floor(scaled)
    rest = scaled - kept
    half = Fraction(1, 2)
    if (mode == 0 and (rest > half or (rest == half and kept & 1))) or (rest and mode == (2 if negative else 3)):
        kept += 1
    bits = kept + ((unit - _LOWEST) << _MANTISSA)  # the hidden bit adds one to the exponent field
    if bits >= _INFINITY and mode in (1, 3 if negative else 2):
        bits = _INFINITY - 1
    bits = min(bits, _INFINITY)
    return bits - (1 << 63) if negative else bits


def _finite(*values):
    return all(math.isfinite(v) for v in values)


def _zero(mode, negative):
    return -(1 << 63) if negative else 0


def add_f64(a, b, mode):
    x, y = _float(a), _float(b)
    if not _finite(x, y) or (x == 0 and y == 0 and (a ^ b) >= 0):
        return _bits(x + y)
    return round_fraction(Fraction(x) + Fraction(y), mode, _zero(mode, mode == 2))


def mul_f64(a, b, mode):
    x, y = _float(a), _float(b)
    if not _finite(x, y):
        return _bits(x * y)
    return round_fraction(Fraction(x) * Fraction(y), mode, _zero(mode, (a ^ b) < 0))


def fma_f64(a, b, c, mode):
    x, y, z = _float(a), _float(b), _float(c)
    if not _finite(x, y, z):
        return _bits(z if _finite(x, y) else x * y + z)
    product = Fraction(x) * Fraction(y)
    same = (a ^ b ^ c) >= 0
    negative = c < 0 if product == 0 and z == 0 and same else mode == 2
    return round_fraction(product + Fraction(z), mode, _zero(mode, negative))


def div_f64(a, b, mode):
    x, y = _float(a), _float(b)
    negative = (a ^ b) < 0
    if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0) or (math.isinf(x) and math.isinf(y)):
        return _bits(math.nan)
    if math.isinf(x) or y == 0:
        return _bits(-math.inf if negative else math.inf)
    if math.isinf(y) or x == 0:
        return _zero(mode, negative)
    return round_fraction(Fraction(x) / Fraction(y), mode, 0)


def sqrt_f64(a, mode):
    x = _float(a)
    if not x > 0 or math.isinf(x):
        return _bits(math.nan if x < 0 else x)
    value = Fraction(x)
    shift = 2 * (
        80 + abs(math.frexp(x)[1])
    )  # an even power of two that leaves more than 60 bits and keeps the value an integer
    scaled = value * Fraction(2) ** (shift + 2 * 1100)
    root = math.isqrt(int(scaled))
    sticky = 0 if root * root == scaled else 1  # one more bit says whether the root is exact
    return round_fraction(Fraction(2 * root + sticky, 2) / Fraction(2) ** ((shift + 2 * 1100) // 2), mode, 0)


ARITY = {"add_f64": 2, "mul_f64": 2, "fma_f64": 3, "div_f64": 2, "sqrt_f64": 1}


@functools.cache
def callback(name):
    """The function as a C callback: keep it alive as long as code may call it."""
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * ARITY[name], ctypes.c_int32)
    return signature(globals()[name])
