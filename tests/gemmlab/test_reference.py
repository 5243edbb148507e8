"""Bounds by type: right results of every format pass, and the next worse format's do not."""

import ml_dtypes
import numpy as np
import pytest

from gemmlab.reference import MATH, Problem, bound, magnitude, reference, rms_bound, rms_error, within

SIZES = [(9, 12, 5), (33, 17, 64), (16, 8, 2048)]


def cut_tf32(x):
    """Cut float32 numbers off after TF32's ten mantissa bits."""
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


def parts(x, count):
    """Cut float32 numbers into `count` bf16 parts."""
    out, x = [], x.copy()
    for _ in range(count):
        part = (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        out.append(part.astype(np.float64))
        x = x - part
    return out


def multiply(A, B, math):
    """Return A · B in float64 of factors rounded as `math` does."""
    if math == "tf32":
        return cut_tf32(A).astype(np.float64) @ cut_tf32(B).astype(np.float64)
    if math == "3xtf32":
        (a, b), (c, d) = ((cut_tf32(x), cut_tf32(x - cut_tf32(x))) for x in (A, B))
        a, b, c, d = (x.astype(np.float64) for x in (a, b, c, d))
        return a @ c + a @ d + b @ c
    a, b = parts(A, 3), parts(B, 3)
    return sum(a[i] @ b[j] for i in range(3) for j in range(3) if math == "bf16x9" or i + j < 3)


def verdict(problem, A, B, C) -> bool:
    expected, K = reference(problem, A, B), A.shape[1]
    allowed = bound(problem, expected, magnitude(problem, A, B), K)
    return bool(within(C, expected, allowed).all()) and rms_error(C, expected) <= rms_bound(problem, A, B)


@pytest.mark.parametrize("M, N, K", SIZES)
@pytest.mark.parametrize("math", MATH)
def test_what_a_format_rounds_is_allowed(math, M, N, K):
    A, B = Problem().inputs(np.random.default_rng(1), M, N, K)
    C = multiply(A, B, math).astype(np.float32)
    assert verdict(Problem(math=math), A, B, C)
    assert not verdict(Problem(math=math), A, B, C * np.float32(1.02))
    if math != "tf32":
        assert not verdict(Problem(math=math), A, B, multiply(A, B, "tf32"))


def test_3xtf32_is_not_quite_fp32():
    A, B = Problem().inputs(np.random.default_rng(1), *SIZES[0])
    assert not verdict(Problem(), A, B, multiply(A, B, "3xtf32"))
    assert verdict(Problem(), A, B, multiply(A, B, "bf16x9"))


def test_integers_are_exact():
    problem = Problem("int8", "int8", "int32", "int32", "row,col->row")
    A, B = problem.inputs(np.random.default_rng(2), 9, 12, 64, 1e3)
    assert A.min() < -100 and B.max() > 100 and B.shape == (12, 64)
    C = A.astype(np.int32) @ B.T.astype(np.int32)
    assert verdict(problem, A, B, C)
    C[3, 4] += 1
    assert not verdict(problem, A, B, C)


@pytest.mark.parametrize("acc_dtype", ["float32", "float16"])
def test_fp16_results_fit(acc_dtype):
    problem = Problem("float16", "float16", "float16", acc_dtype)
    A, B = problem.inputs(np.random.default_rng(3), 64, 64, 2048, 1e3)
    C = reference(problem, A, B).astype(np.float16)
    assert np.isfinite(C).all() and verdict(problem, A, B, C)


@pytest.mark.parametrize("c_dtype", ["bfloat16", "float32"])
def test_storing_c_is_rounded_once(c_dtype):
    problem = Problem("bfloat16", "bfloat16", c_dtype)
    A, B = problem.inputs(np.random.default_rng(4), 33, 17, 64)
    exact = reference(problem, A, B)
    assert verdict(problem, A, B, exact.astype(ml_dtypes.bfloat16)) is (c_dtype == "bfloat16")
    worse = (exact * (1 + 2.0**-6)).astype(ml_dtypes.bfloat16)
    assert not verdict(problem, A, B, worse)
