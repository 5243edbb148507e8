"""Matrix descriptors of wgmma: the 64-bit word that tells where an operand lies in shared memory (PTX ISA 9.7.15.5.1,
"Shared Memory Matrix Layout", and 9.7.15.5.1.2, "Matrix Descriptor Format").

Bits 0-13 start address, 16-29 leading dimension byte offset (LBO), 32-45 stride dimension byte offset (SBO), all three
in units of 16 bytes; 49-51 base offset; 62-63 swizzle (0 none, 1 128 B, 2 64 B, 3 32 B). One instruction reads 32 bytes
along K. In bytes, with w the swizzle width (16 without swizzle), the 16-byte chunk

    K-major   row r, chunk c (of 2)              r % 8 * w + r // 8 * SBO + c * (16, without swizzle LBO)
    MN-major  elements 8 j to 8 j + 7, k         16-bit types only, with j = q * (w / 16) + p:
              with swizzle                       16 p + q * LBO + k % 8 * w + k // 8 * SBO
              without                            j * SBO + k % 8 * 16 + k // 8 * LBO

lies so far from the start address, before bits 4-6 of the sum are XORed with its bits 7-9 (two of them with 64 B, one
with 32 B). The XOR looks at the absolute shared-memory address less the base offset.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

SWIZZLES = {0: 0, 1: 128, 2: 64, 3: 32}  # field -> bytes
_FIELD = (1 << 14) - 1
ADDRESS_MASK = (1 << 18) - 1
_STEPS = {"K": 2, "MN": 16}  # chunks along K of one instruction: of 16 bytes, or of one k each


@dataclass(frozen=True)
class WgmmaDescriptor:
    """The fields of a descriptor, in bytes. ``start``, ``lbo``, ``sbo``; ``swizzle`` 0, 32, 64 or 128; ``base_offset``
    the 3-bit field; ``major`` "K" or "MN"; ``ignored`` the fields that this layout does not use.
    """

    word: int
    start: int
    lbo: int
    sbo: int
    base_offset: int
    swizzle: int
    major: str
    ignored: tuple
    reserved: int

    def chunk(self, row, k):
        """Shared-memory address of the 16-byte chunk that holds byte ``k`` (0-31) of row ``row`` along K, K-major; or
        element ``row`` of M or N at depth ``k`` (0-15), MN-major.
        """
        step = k // 16 if self.major == "K" else k
        place = row if self.major == "K" else row // 8
        rows = 8 * (place // 8 + 1)
        table = chunk_addresses(np.array([self.word], np.uint64), self.major, rows)
        return int(table.reshape(rows, _STEPS[self.major])[place, step])

    @property
    def core_matrices(self):
        """Addresses of the first core matrices (8 rows of 16 bytes): {(row of matrices, column along K): address}."""
        if self.major == "K":
            return {(i, c): self.chunk(8 * i, 16 * c) for i in range(2) for c in range(2)}
        return {(j, c): self.chunk(8 * j, 8 * c) for j in range(2) for c in range(2)}

    def __str__(self):
        unused = f" (ignored: {', '.join(self.ignored)})" if self.ignored else ""
        swizzle = f"{self.swizzle} B" if self.swizzle else "none"
        lines = [
            f"start 0x{self.start:x}, LBO {self.lbo} B, SBO {self.sbo} B, swizzle {swizzle}, base offset "
            f"{self.base_offset}, {self.major}-major{unused}"
        ]
        along = "M/N"
        for (i, c), address in self.core_matrices.items():
            lines.append(f"core matrix {i} along {along}, {c} along K: 0x{address:x}")
        return "\n".join(lines)


def decode_wgmma_descriptor(word, major="K"):
    """Read a descriptor: :class:`WgmmaDescriptor`. ``major`` "K", or "MN" for a transposed 16-bit operand (it stands in
    the instruction, not in the descriptor).

    Raises ValueError for a word that is no 64-bit number, and for another ``major``.
    """
    word = int(word)
    if not 0 <= word < 1 << 64:
        raise ValueError(f"descriptor {word:#x}: give an unsigned 64-bit number")
    if major not in ("K", "MN"):
        raise ValueError(f"major {major!r}: use 'K' or 'MN'")
    swizzle = SWIZZLES[word >> 62]
    ignored = ("LBO",) if swizzle and major == "K" else ()
    start, lbo, sbo = ((word >> shift & _FIELD) << 4 for shift in (0, 16, 32))
    known = _FIELD | _FIELD << 16 | _FIELD << 32 | 7 << 49 | 3 << 62
    return WgmmaDescriptor(word, start, lbo, sbo, word >> 49 & 7, swizzle, major, ignored, word & ~known)


def encode_wgmma_descriptor(start, lbo=0, sbo=0, swizzle=0, base_offset=0):
    """The 64-bit word of byte offsets, the inverse of :func:`decode_wgmma_descriptor`.

    Raises ValueError for what the fields cannot hold.
    """
    code = {v: k for k, v in SWIZZLES.items()}.get(swizzle)
    if code is None:
        raise ValueError(f"swizzle {swizzle}: use 0, 32, 64 or 128 bytes")
    for name, value in (("start", start), ("LBO", lbo), ("SBO", sbo)):
        if value % 16 or not 0 <= value <= ADDRESS_MASK:
            raise ValueError(f"{name} {value}: give a multiple of 16 bytes below {ADDRESS_MASK + 1}")
    if not 0 <= base_offset < 8:
        raise ValueError(f"base offset {base_offset}: give 0 to 7")
    return start >> 4 | lbo >> 4 << 16 | sbo >> 4 << 32 | base_offset << 49 | code << 62


@functools.cache
def _places(major, rows, width):
    """(bytes, how many LBO, how many SBO) of every chunk: int64[chunks] each, row by row (of ``rows`` rows of chunks),
    along K within. ``width``: the swizzle's.
    """
    place, k = np.divmod(np.arange(rows * _STEPS[major]), _STEPS[major])
    if major == "K":
        fixed = place % 8 * (width or 16)
        return (fixed + 16 * k, 0 * k, place // 8) if width else (fixed, k, place // 8)
    if not width:
        return k % 8 * 16, k // 8, place
    each = width // 16
    return place % each * 16 + k % 8 * width, place // each, k // 8


def chunk_addresses(words, major, rows):
    """int64[n, chunks]: shared-memory address of every 16-byte chunk that an operand of ``rows`` rows of chunks reads
    (rows of M or N, K-major; groups of eight, MN-major) through each of the descriptors ``words`` uint64[n].
    """
    words = words.astype(np.int64) if words.dtype != np.int64 else words
    start, lbo, sbo = (((words >> shift & _FIELD) << 4)[:, None] for shift in (0, 16, 32))
    base, code = (words >> 49 & 7)[:, None], words >> 62 & 3
    out = np.empty((len(words), rows * _STEPS[major]), np.int64)
    for value in np.unique(code).tolist():
        width = SWIZZLES[value]
        which = slice(None) if (code == value).all() else code == value
        fixed, leading, stride = _places(major, rows, width)
        address = (start[which] + fixed + leading * lbo[which] + stride * sbo[which]) & ADDRESS_MASK
        if width:
            address ^= ((address >> 7) - base[which] & width // 16 - 1) << 4
        out[which] = address
    return out
