"""What the grader's tests share: model answers taken from solutions/, and submissions made from them."""

import json
import re
import runpy
from collections import Counter
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = ROOT / "tests" / "submissions"
CHECKED = re.compile(r"\.check\((\w+)\)")


def answer_cells(folder: str) -> dict[str, tuple[str, str]]:
    """Return {exercise: (source of the answer cell, name that its check cell passes on)} of a folder's notebooks."""
    sources, names = {}, {}
    for path in sorted((ROOT / folder).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            exercise = cell.metadata.get("gemmlab", {}).get("exercise")
            if exercise and "exercise" in cell.metadata.tags:
                sources[exercise] = cell.source
            elif exercise and "check" in cell.metadata.tags:
                names[exercise] = CHECKED.search(cell.source)[1]
    return {exercise: (source, names[exercise]) for exercise, source in sources.items()}


def submissions(kind: str) -> list[tuple[str, str, dict]]:
    """Return (exercise, name, submission) for every entry of tests/submissions/`kind`."""
    table = {}
    for path in sorted((SUBMISSIONS / kind).glob("ch*.py")):
        table |= runpy.run_path(str(path))[kind.upper()]
    return [(exercise, name, entry) for exercise, entries in table.items() for name, entry in entries.items()]


def pytest_generate_tests(metafunc):
    """Run a test that takes `right` or `wrong` once for every such submission."""
    for kind in ("right", "wrong"):
        if kind in metafunc.fixturenames:
            found = submissions(kind)
            ids = [f"{exercise}-{name.replace(' ', '-')}" for exercise, name, _ in found]
            metafunc.parametrize(kind, found, ids=ids)


def source_of(exercise: str, entry: dict, models: dict) -> str:
    """Return the answer cell of a submission: its own source, or the model's with replacements."""
    if "source" in entry:
        return entry["source"]
    source = models[exercise][0]
    for old, new in entry["replace"]:
        assert old in source, f"the mutation {old!r} no longer fits the model solution of {exercise}"
        source = source.replace(old, new)
    return source


def run_cell(source: str, name: str):
    """Execute an answer cell as a notebook would and return what its check cell passes on."""
    import numpy as np
    from numba import cuda, float32

    import gemmlab as gl
    from gemmlab import magic

    namespace = {"np": np, "gl": gl, "cuda": cuda, "float32": float32, "__name__": "answer"}
    first, _, rest = source.partition("\n")
    if first.startswith("%%cuda"):
        magic.cuda(first.removeprefix("%%cuda"), rest, namespace)
    else:
        exec(compile(source, "<answer>", "exec"), namespace)
    return namespace[name]


@pytest.fixture(scope="session")
def models():
    return answer_cells("solutions")


@pytest.fixture(scope="session")
def model_answer(models):
    """Return a function that runs the model solution of an exercise and returns the answer."""
    return lambda exercise: run_cell(*models[exercise])


@pytest.fixture(scope="session")
def skeleton_answer():
    """Return a function that runs the unfinished cell that students start from and returns the answer."""
    skeletons = answer_cells("exercises")
    return lambda exercise: run_cell(*skeletons[exercise])


@pytest.fixture(scope="session")
def answer_of(models):
    """Return a function that runs a submission and returns the answer."""
    return lambda exercise, entry: run_cell(source_of(exercise, entry, models), models[exercise][1])


@pytest.fixture(scope="session")
def counts():
    """How many submissions of each kind an exercise has: {"right": {id: n}, "wrong": {id: n}}."""
    return {kind: Counter(exercise for exercise, _, _ in submissions(kind)) for kind in ("right", "wrong")}


@pytest.fixture
def notebook(tmp_path):
    """Return a function that writes a notebook of code cells (sources or nbformat cells) and returns its path."""

    def write(cells, name="notebook.ipynb"):
        made = [nbformat.v4.new_code_cell(cell, execution_count=1) if isinstance(cell, str) else cell for cell in cells]
        path = tmp_path / name
        path.write_text(json.dumps(nbformat.v4.new_notebook(cells=made)), encoding="utf-8")
        return path

    return write


@pytest.fixture(autouse=True)
def _no_export(monkeypatch):
    monkeypatch.delenv("GEMMLAB_EXPORT", raising=False)
