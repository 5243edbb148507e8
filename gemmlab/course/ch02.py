"""Exercises of chapter 02: how fast can a GEMM be?"""

from gemmlab.grading.exercise import Choice, Function, Value
from gemmlab.hardware import gpu

H100, H200 = gpu("h100"), gpu("h200")
RIDGE = H200.peak("bfloat16") * 1e12 / (H200.bandwidth_gbs * 1e9)
FLOP_4096 = 2 * 4096**3
MOVING_MS = 3 * 4096**2 * 2 / (H100.bandwidth_gbs * 1e9) * 1e3  # three FP16 matrices, once each


def floor_ms(dtype):
    """Milliseconds that the arithmetic of a 4096³ GEMM takes at the dense peak of an H100 SXM."""
    return FLOP_4096 / (H100.peak(dtype) * 1e12) * 1e3


def ideal_intensity(M, N, K, size):
    """FLOP per byte when A and B are read once and C is written once."""
    return 2 * M * N * K / (size * (M * K + K * N + M * N))


def draw_gemms(rng):
    """Three hidden GEMMs: a large one, a thin one, a matrix-vector product."""
    M, N = (int(size) for size in rng.integers(500, 9000, 2))
    m, K = (int(size) for size in rng.integers(2, 64, 2))
    return [(M, N, 1024, 2), (m, N, K, 4), (1, N, M, 1)]


def draw_rooflines(rng):
    """Three hidden points: left of the ridge, right of it, on it."""
    peak, bandwidth = float(rng.uniform(5e12, 2e15)), float(rng.uniform(2e11, 8e12))
    ridge = peak / bandwidth
    return [(ridge * factor, peak, bandwidth) for factor in (float(rng.uniform(0.01, 0.9)), 3.0, 1.0)]


LAYERS = {
    "qkv_prefill": (4096, 12288, 4096),
    "qkv_decode_16": (16, 12288, 4096),
    "scores_prefill": (4096, 4096, 128),
    "values_prefill": (4096, 128, 4096),
    "ffn_up_prefill": (4096, 16384, 4096),
    "ffn_down_decode_64": (64, 4096, 16384),
    "lm_head_decode_512": (512, 128256, 4096),
}
INTENSITY = {name: ideal_intensity(*shape, 2) for name, shape in LAYERS.items()}

EXERCISES = (
    Value(
        id="02.1",
        title="A time floor",
        unit="ms",
        expected=floor_ms("float16"),
        because="2·4096³ FLOP at the dense FP16 peak of an H100 SXM",
        hints=(
            (
                floor_ms("float16") / 2,
                "half of the floor. Either a multiply-add was counted as one FLOP (it is two), or the peak is the "
                "sparse one of 1,979 TFLOP/s (this GEMM is dense)",
            ),
            (floor_ms("float16") / 1e3, "that is in seconds; give milliseconds"),
            (floor_ms("float16") * 1e3, "that is in microseconds; give milliseconds"),
            (floor_ms("float32"), "that is the floor of the FP32 cores; FP16 runs on the tensor cores"),
            (floor_ms("tf32"), "that is the floor at the TF32 peak; the inputs are FP16"),
            (floor_ms("float16") + MOVING_MS, "that is the sum of two floors; they overlap, and the longer one counts"),
            (
                MOVING_MS,
                "that is the time to move the three matrices; the arithmetic takes longer, and the longer one counts",
            ),
        ),
    ),
    Function(
        id="02.2",
        title="Ideal intensity",
        parameters=("M", "N", "K", "bytes_per_element"),
        reference=ideal_intensity,
        public=((4096, 4096, 4096, 2), (4096, 4096, 4096, 4), (16, 12288, 4096, 2), (17, 33, 5, 1)),
        draw=draw_gemms,
        because="2·M·N·K FLOP over one read of A and B and one write of C",
        hints=(
            (lambda M, N, K, size: ideal_intensity(M, N, K, size) / 2, "a multiply-add is two FLOP: 2·M·N·K"),
            (lambda M, N, K, size: ideal_intensity(M, N, K, 1), "this is FLOP per element; divide by its bytes"),
            (lambda M, N, K, size: 2 * M * N * K / (size * (M * K + K * N)), "the write of C is missing"),
            (
                lambda M, N, K, size: 2 * M * N * K / (size * (M * K + K * N + 2 * M * N)),
                "C is counted twice; with β = 0 it is written and never read",
            ),
            (lambda M, N, K, size: 1 / ideal_intensity(M, N, K, size), "this is byte per FLOP; give FLOP per byte"),
            (
                lambda M, N, K, size: 1 / size,
                "this is what the naive kernel requests; ideally every element moves only once",
            ),
        ),
    ),
    Choice(
        id="02.3",
        title="Which layers are memory bound?",
        given=LAYERS,
        expected=frozenset(name for name, value in INTENSITY.items() if value < RIDGE),
        why={
            name: f"its ideal intensity is {value:,.0f} FLOP/byte, right of the H200's dense bf16 ridge at {RIDGE:.0f}"
            for name, value in INTENSITY.items()
        },
        because=f"these lie left of the H200's dense bf16 ridge at {RIDGE:.0f} FLOP/byte",
    ),
    Function(
        id="02.4",
        title="The roofline as a function",
        parameters=("intensity", "peak", "bandwidth"),
        reference=lambda intensity, peak, bandwidth: min(peak, intensity * bandwidth),
        public=((0.25, 67e12, 4.8e12), (682.7, 67e12, 4.8e12), (100.0, 989e12, 3.35e12)),
        draw=draw_rooflines,
        because="the lower of the two ceilings",
        hints=(
            (lambda i, peak, rate: max(peak, i * rate), "this is the higher ceiling; the lower one counts"),
            (lambda i, peak, rate: i * rate, "right of the ridge the arithmetic peak is the lower ceiling"),
            (lambda i, peak, rate: peak, "left of the ridge the memory is the lower ceiling"),
            (lambda i, peak, rate: min(peak, rate / i), "intensity is FLOP per byte: multiply it by byte per second"),
            (lambda i, peak, rate: min(peak, i * rate) / 1e12, "this is in TFLOP/s; the peak is given in FLOP/s"),
            (lambda i, peak, rate: min(peak / rate, i), "this is an intensity; asked for is FLOP/s"),
        ),
    ),
)
