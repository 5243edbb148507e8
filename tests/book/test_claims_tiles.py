"""What book/what_guides_get_wrong.md says about register tiles and vector loads, repeated."""

import re

import numpy as np
import pytest
from numba import cuda

import gemmlab as gl
from gemmlab.compat import find_tool
from kernels.simt.k07_warp_tile import warp_tile

COPY = """
extern "C" __global__ void copy(const float* src, float* dst, int offset) {
    int i = threadIdx.x;
    reinterpret_cast<float4*>(dst + offset)[i] = reinterpret_cast<%s float4*>(src + offset)[i];
}
"""


def wavefronts(words, width):
    """Wavefronts of one request: `words` is each lane's first word, `width` how many it takes."""
    lanes = 32 // width
    total = 0
    for first in range(0, 32, lanes):
        wanted = {int(word) + i for word in words[first : first + lanes] for i in range(width)}
        total += max(sum(word % 32 == bank for word in wanted) for bank in range(32))
    return total


def test_columns_of_neighbouring_lanes():
    column = np.arange(32) % 16
    assert wavefronts(4 * column, 1) == 2 and wavefronts(8 * column, 1) == 4
    assert wavefronts(4 * column, 4) == 4 and wavefronts(8 * column, 4) == 8


def test_square_tile_transposed_in_place():
    tile, n = 4, 8
    rng = np.random.default_rng(0)
    symmetric = rng.normal(size=(n, n))
    symmetric += symmetric.T
    for A in (rng.normal(size=(n, n)), symmetric):
        B = rng.normal(size=(n, n))
        turned = A.reshape(n // tile, tile, n // tile, tile).transpose(0, 3, 2, 1).reshape(n, n)
        assert not np.allclose(turned @ B, A @ B) and not np.allclose(turned @ B, A.T @ B)


def test_launch_bounds_cause_spills():
    if find_tool("ptxas") is None:
        pytest.skip("no ptxas here: it comes with the nvidia-cuda-nvcc wheel ('make env')")
    free = gl.compile("k07_warp_tile", target="sm_90")
    bound = gl.compile(cuda.jit(launch_bounds=(256, 4))(warp_tile.py_func), target="sm_90")
    assert free.spill_bytes == 0 and free.registers > 64
    assert bound.registers == 64 and bound.spill_bytes > 0


@pytest.mark.parametrize(("offset", "sectors"), [(0, 16), (4, 17), (8, 16)])
def test_vectors_align_to_sixteen_bytes_only(offset, sectors):
    assert copied(offset).counters.total(space="global", op="ld").sectors == sectors


def test_misaligned_vectors_stop_the_kernel():
    assert re.findall(r"ld\.global\.(v\d)", gl.compile(source("const")).ptx) == ["v4"]
    assert "misaligned" in {finding.rule for finding in copied(1).errors}


def test_a_cast_must_keep_const():
    with pytest.raises(gl.GemmlabError, match="cast away const"):
        gl.compile(source(""))


def source(qualifier):
    return gl.cuda_source(COPY % qualifier, "copy")


def copied(offset):
    args = np.zeros(256, np.float32), np.zeros(256, np.float32), np.int32(offset)
    return gl.launch(source("const"), *args, grid=1, block=32, backend="emulator").report
