"""Measure what a GPU really gives: DRAM bandwidth and the FP32 FMA rate, by four small kernels. Needs a GPU.

They are the roof that the book draws beside the published one. Buffers are many times the L2; FLOP and bytes are
counted by hand: a copy moves every byte twice, an FMA is two FLOP.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from . import telemetry
from .errors import GemmlabError
from .measure import hardware_of

BUFFER_BYTES = 2 << 30
SAMPLES = 15
FMA_CHAINS, FMA_UNROLL, FMA_LOOPS = 16, 16, 512

SOURCE = r"""
extern "C" __global__ void copy(const float4* in, float4* out, size_t n) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = in[i];
}
extern "C" __global__ void read(const float4* in, float4* out, size_t n) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float4 v = in[i];
        sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
    }
    if (sum.x == 12345.f && sum.y == sum.z && sum.w == 1.f) out[0] = sum;  // never true; keeps the loads
}
extern "C" __global__ void write(float4* out, size_t n, float value) {
    size_t step = (size_t)gridDim.x * blockDim.x;
    float4 v = make_float4(value, value, value, value);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = v;
}
extern "C" __global__ void ffma(float* out, float a, float b, int loops) {
    float x[CHAINS];
    #pragma unroll
    for (int j = 0; j < CHAINS; j++) x[j] = threadIdx.x + j;
    for (int i = 0; i < loops; i++) {
        #pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            #pragma unroll
            for (int j = 0; j < CHAINS; j++) x[j] = fmaf(x[j], a, b);
        }
    }
    float sum = 0.f;
    #pragma unroll
    for (int j = 0; j < CHAINS; j++) sum += x[j];
    out[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def measure_ceilings() -> dict:
    """Return {name: {value, unit, samples, how, date, clocks_mhz}} for the current GPU.

    Raises GemmlabError when a rate beats the hardware's limit: then the measurement is wrong, not the GPU fast.
    """
    import cupy

    about, sensors = telemetry.attributes(), telemetry.Telemetry()
    hardware = hardware_of(about)
    options = ("--std=c++17", f"-DCHAINS={FMA_CHAINS}", f"-DUNROLL={FMA_UNROLL}")
    module = cupy.RawModule(code=SOURCE, options=options)
    count = BUFFER_BYTES // 16
    a = cupy.random.default_rng(1).standard_normal(BUFFER_BYTES // 4, dtype=cupy.float32)
    b = cupy.empty_like(a)
    blocks, threads = about["sms"] * 16, 512
    out = cupy.empty(blocks * threads, dtype=cupy.float32)
    get = module.get_function
    fma_flop = 2 * blocks * threads * FMA_LOOPS * FMA_UNROLL * FMA_CHAINS
    n, grid, block = cupy.uint64(count), (blocks,), (threads,)
    cases = {
        "dram_copy": (
            lambda: get("copy")(grid, block, (a, b, n)),
            2 * BUFFER_BYTES,
            "GB/s",
            "read and write, 128-bit accesses",
        ),
        "dram_read": (lambda: get("read")(grid, block, (a, b, n)), BUFFER_BYTES, "GB/s", "read alone"),
        "dram_write": (
            lambda: get("write")(grid, block, (b, n, cupy.float32(1.5))),
            BUFFER_BYTES,
            "GB/s",
            "write alone",
        ),
        "fp32_fma": (
            lambda: get("ffma")(grid, block, (out, cupy.float32(0.999), cupy.float32(0.001), cupy.int32(FMA_LOOPS))),
            fma_flop,
            "TFLOP/s",
            "FFMA in registers, 16 independent chains per thread",
        ),
    }
    result = {}
    for name, (launch, amount, unit, how) in cases.items():
        samples, readings = _samples(launch, sensors.sample)
        values = [amount / us / (1e3 if unit == "GB/s" else 1e6) for us in samples]
        _refuse(name, statistics.median(values), unit, hardware, sensors.max_sm_mhz())
        result[name] = {
            "value": statistics.median(values),
            "unit": unit,
            "samples": [round(v, 3) for v in values],
            "how": how,
            "clocks_mhz": telemetry.summary(readings, "sm_mhz"),
            "date": telemetry.today(),
        }
    if not bool(cupy.isfinite(out).all()) or not bool((b == 1.5).all()):
        raise GemmlabError("the micro-benchmarks wrote wrong values: their rates mean nothing")
    return result


def _samples(launch: Callable[[], None], sensor: Callable[[], dict]) -> tuple[list[float], list[dict]]:
    """Return microseconds of single launches after a warm-up, and what the sensors read meanwhile."""
    import cupy

    times, readings = [], []
    for number in range(-3, SAMPLES):
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


def _refuse(name: str, value: float, unit: str, hardware, clock_mhz):
    limit = hardware.bandwidth_gbs if unit == "GB/s" else hardware.limit("float32", clock_mhz)
    if not 0 < value <= limit:
        raise GemmlabError(
            f"{name}: {value:.1f} {unit} beats the limit of {hardware.name}, {limit:.1f}: not a measurement"
        )
