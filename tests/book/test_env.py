"""Set-up: the right interpreter, the right requirement files, clear refusals."""

import importlib.metadata
import subprocess
import sys

import pytest
from packaging.specifiers import SpecifierSet

from tools import env
from tools.common import ROOT


def test_a_working_interpreter_is_found():
    assert env.LOWEST <= env.version(env.find_python()) <= env.HIGHEST


def test_a_shim_that_does_not_run_is_skipped(tmp_path, monkeypatch):
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert env.find_python(sys.executable) == sys.executable


def test_no_interpreter_is_one_clear_line(tmp_path, monkeypatch):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\necho 3.9\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(env.EnvError, match="no Python 3.11, 3.12 or 3.13 found .python3 is 3.9") as error:
        env.find_python(str(tmp_path / "missing"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("cuda", ["12", "13"])
@pytest.mark.parametrize("gpu", [False, True])
def test_requirement_files_exist(cuda, gpu):
    for name in env.requirement_files(cuda, gpu):
        assert (ROOT / name).is_file()


def test_every_requirement_is_pinned_once():
    names = []
    for path in (ROOT / "requirements-common.txt", ROOT / "requirements.txt"):
        for line in path.read_text().splitlines():
            if line and not line.startswith(("#", "-r ")):
                name, _, version = line.partition("==")
                assert version, f"{path.name}: {line} is not pinned"
                names.append(name.lower())
    assert len(names) == len(set(names))


def test_every_requirement_takes_every_python_that_we_name():
    """Also the first release of each: Debian 12 has 3.11.2."""
    lines = (ROOT / "requirements-common.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    looked_at = 0
    for name, version in pins.items():
        try:
            about = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:  # for another platform
            continue
        if about["Requires-Python"] and about["Version"] == version:
            looked_at += 1
            for python in ("3.11.0", "3.12.0", "3.13.0"):
                assert python in SpecifierSet(about["Requires-Python"]), f"{name} {version} does not take {python}"
    assert looked_at > 50


def test_the_stamp_follows_files_and_interpreter():
    one = env.stamp_of(["requirements.txt"], (3, 11))
    assert one == env.stamp_of(["requirements.txt"], (3, 11))
    assert one != env.stamp_of(["requirements.txt"], (3, 12))
    assert one != env.stamp_of(["requirements-cu13.txt"], (3, 11))


def test_a_missing_python_is_one_line_from_make():
    done = subprocess.run(["make", "env", "PYTHON=no-such-python"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "error: 'no-such-python' not found: install Python 3.11, 3.12 or 3.13" in done.stderr


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """An environment in a temporary folder whose creation and installation only record their calls."""
    calls = []
    monkeypatch.setattr(env, "VENV", str(tmp_path))
    monkeypatch.setattr(env, "version", lambda python: (3, 12) if calls else None)
    monkeypatch.setattr(env, "find_python", lambda: "python3.12")
    monkeypatch.setattr(env, "create", lambda python: calls.append("create"))
    monkeypatch.setattr(env, "install", lambda files: calls.append(" ".join(files)))
    monkeypatch.setattr(env, "has_gpu", lambda: False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["env.py", *arguments])
        del calls[1:]
        assert env.main() == 0
        return calls[1:]

    return call


def test_installs_once_and_keeps_the_chosen_wheels(fake):
    assert fake("--cuda", "13") == ["requirements-cu13.txt"]
    assert fake() == [] and fake("--cuda", "13") == []
    assert fake("--cuda", "12") == ["create", "requirements.txt"]
    assert fake() == []
