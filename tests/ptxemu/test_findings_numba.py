"""Broken Numba kernels, reductions of what people reported, are found on their Python line."""

import inspect

import numpy as np
import pytest
from compiling import numba_args, numba_ptx
from numba import cuda, float32, float64, int32

import ptxemu

TPB = 16
MATRIX, VECTOR, DOUBLES = float32[:, ::1], float32[::1], float64[:, ::1]


def docs_tiled(A, B, C):
    """Numba issue 7324: the number of tiles is taken from gridDim, loads are not guarded."""
    sA = cuda.shared.array((TPB, TPB), float32)
    sB = cuda.shared.array((TPB, TPB), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if x >= C.shape[0] and y >= C.shape[1]:
        return
    tmp = float32(0.0)
    for i in range(cuda.gridDim.x):
        sA[tx, ty] = A[x, ty + i * TPB]  # here
        sB[tx, ty] = B[tx + i * TPB, y]  # here
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[tx, j] * sB[j, ty]
        cuda.syncthreads()
    C[x, y] = tmp  # here


def one_barrier(A, B, C):
    """One barrier per iteration: a fast warp overwrites what others still read."""
    sA = cuda.shared.array((TPB, TPB), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tmp = float32(0.0)
    for i in range(A.shape[1] // TPB):
        sA[ty, tx] = A[m, i * TPB + tx]  # here
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[j, tx] * B[i * TPB + j, n]  # other
    C[m, n] = tmp


def early_return(A, B, C):
    """Threads outside C return before the loop and do not load their part of the tile."""
    sA = cuda.shared.array((TPB, TPB), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if m >= C.shape[0] or n >= C.shape[1]:
        return
    tmp = float32(0.0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        k = i * TPB + tx
        sA[ty, tx] = A[m, k] if k < A.shape[1] else float32(0.0)
        cuda.syncthreads()
        for j in range(min(TPB, A.shape[1] - i * TPB)):
            tmp += sA[ty, j] * B[i * TPB + j, n]  # here
        cuda.syncthreads()
    C[m, n] = tmp


def store_per_step(A, B, C):
    """The sum lives in global memory: K + 1 stores per element."""
    m, n = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = 0.0
        for k in range(A.shape[1]):
            C[m, n] += A[m, k] * B[k, n]


def add_one(a):
    """More threads than elements and no guard."""
    i = cuda.grid(1)
    a[i] += float32(1)  # here


def continue_around_barrier(flags, out):
    """Numba issue 9770: one barrier in the source, two in the PTX."""
    t = cuda.threadIdx.x
    total = int32(0)
    for i in range(2):
        if i == 0 and t % 2 == 1:
            total += cuda.syncthreads_count(flags[t]) * int32(3)  # here
            continue
        total += cuda.syncthreads_count(flags[t])  # here
    out[t] = total


def half_of_c(A, B, C):
    """The grid's x and y were exchanged in the guard."""
    n, m = cuda.grid(2)
    if m < C.shape[1] and n < C.shape[0]:
        C[m, n] = A[m, 0] * B[0, n]


def matrices(M, N, K, dtype=np.float32):
    rng = np.random.default_rng(0)
    shapes = ((M, K), (K, N), (M, N))
    return [rng.standard_normal(s).astype(dtype) for s in shapes]


def run(kernel, signature, grid, block, arrays, out=-1):
    entry = ptxemu.load(numba_ptx(kernel, signature)).entry()
    args = []
    for i, array in enumerate(arrays):
        args += numba_args(array.copy(), "ABC"[i], "out" if i == out % len(arrays) else "in")
    return ptxemu.launch(entry, grid, block, args)


def lines(kernel, mark):
    source, first = inspect.getsourcelines(kernel)
    return [first + i for i, line in enumerate(source) if line.rstrip().endswith("# " + mark)]


GEMM = (MATRIX,) * 3
CASES = [
    (docs_tiled, GEMM, (2, 3), (TPB, TPB), matrices(17, 33, 5), "out-of-bounds", "error"),
    (docs_tiled, GEMM, (1, 1), (TPB, TPB), matrices(5, 7, 23), "out-of-bounds", "error"),
    (one_barrier, GEMM, (2, 2), (TPB, TPB), matrices(32, 32, 64), "race-shared", "error"),
    (early_return, GEMM, (3, 2), (TPB, TPB), matrices(17, 33, 40), "barrier-after-exit", "warning"),
    (store_per_step, (DOUBLES,) * 3, (1, 1), (16, 16), matrices(16, 16, 64, np.float64), "redundant-store", "info"),
    (half_of_c, GEMM, (2, 4), (16, 8), matrices(32, 17, 1), "never-written", "error"),
    (add_one, (VECTOR,), 2, 32, [np.zeros(33, np.float32)], "out-of-bounds", "error"),
]


@pytest.mark.parametrize(("kernel", "signature", "grid", "block", "arrays", "rule", "severity"), CASES)
def test_found(kernel, signature, grid, block, arrays, rule, severity):
    report = run(kernel, signature, grid, block, arrays)
    found = [f for f in report.findings if f.rule == rule]
    assert found and found[0].severity == severity, str(report)
    here = lines(kernel, "here")
    if here and severity == "error":
        assert {f.line for f in found} <= set(here), str(report)
    if rule.startswith("race"):
        assert found[0].other_line in lines(kernel, "other")


def test_k_stores_per_element_are_counted():
    report = run(*CASES[4][:5])
    assert "65 stores per element" in str(report)


def test_two_copies_of_one_barrier():
    """Threads of warp 0 wait at two barriers that the compiler made from neighbouring lines."""
    arrays = [np.ones(32, np.int32), np.zeros(32, np.int32)]
    report = run(continue_around_barrier, (int32[::1],) * 2, 1, 32, arrays)
    found = [f for f in report.findings if f.rule == "divergent-barrier"]
    assert found and "warp 0" in found[0].message, str(report)
    assert {found[0].line, found[0].other_line} <= set(lines(continue_around_barrier, "here"))


def test_docs_tiled_is_silent_on_its_own_size():
    """At 32x32x32, what its author tried, it is right and nothing is reported."""
    A, B, C = matrices(32, 32, 32)
    entry = ptxemu.load(numba_ptx(docs_tiled, GEMM)).entry()
    args = [*numba_args(A, "A"), *numba_args(B, "B"), *numba_args(C, "C", "out")]
    report = ptxemu.launch(entry, (2, 2), (TPB, TPB), args)
    assert not report.findings, str(report)
    np.testing.assert_allclose(C, A @ B, rtol=1e-4, atol=1e-4)
