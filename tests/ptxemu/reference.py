"""Independent reference arithmetic for the opcode tests: Python integers and exact fractions, no NumPy arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def signed(value, bits):
    """Two's complement reading of the low bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def decode(bits, kind):
    """Bits to Fraction, "inf", "-inf" or "nan"; zeros keep their sign as ("0", sign)."""
    e, m = FORMATS[kind]
    sign, exponent, fraction = bits >> (e + m), bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    if exponent == (1 << e) - 1:
        return "nan" if fraction else ("-inf" if sign else "inf")
    scale = max(exponent, 1) - ((1 << (e - 1)) - 1) - m
    value = (fraction | ((exponent > 0) << m)) * Fraction(2) ** scale
    return -value if sign else value


def encode(value, kind, mode="rn", zero_sign=0):
    """Round an exact Fraction to a format's bits."""
    e, m = FORMATS[kind]
    if value == 0:
        return zero_sign << (e + m)
    sign, value = (1, -value) if value < 0 else (0, value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    while Fraction(2) ** exponent > value:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= value:
        exponent += 1
    bias = (1 << (e - 1)) - 1
    exponent = max(exponent, 1 - bias)
    scaled = value / Fraction(2) ** (exponent - m)
    low = math.floor(scaled)
    rest = scaled - low
    up = {
        "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low & 1),
        "rz": False,
        "rm": sign and rest > 0,
        "rp": not sign and rest > 0,
    }[mode]
    low += bool(up)
    bits = low + ((exponent + bias - 1) << m) if low >> m or exponent > 1 - bias else low
    infinity = ((1 << e) - 1) << m
    if bits >= infinity:
        grows = mode == "rn" or (mode == "rm" and sign) or (mode == "rp" and not sign)
        bits = infinity if grows else infinity - 1
    return sign << (e + m) | bits


def f32_bits(value):
    """Bits of a Python float rounded to FP32."""
    return struct.unpack("<I", struct.pack("<f", value))[0]


def is_number(*values):
    """True if none is an infinity or NaN."""
    return all(isinstance(v, Fraction) for v in values)
