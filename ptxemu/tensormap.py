"""Tensor maps: our own 128-byte form of the opaque CUtensorMap, and the tile that a copy through one touches.

The driver's own encoding is not public; a kernel only hands the map's address to the copy instructions, so any encoding
serves. Field names and rules are those of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management").
Dimension 0 is the innermost.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass

import numpy as np

MAGIC = 0x50414D54  # "TMAP"
NBYTES = 128
SWIZZLES = (0, 32, 64, 128)  # bytes, by the number in the map
_FORM = struct.Struct("<I4BQ5Q4Q5H5B")
# name -> (number of CUtensorMapDataType, bytes)
DTYPES = {
    "uint8": (0, 1), "uint16": (1, 2), "uint32": (2, 4), "int32": (3, 4), "uint64": (4, 8), "int64": (5, 8),
    "float16": (6, 2), "float32": (7, 4), "float64": (8, 8), "bfloat16": (9, 2), "float32_ftz": (10, 4),
    "tfloat32": (11, 4), "tfloat32_ftz": (12, 4),
}  # fmt: skip
_NAMES = {number: name for name, (number, _) in DTYPES.items()}
_NAN = 0x7FF7  # what a GPU (H200) repeats in elements outside, whatever their type, where the fill is NaN


@dataclass(frozen=True)
class TensorMap:
    """A kernel argument: ``array`` (NumPy, or ptxemu.Array) seen through ``dims`` (elements), ``strides`` (bytes,
    rank - 1 of them), ``box`` and ``element_strides``, innermost first. ``dtype``: a name in ``DTYPES``. ``swizzle``:
    0, 32, 64 or 128 bytes. ``nan_fill``: elements outside are NaN instead of zero.
    """

    array: object
    dtype: str
    dims: tuple
    strides: tuple
    box: tuple
    element_strides: tuple
    swizzle: int = 0
    nan_fill: bool = False

    def encode(self, address):
        """The map's 128 bytes for an array at ``address``."""
        rank = len(self.dims)
        pad = lambda values, n, fill: (*values, *(fill,) * (n - len(values)))  # noqa: E731
        head = (MAGIC, DTYPES[self.dtype][0], rank, SWIZZLES.index(self.swizzle), int(self.nan_fill), address)
        body = (*pad(self.dims, 5, 1), *pad(self.strides, 4, 0), *pad(self.box, 5, 1), *pad(self.element_strides, 5, 1))
        return _FORM.pack(*head, *body).ljust(NBYTES, b"\0")


