"""Kernels that people asked about in public, seen through the calls that a learner makes."""

import numpy as np
import pytest
from numba import cuda, float32

import gemmlab as gl

TPB = 16
RULE = {"grid": ["cdiv(M,16)", "cdiv(N,16)"], "block": [16, 16]}


@cuda.jit
def docs_tiled(A, B, C):
    """Numba issue 7324: tiles counted by gridDim, `and` for `or` in the guard, loads without a guard."""
    a, b = cuda.shared.array((TPB, TPB), float32), cuda.shared.array((TPB, TPB), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if x >= C.shape[0] and y >= C.shape[1]:
        return
    acc = float32(0)
    for i in range(cuda.gridDim.x):
        a[tx, ty] = A[x, ty + i * TPB]
        b[tx, ty] = B[tx + i * TPB, y]
        cuda.syncthreads()
        for j in range(TPB):
            acc += a[tx, j] * b[j, ty]
        cuda.syncthreads()
    C[x, y] = acc


@cuda.jit
def early_return(A, B, C):
    """Threads outside C return, and their part of the tile is never loaded."""
    a = cuda.shared.array((TPB, TPB), float32)
    m, n = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if m >= C.shape[0] or n >= C.shape[1]:
        return
    acc = float32(0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        k = i * TPB + ty
        a[tx, ty] = A[m, k] if k < A.shape[1] else float32(0)
        cuda.syncthreads()
        for j in range(min(TPB, A.shape[1] - i * TPB)):
            acc += a[tx, j] * B[i * TPB + j, n]
        cuda.syncthreads()
    C[m, n] = acc


@pytest.mark.parametrize(
    ("kernel", "shape", "says"),
    [
        (docs_tiled, (17, 33, 5), "past the end of A .17x5."),
        (docs_tiled, (5, 7, 23), "past the end of A .5x23."),
        (early_return, (33, 17, 40), "threads have returned early, perhaps those that should write it"),
    ],
)
def test_wrong_away_from_square_multiples(kernel, shape, says):
    with pytest.raises(gl.CheckError, match=says):
        gl.check(kernel, rule=RULE, shapes=[shape], backend="emulator", quiet=True)


def test_right_at_the_size_that_its_author_tried():
    assert not gl.check(docs_tiled, rule=RULE, shapes=[(32, 32, 32)], backend="emulator", quiet=True).warnings


def shared_sites(body: str, arrays: tuple, block: int, op: str, grid: int = 1, parameters: str = "float* y"):
    """Launch a kernel of this body; return (requests, wavefronts, fewest possible) of its shared sites of kind `op`."""
    text = f'extern "C" __global__ void k({parameters}) {{\n{body}\n}}'
    report = gl.launch(gl.cuda_source(text, "k"), *arrays, grid=grid, block=block, backend="emulator").report
    sites = [site for site in report.counters.sites if site.space == "shared" and site.op == op]
    return [(site.requests, site.wavefronts, site.wavefronts_ideal) for site in sites]


def test_stride_of_four_words():
    """Excess 3 per warp, 6 in both (NVIDIA-developer-blog/code-samples issue 48)."""
    body = "__shared__ float s[256]; s[4 * threadIdx.x] = y[0]; __syncthreads(); y[threadIdx.x] = s[4 * threadIdx.x];"
    assert shared_sites(body, (np.zeros(32, np.float32),), 32, "ld", grid=2) == [(2, 8, 2)]


@pytest.mark.parametrize(
    ("element", "wavefronts"),
    [("threadIdx.x * 32 + k", 1024), ("k * 32 + threadIdx.x", 32), ("threadIdx.x * 33 + k", 32)],
)
def test_roles_of_the_indices_of_a_tile(element, wavefronts):
    """A column walk of a 32 x 32 tile costs 31 more wavefronts a load; swapped indices or a pitch of 33 none."""
    body = f"""__shared__ float s[32 * 33]; for (int i = threadIdx.x; i < 32 * 33; i += 32) s[i] = i;
        __syncthreads(); float sum = 0;
        _Pragma("unroll 1") for (int k = 0; k < 32; k++) sum += s[{element}]; y[threadIdx.x] = sum;"""
    assert shared_sites(body, (np.zeros(32, np.float32),), 32, "ld") == [(32, wavefronts, 32)]


def test_scalar_stores_of_half_words():
    """32 x 32 elements of 16 bits, stored down columns one by one, or in rows of eight (CUTLASS issue 1882)."""
    arrays = np.zeros(1024, np.uint16), np.zeros(1024, np.uint16)
    declared = "const unsigned short* x, unsigned short* y"
    head = "__shared__ __align__(16) unsigned short s[1024]; int t = threadIdx.x;"
    tail = "__syncthreads(); for (int i = 0; i < 4; i++) y[t + 256 * i] = s[t + 256 * i];"
    scalar = "for (int i = 0; i < 4; i++) { int e = t + 256 * i; s[e % 32 * 32 + e / 32] = x[e]; }"
    wide = "if (t < 128) ((uint4*)s)[t] = ((const uint4*)x)[t];"
    columns = shared_sites(head + scalar + tail, arrays, 256, "st", parameters=declared)
    rows = shared_sites(head + wide + tail, arrays, 256, "st", parameters=declared)
    assert sum(site[1] for site in columns) == 16 * sum(site[2] for site in columns)
    assert rows == [(4, 16, 16)]
