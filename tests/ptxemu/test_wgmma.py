"""wgmma against a reference of its own: descriptors byte by byte, layouts element by element, products in FP64."""

import numpy as np
import pytest
from golden_products import BITS, TYPES
from golden_wgmma import CASES, IMAGE, THREADS, module
from reference_wgmma import added, element_at, fragment_a, fragment_d

import ptxemu


def emulate(case, **keywords):
    """(registers of D afterwards uint32[registers, 128], report)."""
    words, image = case.make()
    out = np.zeros((case.sums, THREADS), np.uint32)
    report = ptxemu.launch(ptxemu.load(module(case)).entry("golden"), 1, THREADS, [image, words, out], **keywords)
    return out, report


def numbers(words, kind):
    """float64 of the elements in registers, in order: [registers, threads, elements]."""
    if kind == "tf32":
        words = words & np.uint32(0xFFFFE000)
    return np.ascontiguousarray(words).view(TYPES[kind]).astype(np.float64).reshape(*words.shape, -1)


def operands(case):
    """A, B, C as float64 matrices, read by the reference."""
    words, image = case.make()
    d, a, b = case.kinds
    matrices = []
    for which, word, rows, kind in (("a", case.a, 64, a), ("b", case.b, case.n, b)):
        if word is None:
            continue
        elements = numbers(image.reshape(-1, 1), kind).ravel()
        size, trans = BITS[kind] // 8, case.trans["ab".index(which)]
        at = [[element_at(word, size, trans, r, k) % IMAGE // size for k in range(case.k)] for r in range(rows)]
        matrices.append(elements[np.array(at)])
    c = np.empty((64, case.n))
    for (row, col), (register, thread, part) in fragment_d(case.n, BITS[d]):
        c[row, col] = numbers(words[: case.sums], d)[register, thread, part]
    if case.a is None:
        first = np.empty((64, case.k))
        values = numbers(words[case.sums :], a)
        for (row, col), (register, thread, part) in fragment_a(BITS[a]):
            first[row, col] = values[register, thread, part]
        matrices.insert(0, first)
    return matrices[0], matrices[1].T, c


def matrix(case, out):
    """float64[64, n] that the registers of D hold."""
    got, values = np.empty((64, case.n)), numbers(out, case.kinds[0])
    for (row, col), (register, thread, part) in fragment_d(case.n, BITS[case.kinds[0]]):
        got[row, col] = values[register, thread, part]
    return got


def expected(case):
    """D, from the definition."""
    a, b, c = operands(case)
    a = case.signs[0] * case.signs[1] * a
    with np.errstate(all="ignore"):
        for _ in range(case.times):
            c = c if case.scale else np.zeros_like(c)
            if case.kinds[0] != "s32":
                plain = a @ b + c
                c = np.where(np.isfinite(plain), added(a, b, c, case.kinds), plain)
                continue
            c = a @ b + c
            c = np.clip(c, -(2.0**31), 2.0**31 - 1) if case.saturate else (c + 2.0**31) % 2.0**32 - 2.0**31
    return c


@pytest.mark.parametrize("case", CASES[::6], ids=lambda c: c.name.replace(" ", "_"))
def test_equals_the_reference(case):
    out, report = emulate(case)
    assert not report.findings, str(report)
    np.testing.assert_array_equal(matrix(case, out), expected(case))


@pytest.mark.parametrize("case", CASES[::40], ids=lambda c: c.name.replace(" ", "_"))
def test_every_schedule_gives_the_same(case):
    first, _ = emulate(case)
    for keywords in ({"schedule": "early"}, {"schedule": 1}, {"check": False, "count": False}, {"check": False}):
        again, _ = emulate(case, **keywords)
        np.testing.assert_array_equal(again, first)
