"""The inner loops of matrix instructions, over all warps of a group. Compiled by Numba, cached on disk.

Products of mma.sync are those of an H200, bit for bit in every case of
tests/ptxemu/data/tensor_goldens_nvidia_h200.json.gz (see adding.py); wmma is taken to add likewise (its cases there are
exact in any order). FP8 has no mma.sync of its own there: it takes two steps in FP16 factors, k % 4 < 2 first, from
zero, and C is added to the result in an addition of D's type. So D of a form with FP16 accumulators is rounded to FP16
three times. Integers are exact.
"""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
from numba import njit

from .adding import FRACTION, KEPT, accumulate, plain, room

TF32_MASK = np.uint32(0xFFFFE000)  # the hardware ignores the low 13 bits of a .b32 TF32 operand
NO_TABLE = np.zeros(1, np.float32)
F32, S32, S32_SATURATED, WIDE = range(4)
_LOWEST = {"f16": 2.0**-14, "e4m3": 2.0**-14, "e5m2": 2.0**-14}  # smallest normal number; FP8 goes through FP16

_SMALL = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
}


@functools.cache
def decode_table(kind):
    """float32 value of every bit pattern of a type of 8 or 16 bits; a table of one entry for wider types."""
    if kind not in _SMALL:
        return NO_TABLE
    bits = 8 * np.dtype(_SMALL[kind]).itemsize
    with np.errstate(invalid="ignore"):
        return np.arange(1 << bits, dtype=f"u{bits // 8}").view(_SMALL[kind]).astype(np.float32)


@functools.cache
def steps_of(k, a, b, c):
    """(int64[steps, k of a step], smallest normal number of A, B and C): how a product of these types is added."""
    ks = np.arange(k)
    steps = np.stack([ks[ks % 4 < 2], ks[ks % 4 >= 2]]) if a in ("e4m3", "e5m2") else ks[None]
    return steps, tuple(_LOWEST.get(kind, 2.0**-126) for kind in (a, b, c))


@njit(cache=True, inline="always")
def _gather(words, rows, lane, index, table, mask, integer, raw, value, out):
    """One warp's matrix, from registers at ``rows``, as float64 in ``out``; ``raw``, ``value``: one word, two views."""
    registers, packed = index.shape[1], index.shape[2]
    bits = 32 // packed
    low = np.uint32((1 << bits) - 1)
    for r in range(registers):
        at = rows[r] + lane
        for t in range(32):
            word = words[at + t]
            if packed > 1:
                for s in range(packed):
                    out[index[t, r, s]] = table[(word >> np.uint32(bits * s)) & low]
            elif integer:
                out[index[t, r, 0]] = np.int32(word)
            else:
                raw[0] = word & mask
                out[index[t, r, 0]] = value[0]


@njit(cache=True)
def multiply(
    words, lanes, rows_a, rows_b, rows_c, rows_d, index_a, index_b, index_c, index_d, table_a, table_b, table_c, mask,
    integer, shape, form, wide, steps, lowest,
):  # fmt: skip
    """D = A B + C for every warp that starts at one of ``lanes``. ``rows_*``: where each register's row of ``words``
    starts. ``form`` F32, S32 or S32_SATURATED: D is written; WIDE: it goes to ``wide`` float64[warps, m n].
    ``steps`` int64[steps, k of a step], ``lowest`` of A, B and C: what :func:`steps_of` gives.
    """
    m, n, k = shape
    a, b, acc, c = np.empty((m, k)), np.empty((k, n)), np.empty((m, n)), np.zeros((m, n))
    scratch = room(m, n, k)
    kept = 0 if form == WIDE else KEPT
    raw = np.empty(1, np.uint32)
    value = raw.view(np.float32)
    for w in range(len(lanes)):
        lane = lanes[w]
        _gather(words, rows_a, lane, index_a, table_a, mask, False, raw, value, a.ravel())
        _gather(words, rows_b, lane, index_b, table_b, mask, False, raw, value, b.ravel())
        _gather(words, rows_c, lane, index_c, table_c, np.uint32(0xFFFFFFFF), integer, raw, value, acc.ravel())
        if integer:
            plain(a, b, acc, steps[0])
        else:
            if len(steps) > 1:
                c[:] = acc
                acc[:] = 0.0
            accumulate(a, b, acc, steps, lowest, FRACTION, kept, scratch)
            if len(steps) > 1:
                acc += c
        flat = acc.ravel()
        if form == WIDE:
            wide[w] = flat
            continue
        for r in range(index_d.shape[1]):
            at = rows_d[r] + lane
            for t in range(32):
                x = flat[index_d[t, r, 0]]
                if form == F32:
                    value[0] = np.float32(x)
                    words[at + t] = raw[0] if x == x else np.uint32(0x7FFFFFFF)
                else:
                    if form == S32_SATURATED:
                        x = min(max(x, -2147483648.0), 2147483647.0)
                    words[at + t] = np.uint32(np.int64(x) & 0xFFFFFFFF)


@njit(cache=True)
def load_matrices(shared, at, good, words, lanes, rows, trans):
    """ldmatrix: ``at`` int64[warps, 32] byte index in ``shared`` uint16 of the row that each lane names; ``good``: it
    may be read (else all ones).
    """
    for w in range(len(lanes)):
        for i in range(len(rows)):
            for t in range(32):
                if trans:
                    first, second = 8 * i + 2 * (t & 3), 8 * i + 2 * (t & 3) + 1
                    low, high = (at[w, first] >> 1) + (t >> 2), (at[w, second] >> 1) + (t >> 2)
                else:
                    first = second = 8 * i + (t >> 2)
                    low = (at[w, first] >> 1) + 2 * (t & 3)
                    high = low + 1
                word = np.uint32(shared[low]) if good[w, first] else np.uint32(0xFFFF)
                upper = np.uint32(shared[high]) if good[w, second] else np.uint32(0xFFFF)
                words[rows[i] + lanes[w] + t] = word | (upper << np.uint32(16))


@njit(cache=True)
def store_matrices(shared, at, good, words, lanes, rows, trans):
    """stmatrix, the inverse of :func:`load_matrices`; rows that may not be written are left out."""
    for w in range(len(lanes)):
        for i in range(len(rows)):
            for t in range(32):
                word = words[rows[i] + lanes[w] + t]
                for s in range(2):
                    row, col = (2 * (t & 3) + s, t >> 2) if trans else (t >> 2, 2 * (t & 3) + s)
                    if good[w, 8 * i + row]:
                        half = np.uint16((word >> np.uint32(16 * s)) & np.uint32(0xFFFF))
                        shared[(at[w, 8 * i + row] >> 1) + col] = half
