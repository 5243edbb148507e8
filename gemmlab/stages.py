"""When do loads hide behind arithmetic? The stage model of chapter 09, its timeline, and a fit to recorded times.

A kernel works through tiles; a tile's load takes `load`, its arithmetic `compute` (any unit of time, both > 0). There
are `stages` buffers. Two orders are modelled:

- own threads: the threads that multiply also issue the loads, at the start of the multiply, stages - 1 tiles ahead.
- producer: somebody else issues a load as soon as a buffer is free (chapter 16).

Loads are taken to overlap each other freely: the model is bound by latency, not by bandwidth, unless `transfer`, the
time that memory needs for the bytes of one tile, says otherwise.
"""

from __future__ import annotations

from gemmlab.errors import GemmlabError
from gemmlab.measuring import measure as measuring

PAIR = ("k09_early_store", "k09_double_buffer")


def time_per_tile(load: float, compute: float, stages: int, *, producer: bool = False, transfer: float = 0.0) -> float:
    """Return the steady time per tile. Raises GemmlabError for a number of stages below 1."""
    if not isinstance(stages, int) or stages < 1:
        raise GemmlabError(f"stages = {stages!r}: give an integer of at least 1")
    if stages == 1:
        return max(load, transfer) + compute
    hidden = (load + compute) / stages if producer else load / (stages - 1)
    return max(compute, hidden, transfer)


def exposed(load: float, compute: float, stages: int, **order) -> float:
    """Return the time per tile in which nobody multiplies."""
    return time_per_tile(load, compute, stages, **order) - compute


def pipeline(
    load: float, compute: float, stages: int, tiles: int = 6, *, producer: bool = False, transfer: float = 0.0
) -> dict[str, list]:
    """Simulate `tiles` tiles; return the spans {role: [(start, end, kind, label), …]} for `gl.widgets.timeline`.

    With `transfer` memory works on one tile at a time: a load waits until those before it have had theirs.
    """
    starts, ends, arrive, served = [], [], {}, [0.0]
    rows = {f"load, buffer {s}": [] for s in range(stages)}

    def issue(tile: int, now: float):
        begin = max(now, served[-1])
        served.append(begin + transfer)
        arrive[tile] = begin + max(load, transfer)
        rows[f"load, buffer {tile % stages}"].append((now, arrive[tile], "load", str(tile)))

    ahead = stages if producer or stages == 1 else stages - 1
    for tile in range(min(ahead, tiles)):
        issue(tile, 0.0)
    for tile in range(tiles):
        start = max(arrive[tile], ends[-1] if ends else 0.0)
        starts.append(start)
        ends.append(start + compute)
        following = tile + ahead
        if following < tiles:
            issue(following, ends[-1] if producer or stages == 1 else start)
    rows["multiply"] = [(s, e, "compute", str(i)) for i, (s, e) in enumerate(zip(starts, ends, strict=True))]
    waits = [(a, b) for a, b in zip([0.0, *ends], starts, strict=False) if b > a]
    if waits:
        rows["waiting"] = [(a, b, "wait", "") for a, b in waits]
    return rows


def issue_order(trace) -> dict[str, list]:
    """Return what a warp does in the order of its accesses, as spans for `gl.widgets.timeline`; the unit is accesses.

    trace: `gl.trace(kernel, …)`. A load is under way from its issue to the first store to shared memory after it, which
    needs its value. Time is not in a trace: a span of 32 accesses says what was issued, not how long it took.
    """
    rows = {"load under way": [], "multiply": [], "store": []}
    pending = None
    for number, access in enumerate(trace):
        if access.space == "global" and access.kind == "ld":
            pending = number if pending is None else pending
        elif access.space == "shared" and access.kind == "st":
            if pending is not None:
                rows["load under way"].append([pending, number, "load", ""])
                pending = None
            _extend(rows["store"], number, "store")
        elif access.space == "shared" and access.kind == "ld":
            _extend(rows["multiply"], number, "compute")
    for spans in rows.values():
        for tile, span in enumerate(spans):
            span[3] = str(tile)
    return {role: [tuple(span) for span in spans] for role, spans in rows.items() if spans}


def _extend(spans: list, number: int, kind: str) -> None:
    if spans and spans[-1][1] == number:
        spans[-1][1] = number + 1
    else:
        spans.append([number, number + 1, kind, ""])


def overlap(trace) -> float:
    """Return the mean number of shared loads that a warp issues between a global load and the next shared store.

    Loads before the first multiply are left out: nothing can hide them. Raises GemmlabError when there are no others.
    """
    seen, waiting, multiplying = [], [], False
    for access in trace:
        if access.space == "shared" and access.kind == "ld":
            multiplying, waiting = True, [n + 1 for n in waiting]
        elif access.space == "shared" and access.kind == "st":
            seen, waiting = seen + waiting, []
        elif access.kind == "ld" and multiplying:
            waiting.append(0)
    if not seen:
        raise GemmlabError("the trace holds no second tile: trace a longer K")
    return sum(seen) / len(seen)


def fit(M: int = 4096, N: int = 4096, K: int = 4096, pair: tuple[str, str] = PAIR) -> str:
    """Fit the model's two times to the measurements of two kernels that differ only in order; return it as text.

    pair: (store first, double buffer). Without overlap a tile takes load + compute, with it the larger of the two, so
    two times give both, as far as the model holds. They are per SM, blocks that share it taken together.
    """
    found = [measuring.measure(name, M, N, K) for name in pair]
    missing = [m.kernel for m in found if m.time_us is None]
    if missing:
        return f"no fit: {' and '.join(missing)} not recorded yet at {M} × {N} × {K} on {found[0].gpu}"
    spec = measuring.spec_of(pair[1])
    sms = measuring.gpu(found[1].gpu).sms
    tiles = M / spec.tile["BM"] * N / spec.tile["BN"] / sms * K / spec.tile["BK"]
    alone, together = (m.time_us * 1e3 / tiles for m in found)
    text = f"per tile and SM: {alone:.0f} ns without overlap, {together:.0f} ns with ({found[1].label})"
    if alone <= together:
        return f"{text}; no load time is left over: order changes nothing here"
    load, compute = sorted((alone - together, together))
    return f"{text}: compute {compute:.0f} ns, load {load:.0f} ns left over beside it (fitted)"
