"""Every private or moving part of numba-cuda, cuda.bindings and CuPy that the laboratory relies on, one function each.

These projects change; when one does, exactly one function here and its test have to follow. Written for numba-cuda
0.22–0.30, cuda.bindings 12.8–13.x and CuPy 14.
"""

import contextlib
import importlib
import importlib.metadata
import threading
import warnings
from pathlib import Path

_patch_lock = threading.RLock()


class _StandInDevice:
    """What numba-cuda asks of the current device while it compiles a device function."""

    def __init__(self, cc):
        self.compute_capability = cc


@contextlib.contextmanager
def removed_numpy_names():
    """Lend NumPy the alias `row_stack`, removed in NumPy 2.5: numba-cuda 0.30 asks for it on first compilation."""
    import numpy

    if hasattr(numpy, "row_stack"):
        yield
        return
    numpy.row_stack = numpy.vstack
    try:
        yield
    finally:
        del numpy.row_stack


@contextlib.contextmanager
def compiling_for(cc: tuple[int, int]):
    """Let numba-cuda compile device functions for `cc` without a driver, with line numbers.

    `CUDADispatcher.compile_device` asks `get_current_device()` for the compute capability, which fails without a GPU
    (and is the wrong one when compiling for another).
    """
    from numba.cuda import dispatcher

    with _patch_lock:
        original = dispatcher.get_current_device
        dispatcher.get_current_device = lambda: _StandInDevice(cc)
        try:
            with removed_numpy_names(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # performance hints of Numba must not reach checked notebook output
                yield
        finally:
            dispatcher.get_current_device = original


def is_dispatcher(kernel) -> bool:
    """Say whether `kernel` is what @cuda.jit returns."""
    return hasattr(kernel, "py_func") and hasattr(kernel, "targetoptions")


def dispatcher_options(kernel) -> dict:
    """Return the options given to @cuda.jit that change the code: fastmath, opt, launch_bounds, max_registers."""
    options = getattr(kernel, "targetoptions", {})
    return {name: options[name] for name in ("fastmath", "opt", "launch_bounds", "max_registers") if options.get(name)}


def is_device_function(kernel) -> bool:
    """Say whether a dispatcher was made by @cuda.jit(device=True)."""
    return bool(getattr(kernel, "targetoptions", {}).get("device"))


def request_line_numbers(kernel) -> None:
    """Make a device function's dispatcher keep line numbers when it is compiled into a kernel."""
    kernel.targetoptions["lineinfo"] = True


def numba_ptx(py_func, signature: tuple, cc: tuple[int, int], options: dict) -> str:
    """Compile a Python function to the PTX of a kernel for `cc`, with line numbers; Numba's exceptions pass through."""
    from numba import cuda

    known = {name: options[name] for name in ("fastmath", "opt", "launch_bounds") if name in options}
    with compiling_for(cc):
        ptx, _ = cuda.compile(py_func, signature, device=False, abi="numba", lineinfo=True, cc=cc, **known)
    return ptx


def numba_array_type(dtype, ndim: int, order: str):
    """Return Numba's type of an array: `order` is "C", "F" or "A" (any strides)."""
    from numba.core import types
    from numba.np.numpy_support import from_dtype

    return types.Array(from_dtype(dtype), ndim, order)


def numba_scalar_type(value):
    """Return Numba's type of a Python or NumPy scalar."""
    from numba import typeof

    return typeof(value)


def flatten_array(pointer, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> list:
    """Return the kernel parameters that numba-cuda passes for one array.

    The order is meminfo, parent, number of items, item size in bytes, data pointer, shape, strides in bytes; each is 64
    bits wide. `pointer` is passed through: an address on a GPU, an array for the emulator.
    """
    items = 1
    for extent in shape:
        items *= extent
    return [0, 0, items, itemsize, pointer, *shape, *strides]


def version(distribution: str) -> str | None:
    """Return the installed version of a distribution, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def cupy_distribution() -> str | None:
    """Return the name of the installed CuPy distribution, such as "cupy-cuda12x", or None."""
    names = ("cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x", "cupy", "cupy-rocm-7-0", "cupy-rocm-6-0", "cupy-rocm-5-0")
    return next((name for name in names if version(name)), None)


def import_cupy():
    """Return the cupy module, or None when it is missing or cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("cupy")
    except Exception:  # a broken CuPy raises whatever its loader met: the doctor reports it as missing
        return None


def cupy_is_hip(cupy) -> bool:
    """Say whether this CuPy is built for AMD GPUs."""
    return bool(getattr(cupy.cuda.runtime, "is_hip", False))


def current_stream_pointer(cupy) -> int:
    """Return the handle of CuPy's current stream, so that our launches are ordered with CuPy's (and captured)."""
    return cupy.cuda.get_current_stream().ptr


def driver_module():
    """Return cuda.bindings' driver module, or None without it. Importing it needs no driver."""
    with contextlib.suppress(ImportError):
        return importlib.import_module("cuda.bindings.driver")
    return None


def nvrtc_module():
    """Return cuda.bindings' NVRTC module, or None without it."""
    with contextlib.suppress(ImportError):
        return importlib.import_module("cuda.bindings.nvrtc")
    return None


def nvjitlink_module():
    """Return cuda.bindings' nvJitLink module, or None without it."""
    with contextlib.suppress(ImportError):
        return importlib.import_module("cuda.bindings.nvjitlink")
    return None


def header_directories() -> list[Path]:
    """Return the folders that hold the CUDA headers (cuda_fp16.h, mma.h): wheels first, then toolkits."""
    pathfinder = importlib.import_module("cuda.pathfinder")
    found = []
    for library in ("cudart", "nvcc", "cccl"):  # nvcc: crt/mma.h
        for name in ("find_nvidia_header_directory", "_find_nvidia_header_directory"):
            find = getattr(pathfinder, name, None)
            if find is not None:
                with contextlib.suppress(Exception):  # "not found" is an exception in some versions, None in others
                    directory = find(library)
                    if directory:
                        found.append(Path(directory))
                break
    return found


def find_tool(name: str) -> Path | None:
    """Return the path of a CUDA tool (ptxas, nvdisasm, ncu …): PATH, CUDA_HOME, wheels, then /usr/local/cuda."""
    import os
    import shutil
    import site
    import sys

    folders = [os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH")]
    folders = [Path(folder) / "bin" for folder in folders if folder]
    for packages in {*site.getsitepackages(), *sys.path}:
        wheels = Path(packages) / "nvidia"
        if wheels.is_dir():
            folders += [*wheels.glob("cu*/bin"), *wheels.glob("cuda_*/bin")]
    folders += [Path("/usr/local/cuda/bin")]
    for folder in folders:
        found = shutil.which(name, path=str(folder))
        if found:
            return Path(found)
    found = shutil.which(name)
    return Path(found) if found else None


def encode_tensor_map(tiled, type_name: str, address: int) -> tuple[str, bytes | None]:
    """Call cuTensorMapEncodeTiled with gemmlab.tensormap.Tiled; return (status name, the 128 bytes or None).

    cuda.bindings takes lists of its own integer types and enumeration members, and returns a CUtensorMap.
    """
    import ctypes

    driver = driver_module()
    swizzles = {0: "NONE", 32: "32B", 64: "64B", 128: "128B"}
    promotions = {0: "NONE", 64: "L2_64B", 128: "L2_128B", 256: "L2_256B"}
    fill = "NAN_REQUEST_ZERO_FMA" if tiled.nan_fill else "NONE"
    status, made = driver.cuTensorMapEncodeTiled(
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{type_name}"),
        len(tiled.dims),
        address,
        [driver.cuuint64_t(value) for value in tiled.dims],
        [driver.cuuint64_t(value) for value in tiled.strides or (0,)],
        [driver.cuuint32_t(value) for value in tiled.box],
        [driver.cuuint32_t(value) for value in tiled.element_strides],
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{swizzles[tiled.swizzle]}"),
        getattr(driver.CUtensorMapL2promotion, f"CU_TENSOR_MAP_L2_PROMOTION_{promotions[tiled.l2_promotion]}"),
        getattr(driver.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}"),
    )
    return status.name, None if status.value else ctypes.string_at(made.getPtr(), 128)


def launcher(driver, function, geometry, params: int):
    """Return launch(stream) -> the driver's result, for gemmlab.args.Geometry and the address of the parameter table.

    Clusters need cuLaunchKernelEx, whose configuration cuda.bindings builds from Python attributes; attrs is assigned
    as a whole.
    """
    grid, block, shared = geometry.grid, geometry.block, geometry.shared
    if geometry.cluster is None:
        return lambda stream: driver.cuLaunchKernel(function, *grid, *block, shared, stream, params, 0)
    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    extent = attribute.value.clusterDim
    extent.x, extent.y, extent.z = geometry.cluster
    config.attrs, config.numAttrs = [attribute], 1

    def launch(stream):
        config.hStream = stream
        return driver.cuLaunchKernelEx(config, function, params, 0)

    return launch
