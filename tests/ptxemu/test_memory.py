"""Bounds, alignment, guard zones, arguments of all kinds."""

import ml_dtypes
import numpy as np
import pytest
from compiling import nvrtc_ptx

import ptxemu

COPY = """extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + n; }"""


def entry(source):
    return ptxemu.load(nvrtc_ptx(source)).entry()


def rules(report):
    return {f.rule for f in report.findings}


def test_out_of_bounds_names_array_and_element_and_spares_neighbours():
    x, y = np.ones(40, np.float32), np.zeros((3, 11), np.float32)
    report = ptxemu.launch(entry(COPY), 2, 32, [ptxemu.Array(x, "x"), ptxemu.Array(y, "y"), 1])
    found = [f for f in report.errors if f.rule == "out-of-bounds"]
    assert len(found) == 2 and report.completed
    load, store = sorted(found, key=lambda f: f.where[0])
    assert "x[40]" in load.where[0] and load.count == 24
    assert "past the end of y" in store.where[0] and store.count == 31 and store.line == 3
    assert (y == 2).all()


def test_an_index_below_the_array_is_found():
    source = """extern "C" __global__ void k(float* x) { x[(int)threadIdx.x - 2] = 1; }"""
    x = np.zeros(8, np.float32)
    (finding,) = ptxemu.launch(entry(source), 1, 4, [ptxemu.Array(x, "x")]).errors
    assert finding.rule == "out-of-bounds" and finding.count == 2 and "x[-2]" in finding.where[0]
    assert x.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]


def test_misaligned_vector_access():
    source = """extern "C" __global__ void k(float* x) {
      float4 v = *(float4*)(x + threadIdx.x); x[threadIdx.x] = v.x + v.y + v.z + v.w; }"""
    x = np.zeros(64, np.float32)
    report = ptxemu.launch(entry(source), 1, 8, [x])
    assert "misaligned" in rules(report)
    assert next(f for f in report.errors if f.rule == "misaligned").count == 6


def test_shared_and_local_bounds():
    source = """extern "C" __global__ void k(float* x, int n) { __shared__ float s[32]; float l[4] = {1, 2, 3, 4};
      s[threadIdx.x + n] = 1; __syncthreads(); l[(threadIdx.x & 3) + n] = 2;
      x[threadIdx.x] = s[threadIdx.x] + l[n & 3]; }"""
    report = ptxemu.launch(entry(source), 1, 32, [np.zeros(32, np.float32), 2])
    found = [f for f in report.errors if f.rule == "out-of-bounds"]
    assert [f.count for f in found] and {"shared", "local"} <= {f.where[0].split("+")[0] for f in found}


def test_array_views_offsets_and_shared_allocations():
    base = np.arange(64, dtype=np.float32)
    out = np.zeros(16, np.float32)
    report = ptxemu.launch(entry(COPY), 1, 16, [ptxemu.Array(base, "x", offset=64), out, 0])
    assert not report.errors and out.tolist() == list(range(16, 32))
    report = ptxemu.launch(entry(COPY), 1, 16, [base, base, 1])  # given twice: one allocation
    assert base[:16].tolist() == list(range(1, 17))


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_fortran_order_is_passed_as_it_lies(dtype):
    x = np.asfortranarray(np.arange(12, dtype=dtype).reshape(3, 4))
    y = np.zeros(12, dtype)
    source = COPY.replace("float", "int" if dtype == np.int32 else "float")
    ptxemu.launch(entry(source), 1, 12, [x, y, 0])
    assert y.tolist() == x.T.ravel().tolist()


def test_ml_dtypes_arrays():
    source = """extern "C" __global__ void k(const unsigned short* x, unsigned short* y) {
      y[threadIdx.x] = x[threadIdx.x] ^ 0x8000; }"""
    x = np.linspace(-1, 1, 8).astype(ml_dtypes.bfloat16)
    y = np.zeros(8, ml_dtypes.bfloat16)
    ptxemu.launch(entry(source), 1, 8, [x, y])
    assert np.array_equal(y, -x)


@pytest.mark.parametrize(
    "args,words",
    [
        ([np.zeros(4, np.float32)], "takes 3 arguments, got 1"),
        ([np.zeros((4, 4), np.float32)[:, ::2], np.zeros(8, np.float32), 1], "contiguous"),
        ([np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(4)], "no pointer"),
        ([np.zeros(4, np.float32), np.zeros(4, np.float32), "one"], "cannot pass str"),
        ([np.zeros(4, np.float32), np.zeros(4, np.float32), b"123"], "3 bytes for parameter"),
    ],
)
def test_bad_arguments_are_one_clear_line(args, words):
    with pytest.raises(ptxemu.LaunchError) as error:
        ptxemu.launch(entry(COPY), 1, 4, args)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_writing_a_read_only_array_is_refused():
    y = np.zeros(4, np.float32)
    y.flags.writeable = False
    with pytest.raises(ptxemu.LaunchError, match="read-only"):
        ptxemu.launch(entry(COPY), 1, 4, [np.zeros(4, np.float32), y, 1])


def test_no_growth_over_many_launches():
    import resource

    x, y, kernel = np.ones(256, np.float32), np.zeros(256, np.float32), entry(COPY)
    for _ in range(10):
        ptxemu.launch(kernel, 1, 256, [x, y, 1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        ptxemu.launch(kernel, 1, 256, [x, y, 1])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB
