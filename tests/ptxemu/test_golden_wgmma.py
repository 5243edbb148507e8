"""wgmma gives what hardware gave, bit for bit: layouts, descriptors and sums."""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from golden_products import BITS
from golden_wgmma import CASES
from test_wgmma import emulate, matrix

RECORDS = sorted((Path(__file__).parent / "data").glob("wgmma_goldens_*.json.gz"))


def digest(out):
    """Short hash of D's registers: what is kept of cases whose sums are exact in any order."""
    return hashlib.sha256(out.tobytes()).hexdigest()[:16]


@pytest.mark.skipif(not RECORDS, reason="no recorded wgmma goldens: run tools/record_goldens.py --only wgmma on a GPU")
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.name.split(".")[0])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name.replace(" ", "_"))
def test_equals_hardware(case, path):
    record = _read(path)
    if any(line.startswith(case.name + ":") for line in record["refused"]):
        pytest.skip("the driver of the recording refused this form")
    recorded = record["cases"].get(case.name)
    if recorded is None:
        pytest.skip("not in the record: run tools/record_goldens.py --only wgmma again")
    inputs = hashlib.sha256(b"".join(x.tobytes() for x in case.make())).hexdigest()[:16]
    assert recorded["inputs"] == inputs, f"{case.name}: the inputs changed since the recording"
    out, _ = emulate(case, check=False, count=False)
    if case.data == "integers":
        assert digest(out) == recorded["digest"]
        return
    expected = np.frombuffer(base64.b64decode(recorded["out"]), np.uint32).reshape(out.shape)
    np.testing.assert_array_equal(matrix(case, out), matrix(case, expected))


def _read(path, cache={}):  # noqa: B006
    if path not in cache:
        cache[path] = json.loads(gzip.decompress(path.read_bytes()))
    return cache[path]


def test_there_are_enough():
    assert len(CASES) >= 600 and len({c.name for c in CASES}) == len(CASES)
    assert {c.kinds[1] for c in CASES} == {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}
    assert {c.n for c in CASES if BITS[c.kinds[1]] == 16} == set(range(8, 257, 8))
