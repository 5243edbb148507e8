"""Every pattern is named when a NumPy stand-in makes it, at every shape where it shows."""

import re

import numpy as np
import pytest

from gemmlab import patterns, reference
from gemmlab.case import Case
from gemmlab.patterns_sums import round_tf32
from gemmlab.reference import Problem
from gemmlab.trial import bits, unset

FP32 = Problem()
SHAPES = [(32, 32, 32), (33, 17, 40), (24, 48, 20)]


def product(A, B):
    return (A.astype(np.float64) @ B.astype(np.float64)).astype(np.float32)


def case_of(make, shape, seed=0, problem=FP32, rerun=None):
    M, N, K = shape
    A, B = problem.inputs(np.random.default_rng(seed), M, N, K)
    C = unset((M, N), np.dtype(np.float32))
    result = make(A, B, C)
    C = C if result is None else result.astype(np.float32)
    return Case(problem, A, B, C, bits(C) == bits(unset((M, N), C.dtype)), rerun)


def said(make, shape, **options):
    case = case_of(make, shape, **options)
    rms_allowed = reference.rms_bound(case.problem, case.A, case.B)
    assert case.wrong.any() or not reference.rms_error(case.C, case.expected) <= rms_allowed, "not wrong"
    return patterns.explain(case)


def test_a_true_value_near_zero_does_not_hide_which_columns_are_zero():
    def make(A, B, C):
        return np.where(np.arange(C.shape[1]) % 4 == 0, 0, product(A, B))

    case = case_of(make, (64, 64, 64))
    case.expected[7, 8] = 0  # right by chance
    assert patterns.explain(case).startswith("C is zero in every 4th column from 0: ")
    case = case_of(make, (64, 64, 64))
    case.A[7], case.B[:, 8], case.C[7] = 0, 0, 0  # zero, as A·B is: not what is wrong
    assert patterns.explain(case).startswith("C is zero in rows 0–6, 8–63 of 64 × columns 0, 4, 12, 16 … of 64: ")


def partly(rows=slice(None), columns=slice(None), value=None):
    def make(A, B, C):
        good = product(A, B)
        if value is None:
            C[rows, columns] = good[rows, columns]
            return None
        good[rows, columns] = value
        return good

    return make


def truncated_k(stop):
    return lambda A, B, C: product(A[:, :stop], B[:stop])


