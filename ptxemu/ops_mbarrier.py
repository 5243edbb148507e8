"""mbarrier instructions and cp.async.mbarrier.arrive (PTX ISA 9.7.13.15); the counting is in mbarrier.py."""

from __future__ import annotations

import numpy as np

from .checked import addresses, allowed, shared_place
from .ir import SINK, Address, Int
from .layout import SHARED_WINDOW
from .mbarrier import Wait
from .ops_copy import need, refuse
from .registry import collective, plan

_KINDS = (
    "init",
    "inval",
    "arrive_drop",
    "arrive",
    "expect_tx",
    "complete_tx",
    "test_wait",
    "try_wait",
    "pending_count",
)
_KNOWN = {*_KINDS, "parity", "expect_tx", "noComplete", "acquire", "release", "relaxed", "cta", "cluster", "b64"}
_SHARED = {"shared", "shared::cta", "shared::cluster"}


@plan("mbarrier")
def plan_mbarrier(program, ins):
    """(kind, position of the address operand, generic address)."""
    need(program, ins, (8, 0))
    kind = next((k for k in _KINDS if k in ins.mods), None)
    if kind is None or not set(ins.mods) <= _KNOWN | _SHARED:
        refuse(program, ins, "not supported by ptxemu", "see ptxemu/ops_mbarrier.py for the forms that are")
    if kind in ("try_wait", "expect_tx", "complete_tx") or "expect_tx" in ins.mods or "shared::cluster" in ins.mods:
        need(program, ins, (9, 0))
    at = next((i for i, o in enumerate(ins.operands) if isinstance(o, Address)), None)
    return kind, at, not _SHARED & set(ins.mods)


def values(machine, operand, idx):
    """int64 per lane: a register or constant."""
    if isinstance(operand, Int):
        return np.full(len(idx), operand.value, np.int64)
    return machine.row(operand)[idx].astype(np.int64)


def by_object(machine, site, operand, idx, generic=False, nbytes=8):
    """[(key, positions in ``idx``)]: lanes sorted by the object (slot, address) that their operand names; lanes
    with a bad address are reported and left out.
    """
    addr = addresses(machine, operand, idx)
    if generic:
        addr = addr - SHARED_WINDOW
    slots, addr = shared_place(machine, idx, addr)
    good = allowed(machine, site, "shared", idx, addr, nbytes)
    chosen = np.arange(len(idx)) if good is True else np.flatnonzero(good)
    if not len(chosen):
        return []
    key = slots[chosen].astype(np.int64) << 32 | addr[chosen]
    if (key == key[0]).all():
        return [((int(slots[chosen[0]]), int(addr[chosen[0]])), chosen)]
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    parts = np.split(chosen[order], cuts)
    return [((int(slots[p[0]]), int(addr[p[0]])), p) for p in parts]


@collective("mbarrier")
def mbarrier(machine, segment, ins, site, group):
    kind, at, generic = segment.plan
    idx, mbarriers = group.idx, machine.mbarriers
    if kind == "pending_count":
        machine.row(ins.operands[0])[idx] = values(machine, ins.operands[1], idx) >> 32
        machine.push(segment.next, group, segment.index)
        return True
    objects = by_object(machine, site, ins.operands[at], idx, generic)
    rest = ins.operands[at + 1 :]
    if kind in ("test_wait", "try_wait"):
        _wait(machine, segment, site, idx, objects, rest, "parity" in ins.mods)
        return True
    if kind in ("arrive", "arrive_drop"):
        _arrive(machine, ins, site, idx, objects, rest, kind == "arrive_drop")
    elif kind == "init":
        counts = values(machine, rest[0], idx)
        for key, lanes in objects:
            for lane in lanes.tolist():
                mbarriers.init(site, key, idx[lane], int(counts[lane]))
    elif kind == "inval":
        for key, lanes in objects:
            mbarriers.invalidate(site, key, idx[lanes])
    else:
        sign = 1 if kind == "expect_tx" else -1
        amount = values(machine, rest[0], idx)
        for key, lanes in objects:
            mbarriers.expect(site, key, idx[lanes], sign * int(amount[lanes].sum()))
    machine.push(segment.next, group, segment.index)
    return True


def _arrive(machine, ins, site, idx, objects, rest, drop):
    count, expect = np.ones(len(idx), np.int64), None
    if "expect_tx" in ins.mods:
        expect = values(machine, rest[0], idx)
    elif rest:
        count = values(machine, rest[0], idx)
    result = ins.operands[0]
    for key, lanes in objects:
        bytes_ = None if expect is None else expect[lanes]
        keeps = "noComplete" in ins.mods
        states = machine.mbarriers.arrive(
            site, key, idx[lanes], count[lanes], drop=drop, expect=bytes_, keeps_phase=keeps
        )
        if not isinstance(result, Address) and result is not SINK:
            machine.row(result)[idx[lanes]] = states.view(np.uint64)


def _wait(machine, segment, site, idx, objects, rest, by_parity):
    want = values(machine, rest[0], idx)
    want = want & 1 if by_parity else want & 0x7FFFFFFF
    covered = 0
    for key, lanes in objects:
        covered += len(lanes)
        machine.mbarriers.wait(key, Wait(idx[lanes], want[lanes], by_parity, segment, site))
    if covered < len(idx):  # bad addresses: answer, so that the launch ends
        reached = np.concatenate([lanes for _, lanes in objects]) if objects else np.zeros(0, int)
        left = np.delete(idx, reached)
        machine.row(segment.instrs[0][0].operands[0])[left] = 1
        machine.push(segment.next, machine.reuse(left), segment.index)


def defer_arrival(machine, ins, site, idx):
    """cp.async.mbarrier.arrive{.noinc}."""
    generic = not _SHARED & set(ins.mods)
    for key, lanes in by_object(machine, site, ins.operands[0], idx, generic):
        machine.mbarriers.defer(site, key, idx[lanes], "noinc" in ins.mods)
