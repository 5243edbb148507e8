"""The recorder of format errors: its data, its scales, its errors, and the record that it made."""

import json

import numpy as np
import pytest

import kernels
from gemmlab import results
from tools import record_precision as recorder

RECORDS = sorted((results.DIRECTORY / "precision").glob("*.json"))


@pytest.mark.parametrize("data, low", [("normal", -8), ("uniform", 0)])
def test_data_is_drawn_anew_for_each_length_and_repeatable(data, low):
    A, B = recorder.draw(data, 8, 64)
    assert A.shape == (8, 64) and B.shape == (64, 8) and A.dtype == np.float32 and A.min() >= low
    assert (A == recorder.draw(data, 8, 64)[0]).all() and not (A == recorder.draw(data, 8, 128)[0][:, :64]).all()


def test_int8_has_a_scale_per_row_or_column():
    X = np.random.default_rng(0).standard_normal((5, 40)).astype(np.float32)
    for axis, shape in ((1, (5, 1)), (0, (1, 40))):
        q, scale = recorder.quantise(X, axis)
        assert scale.shape == shape and q.dtype == np.int8 and (np.abs(q).max(axis=axis) == 127).all()
        assert (np.abs(q * scale - X) <= scale / 2 * (1 + 1e-9)).all()


def test_errors_are_relative_to_the_rms_of_c():
    exact = np.array([[3.0, -4.0]])
    found = recorder.errors(exact + [[0.5, 0.5]], exact)
    size = np.sqrt(12.5)
    assert np.allclose([found["max"], found["rms"], found["mean"]], 0.5 / size) and found["nonfinite"] == 0
    assert recorder.errors(np.array([[np.inf, 0.0]]), exact)["nonfinite"] == 1


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_is_whole(path):
    records = json.loads(path.read_text())["records"]
    formats = {*recorder.KERNELS, *recorder.LIBRARY}
    cases = {(r["format"], r["data"], r["K"]) for r in records}
    assert cases == {(f, d, K) for f in formats for d in ("normal", "uniform") for K in recorder.SIZES_K}
    for record in records:
        assert 0 < record["rms"] <= record["max"] and record["nonfinite"] == 0 and record["date"]
        assert "kernel" not in record or kernels.spec(record["kernel"])
