"""Words for the emulator's events: names of barriers and warps, and a sentence for each event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def barrier_names(events: Sequence) -> dict[int, str]:
    """Return {address: name} of the mbarriers, numbered by address within each sort.

    "full 0", …: those that count bytes of copies; "empty 0", …: others, beside full ones; "order 0", …: others that
    only warps wait for which start no loads. Without any that counts bytes they are "barrier 0", ….
    """
    every = sorted({event.barrier for event in events if event.what == "mbarrier"})
    full = {event.barrier for event in events if event.kind in ("bytes", "expect") or event.nbytes and event.barrier}
    loading = {warp for event in events if event.kind == "issue" and event.barrier in full for warp in event.warps}
    waiting: dict[int, set[int]] = {address: set() for address in every}
    for event in events:
        if event.kind in ("wait", "pass"):
            waiting[event.barrier] |= set(event.warps)
    sorts = {a: "full" if a in full else "barrier" if not full else
             "order" if waiting[a] and not waiting[a] & loading else "empty" for a in every}  # fmt: skip
    order = ("full", "empty", "order", "barrier")
    return {
        address: f"{sort} {number}"
        for sort in order
        for number, address in enumerate(a for a in every if sorts[a] == sort)
    }


def warps_text(warps: Sequence[int]) -> str:
    """Return "warp 0", "warps 4 to 7" or "warps 0, 2"."""
    if len(warps) == 1:
        return f"warp {warps[0]}"
    close = len(warps) > 2 and list(warps) == list(range(warps[0], warps[-1] + 1))
    return f"warps {warps[0]} to {warps[-1]}" if close else "warps " + ", ".join(map(str, warps))


def sentence(event, names: Mapping[int, str]) -> str:
    """Return what an event is, in words, with the source line where one is known."""
    who, name = warps_text(event.warps) if event.warps else "the copy engine", names.get(event.barrier, "a barrier")
    several = len(event.warps) > 1
    line = f" (line {event.site.line})" if getattr(event.site, "line", None) else ""
    size, s = f"{event.nbytes:,} bytes", "" if several else "s"
    announced = f" and announce{s} {size}" if event.nbytes else ""
    number = f" {event.number}" if event.number else ""
    text = {
        "init": f"{who} initialise{s} {name}: a phase takes {event.pending} arrival{'s' * (event.pending != 1)}",
        "arrive": f"{who} arrive{s} at {name}{announced}",
        "expect": f"{who} announce{s} {size} at {name}",
        "bytes": f"{size} reach {name}: {event.tx:,} are missing",
        "complete": f"{name}: phase {event.phase - 1} is complete, phase {event.phase} begins",
        "wait": f"{who} wait{s} at {name} for the end of phase {event.phase}, parity {event.phase & 1}",
        "pass": f"{who} pass{'' if several else 'es'} {name}: "
        + (f"phase {event.phase} is over" if event.phase >= 0 else "before the first phase no wait for parity 1 lasts"),
        "issue": f"{who} start{s} copy{number} of {size}" + (f" for {name}" if event.barrier is not None else ""),
        "land": f"copy{number} is in place",
        "read": f"copy{number} has read its source",
        "commit": f"{who} close{s} a group of {event.what}",
        "wait_group": f"{who} wait{s} until at most {event.number} groups of {event.what} are under way",
        "multiply": f"{who} issue{s} wgmma{number}",
        "multiplied": f"{who} ha{'ve' if several else 's'} waited for wgmma{number}",
    }[event.kind]
    return text[0].upper() + text[1:] + line
