"""The result of a launch."""

from __future__ import annotations

from dataclasses import dataclass, field

_ORDER = {"error": 0, "warning": 1, "info": 2}
_NOUN = {"error": "error", "warning": "warning", "info": "note"}


@dataclass
class Report:
    """``findings`` (errors first), ``counters`` (None where not counted), ``trace``, ``steps`` (basic blocks run),
    ``cpu_s`` (CPU seconds), ``completed`` (every thread ran to its end).
    """

    findings: list = field(default_factory=list)
    counters: object = None
    trace: list = field(default_factory=list)
    steps: int = 0
    cpu_s: float = 0.0
    completed: bool = True

    def __post_init__(self):
        self.findings = sorted(self.findings, key=lambda f: (_ORDER[f.severity], f.file, f.line))

    @property
    def errors(self):
        """Findings of severity "error"."""
        return [f for f in self.findings if f.severity == "error"]

    def __str__(self):
        counts = [(kind, sum(f.severity == kind for f in self.findings)) for kind in _ORDER]
        words = [f"{n} {_NOUN[kind]}{'s' if n > 1 else ''}" for kind, n in counts if n]
        lines = [", ".join(words) or "no findings"]
        if not self.completed:
            lines[0] += "; the launch did not complete"
        lines += [str(f) for f in self.findings]
        if self.counters is not None:
            lines.append(str(self.counters))
        return "\n".join(lines)

    def to_dict(self):
        """Plain data for JSON (the trace is left out)."""
        return {
            "completed": self.completed,
            "cpu_s": self.cpu_s,
            "steps": self.steps,
            "findings": [f.to_dict() for f in self.findings],
            "counters": self.counters.to_dict() if self.counters is not None else None,
        }
