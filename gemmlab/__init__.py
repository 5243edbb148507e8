"""The laboratory: compile, launch, check, count and measure GEMM kernels, on a GPU or on the emulator.

    import gemmlab as gl

    gl.check("k03_naive")
    gl.count("k03_naive", 256, 256, 256)

Several functions share the name of their module (`gl.check` is the function; `from gemmlab.check import …` the module).
"""

import importlib
from pathlib import Path

import kernels

if Path(kernels.__file__ or "").resolve().parent != Path(__file__).resolve().parent.parent / "kernels":
    raise ImportError(
        f"another package called kernels ({kernels.__file__}) was imported before gemmlab: restart Python, and import "
        "gemmlab first (in a notebook: run its first cell first)"
    )

from gemmlab import hardware, results, roofline, stages
from gemmlab.check import CheckResult, check
from gemmlab.compile import Compiled, compile_kernel, from_ptx
from gemmlab.count import count, trace, trace_events
from gemmlab.device import Device, device
from gemmlab.errors import CheckError, GemmlabError
from gemmlab.grading.exercise import exercise
from gemmlab.launch import Launch, bind, launch, run
from gemmlab.measuring import machine
from gemmlab.measuring.measure import measure
from gemmlab.occupancy import occupancy, occupancy_of
from gemmlab.pick import best_kernel, matmul
from gemmlab.source import CudaSource, cuda_source
from gemmlab.tensormap import TensorMap, pad_for_tma, tensor_map
from gemmlab.verdict import Verdict, verdict

compile = compile_kernel

__all__ = [
    "CheckError",
    "CheckResult",
    "Compiled",
    "CudaSource",
    "Device",
    "GemmlabError",
    "Launch",
    "TensorMap",
    "Verdict",
    "best_kernel",
    "bind",
    "check",
    "compile",
    "count",
    "cuda_source",
    "device",
    "exercise",
    "from_ptx",
    "hardware",
    "launch",
    "machine",
    "matmul",
    "measure",
    "occupancy",
    "occupancy_of",
    "pad_for_tma",
    "results",
    "roofline",
    "run",
    "stages",
    "tensor_map",
    "trace",
    "trace_events",
    "verdict",
]
_ON_DEMAND = ("plots", "widgets")  # they need Matplotlib and ipywidgets, which take a second to import


def __getattr__(name):
    if name in _ON_DEMAND:
        return importlib.import_module(f"gemmlab.{name}")
    raise AttributeError(f"module 'gemmlab' has no attribute {name!r}")