@dataclass(frozen=True, slots=True)
class View:
    """A decoded map. ``size``: bytes of an element."""

    address: int
    dtype: str
    size: int
    dims: tuple
    strides: tuple
    box: tuple
    steps: tuple
    swizzle: int
    nan_fill: bool

    @property
    def rank(self):
        return len(self.dims)

    @property
    def counts(self):
        """Elements per dimension that a copy moves: a box with element strides takes every n-th."""
        return tuple(-(-b // s) for b, s in zip(self.box, self.steps, strict=True))

    @property
    def nbytes(self):
        """Bytes of a tile in shared memory."""
        return int(np.prod(self.counts)) * self.size

    def fault(self):
        """Why a copy through this map is undefined, or None: rules that a map made on the device may break."""
        if self.address % 16:
            return f"its global address {self.address:#x} is not a multiple of 16"
        for d, stride in enumerate(self.strides, 1):
            if stride % 16:
                return f"the stride of dimension {d} is {stride} bytes, which is not a multiple of 16"
        if self.box[0] * self.size % 16:
            return f"the inner box is {self.box[0] * self.size} bytes, which is not a multiple of 16"
        if self.swizzle and self.box[0] * self.size > self.swizzle:
            return f"the inner box is {self.box[0] * self.size} bytes, more than the {self.swizzle} of its swizzle"
        return None


def decode(data):
    """:class:`View` of 128 bytes, or None where they are no map."""
    magic, number, rank, swizzle, nan_fill, address, *rest = _FORM.unpack_from(bytes(data))
    if magic != MAGIC or number not in _NAMES or not 1 <= rank <= 5:
        return None
    dims, strides, box, steps = rest[:5], rest[5:9], rest[9:14], rest[14:]
    name = _NAMES[number]
    return View(
        address, name, DTYPES[name][1], tuple(dims[:rank]), tuple(strides[: rank - 1]), tuple(box[:rank]),
        (1, *steps[1:rank]), SWIZZLES[swizzle], bool(nan_fill),
    )  # fmt: skip


def swizzled(chunk, span):
    """Index of the 16-byte chunk where data for ``chunk`` (both count from address 0) lies under a swizzle of ``span``
    bytes: address bits 4–6 (128), 4–5 (64) or 4 (32) are XORed with the bits from 7 on.
    """
    return chunk if not span else chunk ^ ((chunk >> 3) & (span // 16 - 1))


def places(view, at):
    """int64: index, as in ``swizzled``, of the 16-byte chunk of shared memory of every chunk of a tile at byte ``at``.

    Under a swizzle every row takes its whole span, however short the box is (recorded on an H200).
    """
    wide, rows = view.counts[0] * view.size // 16, int(np.prod(view.counts[1:], dtype=int))
    pitch = view.swizzle // 16 or wide
    index = (at >> 4) + pitch * np.arange(rows)[:, None] + np.arange(wide)
    return swizzled(index.ravel(), view.swizzle)


def planes(view, corner, store=False):
    """The tile at ``corner`` as planes of rows: (first row in the tile, address of the plane's row 0, step in bytes,
    rows (low, high) inside the tensor, columns (low, high) inside); planes wholly outside are left out.

    A ``store`` writes whole units of 16 bytes, past the end of a row that is no multiple of them (recorded on an H200).
    """
    counts = view.counts
    low = max(0, -corner[0])
    high = min(counts[0], view.dims[0] - corner[0])
    if store:
        unit = 16 // view.size
        high = -(-high // unit) * unit
    rows = counts[1] if view.rank > 1 else 1
    step, first, last = 0, 0, 1
    if view.rank > 1:
        step = view.strides[0] * view.steps[1]
        first = -(-max(0, -corner[1]) // view.steps[1])
        last = min(rows, -(-max(0, view.dims[1] - corner[1]) // view.steps[1]))
    if high <= low or last <= first:
        return
    for number, outer in enumerate(itertools.product(*(range(n) for n in reversed(counts[2:])))):
        at = view.address + corner[0] * view.size + (corner[1] * view.strides[0] if view.rank > 1 else 0)
        inside = True
        for d, k in enumerate(reversed(outer), 2):
            index = corner[d] + k * view.steps[d]
            inside = inside and 0 <= index < view.dims[d]
            at += index * view.strides[d - 1]
        if inside:
            yield number * rows, at, step, (first, last), (low, high)


def windows(arena, base, view, corner, store=False):
    """(slice of rows, slice of bytes, uint8 view of the arena) of every part of a tile that lies inside the tensor.

    ``arena`` starts at address ``base``; ``store``: as in ``planes``.
    """
    for row, at, step, (first, last), (low, high) in planes(view, corner, store):
        start = at + first * step + low * view.size - base
        shape = (last - first, (high - low) * view.size)
        part = np.lib.stride_tricks.as_strided(arena[start:], shape, (step, 1))
        yield slice(row + first, row + last), slice(low * view.size, high * view.size), part


def extent(view, corner, store=False):
    """(lowest address, end) of what a tile touches in global memory, or None where it lies wholly outside."""
    low = high = None
    for _, at, step, (first, last), (left, right) in planes(view, corner, store):
        start, end = at + first * step + left * view.size, at + (last - 1) * step + right * view.size
        low = start if low is None else min(low, start)
        high = end if high is None else max(high, end)
    return None if low is None else (low, high)


def chunk_addresses(view, corner):
    """int64: addresses of the 16-byte pieces of global memory that a tile touches."""
    out = []
    for _, at, step, (first, last), (left, right) in planes(view, corner):
        start = (at + left * view.size) & ~15
        end = at + right * view.size
        row = start + 16 * np.arange(-(-(end - start) // 16))
        out.append((row + step * np.arange(first, last)[:, None]).ravel())
    return np.concatenate(out) if out else np.zeros(0, np.int64)


def inside(view, corner):
    """bool: which 16-byte chunks of a tile hold elements inside the tensor; a store reads only those."""
    tile = np.zeros(blank(view).shape, bool)
    for row, _, _, (first, last), (low, high) in planes(view, corner):
        tile[row + first : row + last, low * view.size : high * view.size] = True
    return tile.reshape(-1, 16).any(axis=1)


def loaded(view, part):
    """uint8[rows, bytes]: what a load makes of ``part``. Maps of TF32 round to the nearest, ties to even; NaN becomes
    0x7fffe000; other types move bits, "_ftz" or not (recorded on an H200).
    """
    if not view.dtype.startswith("tfloat32"):
        return part
    words = np.ascontiguousarray(part).view(np.uint32)
    nan = (words & 0x7FFFFFFF) > 0x7F800000
    rounded = (words + 0xFFF + (words >> 13 & 1)) & np.uint32(0xFFFFE000)
    return np.where(nan, np.uint32(0x7FFFE000), rounded).view(np.uint8)


def blank(view):
    """uint8[rows, bytes of a row]: a tile of nothing but fill values."""
    counts = view.counts
    rows = int(np.prod(counts[1:], dtype=int))
    if view.nan_fill and "float" in view.dtype:
        return np.full((rows, counts[0] * view.size // 2), _NAN, np.uint16).view(np.uint8)
    return np.zeros((rows, counts[0] * view.size), np.uint8)
