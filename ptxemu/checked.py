"""Addresses of instructions that a group of lanes executes together, checked like those of compiled code."""

from __future__ import annotations

import numpy as np

from .faults import report_refused
from .ir import Int, Reg, Symbol
from .layout import GLOBAL_BASE, SHARED_WINDOW, WINDOW_SIZE


def addresses(machine, operand, idx):
    """int64 per lane of ``idx``: the address that an operand in brackets means."""
    base, offset = operand.base, operand.offset
    if isinstance(base, Reg):
        return machine.row(base)[idx].astype(np.int64) + offset
    if isinstance(base, Symbol):
        program = machine.program
        at = program.shared_offsets.get(base.name)
        if at is None:
            at = machine.unit.module_addresses[base.name]
        return np.full(len(idx), at + base.offset + offset, np.int64)
    return np.full(len(idx), (base.value if isinstance(base, Int) else 0) + offset, np.int64)


def space_of(space, addr):
    """("global" | "shared", addresses in it): a generic address is sorted by its window (that of the first lane)."""
    if space == "generic":
        in_shared = len(addr) and SHARED_WINDOW <= int(addr[0]) < SHARED_WINDOW + WINDOW_SIZE
        return ("shared", addr - SHARED_WINDOW) if in_shared else ("global", addr)
    return space, addr


def allowed(machine, site, space, idx, addr, nbytes, align=None):
    """bool per lane, or True where every lane may access ``nbytes`` at ``addr``; the others are reported."""
    align = align or nbytes
    good = _inside(machine, space, addr, nbytes)
    if align > 1:
        bad = (addr & (align - 1)) != 0
        if bad.any():
            good = ~bad & good
    if good is True or good.all():
        return True
    machine.had_faults = True
    if machine.observer is not None:
        report_refused(machine, site, space, idx[~good], addr[~good], nbytes)
    return good


def _inside(machine, space, addr, nbytes):
    if not len(addr):
        return True
    low, high = int(addr.min()), int(addr.max()) + nbytes
    if space == "shared":
        if low >= 0 and high <= machine.shared_bytes:
            return True
        return (addr >= 0) & (addr + nbytes <= machine.shared_bytes)
    inside = np.zeros(len(addr), bool)
    for start, end in machine.memory.ranges:
        if low >= start and high <= end:
            return True
        inside |= (addr >= start) & (addr + nbytes <= end)
    return inside


def byte_index(machine, space, idx, addr):
    """Index of each lane's byte in the flat array of its space: :func:`flat`."""
    if space == "shared":
        return machine.slot_of[idx].astype(np.int64) * machine.shared.shape[1] + addr
    return addr - GLOBAL_BASE


def flat(machine, space):
    """uint8 array of a whole space: all slots' shared memory, or the global arena."""
    return machine.shared.reshape(-1) if space == "shared" else machine.memory.arena


def shared_place(machine, idx, addr):
    """(slots, byte offsets) of each lane's shared::cta or shared::cluster address."""
    return machine.clusters.locate(machine.slot_of[idx].astype(np.int64), addr)


def cluster_slots(machine, slot):
    """Slots of the CTAs of the cluster of ``slot``, by rank."""
    return machine.clusters.members(slot)
