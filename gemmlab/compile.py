"""Compile any kernel to PTX, and to machine code where an assembler is here; no GPU and no driver needed."""

import re

from gemmlab import lint, nvrtc
from gemmlab.args import cuda_params
from gemmlab.assemble import Assembly, parse_log
from gemmlab.compiled import Compiled, Param, entries, from_ptx, parse_target
from gemmlab.device import device
from gemmlab.errors import GemmlabError
from gemmlab.numba_compile import compile_numba
from gemmlab.source import CudaSource, cuda_source, name_files, resolve, source_sha256
from kernels import Spec

__all__ = ["Compiled", "CudaSource", "Param", "compile_kernel", "cuda_source", "entries", "from_ptx", "parse_target"]

DEFAULT_TARGET = "sm_90"  # the emulator executes any target; one default gives everyone the same counters
CUDA_TARGET = "sm_90a"  # of CUDA C++ text without a Spec: all of sm_90, and wgmma

_cuda_cache: dict[tuple, Compiled] = {}


def choose_target(code, spec: Spec | None, backend: str | None = None) -> str:
    """Return the target to compile for: the GPU's if it runs the kernel, else sm_90, or what the Spec needs."""
    here = device()
    if backend != "emulator" and here.kind == "gpu" and (spec is None or spec.runs_on(here.cc)):
        return here.target
    if spec is not None and (spec.suffix or spec.needs > parse_target(DEFAULT_TARGET)[0]):
        return spec.target
    return CUDA_TARGET if spec is None and isinstance(code, CudaSource) else DEFAULT_TARGET


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
    target = target or choose_target(code, spec)
    cc, suffix = parse_target(target)
    if spec is not None:
        _preflight(spec, target, cc, suffix)
    if language == "cuda":
        return _compile_cuda(code, target, spec)
    return compile_numba(code, target, cc, spec, signature)


def _preflight(spec: Spec, target: str, cc: tuple[int, int], suffix: str) -> None:
    """Refuse a target that cannot run the Spec before a compiler prints hundreds of lines."""
    if not spec.runs_on(cc) or (spec.suffix == "a" and suffix != "a"):
        where = f"exactly {spec.target}" if spec.suffix else f"{spec.target} or higher"
        raise GemmlabError(
            f"{spec.name} needs {where}, and {target} is not: "
            f'use target="{spec.target}" on the emulator (backend="emulator")'
        )


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
