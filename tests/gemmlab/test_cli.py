"""The command line: exit codes, one line for bad input, JSON that parses."""

import json
import os
import subprocess
import sys

import pytest

import kernels
from gemmlab import compat, results
from gemmlab.cli import main
from gemmlab.device import Device
from gemmlab.source import REPOSITORY


def call(capsys, *argv):
    try:
        code = main(list(argv))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("command", ["doctor", "list", "stale"])
def test_plain_and_json(capsys, command):
    code, out, err = call(capsys, command)
    assert code == 0 and out.strip() and not err
    code, out, err = call(capsys, command, "--json")
    assert code == 0 and not err
    json.loads(out)


def test_list_names_every_kernel(capsys):
    rows = json.loads(call(capsys, "list", "--json")[1])
    assert [row["kernel"] for row in rows] == [spec.name for spec in kernels.LADDER]
    assert {"kernel", "chapter", "language", "needs", "title"} == set(rows[0])


def test_check(capsys):
    code, out, _ = call(capsys, "check", "k04_coalesced", "--shape", "17,33,5", "--backend", "emulator")
    assert (code, out) == (0, "k04_coalesced: right at 1 shape on the emulator, no findings\n")
    code, out, _ = call(capsys, "check", "k04_coalesced", "--shape", "17,33,5", "--backend", "emulator", "--json")
    assert code == 0 and json.loads(out)["right"] is True


def test_count(capsys):
    code, out, _ = call(capsys, "count", "k04_coalesced", "--shape", "32,32,8")
    assert code == 0 and "B: " in out
    code, out, _ = call(capsys, "count", "k04_coalesced", "--shape", "32,32,8", "--json")
    assert json.loads(out)["flops"] == 2 * 32 * 32 * 8


def test_measure_without_a_gpu_says_what_is_recorded(capsys, monkeypatch):
    monkeypatch.setattr(sys.modules["gemmlab.device"], "device", lambda: Device("none", reason="no GPU"))
    code, out, _ = call(capsys, "measure", "k03_naive", "--shape", "1024,1024,1024")
    assert code == 0 and "recorded" in out
    code, out, _ = call(capsys, "measure", "k03_naive", "--shape", "1024,1024,1024", "--json")
    assert json.loads(out)[0]["kernel"] == "k03_naive"


def test_what_is_only_shown_is_not_recorded(capsys, monkeypatch):
    """On a GPU that cannot run the kernel, the figure of another must not go into its file."""
    monkeypatch.setattr(sys.modules["gemmlab.gpu"], "require_gpu", lambda: None)
    monkeypatch.setattr(results, "merge", lambda *a: pytest.fail("recorded"))
    monkeypatch.setenv("GEMMLAB_STATIC", "1")
    code, _, err = call(capsys, "measure", "k03_naive", "--shape", "1024,1024,1024", "--record")
    assert code == 2 and "k03_naive: not measured, so not recorded" in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "required"),
        (["frobnicate"], "invalid choice"),
        (["check"], "required"),
        (["check", "nope"], "no kernel 'nope'; the ladder has"),
        (["check", "k03_naive", "--shape", "3,4"], "give three integers"),
        (["check", "k03_naive", "--shape", "3,4,x"], "give three integers"),
        (["check", "k03_naive", "--shape", "3,4,0"], "at least 1"),
        (["check", "k03_naive", "--backend", "tpu"], "invalid choice"),
        (["count", "nope"], "no kernel 'nope'"),
        (["measure", "nope"], "no kernel 'nope'"),
        (["check", "k03_naive", "--shape", "1000000,1000000,1000000"], "does not fit into memory: give smaller sizes"),
        (["grade"], "arguments are required"),
        (["grade", "tests", "--out", "x", "--chapter", "99"], "invalid choice: '99'"),
        (["grade", "tests", "--out", "x", "--memory-mb", "-5"], "an integer of at least 1, not '-5'"),
        (["grade", "tests", "--out", "x", "--jobs", "two"], "an integer of at least 1, not 'two'"),
        (["grade", "exercises", "--out", "README.md", "--chapter", "02"], "--out README.md: no report can be written"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, argv, message):
    code, out, err = call(capsys, *argv)
    assert code == 2 and not out
    assert message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "holds no records"), ("{", "not a readable results file"), ('{"machine": {}, "records": []}', "with 'gpu'"),
     ('{"machine": {"gpu": "NVIDIA H200"}, "records": [3]}', "must hold")],
)
def test_results_that_are_missing_or_corrupt(capsys, monkeypatch, tmp_path, content, message):
    monkeypatch.setattr(results, "DIRECTORY", tmp_path)
    if content:
        (tmp_path / "nvidia_h200.json").write_text(content)
    for command in [["stale"]] + ([["measure", "k03_naive"]] if content else []):
        code, out, err = call(capsys, *command)
        assert code == 2 and not out and message in err and len(err.splitlines()) == 1


def test_a_results_folder_that_cannot_be_written_is_one_line(capsys, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied", "results/nvidia_h200.json")

    monkeypatch.setattr(results, "stale", refuse)
    code, _, err = call(capsys, "stale")
    assert code == 2 and err == "gemmlab: results/nvidia_h200.json: Permission denied\n"


def test_missing_tools_are_named_with_a_cure(capsys, monkeypatch):
    monkeypatch.setattr(compat, "find_tool", lambda name: None)
    monkeypatch.setattr(compat, "header_directories", lambda: [])
    code, out, _ = call(capsys, "doctor")
    assert code == 0
    for package in ("nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvdisasm", "nvidia-cuda-runtime-cu12"):
        assert f"to do: pip install {package}" in out


def test_no_cache_folder_is_needed():
    """A home, cache and temporary folder that cannot be written do not stop a check."""
    gone = {name: "/proc/none" for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR")}
    command = [sys.executable, "-m", "gemmlab", "check", "k03_naive", "--shape", "8,8,8", "--backend", "emulator"]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | gone, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_grade_is_reached(capsys):
    pytest.importorskip("nbformat", reason="grading notebooks needs nbformat")
    code, out, err = call(capsys, "grade", "no-such-folder", "--out", "x")
    assert code == 2 and "no folder no-such-folder" in err and len(err.splitlines()) == 1


def test_a_wrong_kernel_is_code_1(capsys, monkeypatch):
    wrong = kernels.Spec(
        name="k03_naive", chapter="03", title="", language="numba", file="simt/k03_naive.py", entry="naive", change="",
        block=(32, 8, 1), grid=("max(1, M//32)", "max(1, N//8)", "1"),
    )  # fmt: skip
    monkeypatch.setattr(kernels, "LADDER", (wrong,))
    code, out, err = call(capsys, "check", "k03_naive", "--backend", "emulator")
    assert code == 1 and not out and "never written" in err and "Traceback" not in err
    code, out, _ = call(capsys, "check", "k03_naive", "--backend", "emulator", "--json")
    assert code == 1 and json.loads(out)["right"] is False


def test_as_a_module():
    command = [sys.executable, "-m", "gemmlab", "check", "nope"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2 and done.stderr.startswith("gemmlab: no kernel 'nope'")


def test_another_package_called_kernels_is_named():
    """Hugging Face has one, which may be imported first on Colab."""
    code = "import sys, types; k = types.ModuleType('kernels'); k.__file__ = '/x/kernels/__init__.py'; "
    code += "sys.modules['kernels'] = k\ntry: import gemmlab\nexcept ImportError as error: print(error)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("another package called kernels (/x/kernels/__init__.py)") and not done.stderr
