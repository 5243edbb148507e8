"""Which kernel for which shape? A small model of a Hopper GPU's time, and the measured alternative.

A kernel works in rounds: as many tiles at once as there are SMs (pairs of SMs, where two share a tile of B), each in
steps of 64 along K. Its time is

    START + rounds · (steps · STEP · how busy + a tile's end) + what joining the parts of a split tile costs,

and never less than the arithmetic at the rate that the power limit allows. Copies into padded rows, where TMA needs
them, cost every candidate the same and are left out. The constants are microseconds, fitted to what was recorded on an
NVIDIA H200 on 2026-11-30 (results/nvidia_h200.json); a test holds every choice within 5 % of the best recorded kernel.
Left out: Split-K in clusters and sliced-K, which were the best nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import kernels
from gemmlab import gpu
from gemmlab.device import device
from gemmlab.errors import GemmlabError
from gemmlab.launch import run
from gemmlab.results import show_time
from kernels import Spec
from kernels.rule import cdiv
from kernels.spec import H200_SMS

BK = 64
START = 3.5  # launch, first copies, last store
STEP = 0.573 / (128 * 256)  # per element of a tile and step, few SMs busy: 98 % of the tensor cores' rate at 1,980 MHz
ALL_BUSY = 0.08  # how much longer a step takes when every SM works: shared L2, lower clock
POWER_TFLOPS = 740.0  # what the power limit sustains on random normal data
DTYPES = {"bfloat16": "", "float16": "_f16"}


@dataclass(frozen=True)
class Plan:
    """How one kernel spends its time. `pairs`: two SMs share a tile of B, or of A where they stand side by side
    (`across`). `end`: µs of a tile that nothing hides, `last` more after the last one, and `again` more for each round
    after the first where CTAs do not stay.

    `crowded`: how much longer a step takes when both warpgroups multiply (tiles of 64 rows read B twice as often).
    `split`: "" (whole tiles), "parts" (all SMs share the tiles), "tail" (only the last round), "even" (all k steps are
    dealt out), or a number of CTAs per tile. `join`: µs for joining parts, and µs more for each part.
    """

    name: str
    pairs: bool = True
    across: bool = False
    end: float = 0.9
    last: float = 0.0
    again: float = 0.0
    crowded: float = 1.0
    split: str | int = ""
    join: tuple[float, float] = (0.0, 0.0)

    def time_us(self, spec: Spec, M: int, N: int, K: int, sms: int) -> tuple[float, str]:
        """Return the modelled time of one launch, and how it comes about."""
        BM, BN = spec.tile["BM"], spec.tile["BN"]
        steps, per = cdiv(K, BK), 2 if self.pairs else 1
        tall, wide = (1, per) if self.across else (per, 1)
        tiles, workers = cdiv(M, BM * tall) * cdiv(N, BN * wide), sms // per
        parts = self._parts(tiles, workers, steps)
        rounds = cdiv(tiles * parts, workers)
        busy = min(1.0, tiles * parts / workers)
        step = STEP * BM * BN * (1 + ALL_BUSY * busy) * (self.crowded if rounds > 1 else 1.0)
        length = rounds * cdiv(steps, parts)
        text = f"{rounds} round{'s' * (rounds > 1)} of {workers} x {cdiv(steps, parts)} steps"
        if self.split == "tail" and tiles % workers:
            whole, left = divmod(tiles, workers)
            parts = max(1, min(workers // left, steps))
            length = whole * steps + cdiv(steps, parts)
            text = f"{whole} x {steps} steps, then " if whole else ""
            text += f"{left} tiles in {parts} part{'s' * (parts > 1)}"
        elif self.split == "even":
            length, parts = tiles * steps / workers, max(2, cdiv(workers, tiles))
            text = f"{length:.1f} steps for each of {workers}"
        joined = self.join[0] + self.join[1] * parts if parts > 1 else 0.0
        spent = START + length * step + rounds * self.end + self.last + (rounds - 1) * self.again + joined
        least = 2 * M * N * K / POWER_TFLOPS / 1e6
        text += f" of {step:.2f} µs" + (f", {joined:.1f} µs to join" if joined else "")
        return max(spent, least), text + (f"; power allows {show_time(least)}" if least > spent else "")

    def _parts(self, tiles: int, workers: int, steps: int) -> int:
        if self.split == "parts":
            return max(1, min(workers // tiles, steps))
        return min(self.split, steps) if isinstance(self.split, int) else 1


PLANS = (  # where only power counts, the first of them
    Plan("k18_cooperative", end=1.1),
    Plan("k18_pingpong", end=0.25, last=1.3),
    Plan("k19_one_wave", end=2.0, again=3.0),
    Plan("k19_one_wave_64", across=True, end=0.1, again=2.5, crowded=1.3),
    Plan("k19_one_wave_128", end=1.4, again=3.0),
    Plan("k19_split_tail", last=1.5, split="tail", join=(4.0, 0.8)),
    Plan("k19_stream_k", split="even", join=(5.5, 1.0)),
    Plan("k19_split_k", across=True, end=2.0, again=3.0, split="parts", join=(1.9, 0.2)),
)


class Choice(NamedTuple):
    """The kernel to take and why: one line per candidate, the fastest first."""

    spec: Spec
    reasons: Reasons


@dataclass(frozen=True)
class Reasons:
    """The candidates at one shape: (name, microseconds, how the time comes about), fastest first."""

    title: str
    candidates: tuple[tuple[str, float, str], ...] = field(default=())

    def __str__(self) -> str:
        width = max(len(name) for name, _, _ in self.candidates)
        lines = [f"  {name:<{width}}  {show_time(us):>8}  {why}".rstrip() for name, us, why in self.candidates]
        return "\n".join([self.title, *lines])

    __repr__ = __str__


def best_kernel(M: int, N: int, K: int, dtype="bfloat16") -> Choice:
    """Return the Spec that the model takes for C = A @ B with M × N × K, and the reasons: print them.

    `dtype`: "bfloat16" or "float16", of A, B and C, all row-major. Raises GemmlabError for bad input.
    """
    specs = candidates(M, N, K, dtype)
    here = device()
    sms = here.sms if here.kind == "gpu" and here.cc == (9, 0) else H200_SMS
    found = [(spec.name, *plan.time_us(spec, M, N, K, sms)) for plan, spec in zip(PLANS, specs, strict=True)]
    found.sort(key=lambda entry: entry[1])
    title = f"{M} x {N} x {K}, {dtype}: {found[0][0]} (modelled for {sms} SMs)"
    return Choice(kernels.spec(found[0][0]), Reasons(title, tuple(found)))


def candidates(M: int, N: int, K: int, dtype="bfloat16") -> list[Spec]:
    """Return the kernels among which is chosen. Raises GemmlabError for a size or a type that none of them takes."""
    for name, size in zip("MNK", (M, N, K), strict=True):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise GemmlabError(f"{name} = {size!r}: give an integer of at least 1")
    if str(dtype) not in DTYPES:
        raise GemmlabError(f"dtype {str(dtype)!r}: the kernels to choose from take {' or '.join(DTYPES)}")
    return [kernels.spec(plan.name + DTYPES[str(dtype)]) for plan in PLANS]


def autotune(M: int, N: int, K: int, dtype="bfloat16", rounds: int = 5) -> Choice:
    """Measure all candidates on the GPU at hand and return the fastest, with their times. Raises GemmlabError."""
    gpu.require_gpu()
    from gemmlab.measuring.measure_gpu import Bench, together

    runs, like = {}, None
    for spec in candidates(M, N, K, dtype):
        if not spec.runs_on(device().cc):
            raise GemmlabError(f"{spec.name} needs {spec.target}, and {device().name} is none: nothing to measure")
        bench = Bench(spec, M, N, K, like=like)
        like, runs[bench] = like or bench, bench.kernel()
    timed = together(runs, rounds, with_rivals=False)
    found = [(m.kernel, m.time_us, "measured") for m in timed.values() if not isinstance(m, GemmlabError)]
    found.sort(key=lambda entry: entry[1])
    if not found:
        raise GemmlabError(str(next(iter(timed.values()))))
    title = f"{M} x {N} x {K}, {dtype}: {found[0][0]} (measured on {device().name})"
    return Choice(kernels.spec(found[0][0]), Reasons(title, tuple(found)))


def matmul(A, B, C=None, *, backend=None):
    """Return A @ B by the kernel that `best_kernel` takes: A (M, K), B (K, N), C (M, N), row-major, bf16 or fp16.

    Says in a line what was padded for TMA. Raises GemmlabError for arrays that do not fit.
    """
    if getattr(A, "ndim", 0) != 2 or getattr(B, "ndim", 0) != 2:
        raise GemmlabError("A and B must be matrices (2-D arrays)")
    if A.dtype != B.dtype:
        raise GemmlabError(f"A is {A.dtype} and B is {B.dtype}: give both the same type")
    return run(best_kernel(A.shape[0], B.shape[1], A.shape[1], A.dtype).spec, A, B, C, backend=backend)
