"""Read, write and compare notebooks: percent-format sources (inputs) and .ipynb files (inputs and outputs)."""

import difflib
import hashlib
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

from tools.common import ToolError, one_line

# Cell metadata that belongs to the book; everything else that a front end adds is dropped.
KEPT_CELL_METADATA = ("tags", "gemmlab")
NAMED_CELLS = {"exercise": "answer", "check": "check"}  # tag: first part of the cell's id
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
    "accelerator": "GPU",
    "colab": {"provenance": [], "gpuType": "T4"},
}


def read_source(path: Path) -> NotebookNode:
    """Read a percent-format .py file as a notebook without outputs."""
    try:
        notebook = jupytext.read(path, fmt="py:percent")
    except Exception as error:  # jupytext raises many types; the file is the author's input
        raise ToolError(f"{path}: not a percent-format notebook ({one_line(error)})") from error
    for cell in notebook.cells:
        first, *rest = cell.source.split("\n")
        if first.startswith("%%") and all(line.startswith("#") for line in rest):
            cell.source = "\n".join([first, *(line[1:].removeprefix(" ") for line in rest)])
    return notebook


def write_source(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook's inputs as a percent-format .py file."""
    path.write_text(source_text(notebook))


def source_text(notebook: NotebookNode) -> str:
    """Return a notebook's inputs in percent format, with the book's cell metadata and no header.

    The lines of a ``%%`` cell, which are not Python, stand as comments, so that the file stays valid Python.
    """
    copy = nbformat.from_dict({**notebook, "metadata": {}, "cells": [dict(cell) for cell in notebook.cells]})
    for cell in copy.cells:
        if cell.cell_type == "code" and cell.source.startswith("%%"):
            first, *rest = cell.source.split("\n")
            cell.source = "\n".join([first, *(f"# {line}".rstrip() for line in rest)])
    copy.metadata["jupytext"] = {
        "notebook_metadata_filter": "-all",
        "cell_metadata_filter": ",".join(KEPT_CELL_METADATA) + ",-all",
    }
    return jupytext.writes(copy, fmt="py:percent")


def read_notebook(path: Path) -> NotebookNode:
    """Read an .ipynb (nbformat 4); a corrupt or older file raises ToolError naming it."""
    try:
        notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    except Exception as error:  # broken JSON, wrong encoding, missing keys
        raise ToolError(
            f"{path}: not a readable notebook ({one_line(error)}); restore it, or delete it and run 'make sync'"
        ) from error
    if notebook.get("nbformat") != 4 or not isinstance(notebook.get("cells"), list):
        raise ToolError(f"{path}: needs notebook format 4; open it in Jupyter and save it again")
    return notebook


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write an .ipynb with stable key order and a final newline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook_text(notebook))


def notebook_text(notebook: NotebookNode) -> str:
    """Return the exact text of an .ipynb."""
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def source_hash(notebook: NotebookNode) -> str:
    """Return the SHA-256 of the code cells' sources: outputs made from another hash are stale."""
    digest = hashlib.sha256()
    for cell in code_cells(notebook):
        digest.update(cell.source.encode() + b"\0")
    return digest.hexdigest()


def is_stale(notebook: NotebookNode) -> bool:
    """Return whether the outputs are missing or were made from other code than the notebook holds."""
    return notebook.metadata.get("gemmlab", {}).get("executed_sha256") != source_hash(notebook)


def pair(source: NotebookNode, existing: NotebookNode | None) -> NotebookNode:
    """Return `source` as a full notebook: ids, outputs and execution record of `existing` kept where cells agree.

    A cell whose type and text did not change keeps its id and outputs; one that was edited in place keeps its id only.
    """
    old_cells = existing.cells if existing is not None else []
    matches = _match(source.cells, old_cells)
    cells, seen = [], set()
    for index, cell in enumerate(source.cells):
        old, same = matches.get(index, (None, False))
        metadata = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if key in cell.metadata}
        new = {"cell_type": cell.cell_type, "metadata": metadata, "source": cell.source}
        if cell.cell_type == "code":
            new["outputs"] = old.get("outputs", []) if same else []
            new["execution_count"] = old.get("execution_count") if same else None
        new["id"] = _cell_id(cell, old, index, seen)
        seen.add(new["id"])
        cells.append(new)
    record = existing.metadata.get("gemmlab") if existing is not None else None
    metadata = {**METADATA, "gemmlab": record} if record else dict(METADATA)
    return nbformat.from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _match(new: list, old: list) -> dict[int, tuple[NotebookNode, bool]]:
    """Map indices of `new` cells to (old cell, unchanged?)."""
    keys = [[(cell.cell_type, cell.source) for cell in cells] for cells in (new, old)]
    found: dict[int, tuple[NotebookNode, bool]] = {}
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
        if tag == "equal" or (tag == "replace" and i2 - i1 == j2 - j1):
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                if new[i].cell_type == old[j].cell_type:
                    found[i] = (old[j], tag == "equal")
    return found


def _cell_id(cell: NotebookNode, old: NotebookNode | None, index: int, seen: set[str]) -> str:
    """Answer and check cells are named after their exercise (graders find them by id); others keep theirs."""
    exercise = cell.metadata.get("gemmlab", {}).get("exercise")
    kind = next((kind for tag, kind in NAMED_CELLS.items() if tag in cell.metadata.get("tags", [])), None)
    if exercise and kind:
        name = f"{kind}-{exercise.replace('.', '-')}"
        if name in seen:
            raise ToolError(f"two {kind} cells for exercise {exercise}: give each one answer and one check cell")
        return name
    if old is not None and old.get("id") and old["id"] not in seen:
        return old["id"]
    return hashlib.sha256(f"{index} {cell.cell_type} {cell.source}".encode()).hexdigest()[:8]
