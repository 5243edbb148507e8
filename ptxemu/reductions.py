"""What cp.reduce.async.bulk does to global memory: (old bytes, new bytes) -> bytes. As an H200 does it, special numbers
included (tests/ptxemu/golden_tma.py).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

_OPERATIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda old, new: np.where(old >= new, 0, old + 1),
    "dec": lambda old, new: np.where((old == 0) | (old > new), new, old - 1),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_OF_FLOATS = {"add": np.add, "min": np.fmin, "max": np.fmax}  # the smaller and larger number, where one is NaN
_TYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "s32": np.int32,
    "u32": np.uint32, "b32": np.uint32, "s64": np.int64, "u64": np.uint64, "b64": np.uint64,
}  # fmt: skip
_BITWISE = {"and", "or", "xor"}
_OF_TYPES = {
    "f16": {"add", "min", "max"}, "bf16": {"add", "min", "max"}, "f32": {"add"}, "f64": {"add"},
    "u32": {"add", "min", "max", "inc", "dec"}, "s32": {"add", "min", "max"}, "u64": {"add", "min", "max"},
    "s64": {"min", "max"}, "b32": _BITWISE, "b64": _BITWISE,
}  # fmt: skip
# name of a tensor map's type -> (how it is computed, the operations that TMA has for it; others are illegal)
OF_MAPS = {
    "uint32": (np.uint32, {"add", "min", "max", "inc", "dec", *_BITWISE}),
    "int32": (np.int32, {"add", "min", "max", *_BITWISE}),
    "uint64": (np.uint64, {"add", "min", "max", *_BITWISE}),
    "int64": (np.int64, {"min", "max"}),
    "float16": (np.float16, {"add", "min", "max"}),
    "bfloat16": (ml_dtypes.bfloat16, {"add", "min", "max"}),
    "float32": (np.float32, {"add"}),
    "float32_ftz": (np.float32, {"add"}),
}
_CANONICAL = {2: np.uint16(0x7FFF), 4: np.uint32(0x7FFFFFFF), 8: np.uint64(0x7FFFFFFFFFFFFFFF)}


def reduction(mods, tensor):
    """(operation, type or "", function of the tensor map's type that makes the reduction) of a copy's modifiers, or
    None.
    """
    name = next((m for m in mods if m in _OPERATIONS), None)
    kind = next((m for m in mods if m in _TYPES), "")
    if name is None or (not tensor and name not in _OF_TYPES.get(kind, ())):
        return None

    def of(map_type):
        dtype = np.dtype(OF_MAPS[map_type][0] if map_type else _TYPES[kind])
        floats = dtype.kind not in "iu"
        operation = _OF_FLOATS[name] if floats else _OPERATIONS[name]

        def combine(old, new):
            parts = [np.ascontiguousarray(part).view(dtype) for part in (old, new)]
            if map_type == "float32_ftz":
                parts = [_flushed(part) for part in parts]
            with np.errstate(invalid="ignore", over="ignore"):
                made = operation(*parts).astype(dtype)
            if map_type == "float32_ftz":
                made = _flushed(made)
            if floats:
                bits = made.view(_CANONICAL[dtype.itemsize].dtype)
                bits[np.isnan(made)] = _CANONICAL[dtype.itemsize]
            return made.view(np.uint8)

        return combine

    return name, kind, of


def _flushed(values):
    return np.where(np.abs(values) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), values), values)
