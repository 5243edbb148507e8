"""cp.async.bulk, cp.async.bulk.tensor and cp.reduce.async.bulk (PTX ISA 9.7.9.25.4 and .5): what the operands say; the
landing is in bulk.py.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from . import ops_copy, tensormap
from .bulk import CHUNK, BulkCopy
from .bulk_places import global_problem, shared_problem
from .checked import addresses, cluster_slots, shared_place
from .ir import Address, Vector
from .layout import GLOBAL_BASE, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE
from .ops_copy import need, refuse
from .ops_mbarrier import defer_arrival, values
from .reductions import reduction
from .registry import collective, plan

_SPACES = ("shared::cluster", "shared::cta", "global")
_COMPLETION = {"mbarrier::complete_tx::bytes", "bulk_group"}
_HINTS = {"async", "bulk", "tensor", "tile", "L2::cache_hint", "multicast::cluster", "reduce"}


@dataclass(frozen=True)
class Form:
    """One bulk copy. ``rank`` 0: linear. ``load``: towards shared memory. ``operation``: see reductions.py."""

    rank: int
    load: bool
    memory: Address
    shared: Address
    size: object
    barrier: Address | None
    mask: object
    operation: tuple | None


@plan("cp")
def plan_cp(program, ins):
    """Plans of cp.async, cp.async.mbarrier.arrive and the bulk copies."""
    if "bulk" in ins.mods:
        return _plan_bulk(program, ins)
    if "mbarrier" in ins.mods:
        need(program, ins, (8, 0))
        return ("defer",)
    return ops_copy.plan_copy(program, ins)


def _plan_bulk(program, ins):
    mods = ins.mods
    need(program, ins, (9, 0))
    if "prefetch" in mods:
        return ("nothing",)
    if "commit_group" in mods:
        return ("bulk commit",)
    if "wait_group" in mods:
        return "bulk wait", ins.operands[0].value, "read" in mods
    spaces = [m for m in mods if m in _SPACES]
    if len(spaces) != 2 or not _COMPLETION & set(mods):
        refuse(
            program, ins, "not supported by ptxemu", "use the forms with .mbarrier::complete_tx::bytes or .bulk_group"
        )
    if "global" not in spaces:
        refuse(program, ins, "copies between CTAs are not supported by ptxemu", "copy through registers, or use a GPU")
    rank = next((int(m[0]) for m in mods if len(m) == 2 and m[1] == "d" and m[0] in "12345"), 0)
    operation, known = None, {*_SPACES, *_COMPLETION, *_HINTS, f"{rank}d"}
    if "reduce" in mods:
        operation = reduction(mods, bool(rank))
        if operation is None:
            refuse(
                program,
                ins,
                "this reduction is not supported by ptxemu",
                "use .add, .min, .max, .inc, .dec, .and, .or or .xor",
            )
        known |= set(operation[:2])
        known |= {"noftz"}
    odd = [m for m in mods if m not in known]
    if odd:
        refuse(program, ins, f".{odd[0]} is not supported by ptxemu", "use tile mode without it, or run on a GPU")
    load = spaces[0] != "global"
    first, second, *rest = ins.operands
    size = None if rank else rest.pop(0)
    barrier = rest.pop(0) if load else None
    mask = rest.pop(0) if "multicast::cluster" in mods else None
    memory, shared = (second, first) if load else (first, second)
    if rank and not (memory.rest and isinstance(memory.rest[0], Vector) and len(memory.rest[0].items) == rank):
        refuse(program, ins, f"needs {rank} coordinates", "give them in braces after the tensor map's address")
    return "bulk", Form(rank, load, memory, shared, size, barrier, mask, operation)


@collective("cp")
def cp(machine, segment, ins, site, group):
    what = segment.plan[0]
    idx = group.idx
    if what in ("copy", "commit", "wait"):
        return ops_copy.copy(machine, segment, ins, site, group)
    if what == "defer":
        defer_arrival(machine, ins, site, idx)
    elif what == "bulk commit":
        machine.bulk.commit(idx)
    elif what == "bulk wait":
        machine.bulk.wait(site, idx, *segment.plan[1:])
    elif what == "bulk":
        _start(machine, site, idx, segment.plan[1])
    machine.push(segment.next, group, segment.index)
    return True


def _start(machine, site, idx, form):
    at = addresses(machine, form.shared, idx)
    at = np.where(at >= SHARED_WINDOW, at - SHARED_WINDOW, at)
    slots, at = shared_place(machine, idx, at)
    memory = addresses(machine, form.memory, idx)
    corners = sizes = barriers = None
    if form.rank:
        words = [values(machine, r, idx).astype(np.int32) for r in form.memory.rest[0].items]
        corners = np.stack(words, axis=1).tolist()
    else:
        sizes = values(machine, form.size, idx).tolist()
    if form.load:
        barrier = addresses(machine, form.barrier, idx)
        places = shared_place(machine, idx, np.where(barrier >= SHARED_WINDOW, barrier - SHARED_WINDOW, barrier))
        barriers = list(zip(places[0].tolist(), places[1].tolist(), strict=True))
    for k, lane in enumerate(idx.tolist()):
        copy = _copy(machine, site, lane, form, int(memory[k]), corners and corners[k], sizes and sizes[k])
        if copy is None:
            continue
        copy.slot, copy.at = int(slots[k]), int(at[k])
        copy.key = barriers[k] if form.load else None
        targets = [copy]
        if form.mask is not None:
            targets = _multicast(machine, copy, int(values(machine, form.mask, idx[k : k + 1])[0]))
        for target in targets:
            _issue(machine, site, idx[k : k + 1], form, target)


def _multicast(machine, copy, mask):
    """The copy once for every CTA of the cluster that the mask names."""
    members = cluster_slots(machine, copy.slot)
    chosen = [slot for rank, slot in enumerate(members) if mask >> rank & 1]
    return [replace(copy, slot=slot, key=(slot, copy.key[1]), echo=slot != chosen[0]) for slot in chosen]


@functools.lru_cache(maxsize=256)
def _decode(data):
    return tensormap.decode(data)


def _copy(machine, site, lane, form, memory, corner, size):
    """The copy that one lane starts, without its place in shared memory; None where it cannot be made out."""
    checks = machine.bulk.checks()
    if not form.rank:
        return BulkCopy(site, lane, 0, 0, size, None, form.load, address=memory)
    data = _map_bytes(machine, lane, memory)
    view = None if data is None else _decode(data)
    if view is None or view.rank != form.rank:
        machine.had_faults = True
        if checks:
            checks.bad_map(site, lane, memory, view, form.rank)
        return None
    if checks:
        checks.map_address(site, lane, memory)
        if view.fault():
            checks.say("bad-tensor-map", site, lane, f"uses a tensor map that is not valid: {view.fault()}")
    copy = BulkCopy(site, lane, 0, 0, view.nbytes, None, form.load, view=view, corner=tuple(corner))
    if memory >= machine.memory.param_address + machine.memory.param_size:
        copy.map_address = memory
    return copy


def _map_bytes(machine, lane, address):
    """The 128 bytes at a generic address, or None where it names no memory."""
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_SIZE:
        at = lane * machine.program.local_size + address - LOCAL_WINDOW
        return bytes(machine.local[at : at + tensormap.NBYTES]) if at + 128 <= len(machine.local) else None
    if not any(start <= address and address + 128 <= end for start, end in machine.memory.ranges):
        return None
    return bytes(machine.memory.arena[address - GLOBAL_BASE :][: tensormap.NBYTES])


def _issue(machine, site, idx, form, copy):
    """Check the places of a copy and start it."""
    checks, row = machine.bulk.checks(), machine.shared.shape[1]
    problem = shared_problem(machine, copy) or global_problem(machine, copy, form.operation)
    if problem:
        machine.had_faults = True
        copy.refused = True
        if checks:
            checks.say(problem[0], site + (problem[1] == "shared") * form.load, copy.lane, problem[2])
    else:
        if form.operation:
            copy.reduce = form.operation[2](copy.view.dtype if copy.view is not None else "")
        copy.chunks = copy.pieces() + copy.slot * row // np.dtype(CHUNK).itemsize
    if form.load and machine.mbarriers.find(site, copy.key, idx) is None:
        return
    if not form.load and copy.refused:
        return
    machine.bulk.issue(copy)
