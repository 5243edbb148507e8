"""Right kernels pass silently; each wrong one fails for the stated reason, whatever its numbers are."""

import re

import numpy as np
import pytest
from numba import cuda, float32

import gemmlab as gl
from gemmlab.check import default_shapes
from gemmlab.reference import numpy_dtype
from gemmlab.trial import unset

RULE = {"grid": ["cdiv(N,16)", "cdiv(M,16)"], "block": [16, 16]}
TPB = 16


@cuda.jit
def good(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


@cuda.jit
def unguarded(A, B, C):
    n, m = cuda.grid(2)
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[m, k] * B[k, n]
    C[m, n] = acc


@cuda.jit
def guard_with_or(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] or n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


@cuda.jit
def transposed_store(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[n, m] = acc


@cuda.jit
def adds_to_c(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        for k in range(A.shape[1]):
            C[m, n] += A[m, k] * B[k, n]


@cuda.jit
def local_index(A, B, C):
    n, m = cuda.threadIdx.x, cuda.threadIdx.y
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


@cuda.jit
def zeroes_its_input(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = 0
        A[m, 0] = 0


@cuda.jit
def writes_nan(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = float32(np.nan)


@cuda.jit
def writes_inf(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = float32(np.inf)


@cuda.jit
def empty(A, B, C):
    pass


@cuda.jit
def even_tiles(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1] and (cuda.blockIdx.x + cuda.blockIdx.y) % 2 == 0:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


@cuda.jit
def short_k(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1] // 16 * 16):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc


@cuda.jit
def one_barrier(A, B, C):
    a, b = cuda.shared.array((TPB, TPB), float32), cuda.shared.array((TPB, TPB), float32)
    n, m = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        a[y, x] = A[m, i * TPB + x] if m < A.shape[0] and i * TPB + x < A.shape[1] else float32(0)
        b[y, x] = B[i * TPB + y, n] if n < B.shape[1] and i * TPB + y < B.shape[0] else float32(0)
        cuda.syncthreads()
        for j in range(TPB):
            acc += a[y, j] * b[j, x]
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = acc


@cuda.jit
def constant(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        acc = 0.5
        for k in range(A.shape[1]):
            acc += A[m, k] * B[k, n]
        C[m, n] = acc - 0.5


def test_a_right_kernel_passes_with_one_line(capsys):
    result = gl.check(good, rule=RULE, backend="emulator")
    assert capsys.readouterr().out == f"good: right at {len(result.shapes)} shapes on the emulator, no findings\n"
    assert result.backend == "emulator" and (33, 33, 33) in result.shapes and (16, 8, 2048) in result.shapes


def test_a_notebook_shows_the_message_alone(capsys):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_cell("import gemmlab as gl\nraise gl.CheckError('03.1: C is zero')")
    assert capsys.readouterr().out.strip() == "CheckError: 03.1: C is zero"


def test_quiet(capsys):
    gl.check(good, rule=RULE, shapes=[(17, 33, 5)], quiet=True, backend="emulator")
    assert capsys.readouterr().out == ""


WRONG = [
    (unguarded, RULE, "reads 4 bytes at A.*out-of-bounds"),
    (guard_with_or, RULE, "out-of-bounds"),
    (transposed_store, RULE, "C is the transpose of A·B"),
    (adds_to_c, RULE, "adds to what C held before"),
    (local_index, RULE, "never written"),
    (zeroes_its_input, RULE, "the kernel changed its input A"),
    (writes_nan, RULE, "C is NaN in all of C"),
    (writes_inf, RULE, "C is infinite in all of C"),
    (empty, RULE, "C was never written"),
    (even_tiles, RULE, "tiles of 16×16 elements never written"),
    (short_k, RULE, r"the last \d+ of \d+ products are missing"),
    (one_barrier, RULE, "the values are right, but only by luck:\n.*race-shared"),
    (good, RULE | {"grid": ["max(1, N // 16)", "max(1, M // 16)"]}, "is the number of blocks rounded up in both"),
    (good, RULE | {"grid": ["cdiv(M,16)", "cdiv(N,16)"]}, "columns .* never written"),
]


@pytest.mark.parametrize("number", range(len(WRONG)), ids=lambda n: f"{n}-{WRONG[n][0].py_func.__name__}")
def test_a_wrong_kernel_fails_for_the_stated_reason(number):
    kernel, rule, message = WRONG[number]
    with pytest.raises(gl.CheckError) as caught:
        gl.check(kernel, rule=rule, backend="emulator")
    text = str(caught.value)
    assert re.search(message, text, re.DOTALL), text
    assert text.startswith(f"{kernel.py_func.__name__} at M=") and len(text.splitlines()) <= 6


def test_a_grid_rounded_down_is_short_not_invalid():
    with pytest.raises(gl.CheckError, match="number of blocks rounded up"):
        gl.check(good, rule=dict(RULE, grid=["N // 16", "M // 16"]))


def test_a_more_exact_kernel_passes_with_a_remark(capsys):
    result = gl.check(constant, rule=RULE, backend="emulator")
    assert "float64-arithmetic" in result.remarks[0] and "float64-arithmetic" in capsys.readouterr().out


@cuda.jit
def sums_in_c(A, B, C):
    n, m = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = float32(0)
        for k in range(A.shape[1]):
            C[m, n] += A[m, k] * B[k, n]


def test_a_warning_passes_and_is_shown_once():
    result = gl.check(sums_in_c, rule=RULE, backend="emulator", quiet=True)
    assert len(result.warnings) == 1 and "redundant-store" in result.warnings[0]
    assert str(result).startswith(f"sums_in_c: right at {len(result.shapes)} shapes on the emulator, no errors\n")
    assert "stores per element" in str(result)


def test_a_cuda_kernel_with_an_error_of_its_own():
    text = """
extern "C" __global__ void off(const float* A, const float* B, float* C, int M, int N, int K)
{
    int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[m * N + k] * B[k * N + n];
    C[m * N + n] = acc;
}
"""
    with pytest.raises(gl.CheckError, match="A is read with N as its leading dimension instead of K|out-of-bounds"):
        gl.check(gl.cuda_source(text, "off"), rule=RULE, backend="emulator")


def test_column_major_b_and_other_types():
    text = """
#include <cuda_fp16.h>
extern "C" __global__ void half_bt(const __half* A, const __half* B, float* C, int M, int N, int K)
{
    int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += __half2float(A[m * K + k]) * __half2float(B[n * K + k]);
    C[m * N + n] = acc;
}
"""
    types = {"a_dtype": "float16", "b_dtype": "float16", "layout": "row,col->row"}
    gl.check(gl.cuda_source(text, "half_bt"), rule=RULE | types, backend="emulator", quiet=True)
    with pytest.raises(gl.CheckError):
        types["layout"] = "row,row->row"
        gl.check(gl.cuda_source(text, "half_bt"), rule=RULE | types, backend="emulator", quiet=True)


def test_half_output():
    text = """
#include <cuda_fp16.h>
extern "C" __global__ void h(const __half* A, const __half* B, __half* C, int M, int N, int K)
{
    int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
    if (m >= M || n >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += __half2float(A[m * K + k]) * __half2float(B[k * N + n]);
    C[m * N + n] = __float2half(acc);
}
"""
    types = {"a_dtype": "float16", "b_dtype": "float16", "c_dtype": "float16"}
    shapes = [(33, 17, 40)]
    gl.check(gl.cuda_source(text, "h"), shapes=shapes, rule=RULE | types, backend="emulator", quiet=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": None}, "how is this kernel launched"),
        ({"shapes": []}, "shapes is empty"),
        ({"shapes": [(3, 4)]}, "give three integers M, N, K"),
        ({"shapes": [(3, 4, 0)]}, "of at least 1"),
        ({"shapes": [(3.0, 4, 5)]}, "give three integers"),
        ({"rule": RULE | {"grid": ["Q"]}}, "unknown name 'Q'"),
        ({"rule": RULE | {"args": ["A", "B", "D"]}}, "unknown argument 'D'"),
        ({"rule": RULE | {"a_dtype": "float33"}}, "unknown data type 'float33'"),
        ({"backend": "tpu"}, 'choose "gpu", "emulator"'),
    ],
)
def test_bad_input_is_one_line(options, message):
    with pytest.raises(gl.GemmlabError, match=message) as caught:
        gl.check(good, **({"rule": RULE, "backend": "emulator"} | options))
    assert "\n" not in str(caught.value)


def test_shapes_cover_the_acceptance_rules():
    for tile, align in ((None, 1), ({"BM": 128, "BN": 64, "BK": 8}, 1), ({"BM": 128, "BN": 256, "BK": 64}, 8)):
        shapes = default_shapes(tile, align)
        assert any(M == N == K for M, N, K in shapes)
        assert any(len({M, N, K}) == 3 for M, N, K in shapes)
        assert any(K >= 2048 and M * N <= 1024 for M, N, K in shapes)
        assert all(size % align == 0 for shape in shapes for size in shape)
        if tile:
            assert any(M > tile["BM"] and N > tile["BN"] and M % tile["BM"] and N % tile["BN"] for M, N, K in shapes)
            assert any(K % tile["BK"] for M, N, K in shapes)


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_the_fill_is_nan_in_every_type(name):
    assert np.isnan(unset((2, 2), numpy_dtype(name)).astype(np.float32)).all()


needs_gpu = pytest.mark.skipif(gl.device().kind != "gpu", reason="needs a usable GPU")
ONLY_EMULATED = {unguarded, guard_with_or, one_barrier}  # on a GPU they may be right by luck, or kill the process


@pytest.mark.parametrize("number", [i for i, row in enumerate(WRONG) if row[0] not in ONLY_EMULATED])
@needs_gpu
def test_values_alone_show_most_errors(number):
    kernel, rule, _ = WRONG[number]
    with pytest.raises(gl.CheckError):
        gl.check(kernel, rule=rule, backend="gpu", quiet=True)


@needs_gpu
def test_a_race_is_found_on_a_gpu_machine_too():
    with pytest.raises(gl.CheckError, match="race-shared"):
        gl.check(one_barrier, rule=RULE, quiet=True)
