"""Create .venv and install the pinned requirements; do nothing when both are up to date.

Run by any Python 3; picks an interpreter from 3.11 to 3.13 for the environment itself. Standard library only.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
LOWEST, HIGHEST = (3, 11), (3, 13)
RANGE = "3.11, 3.12 or 3.13"
VERSION_OF = "import sys; print('%d.%d' % sys.version_info[:2])"


class EnvError(Exception):
    """Set-up cannot go on; one line that says what to do."""


def version(python):
    """Return (major, minor) of an interpreter, or None if it does not run (pyenv shims may exist and not work)."""
    try:
        text = subprocess.run([python, "-c", VERSION_OF], capture_output=True, text=True, timeout=60, check=True).stdout
        return tuple(int(part) for part in text.split("."))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def find_python(preferred=sys.executable):
    """Return a working interpreter within the supported range, the running one first."""
    seen = []
    for name in [preferred, "python3.12", "python3.13", "python3.11", "python3", "python"]:
        path = shutil.which(name)
        found = path and version(path)
        if found and LOWEST <= found <= HIGHEST:
            return path
        if found:
            seen.append(f"{name} is {found[0]}.{found[1]}")
    raise EnvError(f"no Python {RANGE} found ({'; '.join(seen) or 'none on PATH'}): install one, or pass PYTHON=/path")


def has_gpu():
    """Return whether an NVIDIA driver is installed (the timing extras are then worth their download)."""
    return shutil.which("nvidia-smi") is not None


def requirement_files(cuda, gpu):
    """Return the requirement files for these wheels ("12" or "13"), with the timing extras if there is a GPU."""
    name = {"12": "requirements.txt", "13": "requirements-cu13.txt"}[cuda]
    return [name] + ([name.replace("requirements", "requirements-gpu")] if gpu else [])


def stamp_of(files, found):
    """Return a text that changes when a requirement file or the interpreter's version does."""
    digest = hashlib.sha256(repr(found).encode())
    for name in sorted({*files, "requirements-common.txt"}):
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def venv_python():
    return os.path.join(VENV, "Scripts" if os.name == "nt" else "bin", "python")


def create(python):
    print("creating .venv with Python {}.{}".format(*version(python)), flush=True)
    done = subprocess.run([python, "-m", "venv", "--clear", VENV], capture_output=True, text=True)
    if done.returncode:
        reason = (done.stdout + done.stderr).strip().replace("\n", " ")[-160:]
        raise EnvError(f"{python} cannot create a virtual environment (on Debian: apt install python3-venv): {reason}")


def install(files):
    command = [venv_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for name in files:
        command += ["-r", os.path.join(ROOT, name)]
    print(f"installing {' and '.join(files)} (some minutes the first time)", flush=True)
    if subprocess.run(command).returncode:
        raise EnvError("pip could not install the requirements: see its lines above; check the network and try again")


def installed():
    """Return (CUDA wheels, stamp) of the present environment, or (None, None)."""
    try:
        with open(os.path.join(VENV, "installed")) as file:
            cuda, stamp = file.read().split()
            return cuda, stamp
    except (OSError, ValueError):
        return None, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cuda", choices=["12", "13"], help="CUDA wheels (default: as installed, else 12)")
    options = parser.parse_args()
    if sys.platform == "darwin":
        raise EnvError(
            "macOS has no CUDA compiler wheels: use Linux, Windows with WSL, or the Colab buttons of the book"
        )
    old_cuda, old_stamp = installed()
    cuda = options.cuda or old_cuda or "12"
    files = requirement_files(cuda, has_gpu())
    have = version(venv_python())
    if have is None or not LOWEST <= have <= HIGHEST or old_cuda not in (None, cuda):
        create(find_python())  # the two CuPy wheels must not meet in one environment
        have = version(venv_python())
    elif old_stamp == stamp_of(files, have):
        return 0
    install(files)
    with open(os.path.join(VENV, "installed"), "w") as file:
        file.write(f"{cuda} {stamp_of(files, have)}\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EnvError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
