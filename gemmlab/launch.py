"""Launch any kernel on either backend with one call, and say which it was."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gemmlab import args as arguments
from gemmlab import gpu, tensormap
from gemmlab.backend import choose_backend, profile_of, sms_of
from gemmlab.call import Call
from gemmlab.compile import Compiled, choose_target, compile_kernel
from gemmlab.device import device
from gemmlab.errors import GemmlabError
from gemmlab.execution import is_static
from gemmlab.rules import launch_rule
from gemmlab.source import resolve


@dataclass
class Launch:
    """What one launch did.

    `backend`: "gpu" or "emulator"; `report`: the emulator's (findings, counters, trace) or None; `time_s`: one cold
    launch on the GPU between CUDA events (an indication, not a measurement) or None; `seconds`: wall time.
    """

    kernel: str
    backend: str
    where: str
    report: object | None
    time_s: float | None
    seconds: float

    def __str__(self):
        if self.report is None:
            took = "" if is_static() else f" in {self.time_s * 1e6:.0f} µs (one launch)"
            return f"{self.kernel} ran on {self.where}{took}"
        return f"{self.kernel} ran on {self.where}: " + ("\n".join(map(str, self.report.findings)) or "no findings")

    __repr__ = __str__


def prepare(kernel, args: tuple, backend: str) -> tuple[Compiled, list[str]]:
    """Compile `kernel` for these arguments and check them; return it with the arguments' names."""
    spec = kernel if isinstance(kernel, Compiled) else resolve(kernel)[1]
    spec = spec.spec if isinstance(spec, Compiled) else spec
    if not isinstance(kernel, Compiled):
        for position, value in enumerate(args):
            if isinstance(value, (list, tuple)) or value is None:
                kind = arguments.kind_of(value)
                raise GemmlabError(f"argument {position + 1} of the kernel: pass an array or a number, not {kind}")
        kernel = compile_kernel(kernel, choose_target(kernel, spec, backend), args)
    return kernel, arguments.validate(kernel, args)


def launch(
    kernel,
    *args,
    grid,
    block,
    shared=0,
    cluster=None,
    nonportable=False,
    backend=None,
    check=True,
    count=True,
    schedule="late",
    trace=None,
) -> Launch:
    """Launch `kernel` (a Numba kernel, a CudaSource, a Spec or its name, a Compiled) with `args` on a grid of blocks.

    Arrays are NumPy or CuPy arrays; results appear in the caller's arrays on both backends. `shared`: dynamic shared
    memory of one CTA in bytes. `cluster`: CTAs of a cluster, (x, y, z); more than 8 need `nonportable=True`. `check`,
    `count`, `schedule` and `trace` are the emulator's (see ptxemu.launch). Raises GemmlabError for arguments that the
    kernel cannot take and launches that the hardware refuses.
    """
    start = time.perf_counter()
    geometry = arguments.Geometry.of(grid, block, shared, cluster, nonportable)
    backend = choose_backend(kernel, backend, geometry.shared)
    compiled, names = prepare(kernel, args, backend)
    if backend == "gpu":
        time_s = _on_gpu(compiled, args, geometry)
        return Launch(compiled.title, "gpu", device().name, None, time_s, time.perf_counter() - start)
    hosts = _to_hosts(args)
    options = {"check": check, "count": count, "schedule": schedule, "trace": trace}
    report = emulate(compiled, hosts, names, geometry, **options)
    for value, host in zip(args, hosts, strict=True):
        value, host = getattr(value, "array", value), getattr(host, "array", host)
        if host is not value:
            value.set(host)
    return Launch(compiled.title, "emulator", "the emulator", report, None, time.perf_counter() - start)


def emulate(compiled: Compiled, args, names, geometry, roles=None, **options):
    """Run a compiled kernel on the emulator; return its report. `roles`: "in", "out" or "inout" by argument name."""
    import ptxemu

    roles = roles or {}
    wrapped = {}

    def pointer_of(position, array):
        name = names[position] if position < len(names) else f"argument {position}"
        if id(array) not in wrapped:
            wrapped[id(array)] = ptxemu.Array(array, name=name, role=roles.get(name, "inout"))
        return wrapped[id(array)]

    flat = arguments.flatten(compiled, tuple(args), pointer_of)
    for position, value in enumerate(flat):
        if arguments.is_tensor_map(value):
            flat[position] = tensormap.for_emulator(value, pointer_of(position, value.array))
    options |= {"cluster": geometry.cluster, "profile": profile_of(compiled.target)}
    try:
        entry = ptxemu.load(compiled.ptx).entry(compiled.entry)
        return ptxemu.launch(entry, geometry.grid, geometry.block, flat, geometry.shared, **options)
    except (ptxemu.PtxError, ptxemu.LaunchError) as error:
        raise GemmlabError(str(error)) from None


