"""Every instruction form gives the bits that hardware gave (approximate functions: within their stated bound)."""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from golden_cases import CASES
from golden_ptx import module
from golden_values import COUNT, bits_of, operands

import ptxemu

RECORDS = sorted((Path(__file__).parent / "data").glob("goldens_*.json.gz"))


def dtype_of(kind):
    return np.dtype(f"u{max(16, bits_of(kind)) // 8}")


def emulate(case):
    """(result bits, operand arrays) of one case on the emulator."""
    columns = operands(case.kinds, case.seed, case.limit)
    inputs = [c.astype(dtype_of(k)) for c, k in zip(columns, case.kinds, strict=True)]
    result, scratch = np.zeros(COUNT, dtype_of(case.out)), np.zeros(16 * COUNT, np.uint8)
    entry = ptxemu.load(module(case)).entry("golden")
    ptxemu.launch(entry, COUNT // 32, 32, [*inputs, result, scratch], check=False, count=False)
    return result, columns


def is_nan(bits, kind):
    """Where float bit patterns are NaN."""
    layout = {"f16": (0x7FFF, 0x7C00), "bf16": (0x7FFF, 0x7F80), "f32": (0x7FFFFFFF, 0x7F800000)}
    mask, infinity = layout.get(kind, (0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000))
    return (bits & bits.dtype.type(mask)) > bits.dtype.type(infinity)


def wrong(case, got, expected, columns=()):
    """bool[COUNT]: where ``got`` is not what the case allows."""
    bad = got != expected
    for column in columns[1:] if case.below else ():
        bad &= column < case.below
    if case.nan == "any":
        lanes = [(got, expected)]
        if case.out.endswith("x2"):
            lanes = [(g.view(np.uint16), e.view(np.uint16)) for g, e in lanes]
            both = is_nan(lanes[0][0], case.out[:-2]) & is_nan(lanes[0][1], case.out[:-2])
            return ((lanes[0][0] != lanes[0][1]) & ~both).reshape(-1, 2).any(axis=1)
        bad &= ~(is_nan(got, case.out) & is_nan(expected, case.out))
    if case.ulp or case.absolute:
        g, e = got.view(np.float32).astype(np.float64), expected.view(np.float32).astype(np.float64)
        with np.errstate(all="ignore"):
            error = np.abs(g - e)
            ulp = np.spacing(np.abs(expected.view(np.float32))).astype(np.float64)
            bad &= ~(error <= np.maximum(case.ulp * ulp, case.absolute))
        bad &= ~(np.isnan(g) & np.isnan(e))
    return bad


def explain(case, got, expected, columns, bad):
    first = np.flatnonzero(bad)[:4]
    rows = [
        f"  {', '.join(hex(int(c[i])) for c in columns)}: got 0x{int(got[i]):x}, hardware 0x{int(expected[i]):x}"
        for i in first
    ]
    return f"{case.name}: {int(bad.sum())} of {COUNT} differ\n" + "\n".join(rows)


@pytest.fixture(scope="module")
def records():
    return [json.loads(gzip.decompress(path.read_bytes())) for path in RECORDS]


@pytest.mark.skipif(not RECORDS, reason="no recorded goldens: run tools/record_goldens.py on a GPU")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_equals_hardware(case, records):
    got, columns = emulate(case)
    for record in records:
        recorded = record["cases"].get(case.name)
        assert recorded, f"{case.name} was not recorded: run tools/record_goldens.py again"
        checksum = hashlib.sha256(b"".join(c.tobytes() for c in columns)).hexdigest()[:16]
        assert recorded["operands"] == checksum, f"{case.name}: the operands changed since the recording"
        expected = np.frombuffer(base64.b64decode(recorded["bits"]), got.dtype)
        bad = wrong(case, got, expected, columns)
        assert not bad.any(), explain(case, got, expected, columns, bad)


def test_there_are_enough():
    assert len(CASES) >= 400 and len({c.name for c in CASES}) == len(CASES)


def test_the_comparison_can_fail():
    """A wrong bit, a wrong NaN and an error above the bound are seen."""
    exact = next(c for c in CASES if c.name == "add.rn.f32")
    right = np.full(COUNT, 0x3F800000, np.uint32)
    assert wrong(exact, right ^ np.uint32(1), right).all()
    loose = next(c for c in CASES if c.name == "rcp.approx.f32")
    assert not wrong(loose, right ^ np.uint32(1), right).any()
    assert wrong(loose, right + np.uint32(9), right).all()
    assert wrong(loose, np.full(COUNT, 0x7FC00000, np.uint32), right).all()
