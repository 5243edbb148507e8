"""The nbval plugin: every hole of nbval that it closes, run for real on small notebooks."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest

from gemmlab import nbval_plugin
from gemmlab.nbval_plugin import DIED, NOT_RUN

TIMEOUT_S = 90


def run(path, *options):
    """Run pytest with the plugin on a notebook; return status, output, {cell: (outcome, reason)}."""
    log = path.with_suffix(".jsonl")
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(path.parent), "--noconftest",
               "-p", "no:cacheprovider", "-p", "nbval.plugin", "-p", "gemmlab.nbval_plugin", "--nbval-lax",
               "--nbval-current-env", "--nbval-cell-log", str(log), *options, str(path)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                   "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment, cwd=path.parent)
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return done.returncode, done.stdout + done.stderr, {e["cell"]: (e["outcome"], e["message"]) for e in entries}


def cell(source, count=1, outputs=(), **metadata):
    return nbformat.v4.new_code_cell(source, execution_count=count, outputs=list(outputs), metadata=metadata)


def stdout(text):
    return nbformat.v4.new_output("stream", name="stdout", text=text)


def test_every_hole_is_closed(notebook):
    noisy = (
        "# NBVAL_CHECK_OUTPUT\nimport sys\nfor i in range(3):\n    print(i, file=sys.stderr, end='\\r', flush=True)\n"
        "    print('row', i, flush=True)"
    )
    status, _, cells = run(notebook([
        "x = 1",
        "%nosuchmagic",
        "%%nosuchmagic\nx = 2",
        cell("x = 3", tags=["raises-exception"]),
        cell("1 / 0", tags=["raises-exception"]),
        cell("# NBVAL_CHECK_OUTPUT\nprint('never run')", count=None),
        cell(noisy, outputs=[stdout("row 0\nrow 1\nrow 2\n")]),
        cell("# NBVAL_CHECK_OUTPUT\nprint(2)", outputs=[stdout("3\n")]),
        "raise SystemExit",
        "undefined_name",
        "import os; os._exit(0)",
        "x = 4",
    ]))
    assert status == 1
    assert [number for number in range(12) if cells[number][0] == "passed"] == [0, 4, 6]
    assert "nosuchmagic" in cells[1][1] and "nosuchmagic" in cells[2][1]
    assert "raised none" in cells[3][1]
    assert "without running it" in cells[5][1]
    assert "differ" in cells[7][1]
    assert "SystemExit" in cells[8][1]
    assert "NameError: name 'undefined_name' is not defined" in cells[9][1]
    assert cells[10][1] == DIED and cells[11][1] == NOT_RUN


def test_a_cell_that_never_ends_is_stopped(notebook):
    status, _, cells = run(notebook(["while True:\n    pass", "x = 1"]), "--nbval-cell-timeout", "2")
    assert status == 1
    assert cells[0][0] == "failed" and "Timeout of 2 seconds" in cells[0][1]


@pytest.mark.parametrize(("text", "says"), [
    ("{ not json", "bad.ipynb is not a notebook that can be read"),
    (json.dumps(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("text")])), "bad.ipynb has no code cell"),
])
def test_a_notebook_that_checks_nothing_fails_in_one_line(tmp_path, text, says):
    path = tmp_path / "bad.ipynb"
    path.write_text(text)
    status, output, _ = run(path)
    assert status != 0 and says in output and "Traceback" not in output


def options(**values):
    defaults = {"nbval_cell_timeout": nbval_plugin.NBVAL_TIMEOUT_S, "dist": "no"}
    return SimpleNamespace(option=SimpleNamespace(**{**defaults, **values}))


def test_the_default_time_limit_is_short_and_a_chosen_one_stays():
    config = options()
    nbval_plugin.pytest_configure(config)
    assert config.option.nbval_cell_timeout == nbval_plugin.CELL_TIMEOUT_S
    config = options(nbval_cell_timeout=7)
    nbval_plugin.pytest_configure(config)
    assert config.option.nbval_cell_timeout == 7


def test_xdist_must_keep_a_notebook_together():
    nbval_plugin.pytest_configure(options(dist="loadfile"))
    with pytest.raises(pytest.UsageError, match="loadfile"):
        nbval_plugin.pytest_configure(options(dist="load"))
