"""Run a student's answers in the sandbox: the pristine notebook under nbval, again without an answer that kills it."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat

from gemmlab.grading import sandbox
from gemmlab.grading.export import INPUTS, VARIABLE
from gemmlab.grading.submission import Assembled, Chapter
from gemmlab.nbval_plugin import COLOUR, DIED, NOT_RUN

MEMORY_MB = 4096
CELL_S = 30
START_S = 60  # for pytest, the kernel and the imports
INI = "[pytest]\naddopts =\n"
PYTEST = [
    "-m",
    "pytest",
    "-c",
    "pytest.ini",
    "--rootdir",
    ".",
    "--noconftest",
    "-p",
    "no:cacheprovider",
    "-p",
    "nbval.plugin",
    "-p",
    "gemmlab.nbval_plugin",
    "--nbval-lax",
    "--nbval-current-env",
    "-q",
    "--tb=line",
]


@dataclass(frozen=True)
class Options:
    """How to run: the key of the hidden cases, seconds per cell, MiB per process, paths that no answer may see.

    `cache`: where the scorer keeps the emulator's machine code between students; no answer sees it either.
    """

    key: str
    cell_s: float = CELL_S
    memory_mb: int = MEMORY_MB
    gpu: bool = False
    hide: tuple[Path, ...] = ()
    cache: Path | None = None


def execute(chapter: Chapter, assembled: Assembled, folder: Path, inputs: dict, options: Options):
    """Run the notebook in a new folder below `folder`; return (folder of the exported answers, why cells failed).

    `inputs` is what function exercises are asked for. The reasons are keyed by exercise. An answer that ends the
    notebook's process is left out of another run, so that it costs its own points only. Each run has a folder of its
    own: a student's code may have left links in the last one.
    """
    code = chapter.code_cells()
    owner = {code.index(at): exercise for exercise, at in (*chapter.checks.items(), *chapter.answers.items())}
    reasons: dict[str, str] = {}
    while True:
        work = folder / f"run{len(assembled.fatal)}"
        failures = _run_nbval(chapter, assembled.notebook, work, inputs, options)
        killer = None
        for cell, message in failures:
            exercise = owner.get(cell)
            if message == NOT_RUN:
                continue
            if exercise is None:
                assembled.notes.append(f"a cell of the course itself failed: {message}")
                continue
            reasons.setdefault(exercise, message)
            if message == DIED or "Timeout" in message:
                killer = killer or exercise
        lost = any(message == NOT_RUN for _, message in failures)
        if not lost or killer is None or killer in assembled.fatal:
            return work / "export", reasons
        assembled.fatal[killer] = reasons[killer]
        at = chapter.answers[killer]
        assembled.notebook["cells"][at]["source"] = chapter.notebook["cells"][at]["source"]


def _run_nbval(chapter, notebook, work, inputs, options) -> list[tuple[int, str]]:
    """Run the notebook once in the sandbox; return (number of the code cell, reason) of every cell that failed."""
    export, folder = work / "export", work / "exercises"
    export.mkdir(parents=True)
    folder.mkdir()
    (export / INPUTS).write_text(json.dumps(inputs), encoding="utf-8")
    (work / "gemmlab").symlink_to(sandbox.ROOT / "gemmlab")  # the set-up cell looks for it above the notebook
    name = f"{chapter.name}_{chapter.slug}.ipynb"
    nbformat.write(nbformat.from_dict(notebook), folder / name)
    (work / "pytest.ini").write_text(INI, encoding="utf-8")
    log = work / "cells.jsonl"
    finished = sandbox.run(
        [
            sys.executable,
            *PYTEST,
            "--nbval-cell-timeout",
            str(options.cell_s),
            "--nbval-cell-log",
            log.name,
            f"exercises/{name}",
        ],
        work,
        seconds=START_S + options.cell_s * (len(chapter.answers) + 1),
        memory_mb=options.memory_mb,
        hide=(*options.hide, *([options.cache] if options.cache else ())),
        environment={VARIABLE: str(export), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    failures = []
    for line in (log.read_text(encoding="utf-8", errors="replace") if log.is_file() else "").splitlines():
        try:
            entry = json.loads(line)
            if entry["outcome"] == "failed":
                failures.append((int(entry["cell"]), one_line(entry["message"])))
        except (ValueError, KeyError, TypeError):
            continue  # the log lies in the sandbox: a forged line explains nothing and earns nothing
    if finished.returncode is None:
        failures.append((-1, f"the notebook was stopped after {finished.seconds:.0f} s"))
    elif not log.is_file():
        failures.append((-1, f"the notebook did not run: {one_line(finished.tail)}"))
    return failures


def one_line(text: str) -> str:
    """Return the last line of `text` without colours, short enough for a table."""
    lines = [line.strip() for line in COLOUR.sub("", str(text)).splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