def _to_hosts(args) -> list:
    """The arguments with NumPy arrays for those in GPU memory, one for each, however often it is passed."""
    copies = {}

    def host(value):
        if arguments.is_tensor_map(value):
            array = host(value.array)
            return value if array is value.array else tensormap.TensorMap(array, value.tiled)
        if not arguments.is_array(value) or isinstance(value, np.ndarray):
            return value
        if id(value) not in copies:
            copies[id(value)] = value.get()
        return copies[id(value)]

    return [host(value) for value in args]


def _on_gpu(compiled: Compiled, args, geometry) -> float:
    start, back = _bind(compiled, args, geometry)
    cupy = gpu.compat.import_cupy()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    start()
    end.record()
    gpu.synchronize(repr(compiled.title))
    back()
    return cupy.cuda.get_elapsed_time(begin, end) * 1e-3


def _bind(compiled: Compiled, args, geometry) -> tuple[Callable, Callable]:
    """Return (start, copy back) of a launch on the GPU; NumPy arrays are copied there now."""
    loaded = gpu.load(compiled)
    copies = {}

    def pointer_of(position, array):
        if gpu.on_device(array):
            return gpu.pointer(array)
        if id(array) not in copies:
            copies[id(array)] = (array, gpu.to_device(array))
        return copies[id(array)][1].pointer

    flat = arguments.flatten(compiled, args, pointer_of)
    for position, value in enumerate(flat):
        if arguments.is_tensor_map(value):
            data = tensormap.for_gpu(value.tiled, pointer_of(position, value.array))
            if compiled.params[position].size == 8:  # a map in global memory
                copies[position] = (np.frombuffer(data, np.uint8), gpu.to_device(np.frombuffer(data, np.uint8)))
                data = copies[position][1].pointer.to_bytes(8, "little")
            flat[position] = data
    start = loaded.bind(flat, geometry)

    def back():
        for array, there in copies.values():
            if array.flags.writeable:
                array[...] = gpu.to_host(there)[0]

    return start, back


def enqueue(compiled: Compiled, args, geometry) -> None:
    """Put one launch on CuPy's current stream; every array must be in GPU memory."""
    _bind(compiled, args, geometry)[0]()


def bind(kernel, *args, grid, block, shared=0, cluster=None, nonportable=False) -> Callable[[], None]:
    """Return a function of no arguments that puts one launch on CuPy's current stream, for timing and CUDA graphs.

    `args` are CuPy arrays (or gpu.DeviceArray) and numbers; nothing is copied. Raises GemmlabError without a GPU.
    """
    gpu.require_gpu()
    geometry = arguments.Geometry.of(grid, block, shared, cluster, nonportable)
    choose_backend(kernel, "gpu")
    compiled, names = prepare(kernel, args, "gpu")
    for name, value in zip(names, args, strict=False):
        if isinstance(value.array if arguments.is_tensor_map(value) else value, np.ndarray):
            raise GemmlabError(f"argument {name} is a NumPy array, and bind copies nothing: pass cupy.asarray({name})")
    return _bind(compiled, args, geometry)[0]


def run(kernel, A, B, C=None, *, rule=None, grid=None, block=None, shared=None, backend=None):
    """Compute C = A @ B with a GEMM kernel and return C: grid, block and arguments come from its Spec or from `rule`.

    A is (M, K) and B (K, N), row-major (B (N, K) when the kernel's layout says so). C is made when not given.
    Where TMA needs rows of whole 16 bytes the arrays are padded, and a line says so. Raises GemmlabError for shapes
    that do not fit.
    """
    spec = resolve(kernel)[1] if not isinstance(kernel, Compiled) else kernel.spec
    layout = spec.layout if spec else (rule or {}).get("layout", "row,row->row")
    if getattr(A, "ndim", 0) != 2 or getattr(B, "ndim", 0) != 2:
        raise GemmlabError("A and B must be matrices (2-D arrays)")
    K, N = B.shape[::-1] if layout.startswith("row,col") else B.shape
    M = A.shape[0]
    if A.shape[1] != K:
        raise GemmlabError(f"A is {A.shape} and B is {B.shape}: the inner dimensions {A.shape[1]} and {K} differ")
    if spec and not spec.accepts(M, N, K):
        raise GemmlabError(f"{spec.name} needs multiples of {spec.align}, got M, N, K = {M}, {N}, {K}: pad the arrays")
    if C is None:
        module = np if isinstance(A, np.ndarray) else gpu.compat.import_cupy()
        C = module.empty((M, N), spec.c_dtype if spec else A.dtype)
    elif not arguments.is_array(C) or C.shape != (M, N):
        kind = C.shape if arguments.is_array(C) else arguments.kind_of(C)
        raise GemmlabError(f"C is {kind}, and A @ B is {(M, N)}")
    elif isinstance(C, np.ndarray) and not C.flags.writeable:
        raise GemmlabError("C is read-only, and the product is written to it: pass C.copy()")
    backend = choose_backend(kernel, backend)
    call = Call(launch_rule(kernel, rule, grid, block, shared), A, B, C, sms_of(kernel, backend))
    launch(kernel, *call.args(), **call.launch, backend=backend, check=False, count=False)
    call.finish()
    if call.notes:
        print("; ".join(call.notes))
    return C
