"""The right answer and how far from it a right kernel may be.

Reference: A · B in float64 of the inputs as stored (already rounded to their type).

Bound: however the K products of one element are ordered and fused, K roundings of relative size u happen on the way, so
|C - AB| <= ((1 + u)^K - 1) |A||B|, which is at most (K + 2) u |A||B| here (N. Higham, Accuracy and Stability of
Numerical Algorithms, 2nd ed., section 3.5: gamma_K). u is half an ulp of the accumulator's type. Tensor cores truncate
instead of rounding and align products first, which a factor of 4 allows for. A narrower C adds u_C |AB|.
Factors that are rounded first (TF32) or split into parts (3xTF32) add MATH's error of one product. Integers are exact.
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
    "int8": 0.0,
    "int32": 0.0,
}
# What no kernel writes by chance, by bytes of an element: quiet NaN in floating-point types of that size.
UNSET_BITS = {1: 0x7F, 2: 0x7FE5, 4: 0x7FE5A5A5, 8: 0x7FFDA5A5A5A5A5A5}
TRUNCATION = 4  # of tensor cores, relative to correctly rounded accumulation
RMS_ALLOWANCE = 8
LIMIT_SCALE = 6  # standard deviations of an element of C that must fit into its type


@dataclass(frozen=True)
class Math:
    """How float32 factors are multiplied: the published rate that bounds it, products made for one, its error.

    `error` is the largest relative error of one product, factors cut off rather than rounded.
    """

    rate: str
    products: int
    error: float


# TF32 keeps 10 mantissa bits: cutting off costs 2^-10 per factor. 3xTF32 leaves out low x low (2^-20) and cuts the two
# low parts (2^-20 each). Three bf16 parts hold a float exactly: nine products lose nothing, six of them 3 x 2^-24.
MATH = {
    "tf32": Math("tf32", 1, 2.0**-9),
    "3xtf32": Math("tf32", 3, 2.0**-18),
    "bf16x9": Math("bfloat16", 9, 0.0),
    "bf16x6": Math("bfloat16", 6, 2.0**-22),
}


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
    math: str = ""

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
        """Draw A (M, K) and B, stored as the layout says, never symmetric: normal, or all values of an integer type.

        `scale` multiplies A; it is made smaller where C could not hold the products, and does not apply to integers.
        """
        shapes = (M, K), self.b_shape(N, K)
        if not is_float(self.a_dtype):
            pair = zip(shapes, (self.a_dtype, self.b_dtype), strict=True)
            return tuple(rng.integers(-128, 128, shape).astype(numpy_dtype(dtype)) for shape, dtype in pair)
        largest = min(float(ml_dtypes.finfo(numpy_dtype(name)).max) for name in (self.c_dtype, self.acc_dtype))
        scale = min(scale, largest / (LIMIT_SCALE * math.sqrt(K)))
        A = (rng.standard_normal(shapes[0]) * scale).astype(numpy_dtype(self.a_dtype))
        B = rng.standard_normal(shapes[1]).astype(numpy_dtype(self.b_dtype))
        return A, B

    def error_factors(self, K: int) -> tuple[float, float]:
        """Return (c, s): an element of C is wrong by at most c |A||B| + s |C|; s is what storing C rounds."""
        storing = UNIT[self.c_dtype] if self.c_dtype != self.acc_dtype else 0.0
        return (K + 2) * self._unit() + self._product_error(), storing

    def _unit(self) -> float:
        exact = self.a_dtype == self.acc_dtype and not self.math
        return UNIT[self.acc_dtype] * (1 if exact else TRUNCATION)

    def _product_error(self) -> float:
        return MATH[self.math].error if self.math else 0.0


def is_float(dtype: str) -> bool:
    """Say whether a type's name is that of a floating-point type."""
    return "float" in dtype


def reference(problem: Problem, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A · B in float64, (M, N)."""
    return A.astype(np.float64) @ problem.logical(B).astype(np.float64)


def magnitude(problem: Problem, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return |A| · |B| in float64, (M, N)."""
    return np.abs(A.astype(np.float64)) @ np.abs(problem.logical(B).astype(np.float64))


def bound(problem: Problem, expected: np.ndarray, size: np.ndarray, K: int) -> np.ndarray:
    """Return the largest error that a right kernel can make, per element; `size` is |A||B|."""
    summing, storing = problem.error_factors(K)
    smallest = (K + 1) * _smallest(problem.acc_dtype) + _smallest(problem.c_dtype)
    return summing * size + storing * np.abs(expected) + smallest


def _smallest(dtype: str) -> float:
    return float(ml_dtypes.finfo(numpy_dtype(dtype)).smallest_subnormal) if is_float(dtype) else 0.0


def rms_bound(problem: Problem, A: np.ndarray, B: np.ndarray) -> float:
    """Return the largest root mean square error over all of C that a right kernel makes on data of mean 0."""
    a, b = A.astype(np.float64), problem.logical(B).astype(np.float64)
    spread = _rms(np.sqrt(np.square(a) @ np.square(b)))
    storing = problem.error_factors(A.shape[1])[1] * _rms(a @ b) + _smallest(problem.c_dtype)
    rounding = RMS_ALLOWANCE * math.sqrt(A.shape[1]) * problem._unit() + problem._product_error()
    return rounding * spread + storing + 1e-45


def within(C: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Say per element whether C is right. NaN never is."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.abs(C.astype(np.float64) - expected) <= allowed


def rms_error(C: np.ndarray, expected: np.ndarray) -> float:
    """Return the root mean square error of C."""
    return _rms(C.astype(np.float64) - expected)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
