"""Running lessons: outputs carry the hash of their source, failures name the cell, stale outputs are noticed."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import build_book
from tools.common import ToolError
from tools.execute import execute
from tools.notebook import is_stale, notebook_text, source_hash


def lesson(*sources):
    return new_notebook(cells=[new_markdown_cell("# Title"), *(new_code_cell(source) for source in sources)])


def test_a_run_keeps_output_and_hash_and_drops_stderr(tmp_path):
    notebook = execute(lesson("import sys\nprint(2)\nprint('noise', file=sys.stderr)"), tmp_path, "x")
    assert [output.text for output in notebook.cells[1].outputs] == ["2\n"]
    assert not is_stale(notebook)
    notebook.cells[1].source += "\n"
    assert is_stale(notebook)


def test_prose_does_not_make_outputs_stale(tmp_path):
    notebook = lesson("1")
    notebook.metadata["gemmlab"] = {"executed_sha256": source_hash(notebook)}
    notebook.cells[0].source = "# Another title"
    assert not is_stale(notebook)


def test_a_failing_cell_is_named_in_one_line(tmp_path):
    with pytest.raises(ToolError, match=r"lesson.ipynb, code cell 2: ZeroDivisionError: division by zero") as error:
        execute(lesson("1", "1/0", "3"), tmp_path, "lesson.ipynb")
    assert "\n" not in str(error.value)


@pytest.fixture
def staged(tmp_path, monkeypatch):
    """build_book in a temporary folder, with a stand-in for the run that counts its calls."""
    calls = []

    def run(notebook, folder, name):
        calls.append(name)
        notebook.cells[1].outputs = [new_output("stream", name="stdout", text="fresh\n")]
        notebook.metadata["gemmlab"] = {"executed_sha256": source_hash(notebook)}
        return notebook

    monkeypatch.setattr(build_book, "BUILD", tmp_path)
    monkeypatch.setattr(build_book, "execute", run)
    return calls


def test_stale_lessons_run_once_and_are_kept(staged):
    text = notebook_text(lesson("1"))
    for _ in range(2):
        shown = nbformat.reads(build_book.with_outputs("notebooks/x", text), as_version=4)
        assert shown.cells[1].outputs[0].text == "fresh\n"
    assert staged == ["notebooks/x.ipynb"]
    build_book.with_outputs("notebooks/x", notebook_text(lesson("2")))
    assert len(staged) == 2


def test_committed_outputs_are_used_as_they_are(staged):
    notebook = lesson("1")
    notebook.cells[1].outputs = [new_output("stream", name="stdout", text="from the GPU\n")]
    notebook.metadata["gemmlab"] = {"executed_sha256": source_hash(notebook)}
    text = notebook_text(notebook)
    assert build_book.with_outputs("notebooks/x", text) == text and staged == []


def test_exercises_are_not_run(staged):
    text = notebook_text(lesson("..."))
    assert build_book.with_outputs("exercises/x", text) == text and staged == []
