"""Instructions in which the lanes of a warp exchange values: shfl, vote, match, redux, activemask, elect (PTX ISA 9.7.9
and 9.7.13).
"""

from __future__ import annotations

import numpy as np

from .ir import SINK, Float, Int, Not, Pair
from .registry import collective

_INTEGER_REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def value(machine, operand, group, dtype=np.uint32):
    """Operand per lane of the group, as an array."""
    if isinstance(operand, Int):
        return np.full(group.n, operand.value & 0xFFFFFFFF, np.uint32).view(dtype)
    if isinstance(operand, Float):
        return np.full(group.n, operand.value, np.uint32).view(dtype)
    if isinstance(operand, Not):
        return ~machine.row(operand.reg)[group.idx].astype(bool)
    row = machine.row(operand)
    return row[group.idx] if row.dtype.itemsize == 1 else row.view(dtype)[group.idx]


def write(machine, operand, group, values):
    """Write a destination register."""
    if operand is not SINK:
        machine.row(operand)[group.idx] = values


class Cohorts:
    """Lanes of a group that execute a collective together: those of one warp that name the same member mask."""

    def __init__(self, group, mask):
        key = (group.idx >> 5).astype(np.int64) << 32 | mask.astype(np.int64)
        self.order = np.argsort(key, kind="stable")
        key = key[self.order]
        self.starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        self.sizes = np.diff(np.r_[self.starts, group.n])
        self.bits = np.uint32(1) << (group.idx & 31).astype(np.uint32)

    def reduce(self, ufunc, values):
        """``ufunc`` over each cohort, given back to each of its lanes."""
        return self.spread(ufunc.reduceat(values[self.order], self.starts))

    def spread(self, per_cohort):
        """One value per cohort to its lanes, in the group's order."""
        out = np.empty(len(self.order), per_cohort.dtype)
        out[self.order] = np.repeat(per_cohort, self.sizes)
        return out

    def mask(self, where):
        """uint32 per lane: lanes of its cohort for which ``where`` holds."""
        return self.reduce(np.bitwise_or, np.where(where, self.bits, np.uint32(0)))


def _done(machine, segment, group):
    machine.push(segment.next, group, segment.index)
    return True


@collective("shfl")
def shfl(machine, segment, ins, site, group):
    operands = ins.operands
    group = machine.converge(segment, operands[4], group) if "sync" in ins.mods else group
    if group is None:
        return False
    to = operands[0]
    first, second = (to.first, to.second) if isinstance(to, Pair) else (to, SINK)
    lane = (group.idx & 31).astype(np.int32)
    b = value(machine, operands[2], group).astype(np.int32) & 31
    c = value(machine, operands[3], group).astype(np.int32)
    segment_mask, clamp = c >> 8 & 31, c & 31
    highest = (lane & segment_mask) | (clamp & ~segment_mask)
    if "up" in ins.mods:
        source = lane - b
        inside = source >= highest
    else:
        lowest = lane & segment_mask
        if "down" in ins.mods:
            source = lane + b
        elif "bfly" in ins.mods:
            source = lane ^ b
        else:
            source = lowest | (b & ~segment_mask)
        inside = source <= highest
    source = np.where(inside, source, lane)
    absolute = (group.idx & ~31) + source
    if isinstance(operands[1], Int | Float):
        data = value(machine, operands[1], group)
    else:
        present = np.zeros(machine.capacity, bool)
        present[group.idx] = True
        data = machine.row(operands[1])[absolute]
        data = np.where(present[absolute], data, np.uint32(0xFFFFFFFF))
    write(machine, first, group, data)
    write(machine, second, group, inside)
    return _done(machine, segment, group)


@collective("vote")
def vote(machine, segment, ins, site, group):
    if "sync" in ins.mods:
        group = machine.converge(segment, ins.operands[2], group)
        if group is None:
            return False
    cohorts = Cohorts(group, _members(machine, ins.operands[2:], group))
    p = value(machine, ins.operands[1], group).astype(bool)
    ballot, present = cohorts.mask(p), cohorts.mask(True)
    if "ballot" in ins.mods:
        result = ballot
    elif "all" in ins.mods:
        result = ballot == present
    elif "any" in ins.mods:
        result = ballot != 0
    else:
        result = (ballot == 0) | (ballot == present)
    write(machine, ins.operands[0], group, result)
    return _done(machine, segment, group)


def _members(machine, operands, group):
    """Member mask per lane; without one (forms before sm_70, activemask) the lanes that are here."""
    return value(machine, operands[0], group) if operands else np.zeros(group.n, np.uint32)


@collective("activemask")
def activemask(machine, segment, ins, site, group):
    write(machine, ins.operands[0], group, Cohorts(group, _members(machine, [], group)).mask(True))
    return _done(machine, segment, group)


@collective("elect")
def elect(machine, segment, ins, site, group):
    """elect.sync d|p, mask: the lowest lane of the mask is the leader."""
    group = machine.converge(segment, ins.operands[1], group)
    if group is None:
        return False
    to = ins.operands[0]
    first, second = (to.first, to.second) if isinstance(to, Pair) else (to, SINK)
    lane = group.idx & 31
    leader = Cohorts(group, value(machine, ins.operands[1], group)).reduce(np.minimum, lane)
    write(machine, first, group, leader)
    write(machine, second, group, lane == leader)
    return _done(machine, segment, group)


@collective("match")
def match(machine, segment, ins, site, group):
    group = machine.converge(segment, ins.operands[2], group)
    if group is None:
        return False
    to = ins.operands[0]
    first, second = (to.first, to.second) if isinstance(to, Pair) else (to, SINK)
    wide = ins.mods[-1] == "b64"
    data = value(machine, ins.operands[1], group, np.uint64 if wide else np.uint32).astype(np.uint64)
    members = value(machine, ins.operands[2], group)
    cohorts = Cohorts(group, members)
    if "all" in ins.mods:
        same = cohorts.reduce(np.minimum, data) == cohorts.reduce(np.maximum, data)
        write(machine, second, group, same)
        write(machine, first, group, np.where(same, cohorts.mask(True), np.uint32(0)))
        return _done(machine, segment, group)
    masks = np.zeros(group.n, np.uint32)
    for start, size in zip(cohorts.starts, cohorts.sizes, strict=True):
        lanes = cohorts.order[start : start + size]
        equal = data[lanes, None] == data[None, lanes]
        masks[lanes] = np.bitwise_or.reduce(np.where(equal, cohorts.bits[None, lanes], np.uint32(0)), axis=1)
    write(machine, first, group, masks)
    return _done(machine, segment, group)


@collective("redux")
def redux(machine, segment, ins, site, group):
    group = machine.converge(segment, ins.operands[2], group)
    if group is None:
        return False
    kind = ins.mods[-1]
    operation = next(m for m in ins.mods if m != "sync")
    dtype = {"s32": np.int32, "f32": np.float32}.get(kind, np.uint32)
    data = value(machine, ins.operands[1], group, dtype)
    if kind == "f32":
        data = np.abs(data) if "abs" in ins.mods else data
        table = {"min": np.fmin, "max": np.fmax}
        if "NaN" in ins.mods:
            table = {"min": np.minimum, "max": np.maximum}
    else:
        table = _INTEGER_REDUCTIONS
    cohorts = Cohorts(group, value(machine, ins.operands[2], group))
    write(machine, ins.operands[0], group, cohorts.reduce(table[operation], data).astype(dtype).view(np.uint32))
    return _done(machine, segment, group)
