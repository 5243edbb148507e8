"""Made-up records for the tests of results and measurement; none of these numbers was measured."""

from gemmlab import results

MACHINE = {"gpu": "NVIDIA H200", "driver": "580.1", "cuda_runtime": "13.0", "cublas": "13.1.0"}


def record(kernel="k03_naive", size=1024, samples=(900.0, 1000.0, 1100.0), rival=(50.0, 55.0, 60.0), **changes):
    """Return a valid record, then changed by `changes`."""
    out = {
        "kernel": kernel, "chapter": "03", "language": "numba", "dtype": "float32", "c_dtype": "float32",
        "layout": "row,row->row", "compiler": "numba-cuda 0.30.4", "M": size, "N": size, "K": size, "mode": "cold",
        "rounds": len(samples), "samples_us": list(samples),
        "rival_samples_us": {"cublas": list(rival), "cublaslt_best": [r + 1 for r in rival]},
        "rel_error": 1e-6, "clocks_mhz": {"median": 1900}, "power_w": {}, "date": "2026-11-30",
        "source_sha256": "0" * 64,
    }  # fmt: skip
    out |= results.derive(out)
    return out | changes
