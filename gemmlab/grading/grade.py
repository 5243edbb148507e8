"""Grade a class: ``python -m gemmlab grade SUBMISSIONS --out DIR``.

For each student and chapter the answer cells go into the pristine notebook, nbval runs it in a sandbox, and the
answers leave the sandbox as PTX, numbers and names. A second process, which runs no Python of the student, scores
those. Nothing that a notebook prints or raises earns a point. Out come ``scores.csv``, ``index.html`` and one HTML page
per student.
"""

import argparse
import json
import os
import secrets
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gemmlab.cli import Parser
from gemmlab.errors import GemmlabError
from gemmlab.gpu import require_gpu
from gemmlab.grading import export, sandbox, scoring
from gemmlab.grading.exercise import CHAPTERS
from gemmlab.grading.exercise import chapter as exercises_of
from gemmlab.grading.notebook_run import CELL_S, MEMORY_MB, START_S, Options, execute
from gemmlab.grading.report_html import write_reports
from gemmlab.grading.scoring import NO_ANSWER, Verdict
from gemmlab.grading.submission import Assembled, Chapter, SubmissionError, assemble, chapters, find, read_cells

ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".7z", ".rar")
SCORE_S = 60  # of processor time, for one exercise: the first one also compiles parts of the emulator


@dataclass
class Result:
    """One student's chapter: a verdict per exercise, notes that explain what happened, and the answer cells graded."""

    student: str
    chapter: str
    verdicts: list[Verdict]
    notes: list[str] = field(default_factory=list)
    answers: dict[str, str | None] = field(default_factory=dict)

    @property
    def points(self) -> int:
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def out_of(self) -> int:
        return sum(verdict.out_of for verdict in self.verdicts)


def grade_notebook(student: str, chapter: Chapter, paths: list[Path], options: Options) -> Result:
    """Grade the newest of `paths`. Whatever is wrong with it becomes a note and zero points, never an exception."""
    try:
        if not paths:
            raise SubmissionError("not handed in")
        assembled = assemble(chapter, read_cells(paths[-1]))
        if len(paths) > 1:
            assembled.notes.append(f"{len(paths)} notebooks were handed in; the newest, {paths[-1].name}, was graded")
        verdicts = _execute_and_score(chapter, assembled, options)
    except (SubmissionError, OSError) as error:
        return Result(student, chapter.name, _zeros(chapter, "no answer"), [str(error)])
    except Exception as error:  # one notebook must not stop the class; the line names what to report to us
        return Result(
            student,
            chapter.name,
            _zeros(chapter, "no answer"),
            [f"the grader failed on this notebook ({type(error).__name__}: {error}); please report it"],
        )
    return Result(student, chapter.name, verdicts, assembled.notes, assembled.sources)


def _zeros(chapter, message):
    return [Verdict(item.id, 0, item.points, message) for item in exercises_of(chapter.name)]


def _execute_and_score(chapter, assembled, options):
    with tempfile.TemporaryDirectory(prefix="gemmlab-grade-", ignore_cleanup_errors=True) as folder:
        trusted = Path(folder) / "scorer"
        (trusted / "export").mkdir(parents=True)
        inputs = scoring.inputs(chapter.name, options.key)
        exported, reasons = execute(chapter, assembled, Path(folder), inputs, options)
        for item in exercises_of(chapter.name):
            export.copy(exported, trusted / "export", item.id)
        return [_explained(verdict, assembled, reasons) for verdict in _score(chapter, trusted, options)]


def _score(chapter, trusted, options) -> list[Verdict]:
    """Score the exported answers in a process that reads nothing else."""
    request = {"chapter": chapter.name, "key": options.key, "seconds": SCORE_S, "gpu": options.gpu}
    path = trusted / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    sandbox.run(
        [sys.executable, "-m", "gemmlab.grading.scoring", str(path)],
        trusted,
        seconds=START_S + SCORE_S * len(chapter.answers),
        memory_mb=options.memory_mb,
        hide=options.hide,
        writable=(options.cache,) if options.cache else (),
        environment={"NUMBA_CACHE_DIR": str(options.cache)} if options.cache else None,
        kind="none" if options.gpu else None,
    )
    verdicts = trusted / scoring.VERDICTS
    found = {}
    for line in verdicts.read_text(encoding="utf-8").splitlines() if verdicts.is_file() else ():
        verdict = Verdict(**json.loads(line))
        found[verdict.exercise] = verdict
    return [
        found.get(item.id, Verdict(item.id, 0, item.points, f"{item.id}: judging ran out of time or memory"))
        for item in exercises_of(chapter.name)
    ]


def _explained(verdict: Verdict, assembled: Assembled, reasons: dict[str, str]) -> Verdict:
    """Say why there is no answer: from what the notebook's cells reported."""
    name = verdict.exercise
    if assembled.sources.get(name) is None:
        return Verdict(name, 0, verdict.out_of, "the answer cell is missing")
    if name in assembled.fatal:
        return Verdict(name, 0, verdict.out_of, f"{NO_ANSWER}: {assembled.fatal[name]}")
    if verdict.message == NO_ANSWER and name in reasons:
        return Verdict(name, 0, verdict.out_of, f"{NO_ANSWER}: {reasons[name]}")
    return verdict


