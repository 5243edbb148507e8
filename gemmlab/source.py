"""Where a kernel's code comes from (a Spec, a Numba function, CUDA C++ text) and what its files are called."""

import hashlib
import inspect
import linecache
import re
from dataclasses import dataclass
from pathlib import Path

import kernels
from gemmlab import compat, results
from gemmlab.errors import GemmlabError
from kernels import Spec

REPOSITORY = kernels.ROOT.parent
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+)"([^"]*)"', re.MULTILINE)


@dataclass(frozen=True)
class CudaSource:
    """CUDA C++ text, the name of its kernel, and the macros to define. `name` is what messages call the text."""

    text: str
    entry: str
    defines: tuple[tuple[str, str], ...] = ()
    name: str = "cell"


def cuda_source(text_or_path, entry: str, **defines) -> CudaSource:
    """Make a CUDA C++ kernel from its text (a string) or from a `.cu` file; `defines` become macros (BM=16).

    Raises GemmlabError when the file does not exist.
    """
    macros = tuple((name, str(value)) for name, value in defines.items())
    if isinstance(text_or_path, Path) or ("\n" not in text_or_path and text_or_path.endswith((".cu", ".cuh"))):
        path = Path(text_or_path)
        if not path.is_file():
            raise GemmlabError(f"there is no CUDA source file {str(path)!r}: give a .cu file or the code itself")
        return CudaSource(path.read_text(encoding="utf-8"), entry, macros, display_name(str(path)))
    return CudaSource(text_or_path, entry, macros)


def resolve(kernel):
    """Return (kernel, Spec or None): the name of a Spec becomes the Spec, a Spec its CudaSource or Numba dispatcher.

    Raises GemmlabError for an unknown name or an object that is no kernel.
    """
    if isinstance(kernel, str):
        if "__global__" in kernel:
            raise GemmlabError("this is CUDA C++ text: wrap it as gl.cuda_source(text, entry)")
        try:
            kernel = kernels.spec(kernel)
        except KeyError as error:
            raise GemmlabError(error.args[0]) from None
    if isinstance(kernel, Spec):
        if kernel.language == "cuda":
            return cuda_source(kernel.path, kernel.entry, **kernel.defines), kernel
        return kernel.function(), kernel
    if compat.is_dispatcher(kernel):
        if compat.is_device_function(kernel):
            name = kernel.py_func.__name__
            raise GemmlabError(f"{name!r} is a device function; a kernel is made by @cuda.jit without device=True")
        return kernel, None
    if isinstance(kernel, CudaSource) or inspect.isfunction(kernel):
        return kernel, None
    raise GemmlabError(
        f"{type(kernel).__name__!r} is no kernel: give a Numba kernel, a gl.cuda_source or a name such as 'k03_naive'"
    )


def display_name(path: str) -> str:
    """Return what messages call a source file: its path in this repository, "cell" in a notebook, else its name."""
    if "ipykernel" in path or path.startswith("<"):
        return "cell"
    try:
        return Path(path).resolve().relative_to(REPOSITORY).as_posix()
    except ValueError:
        return Path(path).name


def name_files(ptx: str, texts: dict[str, str]) -> tuple[str, dict[str, str]]:
    """Give the files of a PTX text their display names; return (PTX, {display name: source text}).

    `texts` holds sources that are no files. Names that would clash get a number ("cell 2").
    """
    sources, chosen = {}, {}

    def rename(match):
        path = match[2]
        if path not in chosen:
            file = Path(path).name
            known = next((name for name in texts if file in (Path(name).name, f"{name}.cu")), None)
            name = base = known or display_name(path)
            number = 2
            while name in sources:
                name, number = f"{base} {number}", number + 1
            chosen[path] = name
            sources[name] = texts[known] if known else "".join(linecache.getlines(path))
        return f'{match[1]}"{chosen[path]}"'

    return _FILE.sub(rename, ptx), sources


def source_sha256(kernel) -> str:
    """Return the SHA-256 of a kernel's source; for CUDA C++ with its macros and its headers from kernels/."""
    code, spec = resolve(kernel)
    if spec is not None:
        return results.spec_sha256(spec)
    digest = hashlib.sha256()
    if isinstance(code, CudaSource):
        digest.update(repr(code.defines).encode())
        for text in _with_includes(code.text, set()):
            digest.update(text.encode())
    else:
        function = getattr(code, "py_func", code)
        try:
            digest.update(inspect.getsource(function).encode())
        except (OSError, TypeError):
            digest.update(function.__code__.co_code)
    return digest.hexdigest()


def _with_includes(text: str, seen: set):
    yield text
    for name in _INCLUDE.findall(text):
        path = kernels.ROOT / name
        if path not in seen and path.is_file():
            seen.add(path)
            yield from _with_includes(path.read_text(encoding="utf-8"), seen)
