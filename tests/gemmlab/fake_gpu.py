"""A stand-in for CuPy and one GPU: NumPy arrays, a clock that launches advance, events that read it.

Only what gemmlab's measuring code uses. Nothing here says anything about a real GPU's speed.
"""

import contextlib
import types

import numpy as np

ATTRIBUTES = {13: 1_980_000, 36: 3_201_000, 37: 6144, 38: 60 << 20, 16: 132}  # cudaDeviceAttr: value


class DeviceArray(np.ndarray):
    """An array with CuPy's `data.ptr` and `get()`."""

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)

    def get(self):
        return np.asarray(self)


class FakeGpu:
    """Stands where `import cupy` would be. `work(name, us, i)` is one launch; `log` lists all of them in order."""

    uint8, int32, float32, float64, nan = np.uint8, np.int32, np.float32, np.float64, np.nan
    abs, sqrt, isfinite = staticmethod(np.abs), staticmethod(np.sqrt), staticmethod(np.isfinite)

    def __init__(self):
        self.now_us, self.log, self.capturing = 0.0, [], None
        self.arrays = {}
        runtime = types.SimpleNamespace(
            memGetInfo=lambda: (130 << 30, 140 << 30),
            getDeviceProperties=lambda number: {"name": b"NVIDIA H200"},
            deviceGetAttribute=lambda code, number: ATTRIBUTES[code],
            deviceGetPCIBusId=lambda number: "0000:00:00.0",
            driverGetVersion=lambda: 13000,
            runtimeGetVersion=lambda: 13000,
        )
        rng = np.random.default_rng()
        self.random = types.SimpleNamespace(
            standard_normal=lambda shape, dtype: self.asarray(rng.standard_normal(shape, dtype=dtype)),
            randint=lambda low, high, shape, dtype: self.asarray(rng.integers(low, high, shape, dtype=dtype)),
        )
        self.cuda = types.SimpleNamespace(
            Stream=lambda non_blocking=False: Stream(self),
            Event=lambda: Event(self),
            get_elapsed_time=elapsed,
            Device=lambda: types.SimpleNamespace(id=0, compute_capability="90", synchronize=lambda: None),
            get_current_stream=lambda: types.SimpleNamespace(ptr=7),
            nvrtc=types.SimpleNamespace(getVersion=lambda: (13, 0)),
            runtime=runtime,
        )

    def asarray(self, values):
        array = np.ascontiguousarray(values).view(DeviceArray)
        self.arrays[array.data.ptr] = array
        return array

    def empty(self, size, dtype):
        if isinstance(size, tuple):
            return self.asarray(np.empty(size, dtype))
        gpu = self

        class Flush:
            def fill(self, value):
                gpu.work("flush", 25.0, None)

        return Flush()

    def get_default_memory_pool(self):
        return types.SimpleNamespace(free_all_blocks=lambda: None)

    def work(self, name, us, i):
        if self.capturing is not None:
            self.capturing.append((name, us, i))
        else:
            self.now_us += us
            self.log.append((name, i))

    def kernel(self, name, us):
        """Return launch(i) that takes `us` microseconds and computes nothing."""
        return lambda i: self.work(name, us, i)


class Stream(contextlib.nullcontext):
    def __init__(self, gpu):
        super().__init__(self)
        self.gpu = gpu

    def synchronize(self):
        self.gpu.log.append("synchronize")

    def begin_capture(self):
        self.gpu.capturing = []

    def end_capture(self):
        captured, self.gpu.capturing = self.gpu.capturing, None
        return types.SimpleNamespace(launch=lambda stream: [self.gpu.work(*item) for item in captured])


class Event:
    def __init__(self, gpu):
        self.gpu, self.waited = gpu, False

    def record(self, stream=None):
        self.at = self.gpu.now_us

    def synchronize(self):
        self.waited = True


def elapsed(start, end):
    assert end.waited, "the end event must be waited for before its time is read"
    return (end.at - start.at) / 1e3
