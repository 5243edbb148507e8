"""Measure what the tensor cores alone give, by the kernels of tensor_ceilings.cu: no global memory in their loops.

One block of eight warps per SM, launches of several milliseconds on random numbers after a third of a second of the
same, so that the clock is the one that the power limit allows; "zeros" shows what data of no activity would have
pretended. FLOP are counted by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gemmlab.compile import Compiled, compile_kernel, cuda_source
from gemmlab.errors import GemmlabError
from gemmlab.measuring import telemetry
from gemmlab.measuring.ceilings import refuse_above, sample
from gemmlab.measuring.measure import hardware_of
from gemmlab.reference import numpy_dtype
from gemmlab.results import median

SOURCE = Path(__file__).with_suffix(".cu")
THREADS = 256
WORDS = 49152 // 4  # of input: what the shared tiles hold, and as many as the registers take
LAUNCH_MS = 5.0
WARM_UP = 60  # launches


@dataclass(frozen=True)
class Ceiling:
    """One micro-benchmark: its kernel, the type of its factors, FLOP of a block in one loop, and how it works."""

    kernel: str
    dtype: str
    flop: int
    how: str
    zeros: bool = False


_REGISTERS, _SHARED = 8 * 32, 2 * 4  # instructions of a block in one loop
_FROM_SHARED = "wgmma m64n256k16, both factors in shared memory"
CEILINGS = {
    "mma_bf16": Ceiling("mma_bf16", "bfloat16", _REGISTERS * 4096, "mma.sync m16n8k16, registers only"),
    "mma_f16": Ceiling("mma_f16", "float16", _REGISTERS * 4096, "mma.sync m16n8k16, registers only"),
    "mma_tf32": Ceiling("mma_tf32", "tf32", _REGISTERS * 2048, "mma.sync m16n8k8, registers only"),
    "mma_s8": Ceiling("mma_s8", "int8", _REGISTERS * 8192, "mma.sync m16n8k32, registers only"),
    "mma_ldmatrix_bf16": Ceiling(
        "mma_ldmatrix_bf16", "bfloat16", 8 * 128 * 4096, "mma.sync m16n8k16 and ldmatrix, 8 warps of 64 x 64"
    ),
    "wgmma_bf16": Ceiling("wgmma_bf16", "bfloat16", _SHARED * 524288, _FROM_SHARED),
    "wgmma_f16": Ceiling("wgmma_f16", "float16", _SHARED * 524288, _FROM_SHARED),
    "wgmma_bf16_zeros": Ceiling("wgmma_bf16", "bfloat16", _SHARED * 524288, f"{_FROM_SHARED}, all zeros", zeros=True),
}


def compiled(name: str, target: str | None = None) -> Compiled:
    """Compile the kernel of a ceiling, by default for the GPU at hand."""
    return compile_kernel(cuda_source(SOURCE, CEILINGS[name].kernel), target)


def measure_tensor_ceilings() -> dict:
    """Return {name: {value, unit, dtype, samples, how, clocks_mhz, power_w, date}} for the current GPU.

    wgmma is measured on compute capability 9.0 only. Raises GemmlabError when a rate beats the hardware's limit or a
    kernel computed nothing.
    """
    from gemmlab.device import device

    about, sensors = telemetry.attributes(), telemetry.Telemetry()
    hardware, found = hardware_of(about), {}
    for name, ceiling in CEILINGS.items():
        if name.startswith("wgmma") and device().cc != (9, 0):
            continue
        limit = hardware.limit(ceiling.dtype, sensors.max_sm_mhz())
        found[name] = _measure(name, ceiling, about["sms"], limit, sensors)
    return found


def _measure(name: str, ceiling: Ceiling, sms: int, limit: float, sensors) -> dict:
    import cupy

    from gemmlab.launch import bind

    words = np.zeros(WORDS, np.uint32) if ceiling.zeros else _random(ceiling.dtype)
    data, sums = cupy.asarray(words), cupy.zeros(sms * THREADS, dtype=np.float32)
    loops = max(1, int(limit * 1e12 * LAUNCH_MS * 1e-3 / (ceiling.flop * sms)))
    kernel = compiled(name)
    launch = bind(kernel, data, sums, np.int32(loops), grid=sms, block=THREADS)
    times, readings = sample(launch, sensors.sample, WARM_UP)
    values = [round(ceiling.flop * sms * loops / us / 1e6, 3) for us in times]
    refuse_above(name, median(values), "TFLOP/s", limit)
    if not bool(cupy.isfinite(sums).all()) or not (ceiling.zeros or bool((sums != 0).all())):
        raise GemmlabError(f"{name} has no finite sums that differ from 0: its rate means nothing")
    return {
        "value": median(values),
        "unit": "TFLOP/s",
        "dtype": ceiling.dtype,
        "samples": values,
        "how": ceiling.how,
        "compiler": kernel.compiler,
        "clocks_mhz": telemetry.summary(readings, "sm_mhz"),
        "power_w": telemetry.summary(readings, "power_w"),
        "date": telemetry.today(),
    }


def _random(dtype: str) -> np.ndarray:
    """Return WORDS 32-bit words of normal numbers of `dtype`, or of random bytes for INT8."""
    rng = np.random.default_rng()
    if dtype == "int8":
        return rng.integers(0, 1 << 32, WORDS, dtype=np.uint32)
    stored = numpy_dtype("float32" if dtype == "tf32" else dtype)
    return rng.standard_normal(WORDS * 4 // stored.itemsize).astype(stored).view(np.uint32)
