"""What the instructions of whole warps share: gathering the warps, and their registers as rows of words."""

from __future__ import annotations

import numpy as np

from .ir import Int, Reg, Vector
from .ops_copy import refuse

_ALL = Int(0xFFFFFFFF)


def items(operand):
    """Registers of an operand, with or without braces."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def check_registers(program, ins, operand, count, what):
    """Refuse an operand that is not ``count`` registers of 32 bits; ``what`` describes it."""
    found = items(operand)
    if len(found) != count or not all(isinstance(r, Reg) and r.bits == 32 for r in found):
        kinds = " ".join(sorted({f".b{r.bits}" if isinstance(r, Reg) else "constants" for r in found}))
        refuse(program, ins, f"{what}: expected {count} x .b32, got {len(found)} x {kinds}", "pack it that way")


def gather_warps(machine, segment, site, group):
    """(group, int64[w]: first lane of every whole warp) once the warps are together; (None, None) where none is."""
    if group.warps is None:
        group.warps = _first_lanes(group.idx)
    if group.warps is not False:
        return group, group.warps
    group = machine.converge(segment, _ALL, group)
    if group is None:
        return None, None
    counts = np.bincount(group.idx >> 5, minlength=machine.capacity // 32)
    broken = (counts > 0) & (counts < 32)
    if broken.any() and machine.observer is not None:
        lanes = group.idx[broken[group.idx >> 5]]
        present = int(counts[broken][0])
        machine.observer.finding("partial-warp", site, lanes=machine.lanes_of(lanes), detail=str(present))
    return group, np.flatnonzero(counts == 32).astype(np.int64) * 32


def _first_lanes(idx):
    """First lanes where ``idx`` is whole warps, else False."""
    if len(idx) % 32 or not len(idx):
        return False
    first, last = idx[::32], idx[31::32]
    whole = not (first & 31).any() and (last - first == 31).all()
    return first.astype(np.int64) if whole else False


def words(machine):
    """The register file as uint32."""
    return machine.registers[: len(machine.registers) & ~3].view(np.uint32)


def rows(machine, operand):
    """int64[registers]: where the row of each starts in :func:`words`."""
    return np.array([machine.unit.slot(r)[0] // 4 for r in items(operand)], np.int64)


def lanes_of_warps(first):
    """int32: all lanes of the warps that start at ``first``."""
    return (first[:, None] + np.arange(32)).astype(np.int32).ravel()
