"""Compile any kernel to PTX, and to machine code where an assembler is here; no GPU and no driver needed."""

import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gemmlab import compat, hints, lint, nvrtc
from gemmlab.args import cuda_params, is_array, is_contiguous
from gemmlab.assemble import Assembly, assemble, disassemble, parse_log
from gemmlab.device import device
from gemmlab.errors import GemmlabError
from gemmlab.source import CudaSource, cuda_source, name_files, resolve, source_sha256
from kernels import Spec

__all__ = ["Compiled", "CudaSource", "Param", "compile_kernel", "cuda_source", "from_ptx", "resolve"]

DEFAULT_TARGET = "sm_90"  # the emulator executes any target; one default gives everyone the same counters
_TARGET = re.compile(r"sm_(\d+)(\d)([af]?)")
_ENTRY = re.compile(r"\.visible\s+\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_PARAM = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)(?:\s+\.ptr[^,]*?)?\s+[\w$]+(?:\[(\d+)\])?\s*$")


@dataclass(frozen=True)
class Param:
    """One kernel parameter: PTX type ("u64", "f32", "b8" for a struct) and size in bytes."""

    dtype: str
    size: int


@dataclass
class Compiled:
    """A kernel compiled for one target.

    `ptx` is what the emulator executes and what the machine code is assembled from. `sources` maps the file names that
    appear in it to their text. `compiler` names the compiler and its version. `spec` is None for a kernel outside the
    ladder.
    """

    ptx: str
    entry: str
    language: str
    target: str
    compiler: str
    sha256: str
    sources: dict[str, str] = field(default_factory=dict, repr=False)
    spec: Spec | None = None
    arg_names: tuple[str, ...] = ()
    max_registers: int | None = None
    built: Assembly | None = field(default=None, repr=False)
    lints: tuple[lint.Lint, ...] = ()

    @cached_property
    def assembly(self) -> Assembly:
        """Machine code and the assembler's report; made on first use."""
        return self.built or assemble(self.ptx, self.entry, self.target, self.max_registers)

    @property
    def cubin(self) -> bytes | None:
        return self.assembly.cubin

    @property
    def registers(self) -> int | None:
        """Registers per thread, as the assembler reports them; None without an assembler."""
        return self.assembly.registers

    @property
    def spill_bytes(self) -> int | None:
        """Bytes of spill stores and loads in the code of one thread."""
        return self.assembly.spill_bytes

    @property
    def static_shared(self) -> int | None:
        """Static shared memory of one CTA, bytes."""
        return self.assembly.static_shared

    @property
    def messages(self) -> tuple[str, ...]:
        """What `ptxas -v` prints."""
        return self.assembly.messages

    @cached_property
    def params(self) -> tuple[Param, ...]:
        """The kernel's parameters in order."""
        return entries(self.ptx)[self.entry]

    def sass(self) -> str:
        """Return the machine code as text. Raises GemmlabError when nvdisasm or the assembler is missing."""
        return disassemble(self.cubin)

    def source_line(self, file: str, line: int) -> str:
        """Return one line of the kernel's source, "" if unknown."""
        lines = self.sources.get(file, "").splitlines()
        return lines[line - 1] if 0 < line <= len(lines) else ""


def entries(ptx: str) -> dict[str, tuple[Param, ...]]:
    """Return the kernels of a PTX text with their parameters."""
    return {name: tuple(map(_param, filter(str.strip, body.split(",")))) for name, body in _ENTRY.findall(ptx)}


