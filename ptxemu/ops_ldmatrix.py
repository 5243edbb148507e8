"""ldmatrix, stmatrix and movmatrix: 8 x 8 matrices of 16-bit elements, rows in shared memory, fragments in registers
(PTX ISA 9.7.14.5.15 to 17). Lanes 8 i to 8 i + 7 name the rows of matrix i; the addresses of other lanes do not count.
"""

from __future__ import annotations

import numpy as np

from .checked import addresses, allowed, byte_index, flat, space_of
from .ops_copy import need, refuse
from .registry import collective, plan
from .tensor import load_matrices, store_matrices
from .warps import check_registers, gather_warps, items, lanes_of_warps, rows, words

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}


@plan("ldmatrix", "stmatrix")
def plan_matrices(program, ins):
    """(matrices, transposed)."""
    mods = ins.mods
    count = next((_COUNTS[m] for m in mods if m in _COUNTS), None)
    if mods[:2] != ("sync", "aligned") or "m8n8" not in mods or count is None or mods[-1] != "b16":
        refuse(program, ins, "not supported by ptxemu", "use the form .m8n8 with .b16")
    need(program, ins, (9, 0) if ins.op == "stmatrix" else (7, 5))
    fragment = ins.operands[1 if ins.op == "stmatrix" else 0]
    check_registers(program, ins, fragment, count, f"the fragment of .x{count} (2 b16 each)")
    return count, "trans" in mods


@collective("ldmatrix", "stmatrix")
def matrices(machine, segment, ins, site, group):
    group, first = gather_warps(machine, segment, site, group)
    if group is None:
        return False
    count, trans = segment.plan
    load = ins.op == "ldmatrix"
    fragment, address = ins.operands if load else reversed(ins.operands)
    lanes = lanes_of_warps(first).reshape(-1, 32)[:, : 8 * count]
    idx = np.ascontiguousarray(lanes).ravel()
    _, addr = space_of(machine.program.sites[site].space, addresses(machine, address, idx))
    good = allowed(machine, site, "shared", idx, addr, 16)
    at = np.zeros(lanes.shape, np.int64)
    at[:] = byte_index(machine, "shared", idx, addr).reshape(lanes.shape)
    ok = np.ones(lanes.shape, bool) if good is True else good.reshape(lanes.shape)
    if machine.observer is not None and len(idx):
        kept = slice(None) if good is True else good
        machine.observer.access(site, "shared", addr[kept], machine.lanes_of(idx[kept]))
    run = load_matrices if load else store_matrices
    run(flat(machine, "shared").view(np.uint16), at, ok, words(machine), first, rows(machine, fragment), trans)
    machine.push(segment.next, group, segment.index)
    return True


@plan("movmatrix")
def plan_movmatrix(program, ins):
    if ins.mods != ("sync", "aligned", "m8n8", "trans", "b16"):
        refuse(program, ins, "not supported by ptxemu", "use movmatrix.sync.aligned.m8n8.trans.b16")
    need(program, ins, (7, 5))
    for operand in ins.operands:
        check_registers(program, ins, operand, 1, "the fragment (2 b16)")


@collective("movmatrix")
def movmatrix(machine, segment, ins, site, group):
    group, first = gather_warps(machine, segment, site, group)
    if group is None:
        return False
    (to,), (source,) = (items(o) for o in ins.operands)
    lanes = lanes_of_warps(first).reshape(-1, 32)
    matrix = machine.row(source)[lanes].view(np.uint16).reshape(-1, 8, 8)
    machine.row(to)[lanes] = np.ascontiguousarray(matrix.transpose(0, 2, 1)).reshape(-1, 64).view(np.uint32)
    machine.push(segment.next, group, segment.index)
    return True
