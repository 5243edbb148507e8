"""Cut the answers out of a solution notebook: what is left is the exercise notebook."""

import re

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from tools.common import ToolError

# The markers are comments of the cell's language: "### BEGIN SOLUTION" in Python, "// ### BEGIN SOLUTION" in CUDA C++.
_MARK = r"^(?P<indent>[ \t]*)(?:#+|//+)[ \t]*#*[ \t]*"
BEGIN = re.compile(_MARK + r"BEGIN SOLUTION[ \t]*$")
END = re.compile(_MARK + r"END SOLUTION[ \t]*$")
SKELETON = re.compile(_MARK + r"SKELETON:[ ]?(?P<text>.*)$")


def exercise_from(solution: NotebookNode, name: str) -> NotebookNode:
    """Return the exercise notebook of a solution: answers cut, outputs cleared, cells tagged `solution` dropped.

    `name` stands in messages. Raises ToolError when no answer is marked, a marker is unbalanced or a skeleton does
    not compile.
    """
    cells, answers = [], 0
    for cell in solution.cells:
        tags = cell.metadata.get("tags", [])
        if "solution" in tags:
            continue
        new = {key: value for key, value in cell.items() if key not in ("outputs", "execution_count")}
        if cell.cell_type == "code":
            new |= {"outputs": [], "execution_count": None, "source": cut(cell.source, name)}
            if "exercise" in tags:
                answers += 1
                if new["source"] == cell.source:
                    raise ToolError(f"{name}: an answer cell has no '### BEGIN SOLUTION' … '### END SOLUTION' region")
            compiles(new["source"], name)
        cells.append(NotebookNode(new))
    if not answers:
        raise ToolError(f"{name}: no cell is tagged 'exercise', so there is nothing to ask; tag the answer cells")
    metadata = {key: value for key, value in solution.metadata.items() if key != "gemmlab"}
    return NotebookNode({**solution, "metadata": metadata, "cells": cells})


def cut(source: str, name: str) -> str:
    """Replace every solution region by its SKELETON lines, or by `...` (Python) where it has none."""
    kept: list[str] = []
    skeleton: list[str] | None = None
    indent = ""
    for line in source.split("\n"):
        begin, end = BEGIN.match(line), END.match(line)
        if begin:
            if skeleton is not None:
                raise ToolError(f"{name}: BEGIN SOLUTION inside a solution region; close the first one")
            skeleton, indent = [], begin["indent"]
        elif end:
            if skeleton is None:
                raise ToolError(f"{name}: END SOLUTION without BEGIN SOLUTION")
            kept += skeleton or [f"{indent}..."]
            skeleton = None
        elif skeleton is None:
            kept.append(line)
        elif match := SKELETON.match(line):
            skeleton.append(match["indent"] + match["text"])
    if skeleton is not None:
        raise ToolError(f"{name}: BEGIN SOLUTION without END SOLUTION")
    return "\n".join(kept)


def compiles(source: str, name: str) -> None:
    """Raise ToolError unless a code cell is valid Python (IPython syntax allowed; `%%` cells are another language)."""
    if source.startswith("%%"):
        return
    try:
        compile(TransformerManager().transform_cell(source), name, "exec")
    except SyntaxError as error:
        where = f"{error.msg}, line {error.lineno}: {(error.text or '').strip()}"
        raise ToolError(f"{name}: the skeleton does not compile ({where})") from error
