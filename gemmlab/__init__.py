"""The laboratory: compile, launch, check, count and measure GEMM kernels, on a GPU or on the emulator.

    import gemmlab as gl

    gl.check("k03_naive")
    gl.count("k03_naive", 256, 256, 256)
"""

import importlib
import importlib.util

from gemmlab.errors import CheckError, GemmlabError

# Several functions share the name of their module, so each is bound after its module is imported.
_FUNCTIONS = {
    "device": ("device", "Device"),
    "compile": ("compile_kernel", "Compiled", "CudaSource", "cuda_source", "from_ptx"),
    "launch": ("launch", "run", "bind", "Launch"),
    "check": ("check", "CheckResult"),
    "count": ("count", "trace"),
    "measure": ("measure",),
    "roofline": ("roofline",),
    "exercise": ("exercise",),
}
__all__ = ["CheckError", "GemmlabError", "compile", "plots", "widgets"]

for _module, _names in _FUNCTIONS.items():
    if importlib.util.find_spec(f"gemmlab.{_module}") is None:
        continue
    _loaded = importlib.import_module(f"gemmlab.{_module}")
    for _name in _names:
        if hasattr(_loaded, _name):
            globals()[_name] = getattr(_loaded, _name)
            __all__.append(_name)
if "compile_kernel" in globals():
    compile = globals()["compile_kernel"]


def __getattr__(name):
    if name in ("plots", "widgets"):
        return importlib.import_module(f"gemmlab.{name}")
    raise AttributeError(f"gemmlab has no {name!r}")
