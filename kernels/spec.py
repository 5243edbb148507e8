"""What one kernel of the ladder is: where it lives, what it computes, how it is launched."""

import importlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from kernels.rule import evaluate, triple

ROOT = Path(__file__).parent
H200_SMS = 132


@dataclass(frozen=True)
class Spec:
    """One kernel of the ladder. Sizes are in elements unless a name says otherwise.

    `needs` is the least compute capability; `suffix` "a" ties the kernel to exactly that capability (sm_90a: wgmma) and
    "f" to its family. `grid`, `shared_bytes` and `workspace` hold expressions over M, N, K, SMS (the GPU's SMs) and
    `tile` (see kernels.rule). `args`: A, B, C, M, N, K, W, alpha, beta, lda, ldb, ldc, or tensor maps (gemmlab.rules).
    `defines`: macros for the compiler, CUDA C++ only. `layout` gives the storage of A, B and C: with "row,col->row" the
    array B has shape (N, K). `align`: M, N and K must be multiples of it. `rung` is the kernel's place on the ladder,
    None for a study; `prev` names the kernel that it is compared with.
    """

    name: str
    chapter: str
    title: str
    language: str  # "numba" or "cuda"
    file: str  # relative to kernels/
    entry: str
    change: str
    block: tuple[int, int, int]
    grid: tuple[str, str, str]
    a_dtype: str = "float32"
    b_dtype: str = "float32"
    c_dtype: str = "float32"
    acc_dtype: str = "float32"
    math: str = ""  # how float32 factors are multiplied where not as they are: a name of gemmlab.reference.MATH
    layout: str = "row,row->row"
    tile: MappingProxyType = field(default_factory=lambda: MappingProxyType({}))
    shared_bytes: int | str = 0  # dynamic shared memory of one CTA; an expression like those of grid
    args: tuple[str, ...] = ("A", "B", "C")
    alpha_beta: bool = False
    needs: tuple[int, int] = (7, 5)
    suffix: str = ""
    align: int = 1
    workspace: int | str = 0  # bytes of the argument "W": zeros before the first launch, and again after each
    defines: MappingProxyType = field(default_factory=lambda: MappingProxyType({}))
    cluster: tuple[int, int, int] | None = None
    rung: int | None = None
    prev: str | None = None

    @property
    def path(self) -> Path:
        """The kernel's source file."""
        return ROOT / self.file

    @property
    def target(self) -> str:
        """The least target that the kernel compiles for, such as "sm_75" or "sm_90a"."""
        return f"sm_{self.needs[0]}{self.needs[1]}{self.suffix}"

    def runs_on(self, cc: tuple[int, int]) -> bool:
        """Say whether a GPU of compute capability `cc` can run the kernel."""
        if self.suffix == "a":
            return tuple(cc) == self.needs
        if self.suffix == "f":
            return cc[0] == self.needs[0] and cc[1] >= self.needs[1]
        return tuple(cc) >= self.needs

    def rule(self) -> dict:
        """The launch rule as plain data."""
        return {
            "grid": list(self.grid),
            "block": list(self.block),
            "shared": self.shared_bytes,
            "args": list(self.args),
            "tile": dict(self.tile),
            "cluster": list(self.cluster) if self.cluster else None,
            "workspace": self.workspace,
            "layout": self.layout,
        }

    def launch_dims(self, M: int, N: int, K: int, sms: int = H200_SMS):
        """Return (grid, block, dynamic shared bytes) for a problem of M × N × K on a GPU of `sms` SMs."""
        names = {"M": M, "N": N, "K": K, "SMS": sms, **self.tile}
        return triple(self.grid, names, "grid"), self.block, evaluate(self.shared_bytes, names)

    def accepts(self, M: int, N: int, K: int) -> bool:
        """Say whether the kernel takes a problem of this size (alignment)."""
        return math.gcd(M, N, K) % self.align == 0

    def function(self):
        """Return the Numba dispatcher of a Numba kernel."""
        module = "kernels." + self.file.removesuffix(".py").replace("/", ".")
        return getattr(importlib.import_module(module), self.entry)
