"""Launching: results appear in the caller's arrays, and what cannot be launched is one clear line."""

import sys

import ml_dtypes
import numpy as np
import pytest
from numba import cuda

import gemmlab as gl
from gemmlab import gpu
from gemmlab.args import cuda_params, dims, is_contiguous, param_bytes
from gemmlab.backend import choose_backend

TWIN = gl.cuda_source(
    """
extern "C" __global__ void scale(const float* __restrict__ x, float* y, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
""",
    "scale",
)


@cuda.jit
def scale(x, y, factor, n):
    i = cuda.grid(1)
    if i < n:
        y[i] = factor * x[i]


@pytest.mark.parametrize("kernel", [scale, TWIN], ids=["numba", "cuda"])
def test_results_appear_in_the_callers_array(kernel):
    x, y = np.arange(70, dtype=np.float32), np.full(70, np.nan, np.float32)
    done = gl.launch(kernel, x, y, np.float32(3), 70, grid=3, block=32, backend="emulator")
    assert done.backend == "emulator" and not done.report.findings and done.report.counters.total(op="st").requests == 3
    np.testing.assert_array_equal(y, 3 * x)
    assert "scale ran on the emulator: no findings" in str(done)


def test_findings_are_shown_not_raised():
    x = np.arange(33, dtype=np.float32)
    done = gl.launch(scale, x, x.copy(), np.float32(1), 64, grid=2, block=32, backend="emulator")
    assert done.report.errors[0].rule == "out-of-bounds" and "out-of-bounds" in str(done)


def test_run_makes_c_and_takes_the_rule():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((33, 40), np.float32), rng.standard_normal((40, 17), np.float32)
    for name in ("k03_naive", "k03_naive_cuda", "k04_coalesced"):
        np.testing.assert_allclose(gl.run(name, A, B, backend="emulator"), A @ B, rtol=1e-4, atol=1e-4)
    C = np.empty((33, 17), np.float32)
    other = {"block": (16, 16, 1), "grid": ("cdiv(N,16)", "cdiv(M,16)")}
    assert gl.run("k04_coalesced", A, B, C, **other, backend="emulator") is C
    np.testing.assert_allclose(C, A @ B, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("A", "B", "message"),
    [
        (np.zeros((3, 4), np.float32), np.zeros((5, 6), np.float32), "the inner dimensions 4 and 5 differ"),
        (np.zeros(3, np.float32), np.zeros((3, 3), np.float32), "must be matrices"),
        (np.zeros((3, 4)), np.zeros((4, 5), np.float32), "A is float64, and the kernel takes float32: pass A.astype"),
        (np.zeros((4, 3), np.float32).T, np.zeros((4, 5), np.float32), "A is not row-major .*ascontiguousarray"),
        (np.zeros((0, 4), np.float32), np.zeros((4, 5), np.float32), "empty|below 1"),
    ],
)
def test_arrays_that_do_not_fit(A, B, message):
    with pytest.raises(gl.GemmlabError, match=message) as caught:
        gl.run("k03_naive_cuda", A, B, np.zeros((A.shape[0], B.shape[1]), np.float32), backend="emulator")
    assert "\n" not in str(caught.value)


GOOD = (np.zeros(4, np.float32), np.zeros(4, np.float32), np.float32(1), 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"args": GOOD[:3]}, "'scale' takes 4 arguments .x, y, factor, n., got 3"),
        ({"args": (7.0, *GOOD[1:])}, "argument x of 'scale' is a pointer: pass an array"),
        ({"args": ([1.0], *GOOD[1:])}, "pass an array or a number, not a list"),
        ({"args": (*GOOD[:3], GOOD[0])}, "argument n of 'scale' is a number, not an array"),
        ({"args": (np.zeros((4, 4), np.float32)[:, ::2], *GOOD[1:])}, "np.ascontiguousarray"),
        ({"grid": 0}, "at least 1"),
        ({"grid": 1.5}, "give an integer|must be an integer"),
        ({"grid": (1, 1, 1, 1)}, "one to three"),
        ({"block": (32, 33)}, "1056 threads, and at most 1024"),
        ({"shared": 240_000}, "shared memory"),
        ({"shared": "48 KB"}, "number of bytes"),
        ({"shared": -1}, "number of bytes"),
        ({"backend": "cpu"}, "choose \"gpu\", \"emulator\" or None"),
    ],
)
def test_launches_that_cannot_be(change, message):
    options = {"grid": 1, "block": 32, "backend": "emulator"} | {k: v for k, v in change.items() if k != "args"}
    with pytest.raises(gl.GemmlabError, match=message) as caught:
        gl.launch(TWIN, *change.get("args", GOOD), **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros(4, ">f4"), "Numba takes no array of >f4 .bytes swapped: use x.astype.'float32'."),
        ({}, "argument x of 'scale': Numba takes no dict"),
        ("A", "Numba cannot compile 'scale'"),
        (None, "not NoneType"),
        (np.zeros(4, object), "Numba cannot compile 'scale'"),
        (np.zeros(8, np.float32)[::2], "gaps between its elements .strides .8,..: pass np.ascontiguousarray.x."),
    ],
)
def test_what_numba_cannot_take_is_one_line(x, message):
    with pytest.raises(gl.GemmlabError, match=message) as caught:
        gl.launch(scale, x, *GOOD[1:], grid=1, block=32, backend="emulator")
    assert "\n" not in str(caught.value)


