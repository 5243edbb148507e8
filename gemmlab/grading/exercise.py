"""Exercises: an answer becomes a record, and the record is judged.

``check`` does both steps in the learner's notebook. Grading a class does the first step in the sandbox, where the
learner's Python runs, and the second in a trusted process that reads only the record (see ``grade``). A record is plain
JSON: numbers, names, or PTX text with a launch rule.
"""

import importlib
import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gemmlab.errors import CheckError, GemmlabError
from gemmlab.grading import export

CHAPTERS = tuple(f"{number:02}" for number in range(1, 20))


@dataclass(frozen=True, kw_only=True, repr=False)
class Exercise:
    """One exercise. Subclasses say how an answer is recorded and how the record is judged."""

    id: str
    title: str
    points: int = 10
    kind: ClassVar[str] = ""

    def __repr__(self):
        return f"{self.id} {self.title} ({self.kind}, {self.points} points)"

    def check(self, answer: Any) -> None:
        """Judge `answer` and print one line; raise CheckError with the reason if it does not pass.

        While a class is graded the answer is written to the grader's folder instead, and judged later.
        """
        folder = export.folder()
        if folder is not None:
            try:
                export.write(folder, self.id, self.record(answer, export.inputs(folder, self.id)))
            except CheckError as error:
                export.write(folder, self.id, {"error": str(error)})
                raise
            print(f"{self.id} handed over to the grader")
        else:
            print(f"{self.id} passed: {self.judge(self.record(answer, self.inputs()))}")

    def inputs(self, rng=None) -> list:
        """Return what an answer is asked for; with `rng` (numpy Generator) the hidden part too."""
        return []

    def record(self, answer: Any, inputs: list) -> dict:
        """Turn the answer into plain JSON; raise CheckError if it is no answer at all."""
        raise NotImplementedError

    def judge(self, record: dict, inputs: list | None = None, backend: str = "emulator") -> str:
        """Return what was verified, or raise CheckError. Runs no code of the learner."""
        raise NotImplementedError

    def fail(self, message: str) -> CheckError:
        return CheckError(f"{self.id}: {message}")

    def unfinished(self, message: str) -> CheckError:
        return CheckError(f"{self.id} is not finished: {message}")


