"""What an exercise demands of a kernel's instructions and addresses, beyond right values.

A target looks at one counted launch (`probe`) and raises CheckError with what it saw and what to do.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

import ptxemu
from kernels import Spec

from . import lint
from .compile import Compiled
from .errors import CheckError
from .launch import launch

SECTOR_BYTES = 32
GLOBAL_STORE = re.compile(r"^\s*(?:@!?%\w+\s+)?(?:st|atom|red)\.(?:\w+\.)*?(?:global|b|u|s|f|v)", re.MULTILINE)


def writes_global(ptx: str) -> bool:
    """Does the kernel store to global (or generic) memory at all?"""
    return any(".shared" not in match[0] and ".local" not in match[0] for match in GLOBAL_STORE.finditer(ptx))


def operand_shape(spec: Spec, name: str, M: int, N: int, K: int) -> tuple[int, int]:
    """Return the shape of A, B or C as it is stored: a "col" operand is its transpose, row-major."""
    rows, columns = {"A": (M, K), "B": (K, N), "C": (M, N)}[name]
    storage = dict(zip("ABC", re.split("->|,", spec.layout), strict=True))[name]
    return (columns, rows) if storage == "col" else (rows, columns)


def example(spec: Spec, name: str) -> np.ndarray:
    """Return a small array of the operand's type, for a kernel's signature."""
    dtype = {"A": spec.a_dtype, "B": spec.b_dtype, "C": spec.c_dtype}[name]
    return np.zeros(operand_shape(spec, name, 2, 2, 2), dtype)


@dataclass(frozen=True)
class Counted:
    """One launch of a kernel at a shape (M, N, K), counted, with the accesses of its first CTA."""

    compiled: Compiled
    shape: tuple[int, int, int]
    report: ptxemu.Report

    @cached_property
    def sectors(self) -> dict[str, tuple[float, int]]:
        """By array name: mean sectors per request in the first CTA, and the source line of its widest request."""
        found: dict[str, list[tuple[int, int]]] = {}
        for access in self.report.trace:
            if access.space == "global" and access.name:
                found.setdefault(access.name, []).append((request_sectors(access), access.site.line))
        return {
            name: (sum(count for count, _ in counts) / len(counts), max(counts)[1]) for name, counts in found.items()
        }


def request_sectors(access) -> int:
    """Return how many 32-byte sectors one request of a warp touches."""
    first = access.addresses[access.addresses >= 0]
    last = first + access.width - 1
    return len(np.union1d(first // SECTOR_BYTES, last // SECTOR_BYTES))


def probe(compiled: Compiled, spec: Spec, shape: tuple[int, int, int]) -> Counted:
    """Run the kernel once on the emulator at `shape`, with counters and the first CTA's trace."""
    M, N, K = shape
    arrays = {name: np.ones(operand_shape(spec, name, *shape), example(spec, name).dtype) for name in "ABC"}
    values = {**arrays, "M": M, "N": N, "K": K}
    grid, block, shared = spec.launch_dims(M, N, K)
    trace = ptxemu.Trace(ctas=[(0, 0, 0)], warps=None, spaces=("global", "shared"), limit=1 << 16)
    done = launch(compiled, *(values[name] for name in spec.args), grid=grid, block=block, shared=shared,
                  backend="emulator", trace=trace)
    return Counted(compiled, shape, done.report)


@dataclass(frozen=True)
class Target:
    """A demand on a counted launch; `reached` is added to the line that a passed check prints."""

    reached: ClassVar[str] = ""

    def require(self, counted: Counted) -> None:
        """Raise CheckError if the launch does not meet the demand."""
        raise NotImplementedError


@dataclass(frozen=True)
class NoDouble(Target):
    """No float64 arithmetic in a kernel without float64 arrays."""

    def require(self, counted):
        for found in lint.f64(counted.compiled.ptx, ()):
            raise CheckError(f"line {found.line}: {found.message}" if found.line else found.message)


@dataclass(frozen=True)
class StoredOnce(Target):
    """Every element of C is stored exactly once."""

    def require(self, counted):
        M, N, _ = counted.shape
        stores = counted.report.counters.total(space="global", op="st")
        if stores.bytes > M * N * np.dtype(np.float32).itemsize:
            times = stores.bytes / (M * N * np.dtype(np.float32).itemsize)
            raise CheckError(f"C is stored {times:.3g} times per element: keep the sum in a register, store it once")


@dataclass(frozen=True)
class Sectors(Target):
    """At most `limit` sectors per request, summed over `arrays` (a warp's request for each of them)."""

    arrays: tuple[str, ...]
    limit: float

    @property
    def reached(self) -> str:
        return f"{' + '.join(self.arrays)} ≤ {self.limit:g} sectors"

    def require(self, counted):
        missing = [name for name in self.arrays if name not in counted.sectors]
        if missing:
            raise CheckError(f"the first block never touches {' and '.join(missing)} in global memory")
        total = sum(counted.sectors[name][0] for name in self.arrays)
        if not total <= self.limit:
            _, line = max(counted.sectors[name] for name in self.arrays)
            where = f" (line {line})" if line else ""
            raise CheckError(f"a request for {' plus one for '.join(self.arrays)} takes {total:.3g} sectors{where}, "
                             f"the target is {self.limit:g}: which index changes from lane to lane?")
