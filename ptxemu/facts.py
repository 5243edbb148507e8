"""Facts that the executor found (bad addresses, barriers, hangs), put into words and merged by source line."""

from __future__ import annotations

from .findings import ADVICE, SEVERITY, Finding
from .places import locate
from .wgmma_text import WGMMA_RULES, wgmma_message

EXAMPLES = 4


class Facts:
    """Collects facts. ``sites``, ``memory``: as the observer has them; ``name``: ThreadNames; ``layout``: shared
    variables.
    """

    def __init__(self, sites, memory, name, layout):
        self.sites, self.memory, self.name, self.layout = sites, memory, name, layout
        self.found = {}

    def add(self, rule, site, parties, n, addr=None, space=None, other_site=None, detail="", severity=None):
        """One fact, or ``n`` equal ones. ``parties``: the first few (cta, tid); ``addr``: their addresses, for
        memory rules.
        """
        info = self.sites[site] if site is not None else None
        other = self.sites[other_site] if other_site is not None else None
        key = (rule, severity, _place(info), _place(other), info.op if info else "", space)
        if key in self.found:
            self.found[key].count += n
            return
        where = [locate(self.memory, space, int(a), self.layout) for a in addr[:EXAMPLES]] if addr is not None else []
        who = self.name.text(*parties[0]) if parties else "the block"
        self.found[key] = Finding(
            rule, severity or SEVERITY[rule], _message(rule, info, other, who, n, where, detail), ADVICE.get(rule, ""),
            info.file if info else "", info.line if info else 0, other.line if other else None,
            info.ptx_line if info else 0, [self.name(cta, tid) for cta, tid in parties], where, n,
        )  # fmt: skip

    def findings(self):
        """list[Finding]."""
        return list(self.found.values())

    @property
    def hung(self):
        """Whether the launch stopped before its end."""
        return any(f.rule in ("deadlock", "livelock", "trap") for f in self.found.values())


def _place(info):
    return (info.file, info.line or -info.ptx_line) if info else None


def _message(rule, info, other, who, n, where, detail):
    """The finding's sentence; ``who`` is the first thread, ``n`` the number of threads."""
    if info and info.opcode.startswith("wgmma") or rule in WGMMA_RULES:
        return wgmma_message(rule, info, other, who, where, detail)
    if rule in ("out-of-bounds", "misaligned") and not detail:
        verb = {"ld": "reads", "st": "writes"}.get(info.op, "updates")
        size = info.width * info.vec
        text = f"{who} {verb} {size} bytes at {where[0]}"
        if rule == "misaligned":
            return f"{text}, an address that is no multiple of {size}"
        if where[0].startswith("shared"):
            return f"{text}, outside the block's shared memory"
        return text if "," in where[0].partition("]")[2] else f"{text}, which go on past the end of the array"
    if rule in ("missing-copy-wait", "copy-overwritten") and where:
        verb = "reads" if rule == "missing-copy-wait" else "writes to"
        return f"{who} {verb} {where[0]}, to which the copy of line {other.line} is still under way; {detail}"
    if rule == "non-uniform-operand":
        return f"{who} gives {info.opcode} another {detail} than the first thread of its warp"
    if rule == "partial-warp":
        return f"{info.opcode} is executed by {detail} of the 32 threads of a warp, and its result is undefined"
    if rule == "uninitialised-register":
        return "a register is used that nothing has set" + (f" ({detail})" if detail else "")
    if rule == "barrier-after-exit":
        return f"{who} has returned before this barrier, which other threads of its block reach"
    if rule == "divergent-barrier" and other and f":{other.line}" not in detail:
        return f"{detail}: " + (
            f"lines {info.line} and {other.line}" if info.line != other.line else "copies of this line"
        )
    if rule == "trap":
        return f"{who} executes trap"
    return detail.replace("\n", "; ") or rule.replace("-", " ")
