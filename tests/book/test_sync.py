"""Notebooks follow their sources; differences and bad input are one clear line each."""

import json
import subprocess
import sys

import pytest
from nbformat.v4 import new_output

from tools import sync
from tools.common import ROOT, ToolError
from tools.exercises import cut
from tools.notebook import is_stale, read_notebook, source_hash, write_notebook


def cells(path, tag):
    return [cell for cell in read_notebook(path).cells if tag in cell.metadata.get("tags", [])]


def test_writes_all_three_and_is_then_in_sync(repo):
    assert len(sync.sync(repo)) == 5  # two sources (set-up cell filled in), two notebooks, one exercise
    assert sync.differences(repo) == []
    assert sync.sync(repo) == []


def test_kernel_cells_equal_the_marked_region(repo):
    sync.sync(repo)
    python, cuda = cells(repo / "notebooks/03_tiny.ipynb", "kernel")
    assert python.source == "def tiny(A):\n    return A"
    assert cuda.source == '%%cuda tiny_cuda\nextern "C" __global__ void tiny(float* A) {}'


def test_a_changed_kernel_is_noticed_and_taken(repo):
    sync.sync(repo)
    path = repo / "kernels/simt/k03_tiny.py"
    path.write_text(path.read_text().replace("return A", "return 2 * A"))
    assert "notebooks/03_tiny.py is not what its source says: run 'make sync' and commit it" in sync.differences(repo)
    sync.sync(repo)
    assert "return 2 * A" in cells(repo / "notebooks/03_tiny.ipynb", "kernel")[0].source


def test_setup_cell_is_identical_and_names_the_configured_repository(repo):
    sync.sync(repo)
    lesson, solution = (cells(repo / f"{folder}/03_tiny.ipynb", "setup") for folder in ("notebooks", "solutions"))
    assert lesson[0].source == solution[0].source
    assert "https://github.com/gemm-ladder/gemm-ladder" in lesson[0].source
    config = repo / "_config.yml"
    config.write_text(config.read_text().replace("gemm-ladder/gemm-ladder", "someone/fork"))
    sync.sync(repo)
    assert "https://github.com/someone/fork" in cells(repo / "notebooks/03_tiny.ipynb", "setup")[0].source


def test_exercise_has_skeletons_and_no_answer(repo):
    sync.sync(repo)
    path = repo / "exercises/03_tiny.ipynb"
    text = path.read_text()
    assert "secret" not in text and "SOLUTION" not in text and "SKELETON" not in text
    first, second = cells(path, "exercise")
    assert first.source == "def answer(x):\n    return None" and first.id == "answer-03-1"
    assert "    // your code\n}" in second.source
    assert [cell.id for cell in cells(path, "check")] == ["check-03-1", "check-03-2"]


def test_a_stale_exercise_is_one_clear_line(repo):
    sync.sync(repo)
    path = repo / "exercises/03_tiny.ipynb"
    path.write_text(path.read_text().replace("return None", "return 0"))
    assert sync.differences(repo) == [
        "exercises/03_tiny.ipynb is not what its source says: run 'make sync' and commit it"
    ]


def test_outputs_and_ids_survive_an_edit_elsewhere(repo):
    sync.sync(repo)
    path = repo / "notebooks/03_tiny.ipynb"
    notebook = read_notebook(path)
    last = notebook.cells[-1]
    last.outputs = [new_output("stream", name="stdout", text="2\n")]
    notebook.metadata["gemmlab"] = {"executed_sha256": source_hash(notebook)}
    write_notebook(notebook, path)
    source = repo / "notebooks/03_tiny.py"
    source.write_text(source.read_text().replace("# # 03 · Tiny", "# # 03 · Tiny, edited\n\n# %% [markdown]\n# More."))
    sync.sync(repo)
    after = read_notebook(path)
    assert after.cells[-1].id == last.id and after.cells[-1].outputs == last.outputs
    assert not is_stale(after)
    source.write_text(source.read_text().replace("1 + 1", "1 + 2"))
    sync.sync(repo)
    after = read_notebook(path)
    assert after.cells[-1].id == last.id and after.cells[-1].outputs == []
    assert is_stale(after)


def test_edits_made_in_jupyter_come_back(repo):
    sync.sync(repo)
    path = repo / "notebooks/03_tiny.ipynb"
    notebook = read_notebook(path)
    notebook.cells[-1].source = "2 + 2"
    write_notebook(notebook, path)
    sync.take_edits(path)
    assert "2 + 2" in (repo / "notebooks/03_tiny.py").read_text()
    assert len(sync.sync(repo)) <= 1 and sync.differences(repo) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("solutions/03_tiny.py", "    ### END SOLUTION", "", "BEGIN SOLUTION without END SOLUTION"),
        ("solutions/03_tiny.py", "SKELETON: return None", "SKELETON: return (", "the skeleton does not compile"),
        ("solutions/03_tiny.py", '"exercise": "03.2"', '"exercise": "03.1"', "two answer cells for exercise 03.1"),
        ("solutions/03_tiny.py", 'tags=["exercise"]', 'tags=["other"]', "no cell is tagged 'exercise'"),
        ("notebooks/03_tiny.py", 'tags=["setup"]', "", "needs exactly one cell tagged 'setup', found 0"),
        ("notebooks/03_tiny.py", "simt/k03_tiny.py", "simt/missing.py", "cannot be read, but a lesson shows it"),
        ("kernels/simt/k03_tiny.py", "# endregion", "", "needs exactly one 'region: kernel'"),
    ],
)
def test_bad_sources_are_one_line(repo, file, old, new, message):
    path = repo / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ToolError, match=message) as error:
        sync.sync(repo)
    assert "\n" not in str(error.value)


def test_a_corrupt_notebook_is_named_in_one_line_and_kept(repo):
    sync.sync(repo)
    path = repo / "notebooks/03_tiny.ipynb"
    path.write_text('{"cells": [')
    done = subprocess.run(
        [sys.executable, "-m", "tools.sync", "--root", str(repo)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "03_tiny.ipynb: not a readable notebook" in done.stderr
    assert path.read_text() == '{"cells": ['


def test_an_old_notebook_format_is_refused(repo):
    path = repo / "notebooks/03_tiny.ipynb"
    path.write_text(json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": []}))
    with pytest.raises(ToolError, match="needs notebook format 4"):
        sync.sync(repo)


def test_a_notebook_without_source_is_reported_not_deleted(repo):
    sync.sync(repo)
    stray = repo / "exercises/09_stray.ipynb"
    stray.write_text((repo / "exercises/03_tiny.ipynb").read_text())
    assert "exercises/09_stray.ipynb has no source: delete it or add the .py it comes from" in sync.differences(repo)
    with pytest.raises(ToolError, match="09_stray"):
        sync.sync(repo)
    assert stray.exists()


def test_an_empty_repository_is_an_error(tmp_path):
    with pytest.raises(ToolError, match="no notebooks"):
        sync.differences(tmp_path)


def test_nested_markers_are_refused():
    with pytest.raises(ToolError, match="inside a solution region"):
        cut("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", "x")
