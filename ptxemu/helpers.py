"""Scalar routines that generated code calls by address: rounding to odd and narrow floating-point formats.

They take and give bit patterns. Rounding modes: 0 nearest even, 1 toward zero, 2 down, 3 up. Compiled by Numba on
first use, cached on disk.
"""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from . import exact

_i32, _i64 = types.int32, types.int64


@intrinsic
def _as_float(typingctx, bits):
    def build(context, builder, sig, args):
        return builder.bitcast(args[0], cgutils.ir.DoubleType())

    return types.float64(types.int64), build


@intrinsic
def _as_bits(typingctx, value):
    def build(context, builder, sig, args):
        return builder.bitcast(args[0], cgutils.ir.IntType(64))

    return types.int64(types.float64), build


@intrinsic
def _fma(typingctx, a, b, c):
    def build(context, builder, sig, args):
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), build


_SIGN = np.int64(-(1 << 63))
_MAGNITUDE = np.int64((1 << 63) - 1)
_INFINITY = np.int64(0x7FF0000000000000)


@njit
def _toward(bits, up):
    """Next representable value above (``up``) or below a finite one."""
    magnitude = bits & _MAGNITUDE
    if magnitude == 0:
        return np.int64(1) if up else _SIGN | np.int64(1)
    return bits + 1 if (bits >= 0) == up else bits - 1


@njit
def _odd(bits, error):
    """Round to odd: ``bits`` is the nearest value, ``error`` has the sign of exact - nearest."""
    if error == 0.0 or bits & 1 or (bits & _MAGNITUDE) >= _INFINITY:
        return bits
    return _toward(bits, error > 0.0)


@njit
def _sum_error(a, b, s):
    """a + b - s, exact (Knuth's two-sum)."""
    t = s - a
    return (a - (s - t)) + (b - t)


def add_odd(a, b):
    x, y = _as_float(a), _as_float(b)
    s = x + y
    bits = _as_bits(s)
    if (bits & _MAGNITUDE) >= _INFINITY:
        return bits
    return _odd(bits, _sum_error(x, y, s))


def div_odd(a, b):
    x, y = _as_float(a), _as_float(b)
    q = x / y if y != 0.0 else np.nan if x == 0.0 or x != x else np.inf * (1.0 if (a ^ b) >= 0 else -1.0)
    bits = _as_bits(q)
    if (bits & _MAGNITUDE) >= _INFINITY or (b & _MAGNITUDE) == _INFINITY:
        return bits
    error = _fma(-q, y, x)
    return _odd(bits, error if y > 0.0 else -error)


def sqrt_odd(a):
    x = _as_float(a)
    r = np.sqrt(x)
    bits = _as_bits(r)
    if (bits & _MAGNITUDE) >= _INFINITY or x == 0.0:
        return bits
    return _odd(bits, _fma(-r, r, x))


@njit
def _pack(bits, exponent_bits, mantissa_bits, mode):
    """FP64 bits to an IEEE-like format: (sign << n | magnitude), infinity on overflow, canonical NaN all ones."""
    sign = np.int64(1) if bits < 0 else np.int64(0)
    magnitude = bits & _MAGNITUDE
    width = exponent_bits + mantissa_bits
    infinity = ((np.int64(1) << exponent_bits) - 1) << mantissa_bits
    if magnitude > _INFINITY:
        return (np.int64(1) << width) - 1
    if magnitude == _INFINITY:
        return (sign << width) | infinity
    exponent = (magnitude >> 52) - 1023
    fraction = magnitude & ((np.int64(1) << 52) - 1)
    if magnitude >> 52 == 0:
        exponent = np.int64(-1022)
    else:
        fraction |= np.int64(1) << 52
    bias = (np.int64(1) << (exponent_bits - 1)) - 1
    drop = np.int64(52) - mantissa_bits
    if exponent < 1 - bias:
        drop += 1 - bias - exponent
        base = np.int64(0)
    else:
        base = (exponent + bias - 1) << mantissa_bits
    if drop > 62:
        kept, rest, half = np.int64(0), fraction, np.int64(1) << 62
    else:
        kept = fraction >> drop
        rest = fraction & ((np.int64(1) << drop) - 1)
        half = np.int64(1) << (drop - 1)
    if rest != 0:
        if mode == 0:
            kept += 1 if rest > half or (rest == half and kept & 1) else 0
        elif (mode == 2 and sign) or (mode == 3 and not sign):
            kept += 1
    value = base + kept
    if value >= infinity:
        to_infinity = mode == 0 or (mode == 2 and sign == 1) or (mode == 3 and sign == 0)
        value = infinity if to_infinity else infinity - 1
    return (sign << width) | value


