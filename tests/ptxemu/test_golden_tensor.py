"""ldmatrix, stmatrix, cp.async, mma and wmma give what hardware gave, bit for bit; products are also near the exact
ones.
"""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from golden_tensor import CASES, IMAGE, TensorCase, module

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
    """Largest difference between D before it is rounded and the exact sum, as ptxemu/tensor.py derives it: what all
    terms of the steps lose at the 25th bit below the largest, in units of 2^E; float64[m, n].
    """
    a, b, c = operands(case)
    with np.errstate(all="ignore"):
        largest = np.nanmax(np.abs(a[:, :, None] * b[None]), axis=1)
    return (a.shape[1] + 2) * 2.0**-25 * np.maximum(largest, np.abs(c))


def rounding(case, values):
    """Largest error of the roundings to D's type: float64[m, n]. FP8's two steps are rounded, too: unlimited where one
    of them may overflow.
    """
    a, b, c = operands(case)
    kind = np.float16 if case.product[1][0] == "f16" else np.float32
    with np.errstate(all="ignore"):
        if case.product[1][1] not in ("e4m3", "e5m2"):
            return np.spacing(np.abs(values).astype(kind)).astype(np.float64)
        size = np.abs(values) + np.abs(c) + 2 * np.abs(a[:, :, None] * b[None]).sum(axis=1)
        unit = np.spacing(size.astype(kind)).astype(np.float64)
    return np.where(np.isnan(unit), np.inf, unit)


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
        bad = mine != expected
        assert not bad.any(), f"{case.name}: {name} differs at {np.argwhere(bad)[:4].tolist()}"


def checksum(case):
    return hashlib.sha256(b"".join(x.tobytes() for x in case.make())).hexdigest()[:16]


@pytest.mark.parametrize("case", [c for c in CASES if c.product], ids=lambda c: c.name.replace(" ", "_"))
def test_products_are_right(case):
    """D is A B + C within the bound, whatever the hardware does."""
    (out, _, _), report = emulate(case)
    assert not report.findings, str(report)
    a, b, c = operands(case)
    with np.errstate(all="ignore"):
        exact = c + (a[:, :, None] * b[None]).sum(axis=1)
        kind = np.float16 if case.product[1][0] == "f16" else np.float32
        rounded = exact.astype(kind).astype(np.float64)
        got = matrix(out, "c", case.product[1][0], case.product[0])
        units = rounding(case, exact)
        close = (np.abs(got - exact) <= bound(case) + units) | (units == np.inf)
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


@pytest.mark.parametrize(("power", "kept"), [(-26, 0), (-25, 1)])
def test_a_term_is_cut_at_the_25th_bit(power, kept):
    """-1 + 1 + seven products 2^power: each is cut before they are added."""
    shape = 16, 8, 8

    def words(rng):
        factors = np.full(8, 2.0**-13), np.full(8, 2.0 ** (power + 13))
        for values in factors:
            values[0] = 1
        a, b = (mma_layout(operand, "f16", *shape) for operand in "ab")
        parts = factors[0][a.col], factors[1][b.row]
        half = [p.astype(np.float16).view(np.uint32)[..., 0].T for p in parts]
        return np.concatenate([*half, np.full((4, 32), -1, np.float32).view(np.uint32)])

    form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
    body = f"{form} {{%d0, %d1, %d2, %d3}}, {{%w0, %w1}}, {{%w2}}, {{%w3, %w4, %w5, %w6}};"
    case = TensorCase(f"{form} cut", body, 7, 4, words)
    (out, _, _), _ = emulate(case)
    assert (out.view(np.float32) == kept * 7 * 2.0**power).all()
