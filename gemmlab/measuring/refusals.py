"""What must never become a number in this book: each function raises GemmlabError, or returns when all is well."""

from __future__ import annotations

import math

import numpy as np

from gemmlab.errors import GemmlabError
from gemmlab.hardware import GPU, rate_name
from gemmlab.roofline import flops

SAMPLE = 1 << 20  # elements of an input that are looked at
MOST_EQUAL = 0.5  # largest share of an input that may be one value


def _host(array, limit: int | None = None) -> np.ndarray:
    flat = array.reshape(-1)
    if limit and flat.size > limit:
        flat = flat[:: flat.size // limit]
    return np.asarray(flat.get() if hasattr(flat, "get") else flat)


def flat_input(name: str, array):
    """Refuse an input of which more than half is one value: GPUs at their power limit run faster on such data."""
    values = _host(array, SAMPLE).astype(np.float32)
    _, counts = np.unique(values, return_counts=True)
    share = counts.max() / values.size
    if share > MOST_EQUAL:
        raise GemmlabError(
            f"{name} is {share:.0%} one value: power-limited GPUs run faster on zeros and constants, so "
            "measure with random normal data"
        )


def bad_output(name: str, C):
    """Refuse a C that has NaN or infinite elements; C was filled with NaN before, so an unwritten element is one."""
    finite = _finite_count(C)
    if finite != C.size:
        raise GemmlabError(
            f"{name}: {C.size - finite} of {C.size} elements of C are NaN, infinite or never written; a "
            "wrong kernel has no time"
        )


def _finite_count(C) -> int:
    if hasattr(C, "get"):
        import cupy

        return int(cupy.isfinite(C.astype(cupy.float32)).sum())
    return int(np.isfinite(C.astype(np.float32)).sum())


def large_error(name: str, worst: float, what: str = "the error bound"):
    """Refuse a result whose error is `worst` times its bound, NaN included."""
    if not worst <= 1:
        raise GemmlabError(f"{name}: the largest error is {worst:.3g} times {what}; a wrong kernel has no time")


def like_tf32(name: str, relative_rms: float):
    """Refuse an FP32 result whose RMS error over the RMS of C is that of TF32 inputs, on random normal data.

    Rounding inputs to TF32 costs about 2^-11 of C at any K; FP32 accumulation stays below 2^-24 sqrt(K), which is 2^-14
    at K = 2^20. The line is drawn at 2^-13.
    """
    if not relative_rms <= 2.0**-13:
        raise GemmlabError(
            f"{name}: an RMS error of {relative_rms:.1e} of C is that of TF32, not of FP32; compare FP32 with FP32"
        )


def impossible_time(
    name: str,
    gpu: GPU,
    dtype,
    M: int,
    N: int,
    K: int,
    time_us: float,
    read_bytes: float,
    cold: bool = True,
    clock_mhz: float | None = None,
    products: int = 1,
):
    """Refuse a time below the hardware's limit: arithmetic at the highest clock, and for cold data reading A and B.

    `gpu` without a published rate for `dtype` sets no arithmetic limit. `products`: multiplications in `dtype` that are
    made for one of the problem. Writing C is left out of the memory limit: the
    last of it may still be in L2 when the kernel ends.
    """
    if not (math.isfinite(time_us) and time_us > 0):
        raise GemmlabError(f"{name}: a time of {time_us} us is no measurement")
    rate = rate_name(dtype)
    compute_us = products * flops(M, N, K) / gpu.limit(rate, clock_mhz) / 1e6 if rate in gpu.rates else 0.0
    memory_us = read_bytes / gpu.bandwidth_gbs / 1e3 if cold else 0.0
    least = max(compute_us, memory_us)
    if time_us < least:
        why = "its arithmetic" if compute_us >= memory_us else "reading A and B from DRAM"
        raise GemmlabError(
            f"{name}: {time_us:.2f} us is {least / time_us:.1f} times faster than {gpu.name} can do {why} "
            f"({least:.2f} us): was the kernel synchronised, and did it compute every element?"
        )
