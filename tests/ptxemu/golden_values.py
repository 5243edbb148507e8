"""Operand values for the golden cases: edge values first, then pseudo-random ones. Pure integer arithmetic, so that
every machine and NumPy version produces the same bits.
"""

import numpy as np

COUNT = 256  # values of each operand per case

_FLOAT = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def hash64(seed, n):
    """``n`` pseudo-random uint64 (splitmix64) from an integer seed."""
    z = (np.arange(1, n + 1, dtype=np.uint64) + np.uint64(seed * 1_000_003 & 0xFFFFFFFF)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def bits_of(kind):
    """Width in bits of an operand kind: "f32", "u64", "b16", "f16x2", "pos32", …"""
    if kind.endswith("x2"):
        return 32
    return int("".join(c for c in kind if c.isdigit()))


def _int_edges(bits):
    full = (1 << bits) - 1
    half = 1 << (bits - 1)
    core = [0, 1, full, half, half - 1, half + 1, 2, full - 1, 5, 31, 32, 33]
    more = [
        3,
        7,
        8,
        15,
        16,
        63,
        64,
        100,
        0x7F,
        0x80,
        0xFF,
        0x100,
        full // 3,
        full // 3 * 2,
        half >> 1,
        1000,
        0x7FFF,
        0x8000,
        0xFFFF,
    ]
    return core, [v & full for v in more] + [full - 6, (1 << (bits // 2)) - 1, 1 << (bits // 2), full ^ (full >> 5)]


def _float_edges(exponent_bits, mantissa_bits):
    """Bit patterns: zeros, denormals, ulp neighbours of 1, ties, limits of the integer types, infinities and NaNs."""
    bias = (1 << (exponent_bits - 1)) - 1
    sign = 1 << (exponent_bits + mantissa_bits)
    one = bias << mantissa_bits
    inf = ((1 << exponent_bits) - 1) << mantissa_bits
    quiet = 1 << (mantissa_bits - 1)

    def power(e, fraction=0):
        return ((bias + e) << mantissa_bits) | fraction if 0 < bias + e < (1 << exponent_bits) - 1 else one

    core = [
        0,
        sign,
        one,
        sign | one,
        1,
        (1 << mantissa_bits) - 1,
        1 << mantissa_bits,
        inf - 1,
        inf,
        sign | inf,
        inf | quiet,
        power(1, quiet),
    ]
    more = [
        sign | 1,
        sign | (inf - 1),
        one + 1,
        one - 1,
        power(-1),
        power(0, quiet),
        sign | power(1, quiet >> 1),
        power(1, quiet >> 1),
    ]
    more += [
        inf | 1,
        sign | inf | quiet | 1,
        inf | ((1 << mantissa_bits) - 1),
        power(-1) - 1,
        power(mantissa_bits),
        power(mantissa_bits + 1, 1),
    ]
    for e in (4, 7, 8, 15, 16, 31, 32, 63, 64):
        more += [power(e), power(e) - 1, sign | power(e), sign | (power(e) - 1)]
    return core, more


def _edges(kind):
    if kind in _FLOAT:
        return _float_edges(*_FLOAT[kind])
    if kind.endswith("x2"):
        core, more = _float_edges(*_FLOAT[kind[:-2]]) if kind[0] in "fb" and kind[:-2] in _FLOAT else _int_edges(16)
        every = core + more
        pairs = [lo | (every[(5 * i + 3) % len(every)] << 16) for i, lo in enumerate(every)]
        return pairs[:12], pairs[12:]
    return _int_edges(bits_of(kind))


def _random(kind, seed, n):
    bits = bits_of(kind)
    r = hash64(seed, n)
    if kind in _FLOAT or (kind.endswith("x2") and kind[:-2] in _FLOAT):
        base = kind[:-2] if kind.endswith("x2") else kind
        e, m = _FLOAT[base]
        half_bits = 1 + e + m
        parts = []
        for k in range(bits // half_bits):
            q = hash64(seed * 31 + k + 7, n)
            near = (q & np.uint64((1 << m) - 1)) | (
                (np.uint64((1 << (e - 1)) - 3) + ((q >> np.uint64(54)) & np.uint64(7))) << np.uint64(m)
            )
            near |= (q >> np.uint64(63)) << np.uint64(e + m)
            wild = q >> np.uint64(64 - half_bits)
            parts.append(np.where(np.arange(n) % 3 == 0, wild, near) << np.uint64(k * half_bits))
        return parts[0] if len(parts) == 1 else parts[0] | parts[1]
    r = r >> np.uint64(64 - bits)
    small = r % np.uint64(67)
    return np.where(np.arange(n) % 3 == 0, small, r)


def operands(kinds, seed, limit=None):
    """One uint64[COUNT] per operand kind. ``limit``: (low, high) for real-valued f32 operands of approximate
    functions.
    """
    if limit is not None:
        return [_uniform_f32(seed + j, *limit) for j in range(len(kinds))]
    columns = []
    for j, kind in enumerate(kinds):
        core, more = _edges(kind)
        edges = np.array(core + more, dtype=np.uint64)
        values = _random(kind, 97 * seed + j, COUNT)
        if len(kinds) == 1:
            values[: len(edges)] = edges[:COUNT]
        elif len(kinds) == 2:
            i = np.arange(144)
            values[:144] = np.array(core, dtype=np.uint64)[i // 12 if j == 0 else i % 12]
            values[144 : 144 + 56] = edges[(np.arange(56) * (1 + 4 * j) + 12 + 3 * j) % len(edges)]
        else:
            picks = hash64(1000 * seed + j, 160) % np.uint64(len(edges))
            values[:160] = edges[picks.astype(np.int64)]
        columns.append(values)
    return columns


def _uniform_f32(seed, low, high):
    u = (hash64(seed, COUNT) >> np.uint64(40)).astype(np.float64) / (1 << 24)
    return (low + u * (high - low)).astype(np.float32).view(np.uint32).astype(np.uint64)
