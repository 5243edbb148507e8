"""Kernel arguments for both backends: check them, and lay them out as PTX parameters."""

import re
from dataclasses import dataclass

import numpy as np

from gemmlab import compat
from gemmlab.errors import GemmlabError

_POINTEES = {
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "unsigned int": "uint32",
    "unsigned": "uint32",
    "half": "float16",
    "__half": "float16",
    "nv_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "long long": "int64",
    "unsigned char": "uint8",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
}
_QUALIFIERS = re.compile(r"\b(const|volatile|__restrict__|restrict|__grid_constant__)\b")
MIN_DIM, MAX_THREADS = 1, 1024


@dataclass(frozen=True)
class CudaParam:
    """One parameter in CUDA C++: its name and, for a pointer to a known type, NumPy's name of that type."""

    name: str
    dtype: str | None
    pointer: bool


def is_array(value) -> bool:
    """Say whether `value` is an array of NumPy, CuPy or this package (anything with dtype, shape and strides)."""
    return hasattr(value, "dtype") and hasattr(value, "strides") and getattr(value, "ndim", 0) > 0


def is_tensor_map(value) -> bool:
    """Say whether `value` is what tensor_map returns."""
    return hasattr(value, "tiled")


def cuda_params(text: str, entry: str) -> list[CudaParam]:
    """Read the parameters of the CUDA C++ kernel `entry` from its source text; empty when they cannot be read."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    found = re.search(rf"\b{re.escape(entry)}\s*\(([^(){{}};]*)\)\s*\{{", text)
    params = []
    for declaration in found[1].split(",") if found and found[1].strip() else []:
        words = _QUALIFIERS.sub(" ", declaration).replace("*", " * ").split()
        pointer = "*" in words
        kind = " ".join(word for word in words[:-1] if word != "*")
        params.append(CudaParam(words[-1], _POINTEES.get(kind) if pointer else None, pointer))
    return params


def validate(compiled, args: tuple) -> list[str]:
    """Check the arguments of a launch; return their names. Raises GemmlabError: argument, expected, got, cure."""
    declared = []
    if compiled.language == "cuda":
        text = next((text for text in compiled.sources.values() if re.search(rf"\b{compiled.entry}\s*\(", text)), "")
        declared = cuda_params(text, compiled.entry)
        names = [param.name for param in declared] or list(compiled.arg_names) or _letters(len(args))
        if len(args) != len(compiled.params):
            raise GemmlabError(
                f"{compiled.entry!r} takes {len(compiled.params)} arguments ({', '.join(names)}), got {len(args)}"
            )
    else:
        names = list(compiled.arg_names) or _letters(len(args))
    for position, (name, value) in enumerate(zip(names, args, strict=False)):
        kind = kind_of(value)
        if is_array(value):
            _check_array(compiled, name, value, declared[position] if declared else None)
        elif declared and declared[position].pointer and not (
            isinstance(value, (bytes, int, np.integer)) or is_tensor_map(value)
        ):
            raise GemmlabError(f"argument {name} of {compiled.entry!r} is a pointer: pass an array, not {kind}")
        elif is_tensor_map(value):
            _check_tensor_map(compiled, name, compiled.params[position])
        elif not isinstance(value, (int, float, bytes, np.generic)):
            raise GemmlabError(f"argument {name} of {compiled.entry!r}: pass an array or a number, not {kind}")
    return names


def _check_tensor_map(compiled, name: str, param) -> None:
    if compiled.language != "cuda" or param.size not in (8, 128):
        raise GemmlabError(
            f"argument {name} of {compiled.entry!r} gets a tensor map, and its parameter has {param.size} bytes: "
            "declare it const __grid_constant__ CUtensorMap"
        )


def _letters(count: int) -> list[str]:
    return ["A", "B", "C", "M", "N", "K"][:count] if count <= 6 else [f"argument {i}" for i in range(count)]


def kind_of(value) -> str:
    """Name what was passed, with a cure where there is an obvious one."""
    return "a list (use np.array(…))" if isinstance(value, (list, tuple)) else type(value).__name__


def _check_array(compiled, name: str, array, declared: CudaParam | None) -> None:
    if array.size == 0:
        raise GemmlabError(f"argument {name} is empty (shape {tuple(array.shape)}): pass at least one element")
    if declared and not declared.pointer:
        raise GemmlabError(f"argument {name} of {compiled.entry!r} is a number, not an array: pass an int or a float")
    raw_bytes = str(array.dtype) == "uint8"  # a workspace: the kernel says what it holds
    if declared and declared.dtype and declared.dtype != str(array.dtype) and not raw_bytes:
        raise GemmlabError(
            f"argument {name} is {array.dtype}, and the kernel takes {declared.dtype}: "
            f'pass {name}.astype("{declared.dtype}")'
        )
    c_order = is_contiguous(array, "C")
    if compiled.language == "cuda" and not c_order:
        raise GemmlabError(
            f"argument {name} is not row-major (strides {tuple(array.strides)}), and the kernel gets a bare pointer: "
            f"pass np.ascontiguousarray({name})"
        )
    if not c_order and not is_contiguous(array, "F"):
        raise GemmlabError(
            f"argument {name} has gaps between its elements (strides {tuple(array.strides)}): "
            f"pass np.ascontiguousarray({name})"
        )


def is_contiguous(array, order: str) -> bool:
    """Say whether an array is contiguous in row-major ("C") or column-major ("F") order, from its strides alone."""
    step = array.dtype.itemsize
    pairs = list(zip(array.shape, array.strides, strict=True))
    for extent, stride in pairs if order == "F" else reversed(pairs):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


def flatten(compiled, args: tuple, pointer_of) -> list:
    """Lay the arguments out in the order of the PTX parameters; `pointer_of(position, array)` supplies the pointers.

    Numba passes an array as several parameters (see compat.flatten_array), CUDA C++ as one.
    """
    flat = []
    for position, value in enumerate(args):
        if not is_array(value):
            flat.append(value)
        elif compiled.language == "numba":
            pointer = pointer_of(position, value)
            flat += compat.flatten_array(pointer, tuple(value.shape), tuple(value.strides), value.dtype.itemsize)
        else:
            flat.append(pointer_of(position, value))
    if len(flat) != len(compiled.params):
        raise GemmlabError(
            f"{compiled.entry!r} has {len(compiled.params)} PTX parameters, and these arguments make {len(flat)}: "
            "the number or the dimensions of the arrays differ from what it was compiled for"
        )
    return flat


def param_bytes(value, size: int, what: str) -> bytes:
    """Return a scalar (or the bytes of a struct) as the `size` bytes of a kernel parameter. Raises GemmlabError."""
    if isinstance(value, bytes):
        raw = value
    elif isinstance(value, (bool, np.bool_, int, np.integer)):
        try:
            raw = int(value).to_bytes(size, "little", signed=int(value) < 0)
        except OverflowError:
            raise GemmlabError(f"{what} = {value} does not fit into {size} bytes") from None
    elif isinstance(value, (float, np.float32, np.float64)) and size in (2, 4, 8):
        raw = np.array(value, {2: np.float16, 4: np.float32, 8: np.float64}[size]).tobytes()
    else:
        raw = np.asarray(value).tobytes()
    if len(raw) != size:
        raise GemmlabError(f"{what} has {len(raw)} bytes, and the kernel takes {size}")
    return raw


PORTABLE_CLUSTER = 8  # CTAs; CUDA C++ Programming Guide, "Thread Block Clusters"


@dataclass(frozen=True)
class Geometry:
    """How much is launched: grid and block as (x, y, z), dynamic shared bytes of a CTA, CTAs of a cluster or None."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int = 0
    cluster: tuple[int, int, int] | None = None

    @classmethod
    def of(cls, grid, block, shared=0, cluster=None, nonportable: bool = False) -> "Geometry":
        """Check what a caller gave. Raises GemmlabError."""
        grid, block, shared = dims(grid, "grid"), dims(block, "block"), byte_count(shared, "shared")
        if cluster is not None:
            cluster = dims(cluster, "cluster")
            size = cluster[0] * cluster[1] * cluster[2]
            if size > PORTABLE_CLUSTER and not nonportable:
                raise GemmlabError(
                    f"cluster={cluster} has {size} CTAs, and only {PORTABLE_CLUSTER} are portable: pass "
                    "nonportable=True (an H200 holds clusters of up to 16)"
                )
            if any(extent % of for extent, of in zip(grid, cluster, strict=True)):
                raise GemmlabError(f"grid={grid} is no multiple of the cluster {cluster} in every dimension")
        return cls(grid, block, shared, cluster)


def dims(value, what: str) -> tuple[int, int, int]:
    """Return a grid or block size as (x, y, z). Raises GemmlabError."""
    values = (value,) if isinstance(value, (int, np.integer)) else value
    if not isinstance(values, (tuple, list)) or not 1 <= len(values) <= 3:
        raise GemmlabError(f"{what}={value!r}: give an integer or a tuple of one to three integers")
    if not all(isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) for entry in values):
        raise GemmlabError(f"{what}={value!r}: every entry must be an integer (use // or cdiv for a division)")
    if min(values) < MIN_DIM:
        raise GemmlabError(f"{what}={value!r}: every entry must be at least {MIN_DIM}")
    triple = (*map(int, values), 1, 1)[:3]
    threads = triple[0] * triple[1] * triple[2]
    if what == "block" and threads > MAX_THREADS:
        raise GemmlabError(f"block={value!r} has {threads} threads, and at most {MAX_THREADS} are allowed")
    return triple


def byte_count(value, what: str) -> int:
    """Return a number of bytes as an int. Raises GemmlabError."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise GemmlabError(f"{what}={value!r}: give a number of bytes that is not negative")
    return int(value)
