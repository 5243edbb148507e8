"""Stamps of a clock that a kernel takes: placed into its text, taken on the GPU at hand, or read from a record.

Records stand under "ceilings" in results/<gpu>.json; tools/record_roles.py writes them.
"""

from __future__ import annotations

import numpy as np

from gemmlab import results
from gemmlab.call import Call
from gemmlab.errors import GemmlabError
from gemmlab.launch import launch
from gemmlab.measuring.measure import RECORDED_ON
from gemmlab.reference import Problem, numpy_dtype
from gemmlab.source import CudaSource, cuda_source
from kernels import spec

SIZES = "int M, int N, int K)"


def placed(name: str, parameter: str, prelude: str, places, **macros) -> CudaSource:
    """Return a CUDA C++ kernel of the ladder with stamps, and with `parameter` behind its own.

    prelude: text before the kernel, which defines what takes a stamp; places: (line, text before it, text after it).
    Raises GemmlabError where a line does not stand in the kernel exactly once.
    """
    kernel = spec(name)
    text = kernel.path.read_text(encoding="utf-8").replace(SIZES, f"{SIZES[:-1]}, {parameter})")
    text = text.replace('extern "C"', f'{prelude}\nextern "C"', 1)
    for line, before, after in places:
        if text.count(line) != 1:
            raise GemmlabError(f"{name} has changed: no stamp can be placed at {line.strip()!r}")
        text = text.replace(line, f"{before}{line}{after}")
    return cuda_source(text, kernel.entry, **{**kernel.defines, **macros})


def take(name: str, code: CudaSource, stamps: np.ndarray, shape: tuple[int, int, int], sms: int) -> None:
    """Launch `code`, kernel `name` with stamps, once on the GPU at hand at `shape` (M, N, K); it fills `stamps`.

    sms: SMs that the launch rule is told.
    """
    kernel, (M, N, K) = spec(name), shape
    A, B = Problem.of(kernel, kernel.rule()).inputs(np.random.default_rng(0), M, N, K, 1.0)
    call = Call(kernel.rule(), A, B, np.zeros((M, N), numpy_dtype(kernel.c_dtype)), sms=sms)
    launch(code, *call.args(), stamps, **call.launch, backend="gpu")


def recorded(name: str, directory=None) -> tuple[dict | None, str]:
    """Return (the record `name`, or None; where and when it was made, or that it is missing)."""
    path = (directory or results.DIRECTORY) / f"{RECORDED_ON}.json"
    stored = results.load(path)["ceilings"].get(name) if path.exists() else None
    gpu = results.gpu_name(RECORDED_ON, directory)
    if stored is None:
        return None, f"not recorded yet on {gpu}; tools/record_roles.py records it on a GPU"
    return stored, f"recorded on {gpu}, {stored['date']}"
