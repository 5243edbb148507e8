"""The inner loops of wgmma: registers and shared memory to numbers and back. Compiled by Numba, cached on disk."""

import numpy as np
from numba import njit

from .adding import accumulate, room

F32, TF32, S32, TABLE16, TABLE8 = range(5)  # how numbers are encoded


@njit(cache=True)
def read(view, base, addr, limit, size, table, transposed, out):
    """Decode chunks of 16 bytes at ``base + addr`` of shared memory, ``view``, into ``out`` float64[n, rows, k]."""
    each = 16 // size
    ones = view.dtype.type(~view.dtype.type(0))
    raw = np.empty(1, np.uint32)
    value = raw.view(np.float32)
    k = out.shape[2]
    steps = k if transposed else 2
    for w in range(addr.shape[0]):
        for c in range(addr.shape[1]):
            at = addr[w, c]
            good = at + 16 <= limit
            first = (base[w] + at) // size
            row, step = c // steps, c % steps
            for e in range(each):
                bits = view[first + e] if good else ones
                if size == 4:
                    raw[0] = bits & np.uint32(0xFFFFE000)
                    x = np.float64(value[0])
                else:
                    x = np.float64(table[bits])
                if transposed:
                    out[w, row * each + e, step] = x
                else:
                    out[w, row, step * each + e] = x


@njit(cache=True)
def multiply(a, b, sums, first, lowest, fraction, kept):
    """``sums`` float64[all warps, 16, N] += A B from warp ``first`` of each group on: see adding.py. ``a``
    float64[groups, rows, k], ``b`` float64[groups, k, N].
    """
    groups, m, k = a.shape
    n = b.shape[2]
    ks = np.arange(k).reshape(1, k)
    scratch = room(m, n, k)
    for g in range(groups):
        acc = sums[first[g] : first[g] + m // 16].reshape(m, n)
        accumulate(a[g], b[g], acc, ks, lowest, fraction, kept, scratch)


@njit(cache=True)
def gather(words, rows, warps, index, code, table, out):
    """Decode registers of the warps into ``out`` float64[all warps, 16, columns]."""
    raw = np.empty(1, np.uint32)
    value = raw.view(np.float32)
    packed = index.shape[2]
    bits = 32 // packed
    low = np.uint32((1 << (bits & 31)) - 1)
    columns = out.shape[2]
    for i in range(len(warps)):
        w = warps[i] >> 5
        for r in range(len(rows)):
            at = rows[r] + warps[i]
            for t in range(32):
                word = words[at + t]
                for s in range(packed):
                    if code == F32:
                        raw[0] = word
                        x = np.float64(value[0])
                    elif code == TF32:
                        raw[0] = word & np.uint32(0xFFFFE000)
                        x = np.float64(value[0])
                    elif code == S32:
                        x = np.float64(np.int32(word))
                    else:
                        x = np.float64(table[(word >> np.uint32(bits * s)) & low])
                    place = index[t, r, s]
                    out[w, place // columns, place % columns] = x


@njit(cache=True)
def poison(words, rows, warps):
    """Leave all ones in registers of the warps."""
    for i in range(len(warps)):
        for r in range(len(rows)):
            words[rows[r] + warps[i] : rows[r] + warps[i] + 32] = np.uint32(0xFFFFFFFF)


@njit(cache=True)
def scatter(words, rows, warps, index, code, sums):
    """Encode the sums (F32, S32, or FP16 in pairs) into the registers of the warps."""
    raw = np.empty(1, np.uint32)
    value = raw.view(np.float32)
    columns = sums.shape[2]
    for i in range(len(warps)):
        w = warps[i] >> 5
        for r in range(len(rows)):
            at = rows[r] + warps[i]
            for t in range(32):
                x = sums[w, index[t, r, 0] // columns, index[t, r, 0] % columns]
                if code == F32:
                    value[0] = np.float32(x)
                    words[at + t] = raw[0] if x == x else np.uint32(0x7FFFFFFF)
                elif code == S32:
                    words[at + t] = np.uint32(np.int64(x) & 0xFFFFFFFF)
                else:
                    y = sums[w, index[t, r, 1] // columns, index[t, r, 1] % columns]
                    words[at + t] = half_bits(x, raw, value) | half_bits(y, raw, value) << np.uint32(16)


@njit(cache=True, inline="always")
def half_bits(x, raw, value):
    """Bits of an FP16 number given as a float64 that is one."""
    if x != x:
        return np.uint32(0x7FFF)
    value[0] = np.float32(x)
    sign = (raw[0] >> np.uint32(16)) & np.uint32(0x8000)
    size = abs(x)
    if size == np.inf:
        return sign | np.uint32(0x7C00)
    if size < 2.0**-14:
        return sign | np.uint32(size * 2.0**24)
    rest = raw[0] & np.uint32(0x7FFFFFFF)
    return sign | ((rest >> np.uint32(13)) - np.uint32(112 << 10))
