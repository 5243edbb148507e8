"""What machine this is, and what its clocks and power do while it works. Reads only; never sets a clock."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import statistics

ATTRIBUTES = {"clock_khz": 13, "memory_clock_khz": 36, "bus_bits": 37, "l2_bytes": 38, "sms": 16}  # cudaDeviceAttr
THROTTLE_REASONS = {
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x20: "thermal limit (software)",
    0x40: "thermal limit (hardware)",
    0x80: "power brake",
}
PACKAGES = (
    "numpy",
    "numba",
    "numba-cuda",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "cuda-bindings",
    "nvidia-cublas",
    "nvidia-cublas-cu12",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
)


class Telemetry:
    """Clock, power and throttle reasons of the current CUDA device through NVML; empty readings without NVML."""

    def __init__(self):
        import cupy

        self._nvml = self._handle = None
        try:
            import pynvml

            pynvml.nvmlInit()
            bus = cupy.cuda.runtime.deviceGetPCIBusId(cupy.cuda.Device().id)
            self._handle = pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode() if isinstance(bus, str) else bus)
            self._nvml = pynvml
        except Exception as error:  # noqa: BLE001 - no NVML, no permission, a virtual GPU: all the same here
            self.missing = f"clocks and power unknown: {type(error).__name__}: {error}"
        else:
            self.missing = ""

    def _read(self, function: str, *args):
        return _read_or(None, lambda: getattr(self._nvml, function)(self._handle, *args))

    def sample(self) -> dict:
        """Return {"sm_mhz", "power_w", "reasons"}; a reading that is not offered is absent."""
        if self._nvml is None:
            return {}
        power = self._read("nvmlDeviceGetPowerUsage")
        reasons = self._read("nvmlDeviceGetCurrentClocksEventReasons")
        if reasons is None:
            reasons = self._read("nvmlDeviceGetCurrentClocksThrottleReasons")
        out = {
            "sm_mhz": self._read("nvmlDeviceGetClockInfo", 1),
            "power_w": power / 1000 if power else None,
            "reasons": [text for bit, text in THROTTLE_REASONS.items() if (reasons or 0) & bit],
        }
        return {key: value for key, value in out.items() if value is not None}

    def max_sm_mhz(self) -> int | None:
        """Return the highest SM clock that the board may run at, or None."""
        return self._read("nvmlDeviceGetMaxClockInfo", 1) if self._nvml else None

    def power_limit_w(self) -> float | None:
        """Return the enforced power limit in watts, or None."""
        limit = self._read("nvmlDeviceGetEnforcedPowerLimit") if self._nvml else None
        return limit / 1000 if limit else None

    def driver(self) -> str:
        """Return the driver's version, or "unknown"."""
        if self._nvml is None:
            return "unknown"
        version = _read_or("unknown", self._nvml.nvmlSystemGetDriverVersion)
        return version.decode() if isinstance(version, bytes) else version


def summary(samples: list[dict], key: str) -> dict:
    """Return {"min", "median", "max"} of one reading over the rounds, or {} when there was none."""
    values = [s[key] for s in samples if key in s]
    return {"min": min(values), "median": statistics.median(values), "max": max(values)} if values else {}


def throttling(samples: list[dict]) -> list[str]:
    """Return the reasons that held the clock down in at least a tenth of the rounds."""
    seen = [reason for s in samples for reason in s.get("reasons", [])]
    return sorted({reason for reason in seen if seen.count(reason) >= 0.1 * len(samples)})


def attributes() -> dict:
    """Return the current device's name, cc, SMs, clocks (kHz), bus width (bits), L2 and memory (bytes).

    A number that the driver does not tell is 0.
    """
    import cupy

    runtime, number = cupy.cuda.runtime, cupy.cuda.Device().id
    name = runtime.getDeviceProperties(number)["name"]
    cc = cupy.cuda.Device().compute_capability
    return {
        "name": name.decode() if isinstance(name, bytes) else name,
        "cc": [int(cc[:-1]), int(cc[-1])],
        "memory_bytes": runtime.memGetInfo()[1],
        **{key: _read_or(0, runtime.deviceGetAttribute, code, number) for key, code in ATTRIBUTES.items()},
    }


def _read_or(default, function, *args):
    """Return what `function` reads, or `default` where this driver or library does not offer it."""
    try:
        return function(*args)
    except Exception:  # CuPy's and the driver's exceptions alike: a missing reading must not end a measurement
        return default


def machine(telemetry: Telemetry, cublas_version: str = "") -> dict:
    """Return the "machine" section of a results file: GPU, driver, toolkit, library versions."""
    import cupy

    about = attributes()
    versions = {name: _version(name) for name in PACKAGES if _version(name)}
    return {
        "gpu": about["name"],
        "cc": about["cc"],
        "sms": about["sms"],
        "l2_bytes": about["l2_bytes"],
        "memory_bytes": about["memory_bytes"],
        "max_sm_mhz": telemetry.max_sm_mhz() or about["clock_khz"] // 1000,
        "power_limit_w": telemetry.power_limit_w(),
        "driver": telemetry.driver(),
        "cuda_driver": _dotted(cupy.cuda.runtime.driverGetVersion()),
        "cuda_runtime": _dotted(cupy.cuda.runtime.runtimeGetVersion()),
        "nvrtc": ".".join(map(str, _read_or((), cupy.cuda.nvrtc.getVersion))),
        "cublas": cublas_version,
        "python": platform.python_version(),
        "packages": versions,
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _dotted(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def today() -> str:
    """Return today's date as YYYY-MM-DD (UTC)."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()
