"""Accesses that were refused: sort them into findings."""

from __future__ import annotations

import numpy as np

from .layout import CTX, LOCAL_WINDOW, MAX_FAULTS, SHARED_WINDOW, WINDOW_SIZE

FAULT_STEPS = 40  # a segment with faults takes as long as so many without: a loop that faults for ever must end in time


def report_faults(machine, segment):
    """Tell the observer about the faults that a segment left, then forget them."""
    count = min(int(machine.ctx[CTX["n_faults"]]), MAX_FAULTS)
    machine.ctx[CTX["n_faults"]] = 0
    machine.had_faults = True
    machine.last_progress -= FAULT_STEPS
    if machine.observer is None:
        return
    faults = machine.faults[:count]
    for site in np.unique(faults[:, 0]):
        rows = faults[faults[:, 0] == site]
        rows = rows[np.argsort(rows[:, 1], kind="stable")]
        lane, addr = rows[:, 1].astype(np.int32), rows[:, 2]
        info = machine.program.sites[site]
        nbytes = info.width * info.vec
        space = {"param": "const"}.get(info.space, info.space)
        if space == "generic":
            groups = _by_window(addr)
        else:
            groups = [(space, np.ones(len(addr), bool), 0)]
        for name, mask, base in groups:
            if mask.any():
                report_refused(machine, int(site), name, lane[mask], addr[mask] - base, nbytes)


def _by_window(addr):
    shared = (addr >= SHARED_WINDOW) & (addr < SHARED_WINDOW + WINDOW_SIZE)
    local = (addr >= LOCAL_WINDOW) & (addr < LOCAL_WINDOW + WINDOW_SIZE)
    return [("shared", shared, SHARED_WINDOW), ("local", local, LOCAL_WINDOW), ("global", ~(shared | local), 0)]


def report_refused(machine, site, space, lane, addr, nbytes):
    """Tell the observer about lanes whose access of ``nbytes`` was refused: out of bounds, else misaligned."""
    inside = _inside(machine, space, addr, nbytes)
    for rule, mask in (("out-of-bounds", ~inside), ("misaligned", inside)):
        if mask.any():
            machine.observer.finding(rule, site, lanes=machine.lanes_of(lane[mask]), addr=addr[mask], space=space)


def _inside(machine, space, addr, nbytes):
    """Whether the access lies in live memory (then it was refused for its alignment)."""
    if space == "shared":
        return (addr >= 0) & (addr + nbytes <= machine.shared_bytes)
    if space == "local":
        return (addr >= 0) & (addr + nbytes <= machine.program.local_size)
    inside = np.zeros(len(addr), bool)
    for start, end in machine.memory.ranges:
        inside |= (addr >= start) & (addr + nbytes <= end)
    return inside
