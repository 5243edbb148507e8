"""wgmma gives what hardware gave: layouts, descriptors and integers bit for bit, values within the stated bound."""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from golden_products import BITS, TYPES
from golden_wgmma import CASES
from test_wgmma import emulate, matrix, operands

RECORDS = sorted((Path(__file__).parent / "data").glob("wgmma_goldens_*.json.gz"))
FRACTION = {"e4m3": 2.0**-13, "e5m2": 2.0**-13}  # see ptxemu/wgmma.py


def bound(case):
    """float64[64, n]: how far hardware's sum may lie from ours."""
    a, b, c = operands(case)
    with np.errstate(all="ignore"):
        largest = np.maximum(np.nanmax(np.abs(a[:, :, None] * b[None]), axis=1), np.abs(c))
        total = np.abs(a) @ np.abs(b) + np.abs(c)
        terms = FRACTION.get(case.kinds[1], 2.0**-22) * (case.k + 2) * largest
        return case.times * (terms + np.spacing(total.astype(TYPES[case.kinds[0]])).astype(np.float64))


def same_bits(case, got, expected):
    """bool: equal where the case is exact."""
    got, expected = matrix(case, got), matrix(case, expected)
    return (got == expected) | (np.isnan(got) & np.isnan(expected))


def right(case, got, expected):
    """bool[64, n]."""
    if case.data == "integers" or case.kinds[0] == "s32":
        return same_bits(case, got, expected)
    with np.errstate(all="ignore"):
        close = np.abs(matrix(case, got) - matrix(case, expected)) <= bound(case)
    return close | same_bits(case, got, expected)


@pytest.mark.skipif(not RECORDS, reason="no recorded wgmma goldens: run tools/record_goldens.py --only wgmma on a GPU")
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.split(".")[0])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_equals_hardware(case, path):
    record = _read(path)
    if any(line.startswith(case.name + ":") for line in record["refused"]):
        pytest.skip("the driver of the recording refused this form")
    recorded = record["cases"].get(case.name)
    assert recorded, f"{case.name} was not recorded: run tools/record_goldens.py --only wgmma again"
    inputs = hashlib.sha256(b"".join(x.tobytes() for x in case.make())).hexdigest()[:16]
    assert recorded["inputs"] == inputs, f"{case.name}: the inputs changed since the recording"
    out, _ = emulate(case, check=False, count=False)
    expected = np.frombuffer(base64.b64decode(recorded["out"]), np.uint32).reshape(out.shape)
    good = right(case, out, expected)
    assert good.all(), f"{case.name}: {(~good).sum()} of {good.size} differ, first at {np.argwhere(~good)[:3].tolist()}"


def _read(path, cache={}):  # noqa: B006
    if path not in cache:
        cache[path] = json.loads(gzip.decompress(path.read_bytes()))
    return cache[path]


def test_the_comparison_can_fail():
    for case in (CASES[0], next(c for c in CASES if c.data == "values")):
        out, _ = emulate(case)
        assert right(case, out, out).all()
        assert not right(case, out ^ np.uint32(1 << 20), out).any()


def test_there_are_enough():
    assert len(CASES) >= 600 and len({c.name for c in CASES}) == len(CASES)
    assert {c.kinds[1] for c in CASES} == {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}
    assert {c.n for c in CASES if BITS[c.kinds[1]] == 16} == set(range(8, 257, 8))
