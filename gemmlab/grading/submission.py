"""Find the notebooks of a class and put a student's answers into the pristine notebook of the chapter."""

import copy
import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

LIMIT_BYTES = 20 << 20
CHAPTER_FILE = re.compile(r"(\d\d)_(\w+?)\.ipynb")
CHECK_CALL = re.compile(r"""gl\.exercise\(\s*["'](\d\d\.\d+)["']\s*\)\s*\.check\(""")


class SubmissionError(ValueError):
    """A notebook that cannot be graded; the message is one line for the report."""


@dataclass(frozen=True)
class Chapter:
    """The pristine notebook of a chapter: `answers` and `checks` map exercise ids to positions among all cells."""

    name: str
    slug: str
    notebook: dict
    answers: dict[str, int]
    checks: dict[str, int]

    def code_cells(self) -> list[int]:
        """Positions of the code cells: nbval numbers these."""
        return [at for at, cell in enumerate(self.notebook["cells"]) if cell["cell_type"] == "code"]


@dataclass
class Assembled:
    """A student's answers in the pristine notebook. `sources` has None where there is no answer cell.

    `fatal` holds the answers that ended the notebook's process, with the reason.
    """

    notebook: dict
    sources: dict[str, str | None]
    fatal: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def chapters(folder: Path) -> dict[str, Chapter]:
    """Read the pristine notebooks ``NN_slug.ipynb`` of `folder`; raise SubmissionError if there is none."""
    found = {}
    for path in sorted(folder.glob("*.ipynb")):
        match = CHAPTER_FILE.fullmatch(path.name)
        if match:
            try:
                notebook = nbformat.read(path, as_version=4)
            except Exception:  # nbformat raises many classes
                raise SubmissionError(f"{path} is not a notebook: restore it with `make sync`") from None
            roles = {"exercise": {}, "check": {}}
            for at, cell in enumerate(notebook.cells):
                exercise = cell.metadata.get("gemmlab", {}).get("exercise")
                for role, positions in roles.items():
                    if exercise and role in cell.metadata.get("tags", []):
                        positions[exercise] = at
            found[match[1]] = Chapter(match[1], match[2], notebook, roles["exercise"], roles["check"])
    if not found:
        raise SubmissionError(f"{folder} holds no exercise notebooks: run `make sync`, or choose with --exercises")
    return found


def find(folder: Path, known: dict[str, Chapter]) -> dict[str, dict[str, list[Path]]]:
    """Return {student: {chapter: [notebooks, newest last]}} for both layouts.

    ``student/NN_slug.ipynb`` (at any depth below the student's folder) and ``NN_slug_student.ipynb``. Files that are
    neither belong to no chapter and come under the key "".
    """
    found: dict[str, dict[str, list[Path]]] = {}
    for path in sorted(folder.rglob("*.ipynb"), key=lambda path: (path.lstat().st_mtime, str(path))):
        parts = path.relative_to(folder).parts
        if ".ipynb_checkpoints" in parts or any(part.startswith(".") for part in parts):
            continue
        name = next((name for name, chapter in known.items() if path.name.startswith(f"{name}_{chapter.slug}")), None)
        if len(parts) > 1:
            student, name = parts[0], name or _chapter_number(path.name, known)
        elif name:
            student = path.stem.removeprefix(f"{name}_{known[name].slug}").strip("_- ") or "unnamed"
        else:
            student = path.stem
        found.setdefault(student, {}).setdefault(name or "", []).append(path)
    for path in folder.iterdir():
        if path.is_dir() and not path.name.startswith("."):
            found.setdefault(path.name, {})
    return dict(sorted(found.items()))


def _chapter_number(name, known):
    return name[:2] if name[:2] in known and name[2:3] == "_" else None


