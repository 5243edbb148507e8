"""Keep every notebook equal to its one source.

    python -m tools.sync                 sources -> notebooks/*.ipynb, solutions/*.ipynb, exercises/*.ipynb
    python -m tools.sync --check         change nothing; exit 1 with one line per difference
    python -m tools.sync --from-notebook notebooks/03_naive.ipynb
                                         take edits made in Jupyter back into the .py source, then sync

Inputs live in notebooks/NN_slug.py and solutions/NN_slug.py (percent format), outputs in the .ipynb beside them;
exercises are solutions with the answers cut. Set-up cells come from tools/lesson_cells.py, kernel cells from kernels/.
"""

import argparse
from pathlib import Path

from tools.common import ROOT, ToolError, run
from tools.exercises import exercise_from
from tools.lesson_cells import fill
from tools.notebook import (
    notebook_text,
    pair,
    read_notebook,
    read_source,
    source_text,
    write_source,
)


def plan(root: Path) -> tuple[dict[Path, str], list[str]]:
    """Return (files that should exist with their exact text, files that should not exist)."""
    wanted: dict[Path, str] = {}
    for folder in ("notebooks", "solutions"):
        for path in sorted((root / folder).glob("*.py")):
            name = f"{folder}/{path.name}"
            source = read_source(path)
            fill(source, root, name)
            wanted[path] = source_text(source)
            target = path.with_suffix(".ipynb")
            notebook = pair(source, read_notebook(target) if target.exists() else None)
            wanted[target] = notebook_text(notebook)
            if folder == "solutions":
                wanted[root / "exercises" / target.name] = notebook_text(exercise_from(notebook, name))
    if not wanted:
        raise ToolError(f"{root}: no notebooks/*.py and no solutions/*.py to sync; run from the repository's root")
    present = (path for folder in ("notebooks", "solutions", "exercises") for path in (root / folder).glob("*.ipynb"))
    return wanted, [path for path in sorted(present) if path not in wanted]


def differences(root: Path) -> list[str]:
    """Return one line per file that is not what its source says."""
    wanted, stray = plan(root)
    lines = []
    for path, text in wanted.items():
        name = path.relative_to(root)
        if not path.exists():
            lines.append(f"{name} is missing: run 'make sync' and commit it")
        elif path.read_text() != text:
            lines.append(f"{name} is not what its source says: run 'make sync' and commit it")
    return lines + [f"{path.relative_to(root)} has no source: delete it or add the .py it comes from" for path in stray]


def sync(root: Path) -> list[str]:
    """Write what differs and return the names written. Stray notebooks are reported, never deleted."""
    wanted, stray = plan(root)
    if stray:
        raise ToolError(f"{stray[0].relative_to(root)} has no source: delete it or add the .py it comes from")
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    for path in changed:
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[path])
    return [str(path.relative_to(root)) for path in changed]


def take_edits(path: Path) -> None:
    """Replace the .py source by the inputs of an edited .ipynb."""
    if path.suffix != ".ipynb":
        raise ToolError(f"{path}: --from-notebook takes an .ipynb file")
    if path.parent.name == "exercises":
        raise ToolError(f"{path}: exercises are generated; edit solutions/{path.stem}.py")
    write_source(read_notebook(path), path.with_suffix(".py"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.sync", description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something differs")
    parser.add_argument("--from-notebook", type=Path, metavar="IPYNB", help="take edits back into the .py source first")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.check:
        lines = differences(options.root)
        print("\n".join(lines) or "notebooks, solutions and exercises are in sync")
        return 1 if lines else 0
    if options.from_notebook:
        take_edits(options.from_notebook)
    names = sync(options.root)
    print("\n".join(f"wrote {name}" for name in names) or "everything was in sync")
    return 0


if __name__ == "__main__":
    run(main)