def number(value: Any) -> float | None:
    """Return `value` as a float if it is one real number (NumPy scalars too, booleans not), else None."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    return float(value)


def close(value: float, expected: float, rel: float) -> bool:
    """Is `value` within `rel` of `expected`? NaN never is."""
    return abs(value - expected) <= rel * abs(expected)


@dataclass(frozen=True, kw_only=True, repr=False)
class Value(Exercise):
    """One number. `hints` maps well-known wrong numbers to what went wrong."""

    kind: ClassVar[str] = "value"
    expected: float
    unit: str
    because: str
    rel: float = 0.02
    hints: tuple[tuple[float, str], ...] = ()

    def record(self, answer, inputs):
        if answer is None or answer is Ellipsis:
            raise self.unfinished(f"assign a number in {self.unit}")
        value = number(answer)
        if value is None:
            raise self.fail(f"give one number in {self.unit}, not {type(answer).__name__}")
        return {"value": value if math.isfinite(value) else str(value)}

    def judge(self, record, inputs=None, backend="emulator"):
        value = number(record.get("value"))
        if value is None:
            raise self.fail(f"give one finite number in {self.unit}")
        if close(value, self.expected, self.rel):
            return f"{value:.4g} {self.unit}, {self.because}"
        for wrong, message in self.hints:
            if close(value, wrong, self.rel):
                raise self.fail(f"{value:.4g} {self.unit}: {message}")
        raise self.fail(f"{value:.4g} {self.unit} is too {'large' if value > self.expected else 'small'}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Choice(Exercise):
    """Which of the `given` names belong to `expected`? `why` has one line per name, shown for a wrong pick."""

    kind: ClassVar[str] = "choice"
    given: Mapping[str, Any]
    expected: frozenset[str]
    why: Mapping[str, str]
    because: str

    def record(self, answer, inputs):
        if isinstance(answer, str):
            answer = {answer}
        several = isinstance(answer, (set, frozenset, list, tuple))
        if answer is None or answer is Ellipsis or (several and Ellipsis in answer):
            raise self.unfinished("assign a set of names")
        if not several or not all(isinstance(name, str) for name in answer):
            raise self.fail(f"give a set of names such as {{'{next(iter(self.given))}'}}")
        return {"value": sorted(answer)}

    def judge(self, record, inputs=None, backend="emulator"):
        names = record.get("value")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise self.fail("give a set of names")
        chosen = set(names)
        if not chosen:
            raise self.unfinished("the set is empty")
        for name in sorted(chosen - set(self.given)):
            raise self.fail(f"there is no '{name[:40]}' in the table; the names are {', '.join(self.given)}")
        for name in sorted(chosen - self.expected):
            raise self.fail(f"'{name}' does not belong: {self.why[name]}")
        missing = len(self.expected - chosen)
        if missing:
            raise self.fail(f"all of yours are right, but {missing} more belong{'s' if missing == 1 else ''} there")
        return self.because


@dataclass(frozen=True, kw_only=True, repr=False)
class Function(Exercise):
    """A function of numbers. It is called in the sandbox; the trusted side compares its outputs with `reference`."""

    kind: ClassVar[str] = "function"
    parameters: tuple[str, ...]
    reference: Callable[..., float]
    public: tuple[tuple[float, ...], ...]
    draw: Callable[[Any], list[tuple[float, ...]]]
    because: str
    rel: float = 1e-6
    hints: tuple[tuple[Callable[..., float], str], ...] = field(default=())

    def inputs(self, rng=None):
        return [list(case) for case in self.public] + [list(case) for case in (self.draw(rng) if rng else [])]

    def record(self, answer, inputs):
        if answer is None or answer is Ellipsis:
            raise self.unfinished("define the function")
        if not callable(answer):
            raise self.fail(f"give the function itself, not {type(answer).__name__}")
        return {"outputs": [self._call(answer, case) for case in inputs]}

    def _call(self, answer, case):
        try:
            value = answer(*case)
        except Exception as error:  # the learner's code may raise anything; the judge reports it
            return f"raised {type(error).__name__}: {str(error)[:120]}"
        if value is None or value is Ellipsis:
            return "unfinished"
        result = number(value)
        if result is None:
            return f"returned {type(value).__name__}, not a number"
        return result if math.isfinite(result) else f"returned {result}"

    def judge(self, record, inputs=None, backend="emulator"):
        cases = self.inputs() if inputs is None else inputs
        outputs = record.get("outputs")
        if not isinstance(outputs, list) or len(outputs) != len(cases):
            raise self.fail("the function was not called with every input")
        if all(output == "unfinished" for output in outputs):
            raise self.unfinished("the function returns nothing")
        for position, (case, output) in enumerate(zip(cases, outputs, strict=True)):
            if number(output) is None or not close(output, self.reference(*case), self.rel):
                raise self.fail(self._explain(position, case, output, list(zip(cases, outputs, strict=True))))
        return f"{self.because} ({len(cases)} inputs)"

    def _explain(self, position, case, output, pairs):
        expected = self.reference(*case)
        hidden = position >= len(self.public)
        if number(output) is None:
            what = "returned nothing" if output == "unfinished" else str(output)[:160]
            return f"a hidden input {what.split(':')[0]}" if hidden else f"{self._spell(case)} {what}"
        numeric = [(c, o) for c, o in pairs if number(o) is not None]
        for wrong, message in self.hints:
            if all(close(o, wrong(*c), self.rel) for c, o in numeric):
                return message
        if hidden:
            return f"right on the public inputs, too {'large' if output > expected else 'small'} on a hidden one"
        return f"{self._spell(case)} returned {output:.6g}, expected {expected:.6g}"

    def _spell(self, case):
        return ", ".join(f"{name}={value:g}" for name, value in zip(self.parameters, case, strict=True))


def chapter(name: str) -> tuple[Exercise, ...]:
    """Return the exercises of a chapter ("03")."""
    if name not in CHAPTERS:
        raise GemmlabError(f"chapter {name!r} has no exercises yet; chapters with exercises: {', '.join(CHAPTERS)}")
    return importlib.import_module(f"gemmlab.course.ch{name}").EXERCISES


def exercise(id: str) -> Exercise:
    """Return exercise `id`, such as "03.1"; raise GemmlabError with the known ones otherwise."""
    if not isinstance(id, str) or not re.fullmatch(r"\d\d\.\d+", id):
        raise GemmlabError(f"an exercise is named like '03.1', not {id!r}")
    found = {item.id: item for item in chapter(id[:2])}
    if id not in found:
        raise GemmlabError(f"there is no exercise {id}; chapter {id[:2]} has {', '.join(found)}")
    return found[id]
