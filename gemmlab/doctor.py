"""What can this machine do? A short table: GPU, what runs natively and what is emulated, versions, what is missing."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from gemmlab import compat
from gemmlab.backend import obstacle
from gemmlab.device import Device, device
from gemmlab.regions import runs
from kernels import LADDER

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
    rows += chapters(here)
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


def chapters(here: Device) -> list[tuple[str, str]]:
    """Return ("natively" | "in part" | "emulated", chapters) by how many of a chapter's kernels run on `here`."""
    able = {}
    for spec in LADDER:
        able.setdefault(int(spec.chapter), []).append(here.kind == "gpu" and not obstacle(spec))
    found = {"natively": [], "in part": [], "emulated": []}
    for chapter, each in sorted(able.items()):
        found["natively" if all(each) else "in part" if any(each) else "emulated"].append(chapter)
    rows = [(how, _ranges(some) if len(some) < len(able) else "every chapter") for how, some in found.items()]
    return [(how, text) for how, text in rows if how != "in part" or found[how]]


def _ranges(numbers: list[int]) -> str:
    spans = [f"{first:02}" if first == last else f"{first:02}–{last:02}" for first, last in runs(numbers)]
    return f"chapter{'s' * (len(numbers) > 1)} {', '.join(spans)}" if spans else "nothing"
