"""Findings: what is undefined, wrong or fragile in a kernel, with its place and one sentence of advice."""

from __future__ import annotations

from dataclasses import dataclass, field

SEVERITY = {
    "out-of-bounds": "error",
    "misaligned": "error",
    "uninitialised-shared": "error",
    "uninitialised-register": "error",
    "never-written": "error",
    "race-shared": "error",
    "race-global": "error",
    "divergent-barrier": "error",
    "barrier-after-exit": "warning",
    "deadlock": "error",
    "livelock": "error",
    "trap": "error",
    "missing-copy-wait": "error",
    "copy-overwritten": "error",
    "partial-warp": "error",
    "non-uniform-operand": "error",
    "redundant-store": "info",
}

ADVICE = {
    "out-of-bounds": "Guard the access: compare the index with the array's extent before using it.",
    "misaligned": "Make the address a multiple of the access size, or use a narrower access.",
    "uninitialised-shared": "Write every element that is read, zeros included, with a barrier before the reads.",
    "uninitialised-register": "Give the variable a value on every path that leads here.",
    "never-written": "Check the grid size (round up, not down) and the guard before the store.",
    "divergent-barrier": "Move the barrier out of the branch so that every thread of the block reaches the same one.",
    "barrier-after-exit": "Keep the threads alive: guard the loads and the store instead of returning early.",
    "deadlock": "Make sure that every thread that a barrier waits for can reach it.",
    "livelock": "Check the loop's exit condition, and that whoever should change it can still run.",
    "trap": "The kernel stopped itself (assert or trap): check the condition that it tested.",
    "missing-copy-wait": "Before the read: cp.async.wait_group in the threads that copy (a number N lets the newest N "
    "groups go on), then a barrier.",
    "copy-overwritten": "Wait for a stage's copies, and use up what they brought, before the stage is written again.",
    "partial-warp": "Let all 32 threads of the warp execute it: outside branches, before any of them returns.",
    "non-uniform-operand": "Compute it from what all threads of the warp share, such as threadIdx.x / 32.",
    "redundant-store": "Accumulate in a register and store once.",
}


_COUNT_SAYS_NOTHING = {"deadlock", "livelock", "never-written"}  # their messages hold the numbers


@dataclass
class Finding:
    """One problem, with its place. ``threads``: up to a few ((cx, cy, cz), (tx, ty, tz)); ``where``: element or
    address names such as "A[3, 17]" or "shared+0x40"; ``other_line``: source line of the second party of a race;
    ``count``: how many times it was seen.
    """

    rule: str
    severity: str
    message: str
    advice: str
    file: str = ""
    line: int = 0
    other_line: int | None = None
    ptx_line: int = 0
    threads: list = field(default_factory=list)
    where: list = field(default_factory=list)
    count: int = 1

    def __str__(self):
        place = f"{self.file.rsplit('/', 1)[-1]}:{self.line}: " if self.line else ""
        times = f" ({self.count:,} times)" if self.count > 1 and self.rule not in _COUNT_SAYS_NOTHING else ""
        lines = [f"{self.severity}: {place}{self.message}{times} [{self.rule}]"]
        if self.advice:
            lines.append(f"  {self.advice}")
        return "\n".join(lines)

    def to_dict(self):
        """Plain data for JSON."""
        return {k: ([str(t) for t in v] if k == "threads" else v) for k, v in vars(self).items()}
