"""Build the HTML book into _build/html, strictly, without touching a tracked file.

The sources are staged in _build/source: prose as it is, notebooks as their sources say, with the committed outputs
where those are up to date. A lesson whose outputs are stale is run here, on the best backend there is, and its outputs
are kept in _build/executed, so that the next build need not run it again.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat

from tools.common import ROOT, ToolError, run, toc_entries
from tools.execute import execute
from tools.notebook import code_cells, is_stale, notebook_text, read_notebook, source_hash
from tools.sync import plan

BUILD = ROOT / "_build"
SOURCE = BUILD / "source"


def stage() -> list[Path]:
    """Fill _build/source, write only what differs, and return the paths written, relative to it."""
    wanted: dict[Path, bytes] = {Path(name): (ROOT / name).read_bytes() for name in ("_config.yml", "_toc.yml")}
    for path in (ROOT / "book").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            wanted[path.relative_to(ROOT)] = path.read_bytes()
    notebooks, _ = plan(ROOT)
    for page in toc_entries():
        path = ROOT / f"{page}.ipynb"
        if path in notebooks:
            wanted[Path(f"{page}.ipynb")] = with_outputs(page, notebooks[path]).encode()
        elif not (ROOT / f"{page}.md").exists():
            raise ToolError(f"_toc.yml lists {page}, but there is no {page}.md and no notebook source for it")
    for path in SOURCE.rglob("*"):
        if path.is_file() and path.relative_to(SOURCE) not in wanted:
            path.unlink()
    changed = []
    for path, content in wanted.items():
        target = SOURCE / path
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            changed.append(path)
    return changed


def with_outputs(page: str, text: str) -> str:
    """Return a notebook's text with up-to-date outputs. Exercises are shown without outputs."""
    notebook = nbformat.reads(text, as_version=4)
    if page.startswith("exercises/") or not is_stale(notebook):
        return text
    kept = BUILD / "executed" / f"{page}.ipynb"
    if kept.exists():
        earlier = read_notebook(kept)
        if source_hash(earlier) == source_hash(notebook) and not is_stale(earlier):
            for cell, ran in zip(code_cells(notebook), code_cells(earlier), strict=True):
                cell.outputs, cell.execution_count = ran.outputs, ran.execution_count
            return notebook_text(notebook)
    start = time.monotonic()
    print(f"running {page}: its outputs are stale", flush=True)
    executed = notebook_text(execute(notebook, (ROOT / page).parent, f"{page}.ipynb"))
    print(f"  {time.monotonic() - start:.0f} s", flush=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(executed)
    return executed


def forget() -> None:
    """Remove what Sphinx remembers, so that the next build reads and writes every page."""
    for name in (".doctrees", "html"):
        shutil.rmtree(BUILD / name, ignore_errors=True)


def build() -> None:
    """Run Jupyter Book with warnings as errors; raise ToolError if there are any."""
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(SOURCE), "--path-output", str(ROOT)]
    command += ["--warningiserror", "--keep-going", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    if done.returncode:
        forget()  # a page that was read with a warning would not be read again, and the next build would pass
        raise ToolError("the book has warnings or errors: see the lines above")


def main() -> int:
    BUILD.mkdir(exist_ok=True)
    changed = stage()
    if any(path.suffix in (".yml", ".css", ".js") or path.parts[:2] == ("book", "_ext") for path in changed):
        forget()  # settings, extensions and styles concern every page
    build()
    return 0


if __name__ == "__main__":
    run(main)
