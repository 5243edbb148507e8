"""The sandbox: what a hostile command cannot do, under each kind of isolation that this machine has."""

import sys
import textwrap
import time

import pytest

from gemmlab.grading import sandbox

KINDS = {"bubblewrap": ["bubblewrap", "unshare", "none"], "unshare": ["unshare", "none"], "none": ["none"]}


def run(work, code, **options):
    settings = {"seconds": 20, "memory_mb": 1024, **options}
    return sandbox.run([sys.executable, "-u", "-c", textwrap.dedent(code)], work, **settings)


@pytest.fixture(params=KINDS[sandbox.isolation()])
def kind(request):
    return request.param


def test_time_limit_takes_the_children_too(tmp_path, kind):
    started = time.monotonic()
    finished = run(tmp_path, """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time, pathlib; time.sleep(3); pathlib.Path('late').touch()"])
        while True: pass
    """, seconds=1, kind=kind)
    assert finished.returncode is None and finished.seconds < 3
    time.sleep(max(0, 4 - (time.monotonic() - started)))
    assert not (tmp_path / "late").exists()


def test_memory_limit(tmp_path, kind):
    finished = run(tmp_path, "x = bytearray(10 << 30)", kind=kind)
    assert finished.returncode != 0 and "MemoryError" in finished.tail


def test_output_is_kept_and_the_working_folder_can_be_written(tmp_path, kind):
    finished = run(tmp_path, "open('file', 'w').write('x'); print('fine')", kind=kind)
    assert finished.returncode == 0 and finished.tail.endswith("fine\n") and (tmp_path / "file").exists()


def test_loopback_works_because_notebook_kernels_need_it(tmp_path, kind):
    assert run(tmp_path, """
        import socket
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname(), 2)
    """, kind=kind).returncode == 0


def test_no_network(tmp_path, kind):
    if kind == "none":
        pytest.skip("without bubblewrap and unshare the network stays; explain() says so")
    finished = run(tmp_path, """
        import socket
        names = [name for _, name in socket.if_nameindex()]
        print(names)
        socket.create_connection(("192.0.2.1", 80), 2)
    """, kind=kind)
    assert "['lo']" in finished.tail and "unreachable" in finished.tail


def test_hidden_folders_are_empty(tmp_path, kind):
    if kind == "none":
        pytest.skip("nothing is hidden without bubblewrap and unshare; explain() says so")
    secret, work = tmp_path / "submissions", tmp_path / "work"
    secret.mkdir()
    work.mkdir()
    (secret / "other.ipynb").touch()
    code = f"import os; print(os.path.exists({str(secret / 'other.ipynb')!r}))"
    finished = run(work, code, kind=kind, hide=(secret,))
    assert finished.returncode == 0 and finished.tail == "False\n"
    assert (secret / "other.ipynb").exists()


@pytest.mark.skipif(sandbox.isolation() != "bubblewrap", reason="only bubblewrap makes the file system read-only")
def test_the_repository_and_home_are_out_of_reach(tmp_path):
    target = sandbox.ROOT / "gemmlab" / "written_by_a_student"
    finished = run(tmp_path, f"""
        import os, pathlib
        print(sorted(os.listdir(os.path.expanduser("~root" if os.getuid() == 0 else "~")))[:3])
        open({str(target)!r}, "w")
    """, kind="bubblewrap")
    assert "Read-only file system" in finished.tail and not target.exists()


def test_the_instructors_environment_stays_outside(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    assert run(tmp_path, "import os; print('SECRET_TOKEN' in os.environ)", kind=kind).tail == "False\n"