def read_cells(path: Path) -> list[dict]:
    """Return the cells of a notebook; raise SubmissionError if it is none.

    A cell is a dict: type, source, ids (its own and the one that Colab keeps in the metadata), exercise or None.
    """
    if path.is_symlink() or not path.is_file():
        raise SubmissionError(f"{path.name} is a link or no file: hand in the notebook itself")
    if path.stat().st_size > LIMIT_BYTES:
        raise SubmissionError(f"{path.name} is larger than {LIMIT_BYTES >> 20} MB: clear its outputs and save it again")
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = json.loads(text)
    except UnicodeDecodeError:
        raise SubmissionError(f"{path.name} is not a notebook: its text is not UTF-8; save it again") from None
    except (ValueError, RecursionError):
        raise SubmissionError(f"{path.name} is not a notebook: it is no valid JSON") from None
    version = data.get("nbformat") if isinstance(data, dict) else None
    if version in (1, 2, 3):
        data = _upgrade(path, text)
    elif version != 4:
        raise SubmissionError(f"{path.name} is not a notebook that can be read (nbformat {str(version)[:20]})")
    cells = data.get("cells")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise SubmissionError(f"{path.name} is not a notebook: it has no list of cells")
    return [_plain(cell) for cell in cells]


def _upgrade(path, text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return json.loads(nbformat.writes(nbformat.reads(text, as_version=4)))
    except Exception:  # nbformat raises whatever a malformed old notebook makes it trip over
        raise SubmissionError(f"{path.name} has an old format that cannot be converted: save it again") from None


def _plain(cell):
    source, metadata = cell.get("source", ""), cell.get("metadata")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    metadata = metadata if isinstance(metadata, dict) else {}
    entry = metadata.get("gemmlab")
    ids = {name for name in (cell.get("id"), metadata.get("id")) if isinstance(name, str)}
    exercise = entry.get("exercise") if isinstance(entry, dict) else None
    return {
        "type": cell.get("cell_type"),
        "source": source if isinstance(source, str) else "",
        "ids": ids,
        "exercise": exercise if isinstance(exercise, str) else None,
    }


def assemble(chapter: Chapter, cells: list[dict]) -> Assembled:
    """Put the answers found in `cells` into a copy of the chapter's notebook; raise SubmissionError if there is none.

    An answer cell is known by its cell id (Colab keeps it in the metadata), else by the exercise in its metadata, else
    as the last code cell before the call of its check. Everything else of the student's notebook is left out.
    """
    code = [cell for cell in cells if cell["type"] == "code"]
    notebook = copy.deepcopy(chapter.notebook)
    assembled = Assembled(notebook, {})
    for exercise, at in chapter.answers.items():
        matches = _locate(code, exercise, notebook["cells"][at].get("id"))
        assembled.sources[exercise] = matches[-1] if matches else None
        if len(set(matches)) > 1:
            assembled.notes.append(f"{exercise}: {len(matches)} answer cells; the last one was graded")
        if matches:
            notebook["cells"][at]["source"] = matches[-1]
    if not any(source is not None for source in assembled.sources.values()):
        raise SubmissionError(_stranger(chapter, code))
    edited = [
        exercise
        for exercise, at in chapter.checks.items()
        if any(_differs(cell, notebook["cells"][at]) for cell in code)
    ]
    if edited:
        assembled.notes.append(f"the check of {', '.join(edited)} was edited; the original was used")
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return assembled


def _differs(cell, pristine) -> bool:
    """Say whether a student's cell is this pristine cell with another text."""
    source = cell["source"].strip()
    return pristine.get("id") in cell["ids"] and bool(source) and source != pristine["source"].strip()


def _locate(code, exercise, cell_id):
    by_id = [cell["source"] for cell in code if cell_id is not None and cell_id in cell["ids"]]
    if by_id:
        return by_id
    tagged = [cell["source"] for cell in code if cell["exercise"] == exercise and not CHECK_CALL.search(cell["source"])]
    if tagged:
        return tagged
    calls = [at for at, cell in enumerate(code) if exercise in CHECK_CALL.findall(cell["source"])]
    before = [code[at - 1] for at in calls if at > 0 and not CHECK_CALL.search(code[at - 1]["source"])]
    return [cell["source"] for cell in before]


def _stranger(chapter, code):
    mentioned = {name for cell in code for name in (*CHECK_CALL.findall(cell["source"]), cell["exercise"]) if name}
    others = sorted({name[:2] for name in mentioned} - {chapter.name})
    if others:
        return f"this is the notebook of chapter {', '.join(others)}, handed in as that of chapter {chapter.name}"
    return f"no answer cell of chapter {chapter.name} was found; start from {chapter.name}_{chapter.slug}.ipynb"
