#!/usr/bin/env python3
"""Measure the error of every number format against FP64 on the GPU at hand; write results/precision/<gpu>.json.

    python3 tools/record_precision.py [--out DIRECTORY] [--size 512]

A (size, K) and B (K, size) are float32, normal or uniform in [0, 1). Each format gets them in its own type (rounded to
nearest; INT8: scaled by the largest magnitude of each row of A and column of B). Errors are of C, in its own type,
relative to the root mean square of the exact C: largest, root mean square, mean; and the root mean square against the
exact product of the *rounded* factors, which leaves what summing and storing cost. About 30 s on an H200. Exit status 2
without a GPU.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import gemmlab as gl  # noqa: E402
import kernels  # noqa: E402
from gemmlab import results  # noqa: E402
from gemmlab.measuring import telemetry  # noqa: E402
from gemmlab.measuring.cublas import problem  # noqa: E402
from gemmlab.measuring.rivals import Rivals  # noqa: E402
from gemmlab.reference import numpy_dtype  # noqa: E402

SIZES_K = (1024, 2048, 4096, 8192)
SEED = 20261130
KERNELS = {
    "FP32, CUDA cores": "k09_wide_patch",
    "TF32": "k13_tf32",
    "3xTF32": "k13_3xtf32",
    "3xTF32, summed inside": "k13_3xtf32_inside",
    "BF16x9": "k13_bf16x9",
    "BF16x6": "k13_bf16x6",
    "BF16": "k12_tile_order",
    "FP16": "k12_tile_order_f16",
    "FP16, FP16 sums": "k13_f16_acc",
    "INT8": "k13_int8",
}
LIBRARY = {"cuBLAS FP32": False, "cuBLAS TF32": True}  # name: FAST_TF32


def draw(data: str, size: int, K: int):
    """Return A (size, K) and B (K, size) in float32."""
    rng = np.random.default_rng((SEED, K))
    draw_one = {"normal": rng.standard_normal, "uniform": rng.random}[data]
    return draw_one((size, K), dtype=np.float32), draw_one((K, size), dtype=np.float32)


def quantise(X: np.ndarray, axis: int):
    """Return X as int8 and the scales by which it has to be multiplied, one per row (axis 1) or column (axis 0)."""
    scale = np.abs(X).max(axis=axis, keepdims=True).astype(np.float64) / 127
    return np.rint(X / scale).astype(np.int8), scale


def by_kernel(name: str, A: np.ndarray, B: np.ndarray):
    """Return C of one of our kernels, and the factors that it was given, in float64."""
    spec = kernels.spec(name)
    if spec.a_dtype == "int8":
        (a, scale_a), (b, scale_b) = quantise(A, 1), quantise(B, 0)
        C = np.asarray(gl.run(name, a, np.ascontiguousarray(b.T))).astype(np.float64) * scale_a * scale_b
        return C, a * scale_a, b * scale_b
    a, b = A.astype(numpy_dtype(spec.a_dtype)), B.astype(numpy_dtype(spec.b_dtype))
    return np.asarray(gl.run(name, a, b)).astype(np.float64), a.astype(np.float64), b.astype(np.float64)


def by_library(library: Rivals, tf32: bool, A: np.ndarray, B: np.ndarray):
    """Return C of cuBLAS in FP32 or TF32."""
    import cupy

    a, b, c = cupy.asarray(A), cupy.asarray(B), cupy.empty((A.shape[0], B.shape[1]), cupy.float32)
    run = library.default(problem(A.shape[0], B.shape[1], A.shape[1], "float32", tf32=tf32))
    run(a.data.ptr, b.data.ptr, c.data.ptr, cupy.cuda.get_current_stream().ptr)
    return c.get().astype(np.float64)


def errors(C, exact) -> dict:
    size = np.sqrt((exact**2).mean())
    error = (C - exact) / size
    return {
        "max": float(np.abs(error).max()),
        "rms": float(np.sqrt((error**2).mean())),
        "mean": float(error.mean()),
        "nonfinite": int((~np.isfinite(C)).sum()),
    }


def measure(size: int):
    """Yield one record after another."""
    library = Rivals()
    for data in ("normal", "uniform"):
        for K in SIZES_K:
            A, B = draw(data, size, K)
            exact = A.astype(np.float64) @ B.astype(np.float64)
            case = {"data": data, "M": size, "N": size, "K": K, "seed": [SEED, K], "date": telemetry.today()}
            for label, name in KERNELS.items():
                C, a, b = by_kernel(name, A, B)
                about = {"format": label, "kernel": name, "source_sha256": results.spec_sha256(kernels.spec(name))}
                yield about | case | errors(C, exact) | {"rms_of_sum": errors(C, a @ b)["rms"]}
            for label, tf32 in LIBRARY.items():
                C = by_library(library, tf32, A, B)
                yield {"format": label, "cublas": library.version} | case | errors(C, exact)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=results.DIRECTORY, help="directory of the results files")
    parser.add_argument("--size", type=int, default=512, help="rows and columns of C (default 512)")
    options = parser.parse_args(argv)
    if gl.device().kind != "gpu":
        print(f"no GPU to measure on: {gl.device().reason}", file=sys.stderr)
        return 2
    records = []
    for record in measure(options.size):
        records.append(record)
        if record["data"] == "normal" and record["K"] == SIZES_K[-1]:
            print(f"{record['format']:22} max {record['max']:.2e}  rms {record['rms']:.2e}", flush=True)
    machine = telemetry.machine(telemetry.Telemetry())
    path = options.out / "precision" / f"{results.slug(machine['gpu'])}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine, "records": records}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
