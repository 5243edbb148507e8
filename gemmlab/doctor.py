"""What can this machine do? A short table: GPU, what runs natively and what is emulated, versions, what is missing."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from gemmlab import compat
from gemmlab.device import Device, device

# The chapters' kernels by the targets that they need: (chapters, least capability, exactly that capability only).
PARTS = (
    ("02–10", (7, 5), False),
    ("11–13", (8, 0), False),
    ("14–21", (9, 0), True),
    ("22–23", (10, 0), True),
    ("24", (12, 0), False),
)
PACKAGES = ("numpy", "numba", "numba-cuda", "cuda-bindings", "ml_dtypes", "jupyter-book")


@dataclass(frozen=True)
class Diagnosis:
    """Rows of (what, how it is), and what to do where something is missing."""

    rows: tuple[tuple[str, str], ...]
    advice: tuple[str, ...]
    device: Device

    def __str__(self):
        width = max(len(name) for name, _ in self.rows)
        lines = [f"{name:{width}}  {value}" for name, value in self.rows]
        return "\n".join([*lines, *(f"to do: {line}" for line in self.advice)])

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        return {"rows": dict(self.rows), "advice": list(self.advice), "kind": self.device.kind, "cc": self.device.cc}


def diagnose() -> Diagnosis:
    """Look at this machine. Never raises."""
    here = device()
    rows = [("GPU", f"{here.name} ({here.target or here.kind}, {here.sms} SMs)" if here.name else "none usable")]
    rows.append(("why", here.reason))
    if here.driver:
        rows.append(("driver", f"CUDA {here.driver}"))
    native = [chapters for chapters, cc, exact in PARTS if runs(here, cc, exact)]
    emulated = [chapters for chapters, cc, exact in PARTS if not runs(here, cc, exact)]
    rows.append(("natively", _chapters(native)))
    rows.append(("emulated", _chapters(emulated)))
    rows.append(("Python", f"{platform.python_version()} on {platform.system()}"))
    packages = [*PACKAGES, compat.cupy_distribution() or "cupy"]
    rows.append(("packages", ", ".join(f"{name} {compat.version(name)}" for name in packages if compat.version(name))))
    advice = [f"pip install {name}" for name in PACKAGES[:5] if not compat.version(name)]
    for tool, purpose, cure in (
        ("ptxas", "registers and spills", "pip install nvidia-cuda-nvcc-cu12 (nvJitLink serves meanwhile)"),
        ("nvdisasm", "SASS", "pip install nvidia-cuda-nvdisasm"),
        ("ncu", "hardware counters", "install Nsight Compute, only useful with a GPU"),
    ):
        found = compat.find_tool(tool)
        rows.append((tool, "found" if found else f"not found (for {purpose})"))
        if not found and (tool != "ncu" or here.kind == "gpu"):
            advice.append(cure)
    if not compat.header_directories():
        advice.append("pip install nvidia-cuda-runtime-cu12 (CUDA headers such as cuda_fp16.h)")
    return Diagnosis(tuple(rows), tuple(advice), here)


def _chapters(ranges: list[str]) -> str:
    if not ranges:
        return "nothing"
    return "every chapter" if len(ranges) == len(PARTS) else f"chapters {', '.join(ranges)}"


def runs(here: Device, cc: tuple[int, int], exact: bool) -> bool:
    """Say whether kernels that need `cc` (exactly it, if `exact`) run natively on `here`."""
    return here.kind == "gpu" and (here.cc == cc if exact else here.cc >= cc)
