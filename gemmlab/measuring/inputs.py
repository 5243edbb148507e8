"""Data of a measurement on the GPU, and the right answer there: random A and B, an unset C, the product in FP64."""

from __future__ import annotations

from gemmlab.measuring import refusals
from gemmlab.reference import UNSET_BITS, Problem, is_float, numpy_dtype

TINY = 1e-30  # added to every bound: exact results have none


class Sets:
    """Several random A, B and unset C for one problem and shape on the GPU; set i of the rotation is `self[i]`."""

    def __init__(self, problem: Problem, M: int, N: int, K: int, count: int):
        import cupy

        self.items = [
            (
                random((M, K), problem.a_dtype),
                random(problem.b_shape(N, K), problem.b_dtype),
                unset(cupy.empty((M, N), dtype=numpy_dtype(problem.c_dtype))),
            )
            for _ in range(count)
        ]
        for name, array in zip("AB", self.items[0], strict=False):
            refusals.flat_input(name, array)

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


def random(shape: tuple[int, int], dtype: str):
    """Return normal numbers, or all values of INT8 alike, made on the GPU."""
    import cupy

    if is_float(dtype):
        return cupy.random.standard_normal(shape, dtype=cupy.float32).astype(numpy_dtype(dtype), copy=False)
    return cupy.random.randint(-128, 128, shape, dtype=cupy.int32).astype(numpy_dtype(dtype))


def unset(C):
    """Fill C with bits that no product makes (NaN where its type has one): what is still there was never written."""
    C.view(f"u{C.dtype.itemsize}")[...] = UNSET_BITS[C.dtype.itemsize]
    return C


class Truth:
    """The FP64 product of one A and B on the GPU, and how far from it a right kernel may be (gemmlab.reference)."""

    def __init__(self, A, B, problem: Problem):
        import cupy

        A64, B64 = A.astype(cupy.float64), problem.logical(B).astype(cupy.float64)
        self.exact = A64 @ B64
        summing, storing = problem.error_factors(A.shape[1])
        self.allowed = cupy.abs(A64) @ cupy.abs(B64)
        self.allowed *= summing
        self.allowed += storing * cupy.abs(self.exact) + TINY
        self.fp32 = problem.a_dtype == problem.acc_dtype == "float32" and problem.math != "tf32"

    def check(self, name: str, C) -> float:
        """Refuse a wrong C; return its largest error over the largest |element|."""
        import cupy

        refusals.bad_output(name, C)
        error = cupy.abs(C.astype(cupy.float64) - self.exact)
        refusals.large_error(name, float((error / self.allowed).max()))
        if self.fp32:
            refusals.like_tf32(name, float(cupy.sqrt((error**2).mean() / (self.exact**2).mean())))
        return float(error.max() / cupy.abs(self.exact).max())
