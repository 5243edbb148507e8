""".ci/run passes on `make test`'s verdict, prints pytest's summaries, and fails when no test ran."""

import shutil
import subprocess

import pytest

from tools.common import ROOT


@pytest.mark.parametrize(
    ("recipe", "code", "shown"),
    [
        ("@echo '12 passed in 3.45s'", 0, "12 passed in 3.45s"),
        ("@echo '1 failed, 11 passed, 2 warnings in 61.00s (0:01:01)'; exit 1", 2, "1 failed, 11 passed"),
        ("@echo 'all quiet'", 1, "no test ran"),
        ("@echo '3 passed in 1.00s'; exit 1", 2, "3 passed"),
    ],
)
def test_verdict(tmp_path, recipe, code, shown):
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / "Makefile").write_text(f"test:\n\t{recipe}\n")
    done = subprocess.run([tmp_path / ".ci" / "run"], capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    assert shown in (done.stdout + done.stderr).split("---- summary")[1]
