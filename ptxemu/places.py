"""Names of places and parties: threads, blocks, array elements, bytes of shared memory."""

from __future__ import annotations

import re


class ThreadNames:
    """Turns linear CTA and thread ids into ((cx, cy, cz), (tx, ty, tz)) and into words."""

    def __init__(self, grid, block):
        self.grid, self.block = three(grid), three(block)

    def __call__(self, cta, tid):
        return triple(cta, self.grid), triple(tid, self.block)

    def text(self, cta, tid, same_cta=None):
        """ "thread (3, 1) of block (0, 2)"; without the block where it is ``same_cta``."""
        c, t = self(cta, tid)
        thread = f"thread {_short(t, self.block)}"
        return thread if cta == same_cta else f"{thread} of block {_short(c, self.grid)}"


def array_at(memory, addr):
    """The array whose bytes include the virtual address ``addr``, or None."""
    for array in memory.arrays:
        if array.address <= addr < array.address + max(array.nbytes, 1):
            return array
    return None


def element(array, addr):
    """Name of the element of ``array`` at ``addr``, "A[3, 17]"; an address outside continues the longest axis,
    "A[17, 0]" of 17 rows.
    """
    offset = addr - array.address
    shape = tuple(array.shape or ())
    if not shape or offset < 0 or not all(array.strides):
        return f"{array.name}[{offset // array.itemsize}]"
    index = [0] * len(shape)
    for axis in sorted(range(len(shape)), key=lambda a: -array.strides[a]):
        index[axis], offset = divmod(offset, array.strides[axis])
    part = f" byte {offset}" if offset else ""
    return f"{array.name}[{', '.join(map(str, index))}]{part}"


def locate(memory, space, addr, shared_layout=()):
    """Say where ``addr`` is: an array element, "shared+0x40", or how far from the nearest array it lies."""
    if space != "global":
        place = f"{space}+0x{addr:x}"
        variable = variable_at(shared_layout, addr) if space == "shared" else None
        if variable is None:
            return place
        name, offset, _ = shared_layout[variable]
        return f"{place} ({variable_name(name, variable)}, byte {addr - offset})"
    array = array_at(memory, addr)
    if array is not None:
        return element(array, addr)
    near = [a for a in memory.arrays if a.role != "module"]
    if not near:
        return f"0x{addr:x}"
    nearest = min(near, key=lambda a: a.address - addr if addr < a.address else addr - a.address - a.nbytes)
    before, past = nearest.address - addr, addr - nearest.address - nearest.nbytes
    if max(before, past) >= 1 << 30:
        return f"0x{addr:x}, far from every array"
    shape = "x".join(map(str, nearest.shape)) or "1"
    if before > 0:
        distance = f"{before:,} bytes before the start"
    else:
        distance = f"{past:,} bytes past the end" if past else "just past the end"
    return f"{element(nearest, addr)}, {distance} of {nearest.name} ({shape})"


def variable_at(shared_layout, addr):
    """Position in ``shared_layout`` of the shared variable at byte ``addr`` of the CTA's shared memory, or None."""
    return next((i for i, (_, offset, size) in enumerate(shared_layout) if offset <= addr < offset + size), None)


def variable_name(symbol, position):
    """Readable name of a shared variable: "_ZZ5tiledE2As" is "As", "_ZN2ns4smemE" is "smem"; Numba's have no name and
    become "array 1", "array 2".
    """
    for match in reversed(list(re.finditer(r"E(\d+)", symbol)) if symbol.startswith("_ZZ") else []):
        rest, length = symbol[match.end() :], int(match[1])
        if re.fullmatch(r"(_\d+)?", rest[length:]) and len(rest) >= length:
            return rest[:length]
    rest, last = symbol.removeprefix("_ZN") if symbol.startswith("_ZN") else "", ""
    while match := re.match(r"(\d+)", rest):
        start, length = match.end(), int(match[1])
        last, rest = rest[start : start + length], rest[start + length :]
    if last:
        return last
    return f"array {position + 1}" if symbol.startswith("_cudapy_smem") else symbol


def three(size):
    size = (size,) if isinstance(size, int) else tuple(size)
    return (*size, 1, 1)[:3]


def triple(index, size):
    return index % size[0], index // size[0] % size[1], index // (size[0] * size[1])


def _short(triple, size):
    """Leave out trailing axes of length 1."""
    keep = max([i + 1 for i in range(3) if size[i] > 1], default=1)
    return f"({', '.join(map(str, triple[:keep]))})" if keep > 1 else str(triple[0])
