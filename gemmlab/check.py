"""Is a GEMM kernel right? On shapes that break wrong kernels, by values, by findings and by what it leaves untouched.

Every check draws fresh asymmetric data, fills C with NaN, compares with `not (error <= bound)`, verifies that A, B and
the memory around all arrays are unchanged, and lets the emulator's errors fail a kernel whose numbers are right.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from gemmlab.backend import choose_backend, obstacle, sms_of
from gemmlab.compile import Compiled
from gemmlab.device import device
from gemmlab.errors import GemmlabError
from gemmlab.progress import progress
from gemmlab.reference import Problem
from gemmlab.rules import depends_on_sms, dynamic_shared, launch_rule
from gemmlab.source import resolve
from gemmlab.trial import Trial

EMULATED_WORK = 64**3  # M·N·K up to which a shape that ran on a GPU is emulated as well
SCALES = (1.0, 1e3, 1e-3)
LONG_K = 2048  # where rounding float32 to TF32 shows
RING_STEPS = 8  # tiles of K that every ring of stages goes round in, for types whose rounding does not matter so
SCHEDULES = ("early", 1)  # of the emulator beside "late": when copies land, who runs first
FEW_SMS = 2  # of the GPU that persistent kernels also meet on the emulator, so that a CTA gets several tiles


@dataclass(frozen=True)
class CheckResult:
    """A check that passed: the kernel's name, where it ran, and the shapes (M, N, K).

    `emulated`: the emulator looked for races, bad addresses and the like. Neither `remarks` (of the compiled code) nor
    `warnings` (the emulator's findings that are no errors) fail a kernel.
    """

    kernel: str
    backend: str
    shapes: tuple[tuple[int, int, int], ...]
    emulated: bool = True
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self):
        where = "on the emulator" if self.backend == "emulator" else f"on {device().name}"
        where += (", no errors" if self.warnings else ", no findings") if self.emulated else ""
        count = len(self.shapes)
        head = f"{self.kernel}: right at {count} shape{'s' if count > 1 else ''} {where}"
        return "\n".join([head, *self.remarks, *self.warnings])

    __repr__ = __str__

    def _ipython_display_(self):
        """Show nothing: check() has printed the line."""


def default_shapes(tile: dict | None = None, align: int = 1, dtype="float32") -> tuple[tuple[int, int, int], ...]:
    """Return the shapes (M, N, K) of a check, for a kernel with these tile constants (BM, BN, BK) and alignment.

    One square multiple of the tile; M, N and K all different; ragged (33 and one past a tile); rows of whole chunks of
    16 bytes in A alone, and in B alone with a K tail; a shape smaller than any block; and last one long in K: for
    float32 so long that rounding to TF32 shows, else some stages.
    """
    tile = tile or {}
    bm, bn, bk = tile.get("BM", 32), tile.get("BN", 32), tile.get("BK", 16)
    square = max(64, math.lcm(bm, bn, bk) if math.lcm(bm, bn, bk) <= 256 else max(bm, bn, bk))
    shapes = [
        (square, square, square),
        (max(bm, 32), 2 * max(bn, 32), 3 * max(bk, 16)),
        (33, 33, 33),
        (17, 33, 8),
        (bm + 1, bn + 1, bk + 1),
        (max(bm, 32), max(bn, 32), 2 * bk + 5),
        (5, 7, 23),
        (16, 8, LONG_K if dtype == "float32" else RING_STEPS * bk + 8),
    ]
    rounded = [tuple(-(-size // align) * align for size in shape) for shape in shapes]
    return tuple(dict.fromkeys(rounded))


def _many_tiles(tile: dict, align: int) -> tuple[int, int, int]:
    """Return a shape of 3 × 3 tiles of C: on few SMs every CTA of a persistent kernel gets several."""
    sizes = 2 * tile.get("BM", 32) + 1, 2 * tile.get("BN", 32) + 1, tile.get("BK", 16) + 1
    return tuple(-(-size // align) * align for size in sizes)


def check(kernel, shapes=None, backend=None, rule=None, *, seed=None, quiet=False, **launch) -> CheckResult:
    """Check a GEMM kernel and print one line; raise CheckError with what is wrong, GemmlabError for bad input.

    `kernel`: a Spec or its name, a Numba kernel, a CudaSource, a Compiled. `rule` says how a kernel off the ladder is
    launched (see kernels.rule); it may also name types ("a_dtype") and the layout. `grid=`, `block=` and `shared=`
    override it. `shapes`: (M, N, K) triples instead of the default ones. `seed` makes the data repeatable. On a GPU
    (unless backend="gpu") the small shapes run on the emulator too, for races and addresses that values do not show.
    Kernels with asynchronous work, flags or atomics run at a shape of several stages in other schedules too.
    """
    rule = launch_rule(kernel, rule, **launch)
    code, spec = (kernel, kernel.spec) if isinstance(kernel, Compiled) else resolve(kernel)
    problem = Problem.of(spec, rule)
    shared = dynamic_shared(rule)
    forced, backend = backend is not None, choose_backend(kernel, backend, shared)
    name = spec.name if spec else getattr(code, "entry", None) or getattr(code, "py_func", code).__name__
    given = _validated(shapes)
    shapes = given or default_shapes(rule.get("tile"), spec.align if spec else 1, problem.a_dtype)
    rng = np.random.default_rng(seed)
    if given is None and depends_on_sms(rule):
        shapes += (_many_tiles(rule.get("tile", {}), spec.align if spec else 1),)
    runs = [(backend, shape) for shape in shapes]
    if backend == "gpu" and not forced:
        runs += [("emulator", shape) for shape in shapes if math.prod(shape) <= EMULATED_WORK]
    remarks: dict[str, None] = {}
    if not forced and backend == "emulator" and device().kind == "gpu":
        remarks[f"not on the GPU: {obstacle(kernel, shared)}"] = None
    warnings: dict[tuple, str] = {}
    scales = itertools.cycle(SCALES)
    padded: dict[str, set] = {}
    for number, (where, shape) in enumerate(progress(runs, f"check {name}", quiet)):
        few = where == "emulator" and depends_on_sms(rule) and (number % 2 == 0 or shape == shapes[-1])
        sms = max(FEW_SMS, math.prod(rule.get("cluster") or (1,))) if few else sms_of(kernel, where)
        trial = Trial(kernel, name, rule, problem, where, shape, sms)
        trial.run(rng, next(scales))
        if trial.unordered and shape == _several_stages(shapes, rule):
            for other in SCHEDULES:
                Trial(kernel, name, rule, problem, where, shape, sms, other).run(rng, next(scales))
        remarks.update(dict.fromkeys(trial.remarks))
        for array in trial.padded:
            padded.setdefault(array, set()).add(shape)
        for found in trial.warnings:
            warnings.setdefault((found.rule, found.file, found.line), str(found))
    if padded:
        many = ", ".join(f"{array} at {len(some)} of {len(shapes)} shapes" for array, some in padded.items())
        remarks[f"rows padded to multiples of 16 bytes for TMA: {many}"] = None
    emulated = any(where == "emulator" for where, _ in runs)
    result = CheckResult(name, backend, tuple(shapes), emulated, tuple(remarks), tuple(warnings.values()))
    if not quiet:
        print(result)
    return result


def _several_stages(shapes, rule: dict) -> tuple[int, int, int]:
    """Return the shape of several stages, but not very many, at which other schedules are tried."""
    most = RING_STEPS * rule.get("tile", {}).get("BK", 16) + 8
    return max(shapes, key=lambda shape: (shape[2] <= most, min(shape[2], most), -shape[2]))


def _validated(shapes) -> tuple | None:
    if shapes is None:
        return None
    shapes = [tuple(shape) if isinstance(shape, (tuple, list)) else (shape,) for shape in shapes]
    if not shapes:
        raise GemmlabError("shapes is empty: a check needs at least one shape (M, N, K)")
    for shape in shapes:
        whole = all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) for size in shape)
        if len(shape) != 3 or not whole or min(shape) < 1:
            raise GemmlabError(f"shape {shape!r}: give three integers M, N, K of at least 1")
    return tuple(tuple(map(int, shape)) for shape in shapes)
