"""What cp.reduce.async.bulk does to global memory: (old bytes, new bytes) -> bytes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

_OPERATIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_TYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "s32": np.int32,
    "u32": np.uint32, "b32": np.uint32, "s64": np.int64, "u64": np.uint64, "b64": np.uint64,
}  # fmt: skip
_MAP_TYPES = {
    0: np.uint8, 1: np.uint16, 2: np.uint32, 3: np.int32, 4: np.uint64, 5: np.int64, 6: np.float16, 7: np.float32,
    8: np.float64, 9: ml_dtypes.bfloat16,
}  # fmt: skip


def reduction(mods, tensor):
    """(operation, type or "", function of the tensor map that makes the reduction) of a copy's modifiers, or None."""
    name = next((m for m in mods if m in _OPERATIONS), None)
    kind = next((m for m in mods if m in _TYPES), "")
    if name is None or (not kind and not tensor):
        return None

    def of(view):
        dtype = np.dtype(_MAP_TYPES[view.number] if view is not None else _TYPES[kind])

        def combine(old, new):
            a, b = np.ascontiguousarray(old).view(dtype), np.ascontiguousarray(new).view(dtype)
            return _OPERATIONS[name](a, b).astype(dtype).view(np.uint8)

        return combine

    return name, kind, of
