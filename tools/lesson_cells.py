"""Cells of a lesson that have their one source elsewhere: the set-up cell and the kernels' code."""

import re
from pathlib import Path

from nbformat import NotebookNode

from tools.common import ToolError, repository

SETUP = """\
# Set-up, the same in every notebook: find the course, or fetch it.
import subprocess
import sys
from pathlib import Path

root = next((p for p in (Path.cwd(), *Path.cwd().parents) if (p / "gemmlab").is_dir()), Path("{name}"))
if not root.is_dir():
    url = "{url}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", "--branch={branch}", url, root.name], check=True)
sys.path.insert(0, str(root.resolve()))

import numpy as np

import gemmlab as gl

%load_ext gemmlab.magic
print(gl.device().reason)"""

SETUP_TAGS = ["setup", "hide-input"]  # folded in the rendered book

_REGION = r"^[ \t]*(?:#|//)[ \t]*region:[ \t]*{name}[ \t]*\n(.*?)^[ \t]*(?:#|//)[ \t]*endregion[ \t]*$"


def setup_cell(root: Path) -> str:
    """Return the set-up cell, with the repository that _config.yml names."""
    url, branch = repository(root)
    return SETUP.format(url=url, branch=branch, name=url.rsplit("/", 1)[-1])


def region(path: Path, name: str = "kernel") -> str:
    """Return the lines between ``# region: name`` and ``# endregion`` (``//`` in C++) of a kernel file."""
    try:
        text = path.read_text()
    except OSError as error:
        raise ToolError(f"{path}: cannot be read, but a lesson shows it ({error.strerror})") from error
    found = re.findall(_REGION.format(name=re.escape(name)), text, flags=re.M | re.S)
    if len(found) != 1:
        raise ToolError(f"{path}: needs exactly one 'region: {name}' … 'endregion', found {len(found)}")
    return found[0].strip("\n")


def fill(notebook: NotebookNode, root: Path, name: str) -> None:
    """Put the set-up and kernel cells' true text into `notebook`; `name` stands in messages.

    A kernel cell is tagged `kernel` and names its file: ``gemmlab={"kernel": "simt/k03_naive.py"}`` (under kernels/).
    A leading cell magic such as ``%%cuda naive`` stays.
    """
    setups = [cell for cell in notebook.cells if "setup" in cell.metadata.get("tags", [])]
    if len(setups) != 1:
        raise ToolError(f"{name}: needs exactly one cell tagged 'setup', found {len(setups)}")
    setups[0].source = setup_cell(root)
    setups[0].metadata["tags"] = SETUP_TAGS
    for cell in notebook.cells:
        if "kernel" in cell.metadata.get("tags", []):
            cell.source = kernel_cell(cell, root, name)


def kernel_cell(cell: NotebookNode, root: Path, name: str) -> str:
    """Return the text that a kernel cell must have: its first line if that is a cell magic, then the file's region."""
    settings = cell.metadata.get("gemmlab", {})
    if "kernel" not in settings:
        example = 'gemmlab={"kernel": "simt/k03_naive.py"}'
        raise ToolError(f"{name}: a cell tagged 'kernel' must name its file, such as {example}")
    text = region(root / "kernels" / settings["kernel"], settings.get("region", "kernel"))
    first = cell.source.split("\n", 1)[0]
    return f"{first}\n{text}" if first.startswith("%%") else text
