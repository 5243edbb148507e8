"""Launch kernels/hopper_gemm.cu: what its tests and the benchmark share."""

import functools

import numpy as np
from compiling import KERNELS, nvrtc_ptx

import ptxemu

FILE, BLOCK = "hopper_gemm.cu", 384


@functools.cache
def load(mutant="", stages=3):
    options = [f"-I{KERNELS}", f"-DSTAGES={stages}", *([f"-D{mutant}"] if mutant else [])]
    return ptxemu.load(nvrtc_ptx((KERNELS / FILE).read_text(), FILE, "90a", tuple(options)))


def launch(m, n, k, mutant="", stages=3, **keywords):
    """(report, C, A B^T)."""
    rng = np.random.default_rng(m + n + k)
    a, b = (rng.integers(-3, 4, (rows, k)).astype(np.float16) for rows in (m, n))
    maps = [ptxemu.TensorMap(x, "float16", (k, len(x)), (2 * k,), (64, 128), (1, 1), 128) for x in (a, b)]
    c = np.full((m, n), np.nan, np.float32)
    out = ptxemu.Array(c, name="C", role="out")
    shared = stages * (128 + 128) * 64 * 2 + 16 * stages
    entry = load(mutant, stages).entry("gemm")
    report = ptxemu.launch(entry, (n // 128, m // 128), BLOCK, [*maps, out, n, k], shared, **keywords)
    return report, c, a.astype(np.float32) @ b.astype(np.float32).T