def _param(text: str) -> Param:
    match = _PARAM.search(text.strip())
    if match is None:
        raise GemmlabError(f"cannot read the PTX parameter {text.strip()!r}")
    _, dtype, count = match.groups()
    return Param(dtype, int(dtype[1:]) // 8 * int(count or 1))


def parse_target(target: str) -> tuple[tuple[int, int], str]:
    """Split "sm_90a" into ((9, 0), "a"). Raises GemmlabError."""
    match = _TARGET.fullmatch(target) if isinstance(target, str) else None
    if match is None:
        raise GemmlabError(f"target {target!r} is not of the form 'sm_90' or 'sm_90a'")
    return (int(match[1]), int(match[2])), match[3]


def choose_target(spec: Spec | None, language: str, backend: str | None = None) -> str:
    """Return the target to compile for: the GPU's if it runs the kernel, else sm_90, or what the Spec needs."""
    here = device()
    if backend != "emulator" and here.kind == "gpu" and (spec is None or spec.runs_on(here.cc)):
        return here.target
    if spec is not None and (spec.suffix or spec.needs > parse_target(DEFAULT_TARGET)[0]):
        return spec.target
    return DEFAULT_TARGET


def compile_kernel(kernel, target: str | None = None, signature=None) -> Compiled:
    """Compile a kernel: a Spec, its name, a Numba kernel or function, or a CudaSource.

    `target`: "sm_75" … "sm_120a"; by default the GPU's, else sm_90 (or what the Spec needs). `signature`, for Numba:
    one entry per parameter, each an array (only its dtype, dimensions and order count), a scalar or a Numba type; by
    default 2-D C-contiguous float32 arrays. Results are cached. Raises GemmlabError with the compiler's reason.
    """
    if isinstance(kernel, Compiled):
        return kernel
    code, spec = resolve(kernel)
    language = "cuda" if isinstance(code, CudaSource) else "numba"
    target = target or choose_target(spec, language)
    cc, suffix = parse_target(target)
    if spec is not None:
        _preflight(spec, target, cc, suffix)
    if language == "cuda":
        return _compile_cuda(code, target, spec)
    return _compile_numba(code, target, cc, spec, signature)


def _preflight(spec: Spec, target: str, cc: tuple[int, int], suffix: str) -> None:
    """Refuse a target that cannot run the Spec before a compiler prints hundreds of lines."""
    if not spec.runs_on(cc) or (spec.suffix == "a" and suffix != "a"):
        where = f"exactly {spec.target}" if spec.suffix else f"{spec.target} or higher"
        raise GemmlabError(
            f"{spec.name} needs {where}, and {target} is not: "
            f'use target="{spec.target}" on the emulator (backend="emulator")'
        )


def from_ptx(ptx: str, language: str, entry: str | None = None) -> Compiled:
    """Make a Compiled from PTX text: `language` "numba" or "cuda" says how arrays are passed. Raises GemmlabError."""
    found = entries(ptx)
    if not found:
        raise GemmlabError("the PTX text has no kernel (.visible .entry)")
    if entry is None and len(found) > 1:
        raise GemmlabError(f"the PTX text has several kernels, name one: {', '.join(found)}")
    entry = entry or next(iter(found))
    if entry not in found:
        raise GemmlabError(f"the PTX text has no kernel {entry!r}, only {', '.join(found)}")
    target = re.search(r"^\.target\s+(sm_\w+)", ptx, re.MULTILINE)
    if target is None:
        raise GemmlabError("the PTX text has no .target line")
    return Compiled(ptx, entry, language, target[1], "PTX text", "")


# Compiled kernels, by Numba function; a function that is gone takes its entry along.
_numba_cache: weakref.WeakKeyDictionary[Callable, dict] = weakref.WeakKeyDictionary()
_cuda_cache: dict[tuple, Compiled] = {}


def _compile_numba(kernel, target: str, cc: tuple[int, int], spec: Spec | None, signature) -> Compiled:
    function = getattr(kernel, "py_func", kernel)
    types = _numba_types(function, spec, signature)
    cache = _numba_cache.setdefault(function, {})
    key = types, target, spec and spec.name
    compiled = cache.get(key)
    if compiled is None:
        options = compat.dispatcher_options(kernel)
        for device_function in lint.called_dispatchers(function):
            compat.request_line_numbers(device_function)
        cache.setdefault("captured", lint.captured(function))
        try:
            raw = compat.numba_ptx(function, types, cc, options)
        except Exception as error:  # Numba raises many classes, and the learner needs one line
            raise GemmlabError(hints.numba_message(error, function)) from None
        ptx, sources = name_files(_plain_names(raw, function.__name__), {})
        version = f"numba-cuda {compat.version('numba-cuda')}, NVVM {_nvvm_version(ptx)}"
        lints = lint.f64(ptx, types)
        sha = source_sha256(spec or kernel)
        compiled = cache[key] = Compiled(
            ptx=ptx,
            entry=function.__name__,
            language="numba",
            target=f"sm_{cc[0]}{cc[1]}",
            compiler=version,
            sha256=sha,
            sources=sources,
            spec=spec,
            arg_names=function.__code__.co_varnames[: function.__code__.co_argcount],
            max_registers=options.get("max_registers"),
            lints=lints,
        )
    lint.warn_if_stale(function, cache["captured"])
    return compiled


def _numba_types(function, spec: Spec | None, signature) -> tuple:
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[:count]
    if signature is None:
        dtypes = [spec.a_dtype, spec.b_dtype, spec.c_dtype] if spec else ["float32"] * 3
        if count != 3:
            raise GemmlabError(
                f"{function.__name__!r} has the parameters {', '.join(names)}, not A, B, C: "
                "pass signature=, one example per parameter"
            )
        return tuple(compat.numba_array_type(np.dtype(dtype), 2, "C") for dtype in dtypes)
    if len(signature) != count:
        raise GemmlabError(f"{function.__name__!r} takes {count} arguments ({', '.join(names)}), got {len(signature)}")
    return tuple(_numba_type(value) for value in signature)


def _numba_type(value):
    if is_array(value):
        order = next((order for order in "CF" if is_contiguous(value, order)), "A")
        return compat.numba_array_type(value.dtype, value.ndim, order)
    if hasattr(value, "mangling_args"):  # a Numba type
        return value
    return compat.numba_scalar_type(value)


def _plain_names(ptx: str, name: str) -> str:
    """Call the kernel by its Python name, and drop Numba's environment pointers, which kernels never read."""
    mangled = next(iter(entries(ptx)))
    ptx = ptx.replace(mangled, name)
    return re.sub(r"^\.common \.global \.align 8 \.u64 _ZN08NumbaEnv[\w$]*;\n", "", ptx, flags=re.MULTILINE)


def _nvvm_version(ptx: str) -> str:
    found = re.search(r"release [\d.]+, V([\d.]+)", ptx)
    return found[1] if found else "of unknown version"


def _compile_cuda(code: CudaSource, target: str, spec: Spec | None) -> Compiled:
    sha = source_sha256(spec or code)
    key = code, target, sha, spec and spec.name
    if key not in _cuda_cache:
        ptx, cubin, log, version = nvrtc.compile_text(code, target)
        found = entries(ptx)
        if code.entry not in found:
            raise GemmlabError(_missing_entry(code.entry, found))
        ptx, sources = name_files(ptx, {code.name: code.text})
        built = Assembly(cubin, f"NVRTC {version}", **parse_log(log, code.entry))
        types = tuple(param.dtype for param in cuda_params(code.text, code.entry))
        _cuda_cache[key] = Compiled(
            ptx=ptx,
            entry=code.entry,
            language="cuda",
            target=target,
            compiler=f"NVRTC {version}",
            sha256=sha,
            sources=sources,
            spec=spec,
            built=built,
            lints=lint.f64(ptx, types, "cuda") if types else (),
        )
    return _cuda_cache[key]


def _missing_entry(entry: str, found: dict) -> str:
    mangled = next((name for name in found if re.match(rf"_Z\d+{re.escape(entry)}(?![a-z0-9_])", name)), None)
    if mangled:
        return f"the kernel {entry!r} was compiled as {mangled!r}: write extern \"C\" in front of __global__"
    if not found:
        return f"the source has no kernel {entry!r}, nor any other (a template must be instantiated)"
    return f"the source has no kernel {entry!r}; it has {', '.join(found)}"
