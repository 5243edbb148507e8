"""Run notebooks and keep their outputs.

    python -m tools.execute --in-place     run every lesson and solution, write outputs into the tracked .ipynb files
    python -m tools.execute --in-place notebooks/03_naive.ipynb

`tools.build_book` uses the same function for lessons whose outputs are stale, and keeps those under _build/.
"""

import argparse
import os
from pathlib import Path

import nbclient
import nbformat
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from gemmlab.execution import CELL_TIMEOUT_S, STATIC
from tools.common import ROOT, ToolError, one_line, run
from tools.notebook import METADATA, code_cells, read_notebook, source_hash, write_notebook


def execute(notebook: NotebookNode, folder: Path, name: str) -> NotebookNode:
    """Run a notebook in `folder` and record the source hash of its outputs; a failing cell raises ToolError."""
    client = nbclient.NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],  # no note about local TCP
        store_widget_state=False,
        coalesce_streams=True,  # one block for what a cell prints, however slowly
    )
    try:
        client.execute(env={**os.environ, STATIC: "1"})  # no live widgets, recorded figures
    except CellExecutionError as error:
        raise ToolError(f"{name}, code cell {_failed(notebook)}: {error.ename}: {str(error.evalue)[:300]}") from error
    except (CellTimeoutError, DeadKernelError) as error:
        raise ToolError(f"{name}, code cell {_failed(notebook)}: {one_line(error)}") from error
    for cell in code_cells(notebook):
        cell.outputs = [output for output in cell.outputs if not _is_stderr(output)]
    # What the kernel adds to the metadata is not kept: outputs made elsewhere would differ in it.
    notebook.metadata = nbformat.from_dict({**METADATA, "gemmlab": {"executed_sha256": source_hash(notebook)}})
    return notebook


def _is_stderr(output: NotebookNode) -> bool:
    return output.output_type == "stream" and output.name == "stderr"


def _failed(notebook: NotebookNode) -> int:
    """Return the number of the code cell that was running: the last one with an execution count."""
    return max(
        (number for number, cell in enumerate(code_cells(notebook), 1) if cell.get("execution_count")), default=1
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.execute", description=__doc__.split("\n")[0])
    parser.add_argument("--in-place", action="store_true", required=True, help="overwrite the tracked files")
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks (default: all lessons and solutions)")
    options = parser.parse_args()
    paths = options.paths or [
        p for folder in ("notebooks", "solutions") for p in sorted((ROOT / folder).glob("*.ipynb"))
    ]
    if not paths:
        raise ToolError("no notebooks to run: run 'make sync' first")
    failures = 0
    for path in paths:
        notebook = read_notebook(path)
        for cell in code_cells(notebook):
            cell.outputs, cell.execution_count = [], None
        try:
            write_notebook(execute(notebook, path.resolve().parent, str(path)), path)
            print(f"ran {path}", flush=True)
        except ToolError as error:
            failures += 1
            print(f"error: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    run(main)
