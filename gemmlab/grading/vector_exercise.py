"""Exercises whose answer is a kernel on vectors: out[i] = alpha * x[i] + y[i] for any n and any grid."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gemmlab.compile import compile_kernel, from_ptx
from gemmlab.errors import GemmlabError
from gemmlab.grading.exercise import Exercise
from gemmlab.grading.kernel_exercise import EMULATED_TARGET, PTX_LIMIT_CHARS
from gemmlab.grading.targets import writes_global
from gemmlab.launch import launch
from gemmlab.source import CudaSource, resolve

SIZES = (1, 31, 32, 100, 128, 1000, 4096)
SECTORS = 5  # 32 neighbouring floats, and one to spare: pieces off a sector, warps that split at the end


@dataclass(frozen=True, kw_only=True, repr=False)
class Axpy(Exercise):
    """A Numba kernel (alpha, x, y, out) launched with the same `grid` and `block` at any length."""

    kind: ClassVar[str] = "kernel"
    grid: int = 2
    block: int = 64

    def inputs(self, rng=None):
        return [int(n) for n in rng.integers(129, 3000, 4)] if rng else []

    def record(self, answer, inputs):
        if answer is None or answer is Ellipsis:
            raise self.unfinished("define the kernel")
        try:
            code, spec = resolve(answer)
            if spec is not None or isinstance(code, CudaSource):
                raise self.fail("give a Numba kernel (@cuda.jit), written in the answer cell")
            vector = np.zeros(2, np.float32)
            compiled = compile_kernel(code, EMULATED_TARGET["numba"], [np.float32(1), vector, vector, vector])
        except GemmlabError as error:
            raise self.fail(str(error)) from None
        return {"ptx": compiled.ptx, "entry": compiled.entry}

    def judge(self, record, inputs=None, backend="emulator"):
        ptx, entry = record.get("ptx"), record.get("entry")
        if not isinstance(ptx, str) or not isinstance(entry, str) or len(ptx) > PTX_LIMIT_CHARS:
            raise self.fail("the answer holds no kernel that can be judged")
        try:
            compiled = replace(from_ptx(ptx, "numba", entry), arg_names=("alpha", "x", "y", "out"))
            if not writes_global(ptx):
                raise self.unfinished("the kernel writes nothing to out")
            if ".f64" in ptx:
                raise self.fail("float64 arithmetic although alpha, x and y are float32")
            for n in SIZES:
                self._require(compiled, n, f"n = {n}")
            for n in inputs or []:
                self._require(compiled, n, "a hidden length")
        except GemmlabError as error:
            raise self.fail(str(error)) from None
        return f"right at {len(SIZES) + len(inputs or [])} lengths with {self.grid} blocks, no finding, coalesced"

    def _require(self, compiled, n: int, where: str):
        rng = np.random.default_rng(n)
        alpha, x, y = np.float32(rng.normal()), *(rng.normal(size=n).astype(np.float32) for _ in range(2))
        out = np.full(n, np.nan, np.float32)
        report = launch(compiled, alpha, x, y, out, grid=self.grid, block=self.block, backend="emulator").report
        errors = [finding for finding in report.findings if finding.severity == "error"]
        if errors:
            raise self.fail(f"{where}: {errors[0]}")
        wrong = np.flatnonzero(~(np.abs(out - (alpha * x + y)) <= 1e-5 * (1 + np.abs(alpha * x) + np.abs(y))))
        if wrong.size:
            first, what = int(wrong[0]), "never written" if np.isnan(out[wrong[0]]) else "wrong"
            threads = self.grid * self.block
            hint = f": a grid of {threads} threads must walk on" if first >= threads else ""
            raise self.fail(f"{where}: out[{first}] is {what}{hint}")
        memory = report.counters.total(space="global")
        if memory.requests and memory.sectors > SECTORS * memory.requests:
            raise self.fail(
                f"{where}: {memory.sectors / memory.requests:.3g} sectors per request, the target is "
                f"{SECTORS}: neighbouring lanes should take neighbouring elements"
            )
        stored = report.counters.total(space="global", op="st").bytes / (4 * n)
        if stored > 1:
            raise self.fail(f"{where}: out is stored {stored:.3g} times per element")
