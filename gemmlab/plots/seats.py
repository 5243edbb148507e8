"""Which lane holds which element of a matrix instruction's operand, from the emulator's own tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gemmlab.errors import GemmlabError
from ptxemu import mma_layout, wmma_layout
from ptxemu.fragments import BITS
from ptxemu.tensor import load_matrices

EXAMPLES = '"mma.m16n8k16.bf16", "wmma.m16n16k16.f16", "wgmma.m64n16k16.bf16", "ldmatrix.x4", "ldmatrix.x4.trans"'
_SHAPED = re.compile(r"(mma|wmma|wgmma)\.m(\d+)n(\d+)k(\d+)(?:\.(\w+))?")
_LOADED = re.compile(r"(?:ld|st)matrix(?:\.x([124]))?(\.trans)?")
_INTEGER = ("s8", "u8")


@dataclass(frozen=True, eq=False)
class Seats:
    """One operand: int64[rows, columns] arrays `lane` and `element`, which counts the elements of a lane.

    `name`: of the operand, as a matrix; `letter`: of its elements in PTX ("a" for a0, a1, …); `packed`: elements of a
    32-bit register.
    """

    name: str
    letter: str
    lane: np.ndarray
    element: np.ndarray
    packed: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.lane.shape

    def label(self, row: int, column: int) -> str:
        """Return the element's name in its lane, such as "a5"."""
        return f"{self.letter}{self.element[row, column]}"

    def held(self, lane: int) -> list[tuple[int, int, str]]:
        """Return (row, column, label) of the elements of one lane, by label."""
        places = zip(*np.nonzero(self.lane == lane), strict=True)
        return sorted(((int(r), int(c), self.label(r, c)) for r, c in places), key=lambda held: int(held[2][1:]))


def seats(instruction: str) -> dict[str, Seats]:
    """Return {operand: Seats} of an instruction such as "mma.m16n8k16.bf16", "ldmatrix.x4.trans" or "wgmma.m64n16k16".

    mma and wmma have A, B and C; wgmma has C (the accumulator, 128 threads) and A as it lies when it comes from
    registers; ldmatrix has the 8 × 8 matrices 0 to 3 in shared memory. Tables: ptxemu.mma_layout, ptxemu.wmma_layout
    and the emulator's ldmatrix, which agree with an H200. Raises GemmlabError for a form that it does not know.
    """
    loaded, shaped = _LOADED.fullmatch(instruction), _SHAPED.fullmatch(instruction)
    if loaded:
        return _matrices(int(loaded[1] or 1), bool(loaded[2]))
    if not shaped:
        raise GemmlabError(f"unknown matrix instruction {instruction!r}: write it like {EXAMPLES}")
    family, kind = shaped[1], shaped[5] or "bf16"
    m, n, k = (int(size) for size in shaped.group(2, 3, 4))
    if kind not in BITS or kind in ("f32", "s32"):
        raise GemmlabError(f"{instruction}: {kind!r} is no factor type: use f16, bf16, tf32, s8, u8, e4m3 or e5m2")
    if (m, n % 8, k % (128 // BITS[kind])) != ({"mma": 16, "wgmma": 64}.get(family, m), 0, 0) or not 8 <= n <= 256:
        raise GemmlabError(f"{instruction}: there is no such shape: write it like {EXAMPLES}")
    total = "s32" if kind in _INTEGER else "f32"
    if family == "wgmma":
        accumulator, factor = mma_layout("c", total, 16, n, k), mma_layout("a", kind, 16, 8, k)
        return {"C": _seats("C", "d", accumulator, warps=4), "A": _seats("A", "a", factor, warps=4)}
    table = mma_layout if family == "mma" else wmma_layout
    kinds = {"A": kind, "B": kind, "C": total}
    return {name: _seats(name, name.lower(), table(name.lower(), kinds[name], m, n, k)) for name in kinds}


def _seats(name, letter, layout, warps: int = 1) -> Seats:
    """Turn a layout, (lane, register, part) -> place, round; where registers hold copies the first one counts."""
    lane, element = (np.zeros((layout.rows, layout.cols), np.int64) for _ in range(2))
    for register in reversed(range(layout.registers)):
        for part in range(layout.packed):
            place = layout.row[:, register, part], layout.col[:, register, part]
            lane[place], element[place] = np.arange(32), register * layout.packed + part
    lane = np.concatenate([lane + 32 * warp for warp in range(warps)])
    return Seats(name, letter, lane, np.tile(element, (warps, 1)), layout.packed)


def _matrices(count: int, trans: bool) -> dict[str, Seats]:
    """Load numbered elements with the emulator's ldmatrix and read in the registers where they went."""
    shared, rows = np.arange(64 * count, dtype=np.uint16), np.arange(count) * 32
    at, words = 16 * np.arange(32)[None, :] % (128 * count), np.zeros(32 * count, np.uint32)
    load_matrices(shared, at, np.ones((1, 32), bool), words, np.zeros(1, np.int64), rows, trans)
    came = words.view(np.uint16).reshape(count, 32, 2)
    found = {}
    for matrix in range(count):
        lane, element = (np.zeros((8, 8), np.int64) for _ in range(2))
        for t in range(32):
            for part in range(2):
                place = divmod(int(came[matrix, t, part]) - 64 * matrix, 8)
                lane[place], element[place] = t, 2 * matrix + part
        found[f"matrix {matrix}"] = Seats(f"matrix {matrix}", "d", lane, element, 2)
    return found
