"""The right answer and how far from it a right kernel may be.

Reference: A · B in float64 of the inputs as stored (already rounded to their type).

Bound: however the K products of one element are ordered and fused, K roundings of relative size u happen on the way, so
|C - AB| <= ((1 + u)^K - 1) |A||B|, which is at most (K + 2) u |A||B| here (N. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., section 3.5: gamma_K). u is half an ulp of the accumulator's type. Tensor cores truncate
instead of rounding and align products first, which a factor of 4 allows for. A narrower C adds u_C |AB|.
No correct kernel breaks this bound, whatever the data's scale.

The bound grows like K², rounding of the inputs (TF32) only like sqrt(K): TF32 breaks it clearly at the small K of the
checks, but not at K = 2048. There the root mean square decides. For data of mean 0, as the checks draw them, a sum
over j products has size sqrt(j / K) sqrt(A² B²), so that K independent roundings make an error of at most
u sqrt(K / 2) sqrt(A² B²) in the root mean square; eight times u sqrt(K) sqrt(A² B²) is allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from gemmlab.errors import GemmlabError
from kernels import Spec

# Half the distance from 1 to the next number: the largest relative error of one rounding.
UNIT = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
    "float8_e4m3fn": 2.0**-4,
    "float8_e5m2": 2.0**-3,
}
TRUNCATION = 4  # of tensor cores, relative to correctly rounded accumulation
RMS_ALLOWANCE = 8


def numpy_dtype(name: str) -> np.dtype:
    """Return the NumPy dtype of a type name, ml_dtypes' types included. Raises GemmlabError."""
    try:
        return np.dtype(getattr(ml_dtypes, name, name))
    except TypeError:
        raise GemmlabError(f"unknown data type {name!r}; known are {', '.join(UNIT)}") from None


@dataclass(frozen=True)
class Problem:
    """The types and the storage of one GEMM: what a Spec or a launch rule says about A, B and C."""

    a_dtype: str = "float32"
    b_dtype: str = "float32"
    c_dtype: str = "float32"
    acc_dtype: str = "float32"
    layout: str = "row,row->row"

    @classmethod
    def of(cls, spec: Spec | None, rule: dict | None = None) -> Problem:
        """Take the types from `spec`, and from `rule` where it names them."""
        names = cls.__dataclass_fields__
        values = {name: getattr(spec, name) for name in names} if spec else {}
        values.update({name: value for name, value in (rule or {}).items() if name in names})
        return cls(**values)

    def b_shape(self, N: int, K: int) -> tuple[int, int]:
        """Return the shape of the array that stores B: (K, N), or (N, K) when B is column-major."""
        return (N, K) if self.layout.startswith("row,col") else (K, N)

    def logical(self, B: np.ndarray) -> np.ndarray:
        """Return B as a (K, N) matrix, whatever its storage."""
        return B.T if self.layout.startswith("row,col") else B

    def inputs(self, rng: np.random.Generator, M: int, N: int, K: int, scale: float = 1.0):
        """Draw A (M, K) and B, stored as the layout says: normal, never symmetric, in their types."""
        A = (rng.standard_normal((M, K)) * scale).astype(numpy_dtype(self.a_dtype))
        B = rng.standard_normal(self.b_shape(N, K)).astype(numpy_dtype(self.b_dtype))
        return A, B


def error_factor(K: int, a_dtype: str, c_dtype: str, acc_dtype: str) -> float:
    """Return c so that the error of one element is at most c |A||B|, storing C included."""
    storing = UNIT[c_dtype] if c_dtype != acc_dtype else 0.0
    return (K + 2) * _unit(a_dtype, acc_dtype) + storing


def _unit(a_dtype: str, acc_dtype: str) -> float:
    return UNIT[acc_dtype] * (1 if a_dtype == acc_dtype else TRUNCATION)


def reference(problem: Problem, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A · B in float64, (M, N)."""
    return A.astype(np.float64) @ problem.logical(B).astype(np.float64)


def magnitude(problem: Problem, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return |A| · |B| in float64, (M, N)."""
    return np.abs(A.astype(np.float64)) @ np.abs(problem.logical(B).astype(np.float64))


def bound(problem: Problem, expected: np.ndarray, size: np.ndarray, K: int) -> np.ndarray:
    """Return the largest error that a right kernel can make, per element; `size` is |A||B|."""
    dtype = numpy_dtype(problem.c_dtype)
    storing = UNIT[problem.c_dtype] * np.abs(expected) if problem.c_dtype != problem.acc_dtype else 0.0
    smallest = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    return (K + 2) * _unit(problem.a_dtype, problem.acc_dtype) * size + storing + (K + 1) * smallest


def rms_bound(problem: Problem, A: np.ndarray, B: np.ndarray) -> float:
    """Return the largest root mean square error over all of C that a right kernel makes on data of mean 0."""
    a, b = A.astype(np.float64), problem.logical(B).astype(np.float64)
    spread = _rms(np.sqrt(np.square(a) @ np.square(b)))
    storing = UNIT[problem.c_dtype] * _rms(a @ b) if problem.c_dtype != problem.acc_dtype else 0.0
    return RMS_ALLOWANCE * math.sqrt(A.shape[1]) * _unit(problem.a_dtype, problem.acc_dtype) * spread + storing + 1e-45


def within(C: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Say per element whether C is right. NaN never is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.abs(C.astype(np.float64) - expected) <= allowed


def rms_error(C: np.ndarray, expected: np.ndarray) -> float:
    """Return the root mean square error of C."""
    return _rms(C.astype(np.float64) - expected)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
