"""Run a command that executes a learner's code: limited in time and memory, without network, seeing little.

With bubblewrap the file system is read-only, and the home directory, /tmp and every path in `hide` are empty. Without
it, `unshare` (util-linux) takes away the network and other processes and hides the paths in `hide`. Where the system
has neither, only the limits hold, and ``isolation()`` says so: grade such classes in a container or virtual machine.
"""

import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INIT = Path(__file__).with_name("sandbox_init.py")
PROBE_S = 10
TAIL_BYTES = 4000


@dataclass(frozen=True)
class Finished:
    """How a sandboxed command ended: exit status (None: stopped at the time limit), seconds, end of its output."""

    returncode: int | None
    seconds: float
    tail: str


@functools.cache
def isolation() -> str:
    """Return "bubblewrap", "unshare" or "none": the strongest isolation that works on this machine."""
    for name, probe in (
        ("bubblewrap", ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"]),
        ("unshare", [*_unshare(), "true"]),
    ):
        if shutil.which(probe[0]) is None:
            continue
        try:
            if subprocess.run(probe, capture_output=True, timeout=PROBE_S).returncode == 0:
                return name
        except (OSError, subprocess.TimeoutExpired):
            continue
    return "none"


def explain(kind: str) -> str:
    """Say in one line what `kind` of isolation protects."""
    return {
        "bubblewrap": "bubblewrap: no network, read-only file system, home and submissions hidden",
        "unshare": "unshare: no network, submissions hidden; install bubblewrap for a read-only file system too",
        "none": "none: time and memory limits only. Install bubblewrap, or grade in a container or virtual machine",
    }[kind]


def run(
    command: list[str],
    work: Path,
    *,
    seconds: float,
    memory_mb: int,
    hide: tuple[Path, ...] = (),
    writable: tuple[Path, ...] = (),
    environment: dict[str, str] | None = None,
    kind: str | None = None,
) -> Finished:
    """Run `command` with `work` as its directory, under bubblewrap the only one beside `writable` that it can write to.

    It and its children get `memory_mb` MiB of address space each and `seconds` of wall-clock time together, and are
    killed beyond. Raises nothing for anything the command does. What lies in `work` afterwards may be links and other
    traps: write nothing there again.
    """
    kind = kind or isolation()
    limited = [
        sys.executable,
        "-I",
        str(INIT),
        str(memory_mb),
        str(int(seconds) + 1),
        os.pathsep.join(map(str, hide if kind == "unshare" else ())),
        "--",
        *command,
    ]
    wrap = {"bubblewrap": lambda: _bubblewrap(work, hide, writable), "unshare": _unshare, "none": list}[kind]
    wrapped = wrap() + limited
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            wrapped,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_environment(work, environment or {}),
            start_new_session=True,
        )
        try:
            returncode = process.wait(seconds)
        except subprocess.TimeoutExpired:
            returncode = None
        finally:
            _kill(process)
        output.seek(max(0, os.fstat(output.fileno()).st_size - TAIL_BYTES))
        tail = output.read().decode("utf-8", "replace")
    return Finished(returncode, time.monotonic() - started, tail)


def _kill(process):
    """Kill the command's process group (with its namespace, where it has one) and reap the child."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _unshare():
    return [
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--ipc",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]


def _bubblewrap(work, hide, writable):
    """Hide first; then give back, read-only, what Python and the course need of it; then hide inside that."""
    hidden = [Path("/tmp"), Path.home(), *hide]
    needed = [ROOT, Path(sys.prefix), Path(sys.base_prefix)]
    needed = [path for path in needed if any(_inside(path, place) for place in hidden)]
    command = [
        "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
    ]
    for path in hidden:
        if path.is_dir() and path != Path("/"):
            command += ["--tmpfs", str(path)]
    for path in needed:
        command += ["--ro-bind", str(path), str(path)]
    for path in hide:
        if path.is_dir() and any(path != place and _inside(path, place) for place in needed):
            command += ["--tmpfs", str(path)]
    for path in (*writable, work):
        command += ["--bind", str(path), str(path)]
    return [*command, "--chdir", str(work)]


def _inside(path, place):
    return path == place or place in path.parents


def _environment(work, extra):
    """Return a small environment: nothing of the instructor's, every cache and settings folder inside `work`."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "LANG", "LC_ALL", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH")
        if name in os.environ
    }
    home = str(work)
    folders = dict.fromkeys(
        (
            "HOME",
            "TMPDIR",
            "IPYTHONDIR",
            "MPLCONFIGDIR",
            "JUPYTER_CONFIG_DIR",
            "JUPYTER_DATA_DIR",
            "JUPYTER_RUNTIME_DIR",
            "NUMBA_CACHE_DIR",
            "CUPY_CACHE_DIR",
        ),
        home,
    )
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {
        **kept,
        **folders,
        **threads,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        **extra,
    }
