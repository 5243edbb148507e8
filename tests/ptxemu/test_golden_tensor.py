"""ldmatrix, stmatrix, cp.async, mma and wmma give what hardware gave: layouts and copies bit for bit, products within
the bound that ptxemu/tensor.py states.
"""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from golden_tensor import CASES, IMAGE, module

import ptxemu
from ptxemu.fragments import mma_layout
from ptxemu.tensor import decode_table

RECORDS = sorted((Path(__file__).parent / "data").glob("tensor_goldens_*.json.gz"))


def emulate(case, **keywords):
    """(result words, shared memory and global image afterwards), all uint32, and the report."""
    words, image = case.make()
    out, after = np.zeros((max(case.outputs, 1), 32), np.uint32), np.zeros(IMAGE // 4, np.uint32)
    entry = ptxemu.load(module(case)).entry("golden")
    given = words if words.size else np.zeros(32, np.uint32)
    report = ptxemu.launch(entry, 1, 32, [image, given, out, after], **keywords)
    return [out, after, image], report


def matrix(words, operand, kind, shape):
    """float64 matrix that the registers of a fragment hold."""
    layout = mma_layout(operand, kind, *shape)
    per_word = 32 // layout.packed
    mask = np.uint32(0xFFFFE000) if kind == "tf32" else np.uint32(0xFFFFFFFF)
    if layout.packed == 1:
        parts = (words & mask).view(np.int32 if kind == "s32" else np.float32)[..., None]
    else:
        shifts = np.arange(layout.packed, dtype=np.uint32) * np.uint32(per_word)
        parts = decode_table(kind)[(words[..., None] >> shifts) & np.uint32((1 << per_word) - 1)]
    out = np.empty(layout.rows * layout.cols)
    out[layout.index] = parts.transpose(1, 0, 2)
    return out.reshape(layout.rows, layout.cols)


def operands(case):
    """A, B, C of a product case as float64 matrices."""
    (m, n, k), (_, a, b, c) = case.product
    words, _ = case.make()
    ends = np.cumsum([mma_layout(o, t, m, n, k).registers for o, t in (("a", a), ("b", b), ("c", c))])
    parts = np.split(words, ends[:-1])
    return [matrix(p, o, t, (m, n, k)) for p, o, t in zip(parts, "abc", (a, b, c), strict=True)]


def bound(case):
    """Largest difference between two tensor cores that add in different orders and widths: float64[m, n]."""
    a, b, c = operands(case)
    with np.errstate(all="ignore"):
        largest = np.nanmax(np.abs(a[:, :, None] * b[None]), axis=1)
    return (a.shape[1] + 2) * 2.0**-22 * np.maximum(largest, np.abs(c))


def wrong_values(case, got, expected):
    """bool[m, n]: where D differs by more than the bound, plus a unit of D's type."""
    kind = case.product[1][0]
    got, expected = (matrix(w, "c", kind, case.product[0]) for w in (got, expected))
    with np.errstate(all="ignore"):
        unit = np.spacing(np.abs(expected).astype(np.float16 if kind == "f16" else np.float32)).astype(np.float64)
        close = np.isfinite(got) & np.isfinite(expected) & (np.abs(got - expected) <= bound(case) + unit)
    return ~(close | (got == expected) | (np.isnan(got) & np.isnan(expected)))


@pytest.mark.skipif(not RECORDS, reason="no recorded tensor goldens: run tools/record_goldens.py on a GPU")
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.split(".")[0])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_equals_hardware(case, path):
    record = json.loads(gzip.decompress(path.read_bytes()))
    if any(line.startswith(case.name + ":") for line in record["refused"]):
        pytest.skip("the driver of the recording refused this form")
    recorded = record["cases"].get(case.name)
    assert recorded, f"{case.name} was not recorded: run tools/record_goldens.py again"
    assert recorded["inputs"] == checksum(case), f"{case.name}: the inputs changed since the recording"
    got, _ = emulate(case, check=False, count=False)
    for name, mine in zip(("out", "shared", "image"), got, strict=True):
        expected = np.frombuffer(base64.b64decode(recorded[name]), np.uint32).reshape(mine.shape)
        if name == "out" and case.product:
            bad = wrong_values(case, mine, expected)
        else:
            bad = mine != expected
        assert not bad.any(), f"{case.name}: {name} differs at {np.argwhere(bad)[:4].tolist()}"


def checksum(case):
    return hashlib.sha256(b"".join(x.tobytes() for x in case.make())).hexdigest()[:16]


@pytest.mark.parametrize("case", [c for c in CASES if c.product], ids=lambda c: c.name.replace(" ", "_"))
def test_products_are_right(case):
    """D = A B + C in FP64, rounded once: the emulator's own statement, whatever the hardware does."""
    (out, _, _), report = emulate(case)
    assert not report.findings, str(report)
    a, b, c = operands(case)
    with np.errstate(all="ignore"):
        exact = c + (a[:, :, None] * b[None]).sum(axis=1)
    kind = case.product[1][0]
    got = matrix(out, "c", kind, case.product[0])
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float16 if kind == "f16" else np.float32).astype(np.float64)
        unit = np.spacing(np.abs(rounded).astype(np.float16 if kind == "f16" else np.float32))
        close = np.abs(got - rounded) <= unit + bound(case) * 2.0**-26  # FP64 sums differ by their order, too
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded)) | close
    assert same.all(), f"{case.name}: {np.argwhere(~same)[:4].tolist()}"


@pytest.mark.parametrize("case", [c for c in CASES if not c.product][::4], ids=lambda c: c.name.replace(" ", "_"))
def test_every_schedule_gives_the_same(case):
    first, report = emulate(case)
    assert not report.findings, str(report)
    for schedule in ("early", 1):
        again, _ = emulate(case, schedule=schedule)
        for x, y in zip(first, again, strict=True):
            np.testing.assert_array_equal(x, y)


def test_there_are_enough():
    assert len(CASES) >= 400 and len({c.name for c in CASES}) == len(CASES)


def test_the_comparison_can_fail():
    case = next(c for c in CASES if c.product and c.name.endswith("f32.f16.f16.f32 values"))
    (out, _, _), _ = emulate(case)
    assert not wrong_values(case, out, out).any()
    assert wrong_values(case, out ^ np.uint32(1 << 20), out).any()
