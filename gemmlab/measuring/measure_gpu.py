"""The part of `measure` that needs a GPU: make data, check every candidate, time them together, build the record."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable

from gemmlab import results
from gemmlab.call import Call
from gemmlab.compile import compile_kernel
from gemmlab.errors import GemmlabError
from gemmlab.measuring import telemetry, timing
from gemmlab.measuring.cublas import problem
from gemmlab.measuring.inputs import Sets, Truth, unset
from gemmlab.measuring.measure import Measurement, hardware_of, refuse_impossible
from gemmlab.measuring.rivals import Rivals
from gemmlab.reference import Problem, numpy_dtype
from gemmlab.rules import launch_rule

SUSTAINED_S = 5.0  # seconds that a candidate runs in the mode of that name
SCREEN_ROUNDS = 5  # rounds that choose the best of cuBLASLt's heuristics
HEURISTIC_PREFIX = "heuristic "


def measure_here(spec, M: int, N: int, K: int, mode: str, rounds: int, rivals: bool = True) -> Measurement:
    """Measure on the current GPU; see gemmlab.measuring.measure.measure."""
    return Bench(spec, M, N, K, mode).run(rounds, rivals)


class Bench:
    """One kernel at one shape on the current GPU: its data, its launches, its rivals.

    `like`: another Bench of the same problem and shape, whose data, right answer and rivals serve this one too.
    """

    def __init__(self, spec, M: int, N: int, K: int, mode: str = "cold", seconds: float = SUSTAINED_S, like=None):
        self.spec, self.shape, self.mode, self.seconds = spec, (M, N, K), mode, seconds
        self.problem, self.like = Problem.of(spec), like
        self.rel_error = 0.0
        self.skipped: list[str] = like.skipped if like else []  # heuristics that do not run or are wrong: no rivals
        self.fields: dict[tuple, tuple] = like.fields if like else {}  # the opponents, by what is padded
        self.about, self.telemetry = (like.about, like.telemetry) if like else (_about(), telemetry.Telemetry())
        self.clock_mhz = self.telemetry.max_sm_mhz() or self.about["clock_khz"] / 1000
        self.hardware = hardware_of(self.about)
        self.flush_bytes = 2 * self.about["l2_bytes"] if mode == "cold" else 0
        self.sets = like.sets if like else self._sets()
        self.compiled = compile_kernel(spec)
        self.calls = self._calls()

    def _sets(self) -> Sets:
        import cupy

        set_bytes = _set_bytes(self.problem, *self.shape)
        free = cupy.cuda.runtime.memGetInfo()[0]
        count = timing.rotation_sets(set_bytes, self.about["l2_bytes"], free, self.mode == "warm")
        return Sets(self.problem, *self.shape, count)

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
        rows = tuple(self.calls[0].buffers[name].shape[1] for name in "ABC")
        task, runs = problem(*self.shape, *types, acc_dtype=spec.acc_dtype, rows=rows), {}
        if not task.fast_accumulation:
            runs["cublas"] = library.default(task)
        if spec.math == "tf32":  # beside FP32 as it is, which all of cuBLASLt's heuristics here are not
            task = problem(*self.shape, *types, tf32=True, rows=rows)
            runs["cublas_tf32"] = library.default(task)
        runs.update({f"{HEURISTIC_PREFIX}{i}": run for i, run in enumerate(library.heuristics(task))})
        out = {}
        for name, run in runs.items():
            try:
                out[name] = self._checked(name, self._on_stream(run), self.calls[0].finish)
            except GemmlabError as error:
                if not name.startswith(HEURISTIC_PREFIX):
                    raise
                self.skipped.append(str(error))
        return out, library.version

    def _on_stream(self, run):
        import cupy

        pointers = [[call.buffers[name].data.ptr for name in "ABC"] for call in self.calls]
        return lambda i: run(*pointers[i], stream=cupy.cuda.get_current_stream().ptr)

    def _checked(self, name: str, launch, finish):
        """Run `launch` and `finish` once on set 0 whose C is unset, compare with FP64; return `launch`."""
        import cupy

        C = unset(self.sets[0][2])
        unset(self.calls[0].buffers["C"])
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
        if self.like:
            return self.like.truth
        A, B, _ = self.sets[0]
        return Truth(A, B, self.problem)

    @property
    def padded(self) -> tuple[str, ...]:
        """The arrays that our kernel gets with padded rows; the rivals get the same."""
        return self.calls[0].padded

    def opponents(self) -> tuple[dict, str, str]:
        """Return the rivals that are timed: ({name: launch(i)}, cuBLAS's version, why there is none)."""
        if self.padded not in self.fields:
            try:
                runs, version = self.rivals()
                self.fields[self.padded] = self._choose(runs), version, ""
            except GemmlabError as error:
                self.fields[self.padded] = {}, "", f"no rival: {error}"
        return self.fields[self.padded]

    def run(self, rounds: int, with_rivals: bool = True) -> Measurement:
        """Time the kernel and its rivals in interleaved rounds and return the Measurement."""
        found = together({self: self.kernel()}, rounds, with_rivals)[self]
        if isinstance(found, GemmlabError):
            raise found
        return found

    def measurement(self, timed: timing.Timed, rounds: int, rivals: dict, version: str, why: str) -> Measurement:
        """Return what a comparison says about this kernel; refuse what the hardware cannot do."""
        record = self._record(timed, rounds, rivals, version)
        refuse_impossible(self.spec, record, self.hardware, self.clock_mhz)
        limits = telemetry.throttling(timed.telemetry)
        if limits:
            why = f"the clock was held down by: {', '.join(limits)}"
        if self.calls[0].notes:
            notes = *self.calls[0].notes, "for the rivals too; the copies are not timed"
            why = "; ".join((*notes, *([why] if why else [])))
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

    def _record(self, timed: timing.Timed, rounds: int, rivals: dict, cublas_version: str) -> dict:
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
            "rival_samples_us": {name: _round(timed.samples_us[name]) for name in rivals},
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
            "seconds": self.seconds if self.mode == "sustained" else None,
            "padded": list(self.calls[0].notes),
            "date": telemetry.today(),
            "source_sha256": results.spec_sha256(spec),
        }
        with contextlib.suppress(GemmlabError):  # without an assembler these stay unknown
            record |= {"registers": self.compiled.registers, "spill_bytes": self.compiled.spill_bytes}
        return record


