"""Instructions in which the lanes of a warp exchange values: shfl, vote, match, redux, activemask, elect (PTX ISA 9.7.9
and 9.7.13).
"""

from __future__ import annotations

import numpy as np

from .ir import SINK, Float, Int, Not, Pair
from .registry import collective


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


def _warps(group):
    """(warp number per lane, starts of warps in the group)."""
    warp = group.idx >> 5
    starts = np.flatnonzero(np.r_[True, warp[1:] != warp[:-1]])
    return warp, starts


def _per_warp(starts, n, totals):
    """Spread one value per warp over its lanes."""
    return np.repeat(totals, np.diff(np.r_[starts, n]))


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
    p = value(machine, ins.operands[1], group).astype(bool)
    _, starts = _warps(group)
    bits = np.where(p, np.uint32(1) << (group.idx & 31).astype(np.uint32), np.uint32(0))
    ballot = _per_warp(starts, group.n, np.bitwise_or.reduceat(bits, starts))
    present = _per_warp(
        starts, group.n, np.bitwise_or.reduceat(np.uint32(1) << (group.idx & 31).astype(np.uint32), starts)
    )
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


@collective("activemask")
def activemask(machine, segment, ins, site, group):
    _, starts = _warps(group)
    present = np.bitwise_or.reduceat(np.uint32(1) << (group.idx & 31).astype(np.uint32), starts)
    write(machine, ins.operands[0], group, _per_warp(starts, group.n, present))
    return _done(machine, segment, group)


@collective("elect")
def elect(machine, segment, ins, site, group):
    """elect.sync d|p, mask: the lowest lane of the mask is the leader."""
    group = machine.converge(segment, ins.operands[1], group)
    if group is None:
        return False
    to = ins.operands[0]
    first, second = (to.first, to.second) if isinstance(to, Pair) else (to, SINK)
    warp, starts = _warps(group)
    leader = _per_warp(starts, group.n, group.idx[starts] & 31)
    write(machine, first, group, leader)
    write(machine, second, group, (group.idx & 31) == leader)
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
    bits = np.uint32(1) << (group.idx & 31).astype(np.uint32)
    warp, starts = _warps(group)
    ends = np.r_[starts[1:], group.n]
    masks, same = np.zeros(group.n, np.uint32), np.zeros(group.n, bool)
    for a, b in zip(starts, ends, strict=True):
        equal = data[a:b, None] == data[None, a:b]
        masks[a:b] = np.bitwise_or.reduce(np.where(equal, bits[None, a:b], np.uint32(0)), axis=1)
        same[a:b] = equal.all()
    if "all" in ins.mods:
        masks = np.where(same, masks, np.uint32(0))
        write(machine, second, group, same)
    write(machine, first, group, masks)
    return _done(machine, segment, group)


@collective("redux")
def redux(machine, segment, ins, site, group):
    group = machine.converge(segment, ins.operands[2], group)
    if group is None:
        return False
    kind = ins.mods[-1]
    operation = next(m for m in ins.mods if m != "sync")
    table = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    dtype = {"s32": np.int32, "f32": np.float32}.get(kind, np.uint32)
    data = value(machine, ins.operands[1], group, dtype)
    _, starts = _warps(group)
    if kind == "f32":
        data = np.abs(data) if "abs" in ins.mods else data
        table = {
            "min": np.minimum if "NaN" in ins.mods else np.fmin,
            "max": np.maximum if "NaN" in ins.mods else np.fmax,
        }
    totals = table[operation].reduceat(data, starts)
    write(machine, ins.operands[0], group, _per_warp(starts, group.n, totals.astype(dtype)).view(np.uint32))
    return _done(machine, segment, group)
