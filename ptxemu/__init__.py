"""ptxemu: run PTX on the CPU, count what a profiler counts, report what a sanitizer reports.

module = ptxemu.load(ptx_text)
report = ptxemu.launch(module.entry(), grid, block, args)
"""

from .errors import LaunchError, PtxError
from .events import Event, Events
from .findings import Finding
from .fragments import mma_layout, wmma_layout
from .launch import launch
from .memory import Array
from .module import Entry, Module, Param, load
from .profile import A100, B200, H200, RTX5090, T4, DeviceProfile, profile_for
from .report import Report
from .tensormap import TensorMap
from .trace import Access, Trace
from .wgmma_descriptor import decode_wgmma_descriptor, encode_wgmma_descriptor

__all__ = [
    "A100",
    "B200",
    "H200",
    "RTX5090",
    "T4",
    "Access",
    "Array",
    "DeviceProfile",
    "Entry",
    "Event",
    "Events",
    "Finding",
    "LaunchError",
    "Module",
    "Param",
    "PtxError",
    "Report",
    "TensorMap",
    "Trace",
    "decode_wgmma_descriptor",
    "encode_wgmma_descriptor",
    "launch",
    "load",
    "mma_layout",
    "profile_for",
    "wmma_layout",
]
