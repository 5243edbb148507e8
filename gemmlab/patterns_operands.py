"""Wrong results whose operands, rows or columns change places."""

from collections.abc import Iterator

import numpy as np

from gemmlab.case import Case
from gemmlab.reference import UNIT, within

_EXCHANGED = (
    "neighbours along k change places in one of them; the first belongs into the lower half of a 32-bit register"
)


def gather(flat: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return flat[index], NaN where the index lies outside."""
    inside = (index >= 0) & (index < flat.size)
    return np.where(inside, flat[np.clip(index, 0, flat.size - 1)], np.nan)


def _turned_tiles(name: str, x: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return (sentence, x) with x transposed inside tiles: a fragment loaded without .trans, or as the other layout."""
    rows, cols = x.shape
    edges = [edge for edge in (8, 16) if rows % edge == cols % edge == 0]
    tiles = [x.reshape(rows // e, e, cols // e, e).transpose(0, 3, 2, 1).reshape(rows, cols) for e in edges]
    return [(f"{name} is transposed inside its tiles of {e} × {e}", tile) for e, tile in zip(edges, tiles, strict=True)]


def _operand_readings(case: Case) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield (sentence, a, b) for every way to read A or B with other strides than their own."""
    M, N, K = case.sizes
    m, k, n = np.arange(M)[:, None], np.arange(K), np.arange(N)
    a_flat, b_flat = case.A.astype(np.float64).ravel(), case.B.astype(np.float64).ravel()
    kn, nk = k[:, None], n[None, :]
    column_major = case.problem.layout.startswith("row,col")
    own, other = ("B[n, k]", "B[k, n]") if column_major else ("B[k, n]", "B[n, k]")
    ways_a = [
        ("", case.a64),
        ("A is read as A[k, m] (its transpose)", gather(a_flat, k * M + m)),
        ("A is read with M as its leading dimension instead of K", gather(a_flat, m * M + k)),
        ("A is read with N as its leading dimension instead of K", gather(a_flat, m * N + k)),
        *_turned_tiles("A", case.a64),
    ]
    ways_b = [
        ("", case.b64),
        (f"B is read as {other} instead of {own}", gather(b_flat, kn * N + nk if column_major else nk * K + kn)),
        ("B is read with K as its leading dimension instead of N", gather(b_flat, kn * K + nk)),
        ("B is read with M as its leading dimension", gather(b_flat, kn * M + nk)),
        ("B is read as B[n, k] with N as its leading dimension", gather(b_flat, nk * N + kn)),
        *_turned_tiles("B", case.b64),
        *([(_EXCHANGED, case.b64[k ^ 1])] if K % 2 == 0 else []),
    ]
    for said_a, a in ways_a:
        for said_b, b in ways_b:
            if said_a or said_b:
                yield " and ".join(filter(None, (said_a, said_b))), a, b


def transposed(case: Case) -> str | None:
    """Do rows and columns, or A and B, change places?"""
    M, N, _ = case.sizes
    swapped = case.C64.reshape(N, M).T
    if within(swapped, case.expected, case.allowed).all():
        return "C is the transpose of A·B: row and column change places where C is stored"
    as_stored = not case.problem.layout.startswith("row,col")  # else the product asked for is A·Bᵀ of the stored B
    if M == N and as_stored and case.equals(case.a64, case.b64.T if case.a64.shape[1] == N else case.b64):
        return "C is A·Bᵀ: row and column of B change places"
    if M == N == case.sizes[2] and case.equals(case.b64, case.a64):
        return "C is B·A: A and B change places"
    if M == N == case.sizes[2]:
        product = case.a64 * case.b64
        if within(case.C, product, UNIT[case.problem.acc_dtype] * 4 * np.abs(product)).all():
            return "C is the product of A and B element by element, not the matrix product"
    return None


def misread(case: Case) -> str | None:
    """Is C the product of A and B read with wrong strides?"""
    for sentence, a, b in _operand_readings(case):
        if case.equals(a, b):
            return f"C is a product of wrong operands: {sentence}"
    return None


def moved(case: Case) -> str | None:
    """Are the rows or the columns of A·B all there, in another order?"""
    for word, C, expected, allowed in (
        ("row", case.C64, case.expected, case.allowed),
        ("column", case.C64.T, case.expected.T, case.allowed.T),
    ):
        fits = (np.abs(C[:, None, :] - expected[None, :, :]) <= np.maximum(allowed[:, None], allowed[None])).all(axis=2)
        found = fits.argmax(axis=1)
        known = fits.any(axis=1)
        count = len(found)
        if count < 2 or known.mean() < 0.5:
            continue
        step = found - np.arange(count)
        moved = np.flatnonzero(known & (step != 0))
        if not moved.size:
            continue
        if known.all() and count % 2 == 0 and (found == (np.arange(count) + count // 2) % count).all():
            return f"the two halves of the {word}s of C change places"
        if (step[known] == step[moved[0]]).all():
            return f"C is shifted: {word} {moved[0]} holds {word} {found[moved[0]]} of A·B, and so on"
        if known.all():
            pair = f"{word} {moved[0]} holds {word} {found[moved[0]]} of A·B"
            distinct = "in another order" if len(set(found)) == count else "partly repeated"
            return f"the {word}s of C are {distinct}: {pair}"
    return None
