"""One wrong result of a GEMM kernel, with all that is needed to find out what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gemmlab.reference import Problem, bound, magnitude, reference, within


@dataclass
class Case:
    """One wrong result. `unwritten` marks elements whose bits the kernel never changed (C is filled with NaN before).

    `rerun(fill)` repeats the launch on a C filled with `fill` and returns it, or is None.
    """

    problem: Problem
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    unwritten: np.ndarray
    rerun: Callable[[float], np.ndarray] | None = None

    @cached_property
    def expected(self) -> np.ndarray:
        return reference(self.problem, self.A, self.B)

    @cached_property
    def allowed(self) -> np.ndarray:
        size = magnitude(self.problem, self.A, self.B)
        return bound(self.problem, self.expected, size, self.A.shape[1])

    @cached_property
    def C64(self) -> np.ndarray:
        return self.C.astype(np.float64)

    @cached_property
    def wrong(self) -> np.ndarray:
        return ~within(self.C, self.expected, self.allowed)

    @cached_property
    def a64(self) -> np.ndarray:
        return self.A.astype(np.float64)

    @cached_property
    def b64(self) -> np.ndarray:
        return self.problem.logical(self.B).astype(np.float64)

    @property
    def sizes(self) -> tuple[int, int, int]:
        (M, K), N = self.A.shape, self.C.shape[1]
        return M, N, K

    def equals(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Is C the product a · b, within rounding? Elements that a or b leave undefined (NaN) do not count."""
        with np.errstate(invalid="ignore"):
            product, size = a @ b, np.abs(a) @ np.abs(b)
        known = np.isfinite(product)
        allowed = bound(self.problem, product, size, a.shape[1])
        return known.mean() >= 0.5 and bool(within(self.C, product, allowed)[known].all())
