"""Whether the places of a bulk copy are allowed: (rule, space, words about the thread) of what is not, or None."""

from __future__ import annotations

from . import tensormap
from .reductions import OF_MAPS


def shared_problem(machine, copy):
    """What is wrong with its size or its place in shared memory."""
    place = f"{_verb(copy)} shared+{copy.at:#x}"
    align = 128 if copy.view is not None else 16
    if copy.at % align:
        need = "a tensor copy" if align == 128 else "a bulk copy"
        words = (
            f"{place}, which is {copy.at % align} bytes past a multiple of {align}; {need} needs a multiple of {align}"
        )
        return "misaligned", "shared", words
    if copy.nbytes % 16 or copy.nbytes <= 0:
        return "misaligned", "shared", f"copies {copy.nbytes} bytes; a bulk copy moves a positive multiple of 16"
    end = 16 * (int(copy.pieces().max()) + 1)
    if copy.at < 0 or end > machine.shared_bytes:
        size = f"{copy.nbytes} bytes"
        if copy.view is not None and end - copy.at > copy.nbytes:
            size += f" in rows of {copy.view.swizzle}, as its swizzle wants,"
        where = f"at shared+{copy.at:#x}, which go past the block's {machine.shared_bytes} bytes of shared memory"
        return "out-of-bounds", "shared", f"{_verb(copy)} {size} {where}"
    return None


def global_problem(machine, copy, operation):
    """What is wrong with its place in global memory; ``operation``: of a reduction (see reductions.py). Where only a
    GPU knows, it stops with an illegal instruction (recorded on an H200).
    """
    if copy.view is None:
        span = copy.address, copy.address + copy.nbytes
        if copy.address % 16:
            past = copy.address % 16
            return "misaligned", "global", f"copies a global address that is {past} bytes past a multiple of 16"
    else:
        problem = _tensor_problem(copy, operation)
        if problem:
            return problem
        span = tensormap.extent(copy.view, copy.corner, not copy.load)
    if not span or _inside(machine, span):
        return None
    if copy.view is not None and not copy.load and _inside(machine, tensormap.extent(copy.view, copy.corner)):
        words = "stores whole units of 16 bytes, as tensor stores do, and the last one goes past the end of the array"
        return "out-of-bounds", "global", words
    return "out-of-bounds", "global", f"copies {copy.nbytes} bytes of global memory that reach outside every array"


def _tensor_problem(copy, operation):
    place, view = f"{_verb(copy)} shared+{copy.at:#x}", copy.view
    if not copy.load and min(copy.corner) < 0:
        d = next(d for d, c in enumerate(copy.corner) if c < 0)
        where = f"{place} at coordinate {copy.corner[d]} of dimension {d}"
        advice = "a tensor store takes no negative coordinates, unlike a load: let the tile start inside"
        return "out-of-bounds", "global", f"{where}; {advice}"
    offset = copy.corner[0] * view.size
    if offset % 16:
        words = f"{place} at the innermost coordinate {copy.corner[0]}, {offset} bytes; it needs a multiple of 16 bytes"
        return "misaligned", "global", words
    if operation and operation[0] not in OF_MAPS.get(view.dtype, (None, ()))[1]:
        words = f"reduces with .{operation[0]} through a tensor map of {view.dtype}, which TMA does not have"
        return "bad-tensor-map", "global", words
    return None


def _inside(machine, span):
    return any(start <= span[0] and span[1] <= end for start, end in machine.memory.ranges)


def _verb(copy):
    return "copies to" if copy.load else "copies from"