def main(argv: list[str] | None = None) -> int:
    """Grade a folder of notebooks; return 0. Raises GemmlabError for a folder or chapter that is not there."""
    parser = Parser(prog="gemmlab grade", description="grade a folder of student notebooks")
    add_arguments(parser)
    return run(parser.parse_args(argv))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``gemmlab grade``."""
    parser.add_argument("submissions", type=Path, help="student/NN_slug.ipynb, or NN_slug_student.ipynb")
    parser.add_argument("--out", type=Path, required=True, help="folder for scores.csv and the HTML reports")
    parser.add_argument("--chapter", action="append", choices=CHAPTERS, help="grade this chapter only (repeatable)")
    parser.add_argument("--jobs", type=_at_least_one, default=1, help="notebooks at a time (default 1)")
    parser.add_argument("--key", default=None, help="secret that draws the hidden cases (default: random)")
    parser.add_argument("--gpu", action="store_true", help="run passing kernels on this machine's GPU as well")
    parser.add_argument("--exercises", type=Path, default=sandbox.ROOT / "exercises", help="pristine notebooks")
    limits = {"--cell-seconds": ("time of a cell", CELL_S), "--memory-mb": ("memory of a process", MEMORY_MB)}
    for name, (what, default) in limits.items():
        parser.add_argument(name, type=_at_least_one, default=default, help=f"limit of the {what} (default {default})")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def _at_least_one(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"give an integer of at least 1, not {text!r}")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Grade and write the reports. An interrupt keeps what is graded: the reports hold it and say what is missing."""
    if os.name == "nt":
        raise GemmlabError("grading needs the process limits of Linux: run it in WSL")
    if arguments.gpu:
        require_gpu()
    if not arguments.submissions.is_dir():
        raise GemmlabError(f"there is no folder {arguments.submissions}: give the folder with the students' notebooks")
    try:
        known = chapters(arguments.exercises)
    except SubmissionError as error:
        raise GemmlabError(str(error)) from None
    wanted = arguments.chapter or CHAPTERS
    class_list = find(arguments.submissions, known)
    known = {name: item for name, item in known.items() if name in wanted}
    if not known:
        raise GemmlabError(f"{arguments.exercises} holds no notebook of chapter {', '.join(wanted)}: run `make sync`")
    packed = ", ".join(sorted(path.name for path in arguments.submissions.rglob("*") if path.suffix in ARCHIVES))
    if not any(name for handed_in in class_list.values() for name in handed_in):
        found = f"only {packed}: unpack it there" if packed else "expected student/NN_slug.ipynb"
        raise GemmlabError(f"{arguments.submissions} holds no notebook of a chapter: {found}")
    if packed:
        print(f"not graded, since packed: {packed}", file=sys.stderr)
    hide = tuple(path.resolve() for path in (arguments.submissions, arguments.out, sandbox.ROOT / "solutions"))
    key = arguments.key or secrets.token_hex(16)
    _make_writable(arguments.out)
    kind = sandbox.explain(sandbox.isolation())
    print(f"isolation: {kind}", file=sys.stderr)
    todo = [
        (student, known[name], handed_in.get(name, [])) for student, handed_in in class_list.items() for name in known
    ]
    with tempfile.TemporaryDirectory(prefix="gemmlab-cache-") as cache:
        options = Options(key, arguments.cell_seconds, arguments.memory_mb, arguments.gpu, hide, Path(cache))
        results = _all_graded(todo, options, arguments.jobs)
    for student, handed_in in class_list.items():
        own = [result for result in results if result.student == student]
        for path in handed_in.get("", []) if own else []:
            own[0].notes.append(f"{path.name} belongs to no chapter: name it like the exercise notebook")
    missing = len(todo) - len(results)
    receipt = f"Sandbox: {kind}. Checks: version {scoring.version()}."
    receipt += f" Interrupted: {missing} of {len(todo)} notebooks are not graded." if missing else ""
    write_reports(arguments.out, results, {name: exercises_of(name) for name in known}, receipt)
    if missing:
        raise GemmlabError(f"interrupted: {len(results)} of {len(todo)} notebooks are graded, in {arguments.out}")
    if arguments.json:
        print(json.dumps([asdict(result) for result in results], indent=1))
    else:
        print(f"graded {len(class_list)} students: {arguments.out / 'scores.csv'}, {arguments.out / 'index.html'}")
    return 0


def _make_writable(folder: Path) -> None:
    """Make the folder of the reports, before the work that they are about. Raises GemmlabError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise GemmlabError(f"--out {folder}: no report can be written there ({error.strerror})") from None


def _all_graded(todo, options, jobs: int) -> list[Result]:
    """Grade `jobs` notebooks at a time; after an interrupt return those that are done."""
    results = []
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for result in pool.map(lambda job: _graded(job, options), todo):
                results.append(result)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
    return results


def _graded(job, options):
    student, chapter, paths = job
    result = grade_notebook(student, chapter, paths, options)
    name = "".join(letter if letter.isprintable() else "?" for letter in student)
    print(f"{name} {chapter.name}: {result.points}/{result.out_of}", file=sys.stderr)
    return result