def test_an_output_that_cannot_take_the_product():
    A = np.zeros((2, 2), np.float32)
    frozen = A.copy()
    frozen.flags.writeable = False
    cases = ((frozen, "C is read-only"), ([[0]], "C is a list"), (np.zeros((2, 3)), "C is .2, 3., and A @ B"))
    for C, message in cases:
        with pytest.raises(gl.GemmlabError, match=message):
            gl.run("k03_naive", A, A, C, backend="emulator")


def test_half_arithmetic_of_numba_is_refused_with_a_way_out():
    half = np.ones(32, np.float16)
    with pytest.raises(gl.GemmlabError, match="write this kernel in CUDA C") as caught:
        gl.launch(double, half, half.copy(), grid=1, block=32, backend="emulator")
    assert "\n" not in str(caught.value)


@cuda.jit
def double(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] + x[i]


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setattr(gpu, "device", lambda: gl.Device("none", reason="no NVIDIA driver found"))
    with pytest.raises(gl.GemmlabError, match='backend="gpu" is not possible here: no NVIDIA driver found'):
        gl.launch(TWIN, *GOOD, grid=1, block=32, backend="gpu")


def test_a_gpu_of_another_kind(monkeypatch):
    here = gl.Device("gpu", "RTX 5090", (12, 0), "sm_120a", "13.0")
    monkeypatch.setattr(sys.modules["gemmlab.backend"], "device", lambda: here)
    monkeypatch.setattr(gpu, "device", lambda: here)
    text = 'extern "C" __global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }'
    compiled = gl.compile(gl.cuda_source(text + "\n", "k"), target="sm_90a")
    assert choose_backend(compiled, None) == "emulator"
    with pytest.raises(gl.GemmlabError, match='needs sm_90a; RTX 5090 is sm_120: run it with backend="emulator"'):
        choose_backend(compiled, "gpu")
    assert choose_backend("k03_naive", None) == "gpu"
    assert choose_backend(gl.cuda_source(text + "\n", "k"), None) == "emulator"
    assert choose_backend(gl.cuda_source('extern "C" __global__ void k() { }\n', "k"), None) == "gpu"
    assert choose_backend(gl.cuda_source('extern "C" __global__ void k() { x }\n', "k"), None) == "gpu"  # says why


def test_a_gpu_with_less_shared_memory(monkeypatch):
    here = gl.Device("gpu", "RTX 5090", (12, 0), "sm_120a", "13.0", sms=170, shared_per_block=99 << 10)
    monkeypatch.setattr(sys.modules["gemmlab.backend"], "device", lambda: here)
    monkeypatch.setattr(gpu, "device", lambda: here)
    assert choose_backend("k12_multistage", None) == "emulator"
    with pytest.raises(gl.GemmlabError, match="shared memory per block, and RTX 5090 has at most 101,376 .k12"):
        choose_backend("k12_multistage", "gpu")
    assert choose_backend("k11_mma", None) == "gpu" and choose_backend("k11_mma", None, 100 << 10) == "emulator"


def test_cuda_parameters_are_read_from_the_source():
    text = "__global__ void f(const float* __restrict__ A, __half *B /* , int q */, unsigned int n, const int4 v) { }"
    found = cuda_params(text, "f")
    assert [(p.name, p.dtype, p.pointer) for p in found] == [
        ("A", "float32", True),
        ("B", "float16", True),
        ("n", None, False),
        ("v", None, False),
    ]
    assert cuda_params("nothing", "f") == []


def test_bytes_of_scalars():
    assert param_bytes(-1, 4, "n") == b"\xff" * 4
    assert param_bytes(1.0, 4, "x") == np.float32(1).tobytes()
    assert param_bytes(1.0, 2, "x") == np.float16(1).tobytes()
    assert param_bytes(ml_dtypes.bfloat16(1), 2, "x") == ml_dtypes.bfloat16(1).tobytes()
    assert param_bytes(b"\0" * 128, 128, "map") == b"\0" * 128
    with pytest.raises(gl.GemmlabError, match="does not fit into 4 bytes"):
        param_bytes(1 << 40, 4, "n")
    with pytest.raises(gl.GemmlabError, match="128 bytes, and the kernel takes 64"):
        param_bytes(b"\0" * 128, 64, "map")


def test_contiguity_and_dims():
    array = np.zeros((3, 4), np.float32)
    assert is_contiguous(array, "C") and not is_contiguous(array.T, "C") and is_contiguous(array.T, "F")
    assert not is_contiguous(array[:, ::2], "C") and is_contiguous(array[:1], "C")
    assert dims((2, np.int64(3)), "grid") == (2, 3, 1)


def test_fortran_arrays_reach_a_numba_kernel():
    x = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    y = np.zeros((3, 4), np.float32)
    gl.launch(copy2d, x, y, grid=(1, 1), block=(4, 4), backend="emulator")
    np.testing.assert_array_equal(y, x)


@cuda.jit
def copy2d(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = x[i, j]
