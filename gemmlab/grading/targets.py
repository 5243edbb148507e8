"""What an exercise demands of a kernel's instructions and addresses, beyond right values.

A target looks at one counted launch (`probe`) and raises CheckError with what it saw and what to do.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

import ptxemu
from gemmlab import lint
from gemmlab.backend import sms_of
from gemmlab.call import Call
from gemmlab.compile import Compiled
from gemmlab.errors import CheckError
from gemmlab.launch import launch
from gemmlab.reference import Problem, numpy_dtype
from gemmlab.rules import launch_rule
from ptxemu.report import Report

WARP = 32
ACCESS_LIMIT = 1 << 16
GLOBAL_STORE = re.compile(
    r"^\s*(?:@!?%\w+\s+)?(?:(?:st|atom|red)\.(?!\w*\.?(?:shared|local|param))|cp\.\S*bulk\S*\.global\.shared)",
    re.MULTILINE,
)


def writes_global(ptx: str) -> bool:
    """Does the kernel store to global (or generic) memory at all?"""
    return GLOBAL_STORE.search(ptx) is not None


@dataclass(frozen=True)
class Counted:
    """One launch of a kernel at a shape (M, N, K), counted, with the accesses of all its warps."""

    compiled: Compiled
    shape: tuple[int, int, int]
    c_bytes: int
    report: Report

    @cached_property
    def sectors(self) -> dict[str, tuple[float, int]]:
        """By array: mean sectors per request over all instructions that touch it, and the line of the worst of them."""
        arrays: dict[str, set[int]] = {}
        for access in self.report.trace:
            if access.name:
                arrays.setdefault(access.name, set()).add(access.site.ptx_line)
        found = {}
        for name, lines in arrays.items():
            touching = [site for site in self.report.counters.sites if site.ptx_line in lines and site.requests]
            sites = [site for site in touching if site.space == "global"]
            mean = sum(site.sectors for site in sites) / sum(site.requests for site in sites)
            found[name] = mean, max(sites, key=lambda site: site.sectors_per_request).line
        return found


def probe(compiled: Compiled, shape: tuple[int, int, int]) -> Counted:
    """Run the kernel once on the emulator at `shape`, with counters and the accesses of every warp."""
    M, N, K = shape
    problem, rule = Problem.of(compiled.spec), launch_rule(compiled)
    A, B = problem.inputs(np.random.default_rng(0), M, N, K)
    C = np.zeros((M, N), numpy_dtype(problem.c_dtype))
    call = Call(rule, A, B, C, sms_of(compiled, "emulator"))
    ctas, warps = range(math.prod(call.grid)), range(-(-math.prod(call.block) // WARP))
    trace = ptxemu.Trace(ctas=tuple(ctas), warps=tuple(warps), spaces=("global",), limit=ACCESS_LIMIT)
    done = launch(compiled, *call.args(), **call.launch, backend="emulator", check=False, trace=trace)
    return Counted(compiled, shape, C.itemsize, done.report)


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
        cure = {
            "numba": "a plain number such as 0.0 is a float64, write float32(0)",
            "cuda": "the sum is a float, and a constant is written 0.0f",
        }
        for found in lint.f64(counted.compiled.ptx, ()):
            where = f"line {found.line}: " if found.line else ""
            raise CheckError(
                f"{where}float64 arithmetic although every array is float32: {cure[counted.compiled.language]}"
            )


@dataclass(frozen=True)
class StoredOnce(Target):
    """Every element of C is stored exactly once; `cure` says what to do where it is stored more often."""

    cure: str = "keep the sum in a register, store it once"

    def require(self, counted):
        M, N, _ = counted.shape
        times = counted.report.counters.total(space="global", op="st").bytes / (M * N * counted.c_bytes)
        if times > 1:
            raise CheckError(f"C is stored {times:.3g} times per element: {self.cure}")


@dataclass(frozen=True)
class ProductsOnce(Target):
    """The grid computes each product once; sums that meet at the end may add a fifth to the work."""

    def require(self, counted):
        M, N, K = counted.shape
        times = counted.report.counters.flops / (2 * M * N * K)
        if times > 1.2:
            raise CheckError(f"each product is computed {times:.3g} times: which part of K is whose?")


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
            raise CheckError(f"the kernel never touches {' and '.join(missing)} in global memory")
        total = sum(counted.sectors[name][0] for name in self.arrays)
        if not total <= self.limit:
            _, line = max(counted.sectors[name] for name in self.arrays)
            where = f" (line {line})" if line else ""
            raise CheckError(
                f"a request for {' plus one for '.join(self.arrays)} takes {total:.3g} sectors{where}, "
                f"the target is {self.limit:g}: which index changes from lane to lane?"
            )