def f64_to_f32(bits, mode):
    return np.int32(_pack(bits, np.int64(8), np.int64(23), mode))


def f64_to_small(bits, exponent_bits, mantissa_bits, mode):
    return np.int32(_pack(bits, np.int64(exponent_bits), np.int64(mantissa_bits), mode))


def f64_to_fp8(bits, exponent_bits, mantissa_bits):
    """Round to nearest even; overflow and infinity give the largest value (E4M3: 448); NaN gives 0x7f."""
    magnitude = bits & _MAGNITUDE
    if magnitude > _INFINITY:
        return np.int32(0x7F)
    sign = np.int32(0x80) if bits < 0 else np.int32(0)
    value = abs(_as_float(bits))
    if exponent_bits == 4:
        if value >= 464.0 or magnitude == _INFINITY:
            return sign | np.int32(0x7E)
        if value > 240.0:  # the top binade of E4M3 is ordinary numbers: round in steps of 16 or 32
            step = 16.0 if value < 256.0 else 32.0
            steps = np.rint(value / step)
            value = min(steps * step, 448.0)
            if value < 256.0:
                return sign | np.int32(0x77)
            return sign | np.int32(0x78 + (value - 256.0) / 32.0)
        return sign | np.int32(_pack(magnitude, np.int64(4), np.int64(3), 0))
    if value > 57344.0:
        return sign | np.int32(0x7B)
    return sign | np.int32(_pack(magnitude, np.int64(5), np.int64(2), 0))


def fp8_to_f16(byte, exponent_bits, mantissa_bits):
    """FP8 to FP16 bits, exact."""
    sign = (byte & 0x80) << 8
    magnitude = byte & 0x7F
    if exponent_bits == 5:
        return np.int32(0x7FFF) if magnitude > 0x7C else np.int32(sign | (magnitude << 8))
    if magnitude == 0x7F:
        return np.int32(0x7FFF)
    exponent, fraction = magnitude >> 3, magnitude & 7
    if exponent:
        return np.int32(sign | ((exponent + 8) << 10) | (fraction << 7))
    if fraction == 0:
        return np.int32(sign)
    shift = 0
    while fraction < 8:
        fraction <<= 1
        shift += 1
    return np.int32(sign | ((9 - shift) << 10) | ((fraction & 7) << 7))


def i64_to_f64(value, signed, mode):
    """64-bit integer to FP64 in a mode; mode 4 rounds to odd."""
    negative = signed != 0 and value < 0
    magnitude = np.uint64(-value if negative else value)
    shift = np.uint64(0)
    while magnitude >> shift >= np.uint64(1) << np.uint64(53):
        shift += np.uint64(1)
    kept = magnitude >> shift
    rest = magnitude & ((np.uint64(1) << shift) - np.uint64(1))
    if rest != np.uint64(0):
        half = np.uint64(1) << (shift - np.uint64(1))
        odd = kept & np.uint64(1)
        if mode == 4:
            kept |= np.uint64(1)
        elif mode == 0:
            kept += np.uint64(1) if rest > half or (rest == half and odd == np.uint64(1)) else np.uint64(0)
        elif (mode == 2 and negative) or (mode == 3 and not negative):
            kept += np.uint64(1)
    result = np.float64(kept) * 2.0 ** np.float64(shift)
    return _as_bits(-result if negative else result)


_SIGNATURES = {
    "add_odd": _i64(_i64, _i64),
    "div_odd": _i64(_i64, _i64),
    "sqrt_odd": _i64(_i64),
    "f64_to_f32": _i32(_i64, _i32),
    "f64_to_small": _i32(_i64, _i32, _i32, _i32),
    "f64_to_fp8": _i32(_i64, _i32, _i32),
    "fp8_to_f16": _i32(_i32, _i32, _i32),
    "i64_to_f64": _i64(_i64, _i32, _i32),
}


@functools.cache
def compiled(name):
    """(address, keeper) of a helper; keep the keeper alive as long as code calls the address."""
    if name in exact.ARITY:
        keeper = exact.callback(name)
        return ctypes.cast(keeper, ctypes.c_void_p).value, keeper
    try:
        keeper = cfunc(_SIGNATURES[name], cache=True, nopython=True)(globals()[name])
    except RuntimeError:  # no directory that the cache may write to
        keeper = cfunc(_SIGNATURES[name], nopython=True)(globals()[name])
    return keeper.address, keeper
