"""The part of `measure` that needs a GPU: make data, check every candidate, time them together, build the record."""

from __future__ import annotations

import contextlib
import functools

import numpy as np

from gemmlab import results
from gemmlab.call import Call
from gemmlab.compile import compile_kernel
from gemmlab.errors import GemmlabError
from gemmlab.hardware import rate_name
from gemmlab.measuring import refusals, telemetry, timing
from gemmlab.measuring.cublas import problem
from gemmlab.measuring.measure import Measurement, hardware_of, refuse_impossible
from gemmlab.measuring.rivals import Rivals
from gemmlab.reference import Problem, is_float, numpy_dtype
from gemmlab.rules import launch_rule

TINY = 1e-30  # added to every bound: exact results have none
SCREEN_ROUNDS = 5  # rounds that choose the best of cuBLASLt's heuristics
HEURISTIC_PREFIX = "heuristic "


class Sets:
    """Several random A, B and unset C for one kernel and shape on the GPU; set i of the rotation is `self[i]`."""

    def __init__(self, spec, M: int, N: int, K: int, count: int, seed: int | None = None):
        rng = np.random.default_rng(seed)
        b_shape = Problem.of(spec).b_shape(N, K)
        self.items = [
            (_random(rng, (M, K), spec.a_dtype), _random(rng, b_shape, spec.b_dtype), _unset((M, N), spec.c_dtype))
            for _ in range(count)
        ]
        for name, array in zip("AB", self.items[0], strict=False):
            refusals.flat_input(name, array)

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


def _random(rng, shape, dtype: str):
    """Return normal numbers, or all values of an integer type alike, on the GPU."""
    import cupy

    if is_float(dtype):
        return cupy.asarray(rng.standard_normal(shape, dtype=np.float32).astype(numpy_dtype(dtype)))
    return cupy.asarray(rng.integers(-128, 128, shape, dtype=np.int8).astype(numpy_dtype(dtype)))


def _unset(shape, dtype: str):
    """Return NaN, or an integer that no product reaches, on the GPU: what is still there was never written."""
    import cupy

    return cupy.asarray(np.full(shape, np.nan if is_float(dtype) else np.iinfo(dtype).min, numpy_dtype(dtype)))


class Truth:
    """The FP64 product of one A and B on the GPU, and how far from it a right kernel may be (gemmlab.reference)."""

    def __init__(self, A, B, spec):
        import cupy

        problem = Problem.of(spec)
        A64, B64 = A.astype(cupy.float64), problem.logical(B).astype(cupy.float64)
        self.exact = A64 @ B64
        summing, storing = problem.error_factors(A.shape[1])
        self.allowed = cupy.abs(A64) @ cupy.abs(B64)
        self.allowed *= summing
        self.allowed += storing * cupy.abs(self.exact) + TINY
        self.fp32 = spec.a_dtype == spec.acc_dtype == "float32" and spec.math != "tf32"

    def check(self, name: str, C) -> float:
        """Refuse a wrong C; return its largest error over the largest |element|."""
        import cupy

        refusals.bad_output(name, C)
        error = cupy.abs(C.astype(cupy.float64) - self.exact)
        refusals.large_error(name, float((error / self.allowed).max()))
        if self.fp32:
            refusals.like_tf32(name, float(cupy.sqrt((error**2).mean() / (self.exact**2).mean())))
        return float(error.max() / cupy.abs(self.exact).max())


def measure_here(spec, M: int, N: int, K: int, mode: str, rounds: int, rivals: bool = True) -> Measurement:
    """Measure on the current GPU; see gemmlab.measuring.measure.measure."""
    return Bench(spec, M, N, K, mode).run(rounds, rivals)


