"""How a tensor core adds: one step, over all of k, bit for bit as an H200 (recorded in tests/ptxemu/data).

With 2^E the largest magnitude among C and the products, where a product counts as 2^(exponent of a + exponent of b) and
a subnormal number has the exponent of the smallest normal one, a step cuts C and every product toward zero to a
multiple of 2^(E - fraction), and adds them exactly. The sum is rounded toward zero to FP32 (or to fewer bits), or to
nearest even to FP16. The scheme is that of Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor
cores", 2021; widths and lengths are the H200's, and other GPUs differ in the last bits.

    mma.sync and wgmma, FP16, BF16, TF32   fraction 25   D's 23 bits (FP32)
    wgmma, FP8                             fraction 13   13 bits (FP32)

So the difference from the exact sum is less than (k + 1) 2^(E - fraction) and D's rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

FRACTION, KEPT = 25, 23  # bits after the leading one: of a step, of an FP32 result
FP8_FRACTION = FP8_KEPT = 13
_NARROW = 2.0**45  # factors within these powers of two are multiplied in FP32, exactly
_CHUNK = 8  # products whose cut values fit a sum of 32 bits


@njit(cache=True)
def room(m, n, k):
    """Scratch arrays for products of a shape: powers of two of A, B and C; A, B and their powers in FP32; and rows."""
    half = np.empty((m, k), np.float32), np.empty((k, n), np.float32)
    powers = np.empty((m, k), np.float32), np.empty((k, n), np.float32)
    rows = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n), np.empty(n), np.empty(n)
    return (np.empty((m, k)), np.empty((k, n)), np.empty((m, n))), half, powers, (*rows, np.empty(n, np.int32))


@njit(cache=True, error_model="numpy")
def _powers(values, lowest, out):
    """The power of two below or at each |value|, at least ``lowest`` unless it is 0; infinity where it is not finite.
    ``values``, ``out`` float64[rows, columns]. Returns (whether all are finite, least and largest power that is not 0).
    """
    least, most = np.inf, 0.0
    for i in range(values.shape[0]):
        bits, row = values[i].view(np.int64), out[i]
        powers = row.view(np.int64)
        for j in range(len(row)):
            powers[j] = bits[j] & 0x7FF0000000000000
        for j in range(len(row)):
            x = row[j]
            x = lowest if (x < lowest and bits[j] & 0x7FFFFFFFFFFFFFFF != 0) else x
            row[j] = x
            least = min(least, x if x > 0.0 else np.inf)
            most = max(most, x)
    return most < np.inf, least, most


@njit(cache=True, error_model="numpy")
def _narrow(values, out):
    """Copy float64 to float32."""
    for i in range(values.shape[0]):
        row, narrow = values[i], out[i]
        for j in range(len(row)):
            narrow[j] = row[j]


@njit(cache=True, error_model="numpy")
def _step(a, b, acc, powers_a, powers_b, powers_c, ks, fraction, limit, top, scale, total, part):
    """``acc`` float64[m, n] = A B over ``ks`` + ``acc``, not yet rounded to D's type. A, B and their powers are float32
    where all products are exact in it, else float64; so are ``top`` and ``scale``, whose type holds up to ``limit``.
    """
    m, n = acc.shape
    up, down = 2.0**fraction, 2.0**-fraction
    for i in range(m):
        sums, power = acc[i], powers_c[i]
        for j in range(n):
            top[j] = power[j]
        for l in ks:  # noqa: E741
            x, row = powers_a[i, l], powers_b[l]
            for j in range(n):
                p = x * row[j]
                top[j] = p if p > top[j] else top[j]
        for j in range(n):
            t = np.float64(top[j])
            s = up / (t if t > 0.0 else 1.0)
            scale[j] = min(s, limit)
            total[j] = np.float64(np.int32(sums[j] * s))
        for first in range(0, len(ks), _CHUNK):
            for j in range(n):
                part[j] = 0
            for l in ks[first : first + _CHUNK]:  # noqa: E741
                x, row = a[i, l], b[l]
                for j in range(n):
                    part[j] = np.int32(part[j] + np.int32(x * row[j] * scale[j]))
            for j in range(n):
                total[j] += np.float64(part[j])
        for j in range(n):
            sums[j] = total[j] * (np.float64(top[j]) * down)


@njit(cache=True)
def plain(a, b, acc, ks):
    """``acc`` += A B over ``ks``: exact for integers, and for telling infinities and NaN."""
    m, n = acc.shape
    for i in range(m):
        sums = acc[i]
        for l in ks:  # noqa: E741
            x, row = a[i, l], b[l]
            for j in range(n):
                sums[j] += x * row[j]


@njit(cache=True, error_model="numpy")
def _cut(acc, kept, powers):
    """Round toward zero to FP32 with ``kept`` bits after the leading one."""
    down = 2.0**-kept
    _powers(acc, 2.0**-126, powers)
    for i in range(acc.shape[0]):
        sums, power = acc[i], powers[i]
        for j in range(len(sums)):
            unit = power[j] * down
            x = np.float64(np.int32(sums[j] / (unit if unit > 0.0 else 1.0))) * unit
            sums[j] = x if power[j] < 2.0**128 else math.copysign(np.inf, sums[j])


@njit(cache=True, error_model="numpy")
def _to_half(acc, powers):
    """Round to nearest even to FP16."""
    _powers(acc, 2.0**-14, powers)
    for i in range(acc.shape[0]):
        sums, power = acc[i], powers[i]
        for j in range(len(sums)):
            unit = power[j] * 2.0**-10
            x = np.rint(sums[j] / (unit if unit > 0.0 else 1.0)) * unit
            sums[j] = x if abs(x) < 2.0**16 else math.copysign(np.inf, sums[j])


@njit(cache=True)
def accumulate(a, b, acc, steps, lowest, fraction, kept, scratch):
    """One or more steps, each rounded to D's type. ``a`` float64[m, k], ``b`` float64[k, n], ``acc`` float64[m, n]: C,
    then D; ``steps`` int64[number, k of a step]; ``lowest``: smallest normal number of A, B and C; ``kept``: bits of an
    FP32 result after the leading one, 0: FP16. ``scratch``: what :func:`room` gives for the shape.
    """
    (powers_a, powers_b, powers_c), small, small_powers, (top32, scale32, top, scale, total, part) = scratch
    finite_a, least_a, most_a = _powers(a, lowest[0], powers_a)
    finite_b, least_b, most_b = _powers(b, lowest[1], powers_b)
    narrow = min(least_a, least_b) > 1 / _NARROW and max(most_a, most_b) < _NARROW
    if narrow:
        _narrow(a, small[0])
        _narrow(b, small[1])
        _narrow(powers_a, small_powers[0])
        _narrow(powers_b, small_powers[1])
    for s in range(len(steps)):
        finite = _powers(acc, lowest[2], powers_c)[0] and finite_a and finite_b
        told = acc if finite else acc.copy()
        if not finite:
            plain(a, b, told, steps[s])
        if narrow:
            _step(
                small[0], small[1], acc, small_powers[0], small_powers[1], powers_c, steps[s], fraction, 2.0**115,
                top32, scale32, total, part,
            )  # fmt: skip
        else:
            _step(
                a, b, acc, powers_a, powers_b, powers_c, steps[s], fraction, 2.0**1000, top, scale, total, part
            )  # fmt: skip
        if kept:
            _cut(acc, kept, powers_c)
        else:
            _to_half(acc, powers_c)
        if not finite:
            for i in range(acc.shape[0]):
                for j in range(acc.shape[1]):
                    if not abs(told[i, j]) < np.inf:
                        acc[i, j] = told[i, j]
