"""Name what is wrong with a matrix in the learner's terms: transposed, unwritten, a dropped K tail, half precision …"""

import numpy as np

from gemmlab.case import Case
from gemmlab.patterns_operands import misread, moved, transposed
from gemmlab.patterns_sums import factor, precision, stops_early, wraps
from gemmlab.reference import within
from gemmlab.regions import describe

BY_CHANCE = 0.005  # of the elements may be right in a matrix of wrong numbers


def explain(case: Case) -> str:
    """Return one sentence on what is wrong with `case`, and one with the element that is furthest off."""
    if not case.wrong.any():
        return precision(case) or "the errors of C are too large together"
    for detector in _DETECTORS:
        sentence = detector(case)
        if sentence:
            return sentence + _worst(case)
    return f"C is wrong in {describe(case.wrong)}" + _worst(case)


def _worst(case: Case) -> str:
    wrong = case.wrong & ~case.unwritten
    if not wrong.any():
        return ""
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.where(wrong, np.nan_to_num(np.abs(case.C64 - case.expected), nan=np.inf, posinf=np.inf), -1.0)
    m, n = np.unravel_index(np.argmax(error), error.shape)
    if not np.isfinite(error[m, n]):
        return ""
    off = f"off by {error[m, n]:.3g}, allowed {case.allowed[m, n]:.2g}"
    return f"; C[{m}, {n}] is {case.C64[m, n]:.6g}, expected {case.expected[m, n]:.6g} ({off})"


def _adds_to_old(case: Case) -> str | None:
    """The kernel reads C: with zeros in it before, the result would be right."""
    if case.rerun is None or not np.isnan(case.C64).any():
        return None
    again = case.rerun(0.0)
    if within(again, case.expected, case.allowed).all() and not (again == 0).all():
        return "the kernel adds to what C held before: keep the sum in a register that starts at 0, and store it once"
    return None


def _unwritten(case: Case) -> str | None:
    if not case.unwritten.any():
        return None
    if case.unwritten.all():
        return "C was never written: is the store reached, and does the grid cover C?"
    M, N, _ = case.sizes
    rows, columns = case.unwritten.all(axis=1), case.unwritten.all(axis=0)
    advice = "does every element of C have a thread?"
    if rows.any() and rows[-1] and (case.unwritten == rows[:, None]).all():
        advice = "the grid is too short in the direction of M, or the guard cuts too early"
    elif columns.any() and columns[-1] and (case.unwritten == columns[None, :]).all():
        advice = "the grid is too short in the direction of N, or the guard cuts too early"
    elif case.unwritten[-1, -1]:
        advice = "is the number of blocks rounded up in both directions (cdiv)?"
    return f"{describe(case.unwritten)} never written: {advice}"


def _not_finite(case: Case) -> str | None:
    nan = np.isnan(case.C64) & ~case.unwritten
    if nan.any():
        return f"C is NaN in {describe(nan)}: an uninitialised value, or one read past the end of an array, got in"
    infinite = np.isinf(case.C64)
    if infinite.any():
        return f"C is infinite in {describe(infinite)}: the sum overflows its type, or is divided by zero"
    return None


def _zeros(case: Case) -> str | None:
    zero = case.C64 == 0
    if not case.wrong.any() or (case.wrong & ~zero).any():
        return None
    if (zero & ~case.wrong).mean() > BY_CHANCE:  # fewer are right since the true value is about as small
        zero = case.wrong
    if zero.all():
        return "C is zero everywhere: it is stored, but nothing is added up"
    return f"C is zero in {describe(zero)}: stored there, but nothing is added up"


def _only_first(case: Case) -> str | None:
    right = ~case.wrong
    M, N, _ = case.sizes
    if N > 1 and (right == (np.arange(N) == 0)[None, :]).all():
        return "only column 0 of C is right: does the column index reach all its uses?"
    if M > 1 and (right == (np.arange(M) == 0)[:, None]).all():
        return "only row 0 of C is right: does the row index reach all its uses?"
    return None


def _region(case: Case) -> str | None:
    if case.wrong.all():
        return "C is wrong everywhere"
    if case.wrong.mean() > 1 - BY_CHANCE:
        return "C is wrong nearly everywhere"
    if (~case.wrong).any():
        return f"C is wrong in {describe(case.wrong)} and right elsewhere"
    return None


_DETECTORS = (
    _adds_to_old,
    _unwritten,
    _not_finite,
    _zeros,
    transposed,
    misread,
    factor,
    _only_first,
    stops_early,
    wraps,
    moved,
    precision,
    _region,
)
