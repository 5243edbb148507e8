"""Every rung of the ladder gives the same bits whenever asynchronous work lands and whichever warp runs first. (The
kernels of tests/ptxemu/kernels/valid*.cu do so in their own tests.)
"""

import ml_dtypes  # noqa: F401  (NumPy learns bfloat16)
import numpy as np
import pytest

import gemmlab as gl
import kernels
from gemmlab.call import Call

SCHEDULES = ("late", "early", 1, 2)
SPECS = list({(spec.file, spec.entry): spec for spec in reversed(kernels.RUNGS)}.values())


def product(spec, schedule):
    """C of a small ragged problem of several stages."""
    tile = dict(spec.tile)
    up = lambda size: -(-size // spec.align) * spec.align  # noqa: E731
    M, N, K = up(tile.get("BM", 32) // 2 + 5), up(tile.get("BN", 32) // 2 + 11), up(3 * tile.get("BK", 16) + 8)
    rng = np.random.default_rng(0)
    shape_b = (N, K) if spec.layout.startswith("row,col") else (K, N)
    A, B = (rng.integers(-99, 100, s).astype(d) for s, d in (((M, K), spec.a_dtype), (shape_b, spec.b_dtype)))
    C = np.zeros((M, N), spec.c_dtype)
    call = Call(spec.rule(), A, B, C, 2)
    gl.launch(spec, *call.args(), **call.launch, backend="emulator", check=False, count=False, schedule=schedule)
    call.finish()
    return C


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_same_bits(spec):
    first = product(spec, SCHEDULES[0])
    for schedule in SCHEDULES[1:]:
        assert product(spec, schedule).tobytes() == first.tobytes(), schedule
