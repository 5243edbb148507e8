"""setmaxnreg: warps hand registers back, or wait for more (PTX ISA 9.7.19.5).

A block starts with what the compiler gave each thread: with setmaxnreg, ptxas shares 65,536 registers among the threads
of as many blocks as .minnctapersm says, rounded down to a multiple of 8. That is the block's pool; .inc waits until
the other warps have handed back enough.
"""

from __future__ import annotations

import numpy as np

from .ir import Int
from .ops_copy import need, refuse
from .ops_wgmma import WARPGROUP, gather_warpgroups
from .registry import collective, plan

LEAST, MOST = 24, 256


@plan("setmaxnreg")
def plan_setmaxnreg(program, ins):
    """Registers per thread."""
    need(program, ins, (9, 0))
    value = ins.operands[0].value if isinstance(ins.operands[0], Int) else None
    if value is None or value % 8 or not LEAST <= value <= MOST:
        refuse(program, ins, f"{value} registers", f"give a multiple of 8 in [{LEAST}..{MOST}]")
    return value


class RegisterPool:
    """Registers of every slot's block. ``each`` int32[warps]: per thread."""

    def __init__(self, machine):
        self.machine = machine
        program = machine.program
        self.used = any(s.kind == "collective" and s.instrs[0][0].op == "setmaxnreg" for s in program.segments)
        blocks = max(int(np.prod(program.function.directives.get("minnctapersm") or (1,))), 1)
        share = machine.profile.registers_per_sm // (machine.stride * blocks) // 8 * 8
        self.start = min(share, MOST - 8)
        self.pool = self.start * machine.stride
        self.each = np.full(machine.capacity // 32, self.start, np.int64)

    def reset(self, slots):
        """New blocks in ``slots``."""
        if self.used:
            self.each.reshape(-1)[self._warps(np.asarray(slots))] = self.start

    def _warps(self, slots):
        per = self.machine.stride // 32
        return (slots[:, None] * per + np.arange(per)).ravel()

    def taken(self, slot):
        """Registers that the block in ``slot`` holds."""
        return 32 * int(self.each[self._warps(np.array([slot]))].sum())

    def waiting(self, value, group):
        """Why the warps of ``group`` wait for ``value`` registers, with the numbers."""
        slot = int(self.machine.slot_of[group.idx[0]])
        mine = group.idx[self.machine.slot_of[group.idx] == slot]
        warps = np.unique(mine >> 5)
        wanted = self.taken(slot) + 32 * int((value - self.each[warps]).sum())
        return (
            f"{value} registers for each of {len(mine)} threads, which makes {wanted:,} in the block, of "
            f"{self.pool:,} that it has ({self.start} for each thread at its start)"
        )


@collective("setmaxnreg")
def setmaxnreg(machine, segment, ins, site, group):
    group, first = gather_warpgroups(machine, segment, site, group)
    if group is None:
        return False
    pool, value, more = machine.pool, segment.plan, ins.mods[0] == "inc"
    if not machine.program.function.directives.get("minnctapersm") and machine.observer is not None:
        machine.observer.finding("setmaxnreg-ignored", site, lanes=machine.lanes_of(group.idx))
    go = np.ones(len(first), bool)
    for i, lane in enumerate(first.tolist()):
        warps = (lane >> 5) + np.arange(WARPGROUP // 32)
        have = int(pool.each[warps[0]])
        if (value < have) if more else (value > have):
            _wrong_way(machine, site, lane, value, have)
        slot = int(machine.slot_of[lane])
        if value > have and pool.taken(slot) + WARPGROUP * (value - have) > pool.pool:
            go[i] = False
        else:
            pool.each[warps] = value
    lanes = np.repeat(go, WARPGROUP)
    if not lanes.all():
        group, waiting = machine.split(group, lanes)
        held = machine.parked.get(segment.index)
        machine.parked[segment.index] = waiting if held is None else machine.merge(waiting, held)
        if not group.n:
            return False
    machine.push(segment.next, group, segment.index)
    return True


def _wrong_way(machine, site, lane, value, have):
    if machine.observer is not None:
        lanes = machine.lanes_of((lane + np.arange(WARPGROUP)).astype(np.int32))
        machine.observer.finding("setmaxnreg-direction", site, lanes=lanes, detail=f"{value}|{have}")
