"""Who does what: the emulator's events of one CTA as spans on rows, in the order of the emulator (no clock)."""

from __future__ import annotations

from collections.abc import Sequence

from gemmlab.errors import GemmlabError
from gemmlab.plots.event_text import barrier_names, warps_text

Spans = dict[str, list[tuple[int, int, str, str]]]


def roles(events: Sequence) -> Spans:
    """Return {row: [(start, end, kind, label), …]}; times are places in the log of `gl.trace_events`.

    With mbarriers: a row for the warps that start loads, one per stage (its copies under way, then its data in use
    until the stage is released or, without a barrier for that, loaded again), and one for each group of warps that
    waits for data. With cp.async or bulk groups alone: a row per group slot. Raises GemmlabError for a log that holds
    neither.
    """
    if any(event.kind == "bytes" for event in events):
        return _ring(events)
    groups = _groups(events)
    if not groups:
        raise GemmlabError("the events hold no copy that a barrier or a group waits for")
    return groups


def _ring(events) -> Spans:
    names = barrier_names(events)
    full = [address for address, name in names.items() if name.startswith("full")]
    empty = [address for address, name in names.items() if name.startswith("empty")]
    producers = sorted({warp for e in events if e.kind == "issue" and e.barrier in full for warp in e.warps})
    rows: Spans = {f"producer: {warps_text(producers)}": _producer(events, producers)}
    tiles = _tiles(events, full)
    for stage, address in enumerate(full):
        rows[f"stage {stage}"] = _stage(events, address, empty[stage] if stage < len(empty) else None, tiles)
    waiting = {e.warps for e in events if e.kind == "pass" and e.barrier in full}
    for warps in _consumers(events, waiting):
        turns = [address for address, name in names.items() if name.startswith("order")]
        rows[f"consumer: {warps_text(warps)}"] = _consumer(events, warps, full, turns, tiles)
    return {name: spans for name, spans in rows.items() if spans}


def _tiles(events, full) -> dict[tuple[int, int], str]:
    """{(barrier, phase): number of the tile}, in the order in which copies were announced."""
    order = {}
    for event in events:
        if event.kind in ("arrive", "expect") and event.barrier in full and event.nbytes:
            order.setdefault((event.barrier, event.phase), str(len(order)))
    return order


def _producer(events, warps) -> list:
    spans, since = [], None
    for at, event in enumerate(events):
        if not set(event.warps) & set(warps):
            continue
        if event.kind == "issue" and event.barrier is not None:
            if spans and spans[-1][2] == "issue" and spans[-1][1] == at:
                spans[-1] = (spans[-1][0], at + 1, "issue", "")
            else:
                spans.append((at, at + 1, "issue", ""))
        elif event.kind == "wait" and event.what == "mbarrier" and since is None:
            since = at
        elif event.kind == "pass" and since is not None:
            spans.append((since, at, "wait", ""))
            since = None
    return spans


def _stage(events, full, empty, tiles) -> list:
    spans, started, filled, phase = [], None, None, 0
    for at, event in enumerate(events):
        if event.kind == "issue" and event.barrier == full and started is None:
            started = at
            if empty is None and filled is not None:
                spans.append((filled, at, "compute", tiles.get((full, phase - 1), "")))
                filled = None
        elif event.kind == "complete" and event.barrier == full:
            label, phase = tiles.get((full, event.phase - 1), ""), event.phase
            spans.append((at if started is None else started, at, "load", label))
            started, filled = None, at
        elif event.kind == "complete" and event.barrier == empty and filled is not None:
            spans.append((filled, at, "compute", tiles.get((full, phase - 1), "")))
            filled = None
    if filled is not None:
        spans.append((filled, len(events), "compute", tiles.get((full, phase - 1), "")))
    return spans


def _consumers(events, waiting) -> list[tuple[int, ...]]:
    """The sets of warps that act together: whole warpgroups where wgmma is used, else all that pass the same waits."""
    every = sorted({warp for warps in waiting for warp in warps})
    if not any(event.what == "wgmma" for event in events):
        return [tuple(every)] if every else []
    groups: dict[int, list[int]] = {}
    for warp in every:
        groups.setdefault(warp // 4, []).append(warp)
    return [tuple(group) for group in groups.values()]


def _consumer(events, warps, full, turns, tiles) -> list:
    """What the first of the warps does: waits for data or for its turn, works, and stores C with bulk copies."""
    me, spans, since, label = warps[0], [], None, ""

    def close(at):
        if since is not None and at > since[0]:
            spans.append((since[0], at, *since[1:]))

    for at, event in enumerate(events):
        if me not in event.warps or event.what == "mbarrier" and event.barrier not in (*full, *turns):
            continue
        if event.kind == "wait" and (since is None or since[1] == "compute"):
            close(at)
            since = (at, "wait" if event.barrier in full else "barrier", "")
        elif event.kind == "pass":
            if event.barrier in full:
                label = tiles.get((event.barrier, event.phase), "")
            close(at)
            since = (at, "compute", label)
        elif event.kind == "issue" and event.what == "bulk" and event.barrier is None and since:
            close(at)
            since = (at, "store", "")
        elif event.kind == "wait_group" and event.what == "bulk" and since and since[1] == "store":
            close(at)
            since = None
    close(len(events))
    return spans


def _groups(events) -> Spans:
    """Groups of cp.async or bulk copies of the first warp that closes one, each in a slot that is free."""
    first = next((event for event in events if event.kind == "commit" and event.what != "wgmma"), None)
    if first is None:
        return {}
    me, what, slots, open_, closed = first.warps[0], first.what, [], None, []
    rows: list[list] = []
    for at, event in enumerate(events):
        if event.what != what or me not in event.warps:
            continue
        if event.kind == "issue" and open_ is None:
            open_ = at
        elif event.kind == "commit":
            slot = next((i for i, busy in enumerate(slots) if busy is None), len(slots))
            slots[slot:slot + 1] = [len(closed)]
            closed.append((at if open_ is None else open_, slot))
            if slot == len(rows):
                rows.append([])
            open_ = None
        elif event.kind == "wait_group":
            for slot, number in enumerate(slots):
                if number is not None and number < len(closed) - event.number:
                    rows[slot].append((closed[number][0], at, "load", str(number)))
                    slots[slot] = None
    for slot, number in enumerate(slots):
        if number is not None:
            rows[slot].append((closed[number][0], len(events), "load", str(number)))
    return {f"group slot {slot}": spans for slot, spans in enumerate(rows)}