def together(runs: dict[Bench, Callable[[int], None]], rounds: int, with_rivals: bool = True) -> dict:
    """Time several kernels of one problem, shape and padding and their rivals in the same interleaved rounds.

    `runs`: each Bench with what its `kernel` returned. Returns {Bench: Measurement, or GemmlabError if refused}.
    """
    if rounds < 1:
        raise GemmlabError(f"rounds must be at least 1, not {rounds}")
    first = next(iter(runs))
    rivals, version, why = first.opponents() if with_rivals else ({}, "", "")
    candidates = {bench.spec.name: launch for bench, launch in runs.items()} | rivals
    sensor = first.telemetry.sample
    if first.mode == "sustained":
        timed = timing.sustain(candidates, len(first.sets), rounds, first.seconds, sensor)
    else:
        timed = timing.compare(candidates, len(first.sets), rounds, first.flush_bytes, sensor)
    why = why or first.telemetry.missing
    found = {}
    for bench in runs:
        try:
            found[bench] = bench.measurement(timed, rounds, rivals, version, why)
        except GemmlabError as error:
            found[bench] = error
    return found


def _about() -> dict:
    """Return the GPU's attributes, after memory that earlier data took is free again."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
    return telemetry.attributes()


@functools.cache
def _library() -> Rivals:
    """Make the library handles and the workspace once."""
    return Rivals()


def _round(samples: list[float]) -> list[float]:
    """Keep nanoseconds: an event's resolution is about half a microsecond."""
    return [round(us, 3) for us in samples]


def _set_bytes(problem: Problem, M: int, N: int, K: int) -> int:
    a, b, c = (numpy_dtype(dtype).itemsize for dtype in (problem.a_dtype, problem.b_dtype, problem.c_dtype))
    return a * M * K + b * K * N + c * M * N
