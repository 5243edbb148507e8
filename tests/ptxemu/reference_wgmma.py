"""A second reading of the PTX ISA's wgmma sections, independent of ptxemu's: element by element; sums by NumPy."""

import numpy as np

_LOWEST = {"f16": -14, "e4m3": -6, "e5m2": -14}  # exponents of the smallest normal numbers, else -126


def element_at(word, size, transposed, row, k):
    """Byte address of element (row, k) of A (row along M) or B (row along N) that a descriptor leads to. ``size``
    bytes per element.

    The canonical layouts, in units of T = 16 / size elements (CUTLASS, mma_sm90_desc.hpp, make_gmma_desc):
    K-major        ((8, m), (T, 2)) : ((w, SBO), (1, LBO or T))
    MN-major       ((T, w / 16, m), (8, k)) : ((1, T, LBO), (w, SBO))
    without swizzle          ((T, m), (8, k)) : ((1, SBO), (T, LBO))
    """
    start = (word & 0x3FFF) * 16
    lbo, sbo = (word >> 16 & 0x3FFF) * 16, (word >> 32 & 0x3FFF) * 16
    base, mode = word >> 49 & 7, word >> 62
    width = (16, 128, 64, 32)[mode]
    per = 16 // size
    if not transposed:
        step = lbo if mode == 0 else 16
        at = start + row % 8 * width + row // 8 * sbo + k // per * step + k % per * size
    elif mode == 0:
        at = start + row % per * size + row // per * sbo + k % 8 * 16 + k // 8 * lbo
    else:
        chunk = width // size
        at = start + row % chunk * size + row // chunk * lbo + k % 8 * width + k // 8 * sbo
    at %= 1 << 18
    phase = (at // 128 - base) % (1, 8, 4, 2)[mode]
    return at ^ phase * 16


def fragment_d(n, bits):
    """((row, column), (register, thread, part)) of every element of D, 64 x n (figure "WGMMA .m64nNk16 register
    fragment layout for accumulator matrix D").
    """
    for row in range(64):
        for col in range(n):
            thread = 32 * (row // 16) + 4 * (row % 8) + col % 8 // 2
            element = col // 8 * 4 + (row % 16 >= 8) * 2 + col % 2
            yield (row, col), (element // (32 // bits), thread, element % (32 // bits))


def fragment_a(bits):
    """The same of A, 64 x (256 / bits), in four registers."""
    per = 32 // bits
    for row in range(64):
        for col in range(256 // bits):
            thread = 32 * (row // 16) + 4 * (row % 8) + col % (4 * per) // per
            register = (row % 16 >= 8) + 2 * (col // (4 * per))
            yield (row, col), (register, thread, col % per)


def _exponent(values, kind):
    """int64: floor(log2 |values|), at least that of the smallest normal number; -10000 for zero."""
    exponent = np.maximum(np.frexp(values)[1] - 1, _LOWEST.get(kind, -126))
    return np.where(values == 0, -10000, exponent)


def added(a, b, c, kinds):
    """float64[m, n]: A B + C as tensor cores add, in one step over k (see ptxemu/adding.py); ``kinds`` of D, A, B."""
    d, kind_a, kind_b = kinds
    fraction, kept = (13, 13) if kind_a[0] == "e" else (25, 23)
    products = a[:, :, None] * b[None]
    exponents = _exponent(a, kind_a)[:, :, None] + _exponent(b, kind_b)[None]
    top = np.maximum(exponents.max(axis=1), _exponent(c, d))
    unit = np.ldexp(1.0, np.maximum(top - fraction, -1000))
    cut = lambda values, unit: np.trunc(values / unit) * unit  # noqa: E731
    total = cut(c, unit) + cut(products, unit[:, None, :]).sum(axis=1)
    if d == "f16":
        return total.astype(np.float16).astype(np.float64)
    total = cut(total, np.ldexp(1.0, np.maximum(_exponent(total, d), -126) - kept))
    return np.where(np.abs(total) < 2.0**128, total, np.copysign(np.inf, total))