class Bench:
    """One kernel at one shape on the current GPU: its data, its launches, its rivals."""

    def __init__(self, spec, M: int, N: int, K: int, mode: str = "cold"):
        import cupy

        self.spec, self.shape, self.mode = spec, (M, N, K), mode
        cupy.get_default_memory_pool().free_all_blocks()
        self.about, self.telemetry = telemetry.attributes(), telemetry.Telemetry()
        self.clock_mhz = self.telemetry.max_sm_mhz() or self.about["clock_khz"] / 1000
        self.hardware = hardware_of(self.about)
        set_bytes = _set_bytes(spec, M, N, K)
        count = timing.rotation_sets(set_bytes, self.about["l2_bytes"], cupy.cuda.runtime.memGetInfo()[0], mode)
        self.flush_bytes = 2 * self.about["l2_bytes"] if mode == "cold" else 0
        self.sets = Sets(spec, M, N, K, count)
        self.compiled = compile_kernel(spec)
        self.calls = self._calls()
        self.rel_error = 0.0
        self.skipped: list[str] = []  # heuristics that do not run or are wrong: no rivals

    def kernel(self):
        """Return launch(i) of our kernel, checked against FP64."""
        bound = [self.bound(i) for i in range(len(self.sets))]
        return self._checked(self.spec.name, lambda i: bound[i](), self.calls[0].finish)

    def _calls(self) -> list[Call]:
        """Return one Call per set; they share the workspace, as launches follow each other on one stream."""
        rule, calls = launch_rule(self.spec), []
        for A, B, C in self.sets:
            workspace = calls[0].buffers.get("W") if calls else None
            calls.append(Call(rule, A, B, C, self.about["sms"], workspace))
        return calls

    def bound(self, i: int):
        """Return a function that enqueues one launch of our kernel on set i."""
        from gemmlab.launch import bind

        return bind(self.compiled, *self.calls[i].args(), **self.calls[i].launch)

    def rivals(self) -> tuple[dict, str]:
        """Return ({name: launch(i)} of cuBLAS and up to eight cuBLASLt heuristics, all checked; cuBLAS's version)."""
        library = _library()
        spec = self.spec
        types = spec.a_dtype, spec.b_dtype, spec.c_dtype, spec.layout
        task, runs = problem(*self.shape, *types, acc_dtype=spec.acc_dtype), {}
        if not task.fast_accumulation:
            runs["cublas"] = library.default(task)
        if spec.math == "tf32":  # beside FP32 as it is, which all of cuBLASLt's heuristics here are not
            task = problem(*self.shape, *types, tf32=True)
            runs["cublas_tf32"] = library.default(task)
        runs.update({f"{HEURISTIC_PREFIX}{i}": run for i, run in enumerate(library.heuristics(task))})
        out = {}
        for name, run in runs.items():
            try:
                out[name] = self._checked(name, self._on_stream(run))
            except GemmlabError as error:
                if not name.startswith(HEURISTIC_PREFIX):
                    raise
                self.skipped.append(str(error))
        return out, library.version

    def _on_stream(self, run):
        import cupy

        pointers = [[array.data.ptr for array in self.sets[i]] for i in range(len(self.sets))]
        return lambda i: run(*pointers[i], stream=cupy.cuda.get_current_stream().ptr)

    def _checked(self, name: str, launch, finish=lambda: None):
        """Run `launch` and `finish` once on set 0 whose C is unset, compare with FP64; return `launch`."""
        import cupy

        C = self.sets[0][2]
        C[...] = _unset(self.shape[:2], self.spec.c_dtype)
        cupy.cuda.Device().synchronize()
        launch(0)
        finish()
        cupy.cuda.Device().synchronize()
        error = self.truth.check(name, C)
        if name == self.spec.name:
            self.rel_error = error
        return launch

    @functools.cached_property
    def truth(self) -> Truth:
        A, B, _ = self.sets[0]
        return Truth(A, B, self.spec)

    def run(self, rounds: int, with_rivals: bool = True) -> Measurement:
        """Time the kernel and its rivals in interleaved rounds and return the Measurement."""
        if rounds < 1:
            raise GemmlabError(f"rounds must be at least 1, not {rounds}")
        candidates, version, why = {self.spec.name: self.kernel()}, "", self.telemetry.missing
        if with_rivals:
            try:
                runs, version = self.rivals()
                candidates.update(self._choose(runs))
            except GemmlabError as error:
                why = f"no rival: {error}"
        timed = timing.compare(candidates, len(self.sets), rounds, self.flush_bytes, self.telemetry.sample)
        record = self._record(timed, rounds, version)
        refuse_impossible(self.spec, record, self.hardware, self.clock_mhz)
        limits = telemetry.throttling(timed.telemetry)
        if limits:
            why = f"the clock was held down by: {', '.join(limits)}"
        if self.calls[0].notes:
            why = "; ".join((*self.calls[0].notes, "the copies are not timed", *([why] if why else [])))
        return Measurement(self.spec.name, *self.shape, self.about["name"], results.validate(record), False, why)

    def _choose(self, runs: dict) -> dict:
        """Return the rivals that take part: cuBLAS, cuBLASLt's first heuristic, the fastest of its heuristics."""
        listed = {name: run for name, run in runs.items() if name.startswith(HEURISTIC_PREFIX)}
        out = {name: run for name, run in runs.items() if name not in listed}
        if listed:
            screen = timing.compare(listed, len(self.sets), SCREEN_ROUNDS, self.flush_bytes)
            best = min(listed, key=lambda name: results.median(screen.samples_us[name]))
            out |= {"cublaslt_first": next(iter(listed.values())), "cublaslt_best": listed[best]}
        return out

    def _record(self, timed: timing.Timed, rounds: int, cublas_version: str) -> dict:
        spec, (M, N, K) = self.spec, self.shape
        record = {
            "kernel": spec.name,
            "chapter": spec.chapter,
            "language": spec.language,
            "dtype": spec.a_dtype,
            "math": spec.math,
            "c_dtype": spec.c_dtype,
            "layout": spec.layout,
            "compiler": self.compiled.compiler,
            "target": self.compiled.target,
            "M": M,
            "N": N,
            "K": K,
            "mode": self.mode,
            "rounds": rounds,
            "samples_us": _round(timed.samples_us[spec.name]),
            "rival_samples_us": {n: _round(s) for n, s in timed.samples_us.items() if n != spec.name},
        }
        record |= results.derive(record)
        record |= {
            "rel_error": self.rel_error,
            "cublas": cublas_version,
            "clocks_mhz": telemetry.summary(timed.telemetry, "sm_mhz"),
            "power_w": telemetry.summary(timed.telemetry, "power_w"),
            "throttling": telemetry.throttling(timed.telemetry),
            "skipped_rivals": self.skipped,
            "launches": timed.launches,
            "graphs": timed.graphs,
            "sets": len(self.sets),
            "padded": list(self.calls[0].notes),
            "date": telemetry.today(),
            "source_sha256": results.spec_sha256(spec),
        }
        with contextlib.suppress(GemmlabError):  # without an assembler these stay unknown
            record |= {"registers": self.compiled.registers, "spill_bytes": self.compiled.spill_bytes}
        return record


@functools.cache
def _library() -> Rivals:
    """Make the library handles and the workspace once."""
    return Rivals()


def _round(samples: list[float]) -> list[float]:
    """Keep nanoseconds: an event's resolution is about half a microsecond."""
    return [round(us, 3) for us in samples]


def _set_bytes(spec, M: int, N: int, K: int) -> int:
    from gemmlab.hardware import ITEM_BYTES

    a, b, c = (ITEM_BYTES[rate_name(dtype)] for dtype in (spec.a_dtype, spec.b_dtype, spec.c_dtype))
    return int(a * M * K + b * K * N + c * M * N)
