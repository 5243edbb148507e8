"""Words for races: what collides where, and which kind of ordering is missing."""

from __future__ import annotations

from typing import NamedTuple

from .findings import Finding, locate


class Pair(NamedTuple):
    """Two unordered accesses: ``site`` came later in the emulator's order. ``equal``: both stored the same value;
    ``fragile``: both are volatile or atomic, in one warp.
    """

    space: str
    site: int
    other: int
    other_reads: bool
    equal: bool
    fragile: bool


class Example(NamedTuple):
    """One instance: linear CTA and thread ids of both parties, and the byte address."""

    cta: int
    tid: int
    other_cta: int
    other_tid: int
    addr: int


_VERB = {"ld": "reads", "st": "writes", "atom": "updates", "red": "updates"}


def race_finding(pair, count, examples, sites, memory, name, shared_layout):
    """The :class:`Finding` for a racing pair; ``examples`` list[Example], the first is spelled out."""
    a, b = sites[pair.site], sites[pair.other]
    first = examples[0]
    where = list(dict.fromkeys(locate(memory, pair.space, e.addr, shared_layout) for e in examples))
    verb, other_verb = _VERB[a.op], _VERB["ld" if pair.other_reads else b.op]
    reads = "reads" in (verb, other_verb)
    message = (
        f"{'read-write' if reads else 'write-write'} race on {where[0]}: "
        f"{name.text(first.cta, first.tid)} {verb} it at line {a.line}, "
        f"{name.text(first.other_cta, first.other_tid, first.cta)} {other_verb} it at line {b.line}, "
        "and nothing orders the two"
    )
    if pair.equal:
        message += "; both store the same value"
    parties = [name(first.cta, first.tid), name(first.other_cta, first.other_tid)]
    severity = "warning" if pair.equal or pair.fragile else "error"
    return Finding(
        f"race-{pair.space}", severity, message, _advice(pair, first, a.line, verb, b.line, other_verb),
        a.file, a.line, b.line, a.ptx_line, parties, where, count,
    )  # fmt: skip


def uninitialised_finding(site, count, examples, sites, memory, name, shared_layout):
    """The :class:`Finding` for reads of shared memory that nobody wrote; ``examples`` list of (cta, tid, address)."""
    info = sites[site]
    where = [locate(memory, "shared", addr, shared_layout) for _, _, addr in examples]
    message = f"{name.text(*examples[0][:2])} reads {where[0]}, which no thread of its block has written"
    advice = "Write every element that is read, zeros included, with a barrier before the reads."
    threads = [name(cta, tid) for cta, tid, _ in examples]
    return Finding(
        "uninitialised-shared",
        "error",
        message,
        advice,
        info.file,
        info.line,
        None,
        info.ptx_line,
        threads,
        where,
        count,
    )


def _advice(pair, first, line, verb, other_line, other_verb):
    if pair.equal:
        return "Let one thread store it, or make it an atomic."
    if first.cta != first.other_cta:
        return (
            "A barrier orders one block only: use an atomic, split the work into two launches, "
            "or pass a flag with __threadfence()."
        )
    if pair.fragile:
        return (
            "volatile does not order the lanes of a warp (no lockstep since Volta): put __syncwarp() between the two."
        )
    if pair.site == pair.other:
        return "Give each thread its own element, use an atomic, or put a barrier between two rounds of the loop."
    one_warp = first.tid >> 5 == first.other_tid >> 5
    barrier = "barrier (inside one warp __syncwarp() is enough)" if one_warp else "barrier"
    return f"A {barrier} is missing between line {other_line} ({other_verb}) and line {line} ({verb})."
