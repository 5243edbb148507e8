"""Which element of a matrix each lane's registers hold, for mma.sync and wmma (PTX ISA 9.7.14, "Warp Level Matrix
Instructions", the figures of fragment layouts).

All layouts of mma.sync follow one rule. With ``g`` = lane // 4, ``t`` = lane % 4, and ``e`` elements in a 32-bit
register (4 of 8 bits, 2 of 16, 1 of 32), element ``s`` of register ``w`` is

    A: row g + 8 (w % 2), column e t + s + 4 e (w // 2)      B: row e t + s + 4 e w, column g
    C, D: row g + 8 (i // 2), column 2 t + i % 2, where i counts elements

The ISA leaves wmma's layouts unspecified. Here they are those of the mma.sync tiles that a wmma shape consists of,
registers beyond the first set being copies, which agrees with what compilers make of it from sm_80 on.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import numpy as np

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8}
_LANE = np.arange(32)[:, None, None]
_G, _T = _LANE // 4, _LANE % 4


@dataclass(frozen=True, eq=False)
class Layout:
    """One operand. ``row``, ``col`` int64[32, registers, elements per register]; the matrix is ``rows`` x ``cols``;
    ``kind`` its element type.
    """

    row: np.ndarray
    col: np.ndarray
    rows: int
    cols: int
    kind: str

    @property
    def registers(self):
        return self.row.shape[1]

    @property
    def packed(self):
        """Elements of a register."""
        return self.row.shape[2]

    def owner(self, row, col):
        """(lane, place) that holds element (row, col): ``place`` "r2", or "r2.1" for the second element in r2. Where
        registers hold copies, the first.
        """
        lane, register, part = (int(v[0]) for v in np.nonzero((self.row == row) & (self.col == col)))
        return lane, f"r{register}" + (f".{part}" if self.packed > 1 else "")

    @functools.cached_property
    def index(self):
        """Position of each element in the row-major matrix: int64[32, registers, elements]."""
        return np.ascontiguousarray(self.row * self.cols + self.col)


def _axes(kind, registers):
    e = 32 // BITS[kind]
    return e, np.arange(registers)[None, :, None], np.arange(e)[None, None, :]


def _a(kind, m, k):
    """A fragment of m x k, m 8 or a multiple of 16: mma tiles of 16 rows, one after the other."""
    e = 32 // BITS[kind]
    tall, steps = min(m // 8, 2), k // (4 * e)
    e, w, s = _axes(kind, m // 8 * steps)
    tile, w = w // (tall * steps), w % (tall * steps)
    return _G + 8 * (w % tall) + 16 * tile + 0 * s, e * _T + s + 4 * e * (w // tall)


def _b(kind, k, n):
    """B fragment of k x n: mma tiles of 8 columns, one after the other."""
    steps = k * BITS[kind] // 128
    e, w, s = _axes(kind, n // 8 * steps)
    return e * _T + s + 4 * e * (w % steps), _G + 8 * (w // steps) + 0 * s


def _c(kind, m, n):
    """C or D fragment of m x n: mma tiles of at most 16 x 8, along n, then along m."""
    per = 2 * min(m // 8, 2)  # elements of a tile
    count = m * n // 32
    e = 32 // BITS[kind]
    i = np.arange(count).reshape(1, count // e, e)
    tile, i = i // per, i % per
    return _G + 8 * (i // 2) + 16 * (tile // (n // 8)), 2 * _T + i % 2 + 8 * (tile % (n // 8))


@functools.cache
def mma_layout(operand, kind, m, n, k):
    """Layout of operand "a", "b" or "c" (D has C's) of an mma.sync of shape m x n x k."""
    if operand == "a":
        return Layout(*_a(kind, m, k), m, k, kind)
    if operand == "b":
        return Layout(*_b(kind, k, n), k, n, kind)
    return Layout(*_c(kind, m, n), m, n, kind)


@functools.cache
def wmma_layout(operand, kind, m, n, k):
    """Layout of a wmma fragment; m8n32 is the mirror image of m32n8. FP16 factors take eight registers always."""
    if m < n and m == 8:
        other = wmma_layout({"a": "b", "b": "a"}.get(operand, operand), kind, n, m, k)
        return Layout(other.col, other.row, other.cols, other.rows, kind)
    layout = mma_layout(operand, kind, m, n, k)
    if kind != "f16" or operand == "c":
        return layout
    row, col = (np.tile(axis, (1, 8 // layout.registers, 1)) for axis in (layout.row, layout.col))
    return Layout(row, col, layout.rows, layout.cols, kind)


def shape_of(mods):
    """(m, n, k) that the modifiers name, or None."""
    match = next(filter(None, (re.fullmatch(r"m(\d+)n(\d+)k(\d+)", m) for m in mods)), None)
    return tuple(int(v) for v in match.groups()) if match else None


def wmma_memory(ins):
    """(layout, "row" | "col", elements of one access) of a wmma.load or wmma.store."""
    mods = ins.mods
    operand = {"d": "c"}.get(mods[1], mods[1])
    layout = wmma_layout(operand, mods[-1], *shape_of(mods))
    order = "col" if "col" in mods else "row"
    along = layout.col if order == "row" else layout.row
    together = layout.packed > 1 and bool((np.diff(along, axis=2) == 1).all())
    return layout, order, layout.packed if together else 1


WMMA_SHAPES = {
    (16, 16, 16): ("f16", "bf16", "s8", "u8"),
    (32, 8, 16): ("f16", "bf16", "s8", "u8"),
    (8, 32, 16): ("f16", "bf16", "s8", "u8"),
    (16, 16, 8): ("tf32",),
}


def wmma_width(ins):
    """Bytes that one access of a wmma.load or wmma.store moves per lane, or 4 for a form that is not supported."""
    mods = ins.mods
    kind, factor = mods[-1], mods[1] in ("a", "b")
    kinds = WMMA_SHAPES.get(shape_of(mods), ())
    if not kinds or (factor and kind not in kinds) or (not factor and kind not in ("f16", "f32", "s32")):
        return 4
    _, _, elements = wmma_memory(ins)
    return elements * BITS[kind] // 8
