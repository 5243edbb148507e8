"""Which GPU is here, and can this course use it? Never raises: without one, everything runs on the emulator."""

import functools
import os
import platform
from dataclasses import dataclass

from gemmlab import compat

MIN_CC = (7, 5)  # CUDA 13 dropped what came before Turing
BOOK_CC = (9, 0)  # runs every kernel of the book
EMULATE = 'kernels run on the emulator (backend="emulator")'


@dataclass(frozen=True)
class Device:
    """The machine's first GPU as the laboratory sees it.

    `kind`: "gpu" (usable), "none" or "unsupported" (there is one, but not for us). `cc` is the compute capability,
    `target` the exact compilation target ("sm_90a"), `driver` the CUDA version that the driver supports ("13.0"),
    `reason` one sentence, `shared_per_block` the most shared memory of a block in bytes (0: not known).
    """

    kind: str
    name: str = ""
    cc: tuple[int, int] | None = None
    target: str | None = None
    driver: str | None = None
    reason: str = ""
    sms: int = 0
    shared_per_block: int = 0

    def holds(self, shared: int) -> bool:
        """Say whether a block can have so many bytes of shared memory here, as far as is known."""
        return not self.shared_per_block or shared <= self.shared_per_block


def target_of(cc: tuple[int, int]) -> str:
    """Return the exact target of a compute capability: from 9.0 on it carries the suffix "a" (wgmma, TMA, tcgen05)."""
    return f"sm_{cc[0]}{cc[1]}" + ("a" if cc >= (9, 0) else "")


@functools.cache
def device() -> Device:
    """Return the machine's GPU. The answer is cached. GEMMLAB_BACKEND=emulator hides the GPU."""
    if os.environ.get("GEMMLAB_BACKEND") == "emulator":
        return Device("none", reason=f"GEMMLAB_BACKEND=emulator is set: {EMULATE}")
    return detect(compat.driver_module(), compat.import_cupy, platform.system())


def detect(driver, import_cupy, system: str) -> Device:
    """Find out what the machine offers. `driver`: cuda.bindings' module or None; `system`: platform.system()."""
    if system == "Darwin":
        return Device("none", reason=f"macOS has no NVIDIA driver and no compiler wheels; {EMULATE} on Linux or WSL")
    found = _query(driver)
    if isinstance(found, str):
        cupy = import_cupy()
        if cupy is not None and compat.cupy_is_hip(cupy):
            return Device("unsupported", reason=f"this GPU is not an NVIDIA GPU: {EMULATE}")
        if os.path.exists("/dev/kfd") and not os.path.exists("/dev/nvidiactl"):
            return Device("unsupported", reason=f"this GPU is not an NVIDIA GPU: {EMULATE}")
        return Device("none", reason=f"{found}: {EMULATE}")
    name, cc, version, sms, shared = found
    text = f"{version // 1000}.{version % 1000 // 10}"
    cupy_name = compat.cupy_distribution() or ""
    needed = 13000 if cupy_name == "cupy-cuda13x" else 12000
    facts = {"name": name, "cc": cc, "driver": text, "sms": sms, "shared_per_block": shared}
    if cc < MIN_CC:
        reason = f"{name} has compute capability {cc[0]}.{cc[1]}, and CUDA's compilers start at 7.5: {EMULATE}"
        return Device("unsupported", reason=reason, **facts)
    if version < needed:
        reason = (
            f"the driver supports CUDA {text}, and the installed wheels need {needed // 1000}.0: "
            f"update the NVIDIA driver; until then {EMULATE}"
        )
        return Device("unsupported", reason=reason, **facts)
    cupy = import_cupy()
    if cupy is None:
        wheel = "cupy-cuda13x" if version >= 13000 else "cupy-cuda12x"
        return Device("unsupported", reason=f"CuPy is missing: pip install {wheel}; until then {EMULATE}", **facts)
    target = target_of(cc)
    reason = f"{name} ({target}) runs kernels natively"
    if cc != BOOK_CC:
        reason += " where it has their instructions; the others run on the emulator"
    return Device("gpu", target=target, reason=reason, **facts)


def _query(driver):
    """Ask the driver for (name, cc, CUDA version, SMs, shared bytes of a block), or say why that is impossible."""
    if driver is None:
        return "cuda-bindings is missing"
    try:
        (status,) = driver.cuInit(0)
        if status.value == driver.CUresult.CUDA_ERROR_NO_DEVICE.value:
            return "no NVIDIA GPU found"
        if status.value:
            return f"the NVIDIA driver does not start ({status.name})"
        status, count = driver.cuDeviceGetCount()
        if status.value or not count:
            return "no NVIDIA GPU found"
        _, handle = driver.cuDeviceGet(0)
        _, name = driver.cuDeviceGetName(128, handle)
        _, version = driver.cuDriverGetVersion()
        attribute = driver.CUdevice_attribute
        values = [
            driver.cuDeviceGetAttribute(which, handle)[1]
            for which in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )
        ]
        return name.split(b"\0")[0].decode(), (values[0], values[1]), version, values[2], values[3]
    except Exception:  # without libcuda the bindings raise; the class differs between versions
        return "no NVIDIA driver found"
