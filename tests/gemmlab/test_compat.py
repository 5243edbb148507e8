"""One test per hook into numba-cuda, cuda.bindings and CuPy."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda

from gemmlab import compat
from gemmlab.args import Geometry


@cuda.jit(fastmath=True)
def kernel(A, B, C):
    C[0, 0] = A[0, 0]


@cuda.jit(device=True)
def function(a):
    return a + 1


def test_dispatchers_are_recognised():
    assert compat.is_dispatcher(kernel) and not compat.is_dispatcher(test_dispatchers_are_recognised)
    assert compat.is_device_function(function) and not compat.is_device_function(kernel)


def test_options_of_a_dispatcher():
    assert compat.dispatcher_options(kernel)["fastmath"] is True
    assert "max_registers" not in compat.dispatcher_options(kernel)


def test_line_numbers_can_be_requested():
    compat.request_line_numbers(function)
    assert function.targetoptions["lineinfo"] is True


def test_compiling_needs_no_driver_and_restores_numba():
    from numba.cuda import dispatcher

    before = dispatcher.get_current_device
    with compat.compiling_for((8, 0)):
        assert dispatcher.get_current_device().compute_capability == (8, 0)
    assert dispatcher.get_current_device is before


def test_warnings_of_numba_stay_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with compat.compiling_for((9, 0)):
            warnings.warn("low occupancy", stacklevel=1)


def test_numpy_without_row_stack_is_lent_it(monkeypatch):
    monkeypatch.delattr(np, "row_stack", raising=False)
    with compat.removed_numpy_names():
        assert np.row_stack is np.vstack
    assert "row_stack" not in vars(np)


def test_numba_ptx():
    kind = compat.numba_array_type(np.dtype("float32"), 2, "C")
    ptx = compat.numba_ptx(kernel.py_func, (kind,) * 3, (8, 6), {"fastmath": True})
    assert ".target sm_86" in ptx and ".loc" in ptx and ".visible .entry" in ptx


def test_types():
    assert str(compat.numba_array_type(np.dtype("float64"), 1, "A")).startswith("array(float64, 1d, A")
    assert str(compat.numba_scalar_type(np.float32(1))) == "float32"


def test_array_parameters_are_those_of_numba():
    """Let numba-cuda flatten an array itself, with a stand-in for the device array, and compare."""
    from numba.cuda import dispatcher

    array = np.zeros((5, 7), np.float32)
    hint = getattr(dispatcher, "wrap_arg", None)
    if hint is None or not hasattr(dispatcher._Kernel, "_prepare_args"):
        pytest.skip("this numba-cuda packs arguments elsewhere")
    layout = SimpleNamespace(strides_in_bytes=array.strides, is_contiguous_c=True, is_contiguous_f=False)
    there = SimpleNamespace(
        size=array.size,
        dtype=array.dtype,
        ptr=0x1000,
        shape=array.shape,
        strides=array.strides,
        _layout=layout,
        __cuda_memory__=True,
        device_ctypes_pointer=SimpleNamespace(value=0x1000),
    )

    class Hint(type(hint(array))):
        def to_device(self, retr, stream=0):
            return there

    flat = []
    kind = compat.numba_array_type(array.dtype, 2, "C")
    dispatcher._Kernel._prepare_args(SimpleNamespace(extensions=[]), kind, Hint(array), 0, [], flat)
    numbers = [getattr(value, "value", value) or 0 for value in flat]
    assert numbers == compat.flatten_array(0x1000, array.shape, array.strides, array.itemsize)


def test_versions_and_distributions():
    assert compat.version("numba-cuda") and compat.version("no-such-distribution") is None
    assert (compat.cupy_distribution() or "cupy").startswith("cupy")


def test_cupy_of_another_vendor():
    runtime = SimpleNamespace(is_hip=True)
    assert compat.cupy_is_hip(SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))
    assert not compat.cupy_is_hip(SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace())))


def test_stream_of_cupy():
    stream = SimpleNamespace(ptr=17)
    assert compat.current_stream_pointer(SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: stream))) == 17


def test_bindings():
    assert hasattr(compat.driver_module(), "cuInit")
    assert hasattr(compat.nvrtc_module(), "nvrtcCompileProgram")
    assert compat.nvjitlink_module() is None or hasattr(compat.nvjitlink_module(), "create")


def test_missing_bindings_are_none(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(compat.importlib, "import_module", missing)
    assert compat.driver_module() is compat.nvrtc_module() is compat.nvjitlink_module() is compat.import_cupy() is None


def test_headers_and_tools():
    assert any((folder / "cuda_fp16.h").is_file() for folder in compat.header_directories())
    assert compat.find_tool("no-such-tool") is None


@pytest.mark.parametrize("cluster", [None, (2, 1, 1)])
def test_a_launch_reaches_the_driver(cluster):
    driver = pytest.importorskip("cuda.bindings.driver")
    seen = []

    class Driver:
        def __getattr__(self, name):
            return getattr(driver, name)

        def cuLaunchKernel(self, *arguments):
            seen.append(arguments)
            return (driver.CUresult.CUDA_SUCCESS,)

        def cuLaunchKernelEx(self, config, function, params, extra):
            extent = config.attrs[0].value.clusterDim
            assert config.numAttrs == 1 and config.attrs[0].id.name == "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"
            assert (extent.x, extent.y, extent.z) == cluster
            grid = config.gridDimX, config.gridDimY, config.gridDimZ
            block = config.blockDimX, config.blockDimY, config.blockDimZ
            seen.append((function, *grid, *block, config.sharedMemBytes, int(config.hStream), params, extra))
            return (driver.CUresult.CUDA_SUCCESS,)

    geometry = Geometry((4, 3, 2), (32, 2, 1), 4096, cluster)
    launch = compat.launcher(Driver(), "kernel", geometry, 0x1000)
    for stream in (7, 9):
        assert launch(stream)[0].value == 0
    assert seen == [("kernel", 4, 3, 2, 32, 2, 1, 4096, stream, 0x1000, 0) for stream in (7, 9)]
