"""bar and barrier instructions (PTX ISA 9.7.13.1): what their operands say; the counting is in ptxemu/barriers.py."""

from __future__ import annotations

import numpy as np

from .ir import Int, Reg
from .ops_cluster import cluster_barrier
from .ops_copy import refuse
from .postmortem import Stop
from .registry import collective, plan


def _uniform(machine, operand, group):
    """Value of a barrier operand: constant, or the register of the first lane (PTX requires one value per warp)."""
    if isinstance(operand, Int):
        return operand.value
    return int(machine.row(operand)[group.idx[0]])


def _split_by_operands(machine, operands, group):
    """Pieces of a group that name the same barrier and count."""
    registers = [o for o in operands if isinstance(o, Reg)]
    if not registers:
        return [group]
    key = np.zeros(group.n, np.int64)
    for reg in registers:
        key = key << 16 | machine.row(reg)[group.idx].astype(np.int64)
    values = np.unique(key)
    return [group] if len(values) == 1 else [machine.split(group, key == v)[0] for v in values]


@plan("bar", "barrier")
def plan_barrier(program, ins):
    """Nothing; refuses an instruction that names no barrier."""
    if not ins.operands and "cluster" not in ins.mods:
        refuse(program, ins, "names no barrier", "write bar.sync 0")
    return ()


@collective("bar", "barrier")
def barrier(machine, segment, ins, site, group):
    mods = [m for m in ins.mods if m not in ("cta", "aligned")]
    if mods[0] == "warp":
        return warp_barrier(machine, segment, ins, site, group)
    if mods[0] == "cluster":
        return cluster_barrier(machine, segment, ins, site, group)
    operands, values, red = list(ins.operands), None, "red" in mods
    if red:
        source = operands[-1]
        reg = getattr(source, "reg", source)
        values = machine.row(reg)[group.idx].astype(bool) ^ (reg is not source)
        operands = operands[1:-1]
    for piece in _split_by_operands(machine, operands, group):
        number = _uniform(machine, operands[0], piece)
        if not 0 <= number < 16:
            _no_such_barrier(machine, site, piece, number)
        count = _uniform(machine, operands[1], piece) if len(operands) > 1 else None
        mine = values if values is None or piece is group else values[np.isin(group.idx, piece.idx)]
        machine.barriers.arrive(piece, number, count, segment, site, "arrive" not in mods, mine)
    return True


def _no_such_barrier(machine, site, group, number):
    if machine.observer is not None:
        detail = f"threads wait at barrier {number}, but a block has only the barriers 0 to 15"
        machine.observer.finding("deadlock", site, lanes=machine.lanes_of(group.idx), detail=detail)
    raise Stop


def warp_barrier(machine, segment, ins, site, group):
    """bar.warp.sync: wait for the threads named in the mask."""
    ready = machine.converge(segment, ins.operands[0], group)
    if ready is None:
        return False
    if machine.observer is not None:
        lanes = machine.lanes(ready)
        starts = lanes.starts
        for a, b in zip(starts, starts[1:], strict=False):
            machine.observer.syncwarp(site, int(lanes.slot[a]), int(lanes.tid[a]) >> 5, lanes.tid[a:b])
    machine.push(segment.next, ready, segment.index)
    return True
