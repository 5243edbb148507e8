"""Numba kernels to PTX: signatures, names, and a cache that freezes a kernel as Numba does."""

import re
import weakref
from collections.abc import Callable

import numpy as np

from gemmlab import compat, hints, lint
from gemmlab.args import is_array, is_contiguous, kind_of
from gemmlab.compiled import Compiled, entries
from gemmlab.errors import GemmlabError
from gemmlab.source import name_files, source_sha256
from kernels import Spec

# Compiled kernels, by function; a function that is gone takes its entry along.
_cache: weakref.WeakKeyDictionary[Callable, dict] = weakref.WeakKeyDictionary()


def compile_numba(kernel, target: str, cc: tuple[int, int], spec: Spec | None, signature) -> Compiled:
    """Compile a Numba kernel; see gemmlab.compile.compile_kernel. Results are cached per types and target."""
    function = getattr(kernel, "py_func", kernel)
    types = _numba_types(function, spec, signature)
    cache = _cache.setdefault(function, {})
    options = compat.dispatcher_options(kernel)
    key = types, target, spec and spec.name, str(options)
    compiled = cache.get(key)
    if compiled is None:
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
    return tuple(_numba_type(function, name, value) for name, value in zip(names, signature, strict=True))


def _numba_type(function, name: str, value):
    try:
        return _type_of(value)
    except Exception:  # Numba's classes differ between arrays and scalars
        kind = f"array of {value.dtype}" if is_array(value) else kind_of(value)
        if is_array(value) and not value.dtype.isnative:
            kind += f" (bytes swapped: use {name}.astype({value.dtype.name!r}))"
        raise GemmlabError(f"argument {name} of {function.__name__!r}: Numba takes no {kind}") from None


def _type_of(value):
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
