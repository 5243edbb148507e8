"""The reference formulas of exercises say what the emulator counts."""

import pytest

import gemmlab as gl
from gemmlab.course import ch05

TILES = {"k05_tiled_square": (32, 32), "k05_tiled": (16, 64)}


@pytest.mark.parametrize("kernel", TILES)
@pytest.mark.parametrize("shape", [(64, 64, 64), (33, 17, 40), (70, 100, 9), (1, 65, 33)])
def test_requested_bytes_of_a_tile(kernel, shape):
    assert gl.count(kernel, *shape).bytes("global") == ch05.requested_bytes(*shape, *TILES[kernel])
