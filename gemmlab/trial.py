"""One shape of a check: draw data, launch, compare, and say what the kernel did that it should not have done."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from gemmlab import gpu, reference
from gemmlab.args import Geometry
from gemmlab.call import ROW_BYTES, Call
from gemmlab.case import Case
from gemmlab.errors import CheckError
from gemmlab.launch import emulate, enqueue, prepare
from gemmlab.patterns import explain
from gemmlab.reference import Problem
from gemmlab.rules import mapped

GUARD_BYTES = 4096  # around each array on a GPU; the emulator watches every address itself
# Instructions whose effect depends on when copies land or on who runs first: asynchronous ones, flags, atomics.
UNORDERED = re.compile(
    r"^\s*(?:@!?%\w+\s+)?(?:cp\.async|wgmma\.mma_async|mbarrier\.|atom\.|red\.|(?:ld|st)\.(?:acquire|release|volatile))",
    re.MULTILINE,
)
SHOWN_FINDINGS = 2
UNFINISHED = {"deadlock", "livelock"}  # rules under which the values say nothing


@dataclass
class Trial:
    """One shape of a check: draws data, launches, judges. `sms`: SMs of the GPU that a launch rule is told.

    `schedule` is the emulator's; `unordered` is known after a run there: does more than barriers order the threads?
    """

    kernel: object
    name: str
    rule: dict
    problem: Problem
    backend: str
    shape: tuple[int, int, int]
    sms: int
    schedule: str | int = "late"
    unordered: bool = False
    remarks: tuple[str, ...] = ()
    warnings: tuple = ()
    padded: tuple[str, ...] = ()

    def run(self, rng: np.random.Generator, scale: float) -> None:
        """Raise CheckError if the kernel is wrong at this shape."""
        M, N, K = self.shape
        A, B = self.problem.inputs(rng, M, N, K, scale)
        workspace = None
        for number in range(2 if "W" in self.rule["args"] else 1):
            C, findings, damage, workspace = self.launch(A, B, None, workspace)
            unwritten = bits(C) == bits(unset((M, N), C.dtype))
            wrong = self.judge(A, B, C, unwritten)
            if number and (wrong or damage or findings):
                damage = ["right at the first launch, not at the second: W must be left as it was found", *damage]
            if wrong or damage or findings:
                break
        else:
            return
        lines = list(damage)
        unfinished = any(finding.rule in UNFINISHED for finding in findings)
        if wrong and not unfinished:
            case = Case(self.problem, A, B, C, unwritten, lambda fill: self.launch(A, B, fill)[0])
            lines.append(explain(case))
        if findings and not (wrong or damage or unfinished):
            lines.append("the values are right, but only by luck:")
        # One finding per rule and source line; what the values have shown already is not said again.
        distinct = {}
        for finding in findings:
            if not (lines and finding.rule == "never-written"):
                distinct.setdefault((finding.rule, finding.file, finding.line), str(finding))
        lines += list(distinct.values())[:SHOWN_FINDINGS]
        raise CheckError(f"{self.name} at M={M}, N={N}, K={K}: " + "\n".join(lines))

    def judge(self, A, B, C, unwritten) -> bool:
        """Say whether the values are wrong: any element outside its bound, or all together too far off."""
        K = A.shape[1]
        expected = reference.reference(self.problem, A, B)
        size = reference.magnitude(self.problem, A, B)
        if unwritten.any() or not reference.within(C, expected, reference.bound(self.problem, expected, size, K)).all():
            return True
        return not reference.rms_error(C, expected) <= reference.rms_bound(self.problem, A, B)

    def launch(self, A, B, fill: float | None, workspace=None):
        """Run the kernel on copies of A and B; return (C, error findings, what it damaged, the workspace or None).

        `fill` None: NaN in C. `workspace`: what an earlier launch left there.
        """
        M, N, _ = self.shape
        dtype = reference.numpy_dtype(self.problem.c_dtype)
        C = unset((M, N), dtype) if fill is None else np.full((M, N), fill, dtype)
        # What is added to padded rows is NaN: a kernel that reads it is wrong, one that writes it is caught.
        padding = unset((1, 1), reference.numpy_dtype(self.problem.a_dtype))[0, 0]
        call = Call(self.rule, A.copy(), B.copy(), C, self.sms, workspace, padding, spare=1)
        self.padded, before = call.padded, {name: array.copy() for name, array in call.buffers.items()}
        run = self._on_gpu if self.backend == "gpu" else self._on_emulator
        errors, damage = run(call)
        call.finish()
        return C, errors, self._damage(call, before) + damage, call.buffers.get("W")

    def _on_emulator(self, call):
        values = call.args()
        compiled, names = prepare(self.kernel, values, "emulator")
        # The kernel's own parameter names appear in messages; the rule says which of them is C.
        arrays = [mapped(arg) or arg for arg in self.rule["args"]]
        role = {"A": "in", "B": "in", "C": "inout" if "C" in call.padded else "out"}
        roles = {name: role.get(array, "inout") for name, array in zip(names, arrays, strict=False)}
        geometry, options = Geometry.of(**call.launch), {"count": False, "schedule": self.schedule}
        report = emulate(compiled, values, names, geometry, roles, **options)
        self.unordered = UNORDERED.search(compiled.ptx) is not None
        self.remarks = tuple(map(str, compiled.lints))
        self.warnings = tuple(found for found in report.findings if found.severity != "error")
        return report.errors, []

    def _on_gpu(self, call):
        there = {name: gpu.to_device(array, GUARD_BYTES) for name, array in call.buffers.items()}
        values = call.args(there)
        compiled, _ = prepare(self.kernel, values, "gpu")
        enqueue(compiled, values, Geometry.of(**call.launch))
        gpu.synchronize(repr(compiled.title))
        damage = []
        for name, array in there.items():
            call.buffers[name][...], zone = gpu.to_host(array, GUARD_BYTES)
            damage += [f"memory outside {name} was overwritten"] * bool((zone != 0xFF).any())
        self.remarks = tuple(map(str, compiled.lints))
        return [], damage

    @staticmethod
    def _damage(call, before) -> list[str]:
        changed = {name: bits(call.buffers[name]) != bits(array) for name, array in before.items()}
        lines = [f"the kernel changed its input {name}" for name in "AB" if changed[name].any()]
        unit = max(1, ROW_BYTES // call.C.itemsize)
        if changed["C"][:, -(-call.C.shape[1] // unit) * unit :].any():  # a tensor store writes whole units
            lines.append("the kernel writes past the end of C's rows, into what was added there for TMA")
        return lines


def bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def unset(shape: tuple[int, int], dtype: np.dtype) -> np.ndarray:
    """Return an array of NaN whose bits no kernel makes by chance: an element with these bits was never written."""
    return np.full(shape, reference.UNSET_BITS[dtype.itemsize], f"u{dtype.itemsize}").view(dtype)
