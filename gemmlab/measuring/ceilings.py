"""Measure what a GPU really gives: DRAM bandwidth and the FP32 FMA rate, by the four kernels of ceilings.cu.

They are the roof that the book draws beside the published one. Buffers are many times the L2; FLOP and bytes are
counted by hand: a copy moves every byte twice, an FMA is two FLOP.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from gemmlab.compile import Compiled, compile_kernel, cuda_source
from gemmlab.errors import GemmlabError
from gemmlab.measuring import telemetry
from gemmlab.measuring.measure import hardware_of
from gemmlab.results import median

SOURCE = Path(__file__).with_suffix(".cu")
HOW = {
    "dram_copy": "reads and writes, 128-bit accesses",
    "dram_read": "reads alone",
    "dram_write": "writes alone",
    "fp32_fma": "16 independent chains of FMAs per thread, in registers",
}
BUFFER_BYTES = 1 << 30
SAMPLES = 15
THREADS = 512
BLOCKS_PER_SM = 16
CHAINS, UNROLL, LOOPS = 16, 16, 512


def compiled(name: str, target: str | None = None) -> Compiled:
    """Compile one of the micro-benchmarks, by default for the GPU at hand."""
    return compile_kernel(cuda_source(SOURCE, name, CHAINS=CHAINS, UNROLL=UNROLL), target)


def measure_ceilings() -> dict:
    """Return {name: {value, unit, samples, how, clocks_mhz, date}} for the current GPU.

    Raises GemmlabError when a rate beats the hardware's limit or a kernel computed nothing: then the measurement is
    wrong, not the GPU fast.
    """
    import cupy

    about, sensors = telemetry.attributes(), telemetry.Telemetry()
    hardware, blocks = hardware_of(about), about["sms"] * BLOCKS_PER_SM
    source = cupy.random.standard_normal(BUFFER_BYTES // 4, dtype=cupy.float32)
    target, sums = cupy.empty_like(source), cupy.zeros(blocks * THREADS, dtype=np.float32)
    words = np.uint64(BUFFER_BYTES // 16)
    fma = 2 * blocks * THREADS * LOOPS * UNROLL * CHAINS
    cases = {
        "dram_copy": ((source, target, words), 2 * BUFFER_BYTES),
        "dram_read": ((source, target, words), BUFFER_BYTES),
        "dram_write": ((target, words, np.float32(1.5)), BUFFER_BYTES),
        "fp32_fma": ((sums, np.float32(0.999), np.float32(0.001), np.int32(LOOPS)), fma),
    }
    found = {}
    for name, (args, amount) in cases.items():
        per_us, unit = (1e6, "TFLOP/s") if name == "fp32_fma" else (1e3, "GB/s")
        times, readings = sample(_bind(name, args, blocks), sensors.sample)
        values = [round(amount / us / per_us, 3) for us in times]
        limit = hardware.limit("float32", sensors.max_sm_mhz()) if name == "fp32_fma" else hardware.bandwidth_gbs
        refuse_above(name, median(values), unit, limit)
        clocks = telemetry.summary(readings, "sm_mhz")
        found[name] = {"value": median(values), "unit": unit, "samples": values, "how": HOW[name]}
        found[name] |= {"clocks_mhz": clocks, "date": telemetry.today()}
        if name == "dram_copy" and not bool((source == target).all()):
            raise GemmlabError("dram_copy did not copy: its rate means nothing")
    if not bool((target == 1.5).all()) or not bool((sums != 0).all()):
        raise GemmlabError("dram_write or fp32_fma did not write every element: their rates mean nothing")
    return found


def _bind(name: str, args: tuple, blocks: int) -> Callable[[], None]:
    from gemmlab.launch import bind

    return bind(compiled(name), *args, grid=blocks, block=THREADS)


def sample(launch: Callable[[], None], sensor: Callable[[], dict], warm: int = 3) -> tuple[list[float], list[dict]]:
    """Return microseconds of single launches after `warm` others, and what the sensors read meanwhile."""
    import cupy

    times, readings = [], []
    for number in range(-warm, SAMPLES):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        launch()
        end.record()
        reading = sensor()
        end.synchronize()
        if number >= 0:
            times.append(cupy.cuda.get_elapsed_time(start, end) * 1e3)
            readings.append(reading)
    return times, readings


def refuse_above(name: str, value: float, unit: str, limit: float):
    """Refuse a rate that is not positive or above the hardware's `limit`."""
    if not 0 < value <= limit:
        raise GemmlabError(
            f"{name}: {value:.1f} {unit} is not between 0 and the hardware's {limit:.1f}: no measurement"
        )
