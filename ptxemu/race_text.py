"""Words for races and for reads of unwritten shared memory: what collides where, and which kind of ordering is
missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .findings import ADVICE, Finding
from .inflight import copies_to_shared
from .places import locate, variable_at

EXAMPLES = 4
_VERB = {"ld": "reads", "st": "writes", "atom": "updates", "red": "updates"}


def _verb(site):
    return "copies to" if copies_to_shared(site) else _VERB[site.op]


class Pair(NamedTuple):
    """Two unordered accesses; ``site`` came later in the emulator's order. ``equal``: both stored the same value;
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


@dataclass
class Seen:
    """How often something was seen, the first few instances, and whether any involved two warps or two CTAs."""

    count: int = 0
    examples: list = field(default_factory=list)
    across_warps: bool = False
    across_ctas: bool = False

    def merge(self, other):
        self.count += other.count
        self.examples = (self.examples + other.examples)[:EXAMPLES]
        self.across_warps |= other.across_warps
        self.across_ctas |= other.across_ctas


class Words:
    """Writes the findings. ``sites``, ``memory``: as the observer has them; ``name``: ThreadNames; ``layout``:
    shared variables.
    """

    def __init__(self, sites, memory, name, layout, early_exit=False):
        self.sites, self.memory, self.name, self.layout = sites, memory, name, layout
        self.early_exit = early_exit

    def races(self, pairs):
        """One finding per pair of source lines and severity (unrolled copies of a line are one line):
        list[Finding].
        """
        merged = {}
        for pair, seen in pairs.items():
            places = sorted((s.file, s.line or -s.ptx_line) for s in (self.sites[pair.site], self.sites[pair.other]))
            key = (pair.space, pair.equal, pair.fragile, *places)
            if key in merged:
                merged[key][1].merge(seen)
            else:
                merged[key] = (pair, Seen(seen.count, list(seen.examples), seen.across_warps, seen.across_ctas))
        return [self._race(pair, seen) for pair, seen in merged.values()]

    def uninitialised(self, reads):
        """One finding per source line and shared variable; ``reads``: {site: Seen with examples (cta, tid,
        address)}.
        """
        merged = {}
        for site, seen in reads.items():
            info = self.sites[site]
            key = (info.file, info.line or -info.ptx_line, variable_at(self.layout, seen.examples[0][2]))
            merged.setdefault(key, (info, Seen()))[1].merge(seen)
        return [self._uninitialised(info, seen) for info, seen in merged.values()]

    def _where(self, space, addresses):
        return list(dict.fromkeys(locate(self.memory, space, a, self.layout) for a in addresses))

    def _race(self, pair, seen):
        a, b, first = self.sites[pair.site], self.sites[pair.other], seen.examples[0]
        where = self._where(pair.space, [e.addr for e in seen.examples])
        verb, other_verb = _verb(a), "reads" if pair.other_reads else _verb(b)
        message = (
            f"{'read-write' if 'reads' in (verb, other_verb) else 'write-write'} race on {where[0]}: "
            f"{self.name.text(first.cta, first.tid)} {verb} it at line {a.line}, "
            f"{self.name.text(first.other_cta, first.other_tid, first.cta)} {other_verb} it at line {b.line}, "
            "and nothing orders the two"
        )
        if pair.equal:
            message += "; both store the same value"
        threads = [self.name(first.cta, first.tid), self.name(first.other_cta, first.other_tid)]
        severity = "warning" if pair.equal or pair.fragile else "error"
        return Finding(
            f"race-{pair.space}", severity, message, self._advice(pair, seen, a, verb, b, other_verb),
            a.file, a.line, b.line, a.ptx_line, threads, where, seen.count,
        )  # fmt: skip

    def _advice(self, pair, seen, a, verb, b, other_verb):
        if pair.equal:
            return "Let one thread store it, or make it an atomic."
        if pair.space == "global" and b.opcode.startswith("cp.") and ".bulk_group" in b.opcode:
            return (
                f"The thread that stores at line {b.line} waits first, cp.async.bulk.wait_group 0 (.read says "
                "only that the source is free), and tells the others then: a barrier in its block, a flag beyond it."
            )
        if seen.across_ctas and pair.space == "shared" and not (b.opcode.startswith("wgmma") and pair.other_reads):
            return (
                f"Order line {b.line} ({other_verb}) before line {a.line} ({verb}) for the whole cluster: "
                "barrier.cluster.arrive (not relaxed) and .wait between, or an mbarrier."
            )
        if seen.across_ctas and pair.space != "shared":
            if any(s.sem and s.space != "shared" for s in self.sites):
                return (
                    "If a flag is meant to order them: the writer needs __threadfence() before it sets the flag, "
                    "and the reader __threadfence() or a barrier after it has seen it."
                )
            return "A barrier orders one block only: use an atomic, or split the work into two launches."
        if pair.fragile:
            return "volatile does not order the lanes of a warp (no lockstep since Volta): put __syncwarp() between."
        if (a.file, a.line) == (b.file, b.line):
            return "Give each thread its own element, use an atomic, or put a barrier between two rounds of the loop."
        if b.opcode.startswith("wgmma") and pair.other_reads:
            return (
                f"wgmma.wait_group holds for its own warp: others may still multiply at line {b.line}. Let every "
                f"warp announce its wait, by a barrier or an mbarrier, before line {a.line} ({verb})."
            )
        missing = f"A barrier is missing between line {b.line} ({other_verb}) and line {a.line} ({verb})"
        return (
            f"{missing}." if seen.across_warps else f"{missing}; both are in one warp here, so __syncwarp() would do."
        )

    def _uninitialised(self, info, seen):
        where = self._where("shared", [addr for _, _, addr in seen.examples])
        cta, tid, _ = seen.examples[0]
        message = f"{self.name.text(cta, tid)} reads {where[0]}, which no thread of its block has written"
        if self.early_exit:
            message += " (threads have returned early, perhaps those that should write it)"
        threads = [self.name(cta, tid) for cta, tid, _ in seen.examples]
        return Finding(
            "uninitialised-shared", "error", message, ADVICE["uninitialised-shared"],
            info.file, info.line, None, info.ptx_line, threads, where, seen.count,
        )  # fmt: skip
