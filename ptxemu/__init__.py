"""ptxemu: run PTX on the CPU, count what a profiler counts, report what a sanitizer reports.

    module = ptxemu.load(ptx_text)
    report = ptxemu.launch(module.entry(), grid, block, args)
"""

from .errors import LaunchError, PtxError
from .launch import Entry, Module, Param, launch, load
from .memory import Array
from .profile import A100, B200, H200, RTX5090, T4, DeviceProfile, profile_for
from .trace import Access, Trace

__all__ = [
    "A100", "B200", "H200", "RTX5090", "T4", "Access", "Array", "DeviceProfile", "Entry", "LaunchError", "Module", "Param", "PtxError", "Trace",
    "launch", "load", "profile_for",
]
