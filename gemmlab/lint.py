"""What the compiled kernel shows that its author probably did not intend: float64 arithmetic, globals changed since."""

import inspect
import re
import warnings
from dataclasses import dataclass

from gemmlab import compat

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_F64 = re.compile(r"\b(add|sub|mul|fma|div|mad|cvt)\.[\w.]*f64\b")


@dataclass(frozen=True)
class Lint:
    """A remark on a kernel that is not wrong: `rule`, one sentence, and the source line where known."""

    rule: str
    message: str
    file: str | None = None
    line: int | None = None

    def __str__(self):
        where = f"{self.file}:{self.line}: " if self.line else ""
        return f"warning {self.rule}: {where}{self.message}"


def f64(ptx: str, types: tuple, language: str = "numba") -> tuple[Lint, ...]:
    """Report float64 arithmetic in a kernel that has no float64 argument (a plain `0.` is a float64)."""
    if any("float64" in str(kind) for kind in types):
        return ()
    files = dict(_FILE.findall(ptx))
    found, at = {}, (None, None)
    for text in ptx.splitlines():
        loc = _LOC.search(text)
        if loc:
            at = loc.groups() if loc[2] != "0" else at
        elif _F64.search(text):
            found[at] = found.get(at, 0) + 1
    lints = []
    cure = "float32(0)" if language == "numba" else "0.0f"
    for (file, line), count in found.items():
        message = (
            f"{count} float64 instruction{'s' if count > 1 else ''} although no array is float64: "
            f"a plain 0. or 1.0 is a float64; write {cure}"
        )
        lints.append(Lint("float64-arithmetic", message, files.get(file), int(line) if line else None))
    return tuple(lints)


def captured(function) -> dict[str, object]:
    """Return the numbers and device functions that a kernel takes from outside itself, by name."""
    try:
        variables = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return {}
    outside = {**variables.globals, **variables.nonlocals}
    return {n: v for n, v in outside.items() if isinstance(v, (int, float, tuple)) or compat.is_dispatcher(v)}


def called_dispatchers(function) -> list:
    """Return the device functions that a kernel names, and those that they name."""
    found, todo = [], [function]
    while todo:
        try:
            variables = inspect.getclosurevars(todo.pop())
        except (TypeError, ValueError):
            continue
        for value in (*variables.globals.values(), *variables.nonlocals.values()):
            if compat.is_dispatcher(value) and value not in found:
                found.append(value)
                todo.append(value.py_func)
    return found


def warn_if_stale(function, before: dict[str, object]) -> None:
    """Warn when a number or a device function that went into the kernel has changed: Numba keeps the old one."""
    now = captured(function)
    name = function.__name__
    for outside, value in before.items():
        new = now.get(outside, value)
        if compat.is_dispatcher(value) and new is not value:
            changed = f"{outside} was defined again after {name!r} was compiled: the kernel keeps the old one"
        elif not compat.is_dispatcher(value) and new != value:
            changed = f"{outside} was {value} when {name!r} was compiled and is {new} now: the kernel keeps {value}"
        else:
            continue
        warnings.warn(f"{changed}; run the cell that defines the kernel again", stacklevel=4)
