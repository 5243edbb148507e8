"""Wrong results whose sum over k is incomplete, too long, scaled or not exact enough."""

import numpy as np

from gemmlab.case import Case
from gemmlab.patterns_operands import gather
from gemmlab.reference import magnitude, numpy_dtype, within
from gemmlab.regions import describe

SAMPLES = 64  # elements that the search along K looks at


def factor(case: Case) -> str | None:
    """Is C a multiple of A·B?"""
    known = np.abs(case.expected) > 1e3 * case.allowed
    if not known.any():
        return None
    times = float(np.median(case.C64[known] / case.expected[known]))
    allowed = 2 * (1 + abs(times)) * case.allowed
    if not np.isfinite(times) or not within(case.C, times * case.expected, allowed).all():
        return None
    if abs(times - 2) < 1e-3:
        return "C is exactly twice A·B: something is added twice"
    return f"C is {times:.4g} times A·B" if f"{times:.4g}" != "1" else None


def stops_early(case: Case) -> str | None:
    """Does the sum cover only k < j, or only k >= j?"""
    M, N, K = case.sizes
    picks = np.flatnonzero(case.wrong)
    picks = picks[:: max(1, len(picks) // SAMPLES)]
    m, n = np.unravel_index(picks, (M, N))
    products = case.a64[m] * case.b64[:, n].T
    sums = np.concatenate([np.zeros((len(picks), 1)), np.cumsum(products, axis=1)], axis=1)
    value, allowed = case.C64[m, n][:, None], case.allowed[m, n][:, None]
    where = "" if case.wrong.all() else f" in {describe(case.wrong)}"
    short = np.flatnonzero((np.abs(value - sums) <= allowed).all(axis=0))
    short = short[(short > 0) & (short < K)]
    if short.size:
        j = int(short[0])
        if j == 1:
            return f"only the first product (k = 0) arrives{where}: does the loop run over all of K?"
        return f"the last {K - j} of {K} products are missing{where}: the sum stops at k = {j - 1} (the K tail)"
    late = np.flatnonzero((np.abs(value - (sums[:, -1:] - sums)) <= allowed).all(axis=0))
    late = late[(late > 0) & (late < K)]
    if late.size:
        j = int(late[-1])
        if j == K - 1:
            return f"only the last product arrives{where}: the sum is overwritten in each step"
        return f"the first {j} of {K} products are missing{where}: the sum starts at k = {j}, or is overwritten there"
    return None


def wraps(case: Case) -> str | None:
    """Does the K loop run past the row's end and read on in the next row of A (and of B, stored by columns)?"""
    M, N, K = case.sizes
    steps = np.arange(K, K + 64)
    a = gather(case.A.astype(np.float64).ravel(), np.arange(M)[:, None] * K + steps)
    b_flat = case.B.astype(np.float64).ravel()
    by_columns = case.problem.layout.startswith("row,col")
    n = np.arange(N)
    index = n[None, :] * K + steps[:, None] if by_columns else steps[:, None] * N + n[None, :]
    extra = a[:, :, None] * gather(b_flat, index)[None, :, :]
    total = np.cumsum(extra, axis=1)
    for j in range(total.shape[1]):
        value = case.expected + total[:, j]
        known = np.isfinite(value)
        if known.mean() >= 0.5 and within(case.C, value, 2 * case.allowed)[known].all():
            count = j + 1
            steps_text = f"{count} step{'s' if count > 1 else ''}"
            return f"the K loop runs {steps_text} too far: past the end of a row it reads on in the next row"
    return None


def round_tf32(values: np.ndarray, truncate: bool = False) -> np.ndarray:
    """Round float32 values to TF32: 10 mantissa bits, ties away from zero (cvt.rna.tf32), or truncated."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + np.uint32(0 if truncate else 0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def precision(case: Case) -> str | None:
    """Is C nearly right: were the inputs or the sum kept in fewer bits?"""
    relative = np.abs(case.C64 - case.expected) / np.maximum(magnitude(case.problem, case.A, case.B), 1e-300)
    if not relative.max() < 0.1:
        return None
    if case.problem.a_dtype == "float32":
        narrow = {
            "TF32 (10 mantissa bits)": round_tf32,
            "truncated TF32 (10 mantissa bits)": lambda x: round_tf32(x, truncate=True),
            "FP16": lambda x: x.astype(np.float16),
            "BF16": lambda x: x.astype(numpy_dtype("bfloat16")),
        }
        for name, convert in narrow.items():
            a, b = convert(case.A).astype(np.float64), case.problem.logical(convert(case.B)).astype(np.float64)
            if case.equals(a, b):
                return f"the error is that of inputs rounded to {name}: the product is not computed in FP32"
    for name in ("float16", "bfloat16"):
        if case.problem.c_dtype == "float32" and (case.C.astype(numpy_dtype(name)).astype(np.float32) == case.C).all():
            return f"every element of C is a {name} number: the sum or the result is kept in {name}"
    ratio = float((np.abs(case.C64 - case.expected) / case.allowed).max())
    if ratio <= 1:
        return "every element is within its bound, but the errors together are too large: inputs or sums lose precision"
    return f"nearly right, but up to {ratio:.0f} times less exact than {case.problem.acc_dtype} sums allow"
