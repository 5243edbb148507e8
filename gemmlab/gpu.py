"""Run compiled kernels on this machine's GPU, through the driver API and on CuPy's current stream."""

import ctypes
from dataclasses import dataclass, field

import numpy as np

from gemmlab import compat
from gemmlab.args import PORTABLE_CLUSTER, is_array, param_bytes
from gemmlab.device import device
from gemmlab.errors import GemmlabError

CLUSTER_CC = (9, 0)
STATIC_LIMIT = 48 * 1024  # bytes of shared memory of a CTA without opt-in
_STICKY = {
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
}


@dataclass
class DeviceArray:
    """An array in GPU memory: `pointer` is the address of its first element, `owner` keeps the memory alive."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    owner: object = field(repr=False)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


def require_gpu() -> None:
    """Raise GemmlabError, with the reason, when this machine has no usable GPU."""
    here = device()
    if here.kind != "gpu":
        raise GemmlabError(f'backend="gpu" is not possible here: {here.reason}')


def check_status(result, what: str):
    """Return what a driver call returned beside its status; raise GemmlabError when it failed."""
    status, *rest = result
    if status.value:
        advice = ""
        if status.name in _STICKY:
            advice = ': restart Python, and run the kernel with backend="emulator" to see the line and the thread'
        raise GemmlabError(f"{what} failed on the GPU ({status.name}){advice}")
    return rest[0] if len(rest) == 1 else rest or None


class GpuKernel:
    """A compiled kernel, loaded."""

    def __init__(self, compiled):
        self.driver = compat.driver_module()
        self.cupy = compat.import_cupy()
        self.cupy.cuda.runtime.free(0)  # makes the primary context current in this thread
        self.compiled = compiled
        image = compiled.cubin or compiled.ptx.encode() + b"\0"
        self.module = check_status(self.driver.cuModuleLoadData(image), f"loading {compiled.title!r}")
        name = compiled.entry.encode()
        self.function = check_status(self.driver.cuModuleGetFunction(self.module, name), f"finding {compiled.title!r}")
        self.allowed = STATIC_LIMIT

    def attribute(self, name: str) -> int:
        """Return a function attribute of the driver, such as "NUM_REGS" or "SHARED_SIZE_BYTES"."""
        which = getattr(self.driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return check_status(self.driver.cuFuncGetAttribute(which, self.function), f"asking for {name}")

    def allow_shared(self, dynamic: int) -> None:
        """Opt in to `dynamic` bytes of dynamic shared memory; raise GemmlabError when the GPU has less."""
        static = self.attribute("SHARED_SIZE_BYTES")
        if dynamic + static <= self.allowed:
            return
        limit = self.cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        if dynamic + static > limit:
            raise GemmlabError(
                f"{self.compiled.title!r} asks for {dynamic + static} bytes of shared memory per block ({static} "
                f"static + {dynamic} dynamic), and this GPU has at most {limit}: use smaller tiles or fewer stages"
            )
        which = self.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check_status(self.driver.cuFuncSetAttribute(self.function, which, dynamic), "opting in to shared memory")
        self.allowed = dynamic + static

    def allow_cluster(self, cluster) -> None:
        """Opt in to clusters of more CTAs than every GPU takes; raise GemmlabError where the GPU has none."""
        if cluster is None:
            return
        if device().cc < CLUSTER_CC:
            raise GemmlabError(f"clusters need compute capability 9.0 or higher, and {device().name} is {device().cc}")
        if cluster[0] * cluster[1] * cluster[2] > PORTABLE_CLUSTER:
            which = self.driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            check_status(self.driver.cuFuncSetAttribute(self.function, which, 1), "opting in to large clusters")

    def bind(self, flat: list, geometry):
        """Return a function of no arguments that puts one launch on CuPy's current stream."""
        self.allow_shared(geometry.shared)
        self.allow_cluster(geometry.cluster)
        raw = [param_bytes(v, p.size, "an argument") for v, p in zip(flat, self.compiled.params, strict=True)]
        buffers = [ctypes.create_string_buffer(data, len(data)) for data in raw]
        table = (ctypes.c_void_p * max(1, len(buffers)))(*map(ctypes.addressof, buffers))
        launch = compat.launcher(self.driver, self.function, geometry, ctypes.addressof(table))
        name, cupy = self.compiled.title, self.cupy

        def enqueue(_keep=(buffers, table)):
            result = launch(compat.current_stream_pointer(cupy))
            if result[0].value:
                clusters = f", clusters of {geometry.cluster}" if geometry.cluster else ""
                where = f"grid {geometry.grid} and block {geometry.block}{clusters}"
                check_status(result, f"launching {name!r} with {where}")

        return enqueue


_loaded: dict[tuple[str, str], GpuKernel] = {}


def load(compiled) -> GpuKernel:
    """Load a compiled kernel, once per PTX text."""
    require_gpu()
    key = (compiled.ptx, compiled.entry)
    if key not in _loaded:
        _loaded[key] = GpuKernel(compiled)
    return _loaded[key]


def to_device(array, guard: int = 0, fill: int = 0xFF) -> DeviceArray:
    """Copy a C- or F-contiguous NumPy array to the GPU, between two guard zones of `guard` bytes filled with `fill`."""
    cupy = compat.import_cupy()
    raw = np.full(array.nbytes + 2 * guard, fill, np.uint8)
    raw[guard : guard + array.nbytes] = np.frombuffer(array.tobytes(order="A"), np.uint8)
    owner = cupy.asarray(raw)
    return DeviceArray(owner.data.ptr + guard, array.shape, array.strides, array.dtype, owner)


def to_host(array: DeviceArray, guard: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the array's content as NumPy, and the bytes of its guard zones."""
    raw = compat.import_cupy().asnumpy(array.owner)
    end = guard + array.size * array.dtype.itemsize
    order = "C" if array.strides == np.empty(array.shape, array.dtype).strides else "F"
    content = raw[guard:end].view(array.dtype).reshape(array.shape, order=order)
    return content, np.concatenate([raw[:guard], raw[end:]])


def pointer(array) -> int:
    """Return the GPU address of a DeviceArray or a CuPy array."""
    return array.pointer if isinstance(array, DeviceArray) else array.data.ptr


def on_device(value) -> bool:
    """Say whether `value` is an array in GPU memory."""
    return is_array(value) and (isinstance(value, DeviceArray) or hasattr(value, "__cuda_array_interface__"))


def synchronize(what: str) -> None:
    """Wait for the GPU; turn a failure of the kernel into a GemmlabError."""
    driver = compat.driver_module()
    check_status(driver.cuCtxSynchronize(), what)
