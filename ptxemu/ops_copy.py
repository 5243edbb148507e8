"""cp.async: copies from global to shared memory that pass through no register (PTX ISA 9.7.9.25.3)."""

from __future__ import annotations

import numpy as np

from .checked import addresses, allowed
from .errors import PtxError
from .ir import Int, Not, Reg
from .profile import target_cc

_HINTS = {"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B", "shared", "shared::cta", "global", "async"}
_SIZES = {"ca": (4, 8, 16), "cg": (16,)}


def need(program, ins, cc, what=None):
    """Refuse an instruction whose target is older than compute capability ``cc``."""
    target = program.module.target
    have, _ = target_cc(target)
    if have < cc:
        raise PtxError(
            f"{program.where(ins)}: {what or ins.opcode!r} needs sm_{cc[0]}{cc[1]} or later, but this PTX is for "
            f"{target}: compile for sm_{cc[0]}{cc[1]}"
        )


def refuse(program, ins, why, instead):
    """Raise the one line for a form that is not supported."""
    raise PtxError(f"{program.where(ins)}: {ins.opcode!r}: {why}; {instead}")


def plan_copy(program, ins):
    """("copy", bytes, operand of the source size, ignore predicate) | ("commit",) | ("wait", groups kept or None)."""
    mods = ins.mods
    if mods[:1] != ("async",):
        refuse(program, ins, "not supported by ptxemu", "copy with cp.async and wait_group, or run on a GPU")
    need(program, ins, (8, 0))
    if mods[1] == "commit_group":
        return ("commit",)
    if mods[1] == "wait_all":
        return ("wait", None)
    if mods[1] == "wait_group":
        return ("wait", ins.operands[0].value)
    if mods[1] not in _SIZES or not set(mods[2:]) <= _HINTS:
        refuse(program, ins, "not supported by ptxemu", "use cp.async.ca or cp.async.cg .shared.global")
    size = ins.operands[2]
    if not isinstance(size, Int) or size.value not in _SIZES[mods[1]]:
        allowed_sizes = " or ".join(map(str, _SIZES[mods[1]]))
        refuse(program, ins, f"copies {allowed_sizes} bytes", "give one of these as its third operand")
    rest = ins.operands[3:-1] if "L2::cache_hint" in mods else ins.operands[3:]
    count = ignore = None
    for operand in rest:
        reg = operand.reg if isinstance(operand, Not) else operand
        if isinstance(reg, Reg) and reg.bits == 1:
            ignore = operand
        else:
            count = operand
    return "copy", size.value, count, ignore


def copy(machine, segment, ins, site, group):
    what, *details = segment.plan
    if what == "copy":
        _copy(machine, ins, site, group, *details)
    elif what == "commit":
        machine.copies.commit(group.idx)
    elif details[0] is None:  # wait_all: commit, then wait for everything
        machine.copies.commit(group.idx)
        machine.copies.wait(site, group.idx, 0)
    else:
        machine.copies.wait(site, group.idx, details[0])
    machine.push(segment.next, group, segment.index)
    return True


def _copy(machine, ins, site, group, nbytes, count, ignore):
    idx = group.idx
    dst, src = addresses(machine, ins.operands[0], idx), addresses(machine, ins.operands[1], idx)
    size = _source_size(machine, idx, nbytes, count, ignore)
    good = allowed(machine, site + 1, "shared", idx, dst, nbytes)
    if good is not True:
        idx, dst, src = idx[good], dst[good], src[good]
        size = None if size is None else size[good]
    size = _check_source(machine, site, idx, src, size, nbytes)
    if len(idx):
        machine.copies.issue(site, nbytes, idx, src, dst, size)


def _source_size(machine, idx, nbytes, count, ignore):
    """Bytes to read per lane; None where every lane reads all."""
    size = None
    if isinstance(count, Int):
        size = np.full(len(idx), count.value, np.int64)
    elif count is not None:
        size = machine.row(count)[idx].astype(np.int64)
    if ignore is not None:
        reg = ignore.reg if isinstance(ignore, Not) else ignore
        ignored = machine.row(reg)[idx].astype(bool) ^ (reg is not ignore)
        size = np.where(ignored, 0, nbytes if size is None else size)
    if size is None or (size == nbytes).all():
        return None
    return np.minimum(size, nbytes)


def _check_source(machine, site, idx, src, size, nbytes):
    """The sizes after the check of the sources: a refused lane reads nothing and gets zeros."""
    checked = np.full(len(idx), nbytes, np.int64) if size is None else size.copy()
    for n in [nbytes] if size is None else np.unique(checked[checked > 0]).tolist():
        lanes = np.flatnonzero(checked == n)
        good = allowed(machine, site, "global", idx[lanes], src[lanes], n, nbytes)
        if good is not True:
            checked[lanes[~good]] = 0
    return size if size is None and (checked == nbytes).all() else checked