def half_swap(A, B, C):
    return np.roll(product(A, B), C.shape[0] // 2, axis=0)


def checker(A, B, C):
    good = product(A, B)
    for top in range(0, C.shape[0], 16):
        for left in range(0, C.shape[1], 16):
            if (top + left) // 16 % 2 == 0:
                C[top : top + 16, left : left + 16] = good[top : top + 16, left : left + 16]


EVERYWHERE = [
    (lambda A, B, C: None, "C was never written"),
    (partly(rows=slice(0, 16)), r"rows 16–\d+ of \d+ never written: the grid is too short in the direction of M"),
    (partly(columns=slice(0, 16)), r"columns? 16(–\d+)? of \d+ never written: the grid is too short in .* of N"),
    (lambda A, B, C: np.full_like(C, np.nan), "C is NaN in all of C"),
    (lambda A, B, C: np.full_like(C, np.inf), "C is infinite"),
    (lambda A, B, C: np.zeros_like(C), "C is zero everywhere"),
    (partly(rows=slice(8, 16), value=0.0), r"C is zero in rows 8–15"),
    (lambda A, B, C: 2 * product(A, B), "exactly twice A·B"),
    (lambda A, B, C: -product(A, B), "C is -1 times A·B"),
    (lambda A, B, C: 0.5 * product(A, B), "C is 0.5 times A·B"),
    (truncated_k(16), r"the last \d+ of \d+ products are missing: the sum stops at k = 15"),
    (truncated_k(-1), r"the last 1 of \d+ products are missing"),
    (truncated_k(1), "only the first product"),
    (lambda A, B, C: product(A[:, -1:], B[-1:]), "only the last product arrives"),
    (lambda A, B, C: product(A[:, 4:], B[4:]), r"the first 4 of \d+ products are missing"),
    (lambda A, B, C: np.roll(product(A, B), 1, axis=1), "columns of C are in another order|shifted"),
    (lambda A, B, C: product(round_tf32(A), round_tf32(B)), "inputs rounded to TF32"),
    (lambda A, B, C: product(A.astype(np.float16), B.astype(np.float16)), "inputs rounded to (FP16|TF32)"),
    (lambda A, B, C: product(A, B).astype(np.float16), "kept in float16"),
    (partly(columns=slice(1, None), value=7.0), "only column 0 of C is right"),
    (partly(rows=slice(1, None), value=7.0), "only row 0 of C is right"),
    (partly(rows=slice(3, 5), value=7.0), "C is wrong in rows 3–4"),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("number", range(len(EVERYWHERE)))
def test_pattern_is_named(number, shape):
    make, message = EVERYWHERE[number]
    text = said(make, shape)
    assert re.search(message, text), text
    assert "\n" not in text


def test_transposed():
    assert "transpose of A·B" in said(lambda A, B, C: product(A, B).T, (32, 32, 20))
    stored = lambda A, B, C: product(A, B).T.reshape(C.shape)  # noqa: E731
    assert "transpose of A·B" in said(stored, (24, 40, 16))


def test_operands_that_change_places():
    assert "A·Bᵀ" in said(lambda A, B, C: product(A, B.T), (32, 32, 32))
    assert "A[k, m]" in said(lambda A, B, C: product(A.T, B), (32, 32, 32))
    assert "B·A" in said(lambda A, B, C: product(B, A), (32, 32, 32))
    assert "element by element" in said(lambda A, B, C: A * B, (32, 32, 32))
    column_major = lambda A, B, C: product(A, B.reshape(B.shape[::-1]).T)  # noqa: E731
    assert "B[n, k] instead of B[k, n]" in said(column_major, (24, 40, 16))


def test_wrong_leading_dimension():
    def make(A, B, C):
        (M, K), N = A.shape, B.shape[1]
        index = np.arange(M)[:, None] * N + np.arange(K)
        return product(A.ravel()[np.minimum(index, A.size - 1)], B)

    assert "N as its leading dimension instead of K" in said(make, (24, 12, 20))


def test_halves_and_blocks():
    assert "two halves of the rows" in said(half_swap, (32, 48, 20))
    assert "tiles of 16×16 elements never written" in said(checker, (64, 64, 16))


def test_row_wrap_with_b_by_columns():
    problem = Problem(layout="row,col->row")

    def make(A, B, C):
        (M, K), N = A.shape, B.shape[0]
        steps = np.arange(K + 3)
        a = A.ravel()[np.minimum(np.arange(M)[:, None] * K + steps, A.size - 1)]
        b = B.ravel()[np.minimum(np.arange(N)[:, None] * K + steps, B.size - 1)]
        return product(a[:, : K + 3], b.T)

    assert "3 steps too far" in said(make, (20, 24, 13), problem=problem)


def test_adding_to_old_content():
    base = {}

    def make(A, B, C):
        base["good"] = product(A, B)
        return C + base["good"]

    assert "adds to what C held before" in said(make, (24, 40, 16), rerun=lambda fill: base["good"] + np.float32(fill))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("shape", [*SHAPES, (16, 8, 2048), (1, 1, 1)], ids=str)
def test_float32_sums_stay_within_the_bounds(shape, scale):
    M, N, K = shape
    A, B = FP32.inputs(np.random.default_rng(1), M, N, K, scale)
    C = np.zeros((M, N), np.float32)
    for k in range(K):
        C += A[:, k : k + 1] * B[k : k + 1]
    size = reference.magnitude(FP32, A, B)
    expected = reference.reference(FP32, A, B)
    assert reference.within(C, expected, reference.bound(FP32, expected, size, K)).all()
    assert reference.rms_error(C, expected) <= reference.rms_bound(FP32, A, B) / 4


def test_tf32_breaks_the_rms_bound_at_long_k():
    A, B = FP32.inputs(np.random.default_rng(2), 16, 8, 2048)
    C, expected = product(round_tf32(A), round_tf32(B)), reference.reference(FP32, A, B)
    assert not reference.rms_error(C, expected) <= 8 * reference.rms_bound(FP32, A, B)


def test_tf32_rounds_ties_away():
    assert round_tf32(np.float32([1024.5])).item() == 1025.0
    assert round_tf32(np.float32([1024.5]), truncate=True).item() == 1024.0


def test_nan_is_never_within():
    assert not reference.within(np.float32([[np.nan]]), np.array([[0.0]]), np.array([[np.inf]])).any()
