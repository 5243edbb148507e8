"""Findings: what is undefined, wrong or fragile in a kernel, in words that say where and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

SEVERITY = {
    "out-of-bounds": "error",
    "misaligned": "error",
    "uninitialised-shared": "error",
    "uninitialised-register": "error",
    "never-written": "error",
    "race-shared": "error",
    "race-global": "error",
    "divergent-barrier": "error",
    "barrier-after-exit": "warning",
    "deadlock": "error",
    "livelock": "error",
    "trap": "error",
    "redundant-store": "info",
}

ADVICE = {
    "out-of-bounds": "Guard the access: compare the index with the array's extent before using it.",
    "misaligned": "Make the address a multiple of the access size, or use a narrower access.",
    "uninitialised-shared": "Write every element that is read, zeros included, with a barrier before the reads.",
    "uninitialised-register": "Give the variable a value on every path that leads here.",
    "never-written": "Check the grid size (round up, not down) and the guard before the store.",
    "divergent-barrier": "Move the barrier out of the branch so that every thread of the block reaches the same one.",
    "barrier-after-exit": "Keep the threads alive: guard the loads and the store instead of returning early.",
    "deadlock": "Make sure that every thread that a barrier waits for can reach it.",
    "livelock": "Check the loop's exit condition, and that whoever should change it can still run.",
    "trap": "The kernel stopped itself (assert or trap): check the condition that it tested.",
    "redundant-store": "Accumulate in a register and store once.",
}


@dataclass
class Finding:
    """One problem, with its place. ``threads``: up to a few ((cx, cy, cz), (tx, ty, tz)); ``where``: element or
    address names such as "A[3, 17]" or "shared+0x40"; ``other_line``: source line of the second party of a race;
    ``count``: how many times it was seen.
    """

    rule: str
    severity: str
    message: str
    advice: str
    file: str = ""
    line: int = 0
    other_line: int | None = None
    ptx_line: int = 0
    threads: list = field(default_factory=list)
    where: list = field(default_factory=list)
    count: int = 1

    def __str__(self):
        place = f"{self.file.rsplit('/', 1)[-1]}:{self.line}: " if self.line else ""
        times = f" ({self.count:,} times)" if self.count > 1 else ""
        lines = [f"{self.severity}: {place}{self.message}{times} [{self.rule}]"]
        if self.advice:
            lines.append(f"  {self.advice}")
        return "\n".join(lines)

    def to_dict(self):
        """Plain data for JSON."""
        return {k: ([str(t) for t in v] if k == "threads" else v) for k, v in vars(self).items()}


def array_at(memory, addr):
    """The array whose bytes include the virtual address ``addr``, or None."""
    for array in memory.arrays:
        if array.address <= addr < array.address + max(array.nbytes, 1):
            return array
    return None


def element(array, addr):
    """Name of the element of ``array`` at ``addr``: "A[3, 17]"; a flat index where the address is outside the
    array.
    """
    offset = addr - array.address
    shape = tuple(array.shape or ())
    if len(shape) < 1 or not 0 <= offset < array.nbytes:
        return f"{array.name}[{offset // array.itemsize}]"
    index = [0] * len(shape)
    for axis in sorted(range(len(shape)), key=lambda a: -array.strides[a]):
        stride = array.strides[axis] or array.nbytes
        index[axis], offset = divmod(offset, stride)
    part = f" byte {offset}" if offset else ""
    return f"{array.name}[{', '.join(map(str, index))}]{part}"


def locate(memory, space, addr, shared_layout=()):
    """Say where ``addr`` is: an array element, "shared+0x40", or how far from the nearest array it lies."""
    if space != "global":
        for name, offset, size in shared_layout if space == "shared" else ():
            if offset <= addr < offset + size:
                return f"shared+0x{addr:x} ({variable_name(name)}+0x{addr - offset:x})"
        return f"{space}+0x{addr:x}"
    array = array_at(memory, addr)
    if array is not None:
        return element(array, addr)
    if not memory.arrays:
        return f"0x{addr:x}"
    nearest = min(memory.arrays, key=lambda a: a.address - addr if addr < a.address else addr - a.address - a.nbytes)
    if addr < nearest.address:
        distance = nearest.address - addr
        return f"0x{addr:x}, {distance:,} bytes before {nearest.name}" if distance < 1 << 32 else f"0x{addr:x}"
    past = addr - (nearest.address + nearest.nbytes)
    return (
        f"{element(nearest, addr)}, {past:,} bytes past the end of {nearest.name}" if past < 1 << 32 else f"0x{addr:x}"
    )


def variable_name(symbol):
    """Readable name of a shared variable: "_ZZ5tiledE2As" is "As"."""
    match = re.search(r"E(\d+)(\w+)$", symbol)
    if symbol.startswith("_ZZ") and match and len(match[2]) >= int(match[1]):
        return match[2][: int(match[1])]
    return symbol


def ranges(indices, limit=4):
    """Compress sorted integers: [0, 1, 2, 7] is "0–2, 7"."""
    indices = np.asarray(indices)
    parts = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    text = [f"{p[0]}–{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts[:limit]]
    return ", ".join(text) + (", …" if len(parts) > limit else "")


def unwritten_pattern(written, shape):
    """Describe where a boolean map of ``shape`` is False: whole rows, whole columns, or first elements."""
    missing = ~np.asarray(written, bool).reshape(shape)
    total = int(missing.sum())
    if total == missing.size:
        return "no element was ever written"
    if missing.ndim == 2:
        rows, cols = np.flatnonzero(missing.all(axis=1)), np.flatnonzero(missing.all(axis=0))
        if len(rows) and missing[np.setdiff1d(np.arange(shape[0]), rows)].sum() == 0:
            return f"{_plural('row', rows)} of {shape[0]} never written"
        if len(cols) and missing[:, np.setdiff1d(np.arange(shape[1]), cols)].sum() == 0:
            return f"{_plural('column', cols)} of {shape[1]} never written"
        if len(rows) and len(cols) and missing.sum() == _cross(missing, rows, cols):
            return f"{_plural('row', rows)} of {shape[0]} and {_plural('column', cols)} of {shape[1]} never written"
    first = np.argwhere(missing)[:3]
    sample = ", ".join("[" + ", ".join(map(str, index)) + "]" for index in first)
    return f"{total:,} of {missing.size:,} elements never written, the first at {sample}"


def _plural(word, indices):
    return f"{word}{'s' if len(indices) > 1 else ''} {ranges(indices)}"


def _cross(missing, rows, cols):
    cross = np.zeros_like(missing)
    cross[rows] = True
    cross[:, cols] = True
    return int(cross.sum())
