"""Measure a kernel of the ladder beside cuBLAS on the GPU at hand, or show what was recorded when there is none."""

from __future__ import annotations

import html
from dataclasses import dataclass

import kernels
from gemmlab import results
from gemmlab.errors import GemmlabError
from gemmlab.execution import is_static
from gemmlab.hardware import ITEM_BYTES, from_device, gpu, rate_name
from gemmlab.measuring import refusals
from gemmlab.reference import MATH, Math
from gemmlab.results import show_time

ROUNDS = 20
RECORDED_ON = "nvidia_h200"


@dataclass(frozen=True)
class Measurement:
    """One kernel at one shape. `record` has the fields of gemmlab.results, or is None when nothing is known.

    `recorded` is True for a stored figure, False for one measured just now. `why` says what is missing or odd.
    """

    kernel: str
    M: int
    N: int
    K: int
    gpu: str
    record: dict | None
    recorded: bool
    why: str = ""

    @property
    def time_us(self) -> float | None:
        return self.record and self.record["time_us"]

    @property
    def tflops(self) -> float | None:
        return self.record and self.record["tflops"]

    @property
    def ratio(self) -> float | None:
        """Share of the best rival's rate in the same run, or None without a rival."""
        return (self.record["ratio"] or None) if self.record else None

    @property
    def label(self) -> str:
        """Say where the figure comes from: "measured on ..." or "recorded on ..., date"."""
        if self.record is None:
            return self.why
        mode = results.MODES[self.record["mode"]]
        return f"{'recorded' if self.recorded else 'measured'} on {self.gpu}, {self.record['date']}{mode}"

    def __str__(self) -> str:
        head = f"{self.kernel} {self.M} x {self.N} x {self.K}: "
        if self.record is None:
            return head + self.why
        low, high = results.spread(self.record["samples_us"])
        text = head + f"{show_time(self.time_us)} ({show_time(low)} to {show_time(high)}), {self.tflops:.4g} TFLOP/s"
        if self.ratio:
            best = self.record["rival_best"]
            text += f", {_share(self.ratio)} of {results.RIVAL_NAMES.get(best, best)}"
        return f"{text}; {self.label}" + (f" ({self.why})" if self.why else "")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self.record is None:
            return f"<p>{html.escape(str(self))}</p>"
        rows = [(self.kernel, self.record["samples_us"], self.tflops)]
        rows += [
            (results.RIVAL_NAMES.get(name, name), samples, self.record["rivals"][name])
            for name, samples in self.record["rival_samples_us"].items()
        ]
        body = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{show_time(results.median(samples))}</td>"
            f"<td>{' to '.join(map(show_time, results.spread(samples)))}</td><td>{rate:.4g}</td>"
            f"<td>{_share(rate / rows[0][2])}</td></tr>"
            for name, samples, rate in rows
        )
        shape = f"{self.M} × {self.N} × {self.K}, {self.record['dtype']}"
        note = f" {html.escape(self.why)}" if self.why else ""
        return (
            f"<table><caption>{shape}; {html.escape(self.label)}.{note}</caption><thead><tr><th>kernel</th>"
            "<th>median</th><th>10th to 90th percentile</th><th>TFLOP/s</th><th>× this kernel</th></tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )


def _share(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio >= 0.995 else f"{100 * ratio:.{0 if ratio >= 0.1 else 1}f} %"


def measure(
    kernel, M: int, N: int, K: int, mode: str = "cold", rounds: int = ROUNDS, rivals: bool = True
) -> Measurement:
    """Return the time of a kernel of the ladder at one shape, beside cuBLAS in the same run.

    `kernel`: a Spec or its name. On a GPU that can run it the kernel is checked, then timed (see
    gemmlab.measuring.timing) in `rounds` interleaved rounds; `mode`: "cold", "warm", or "sustained" (each candidate
    alone for some seconds, as hot as it gets). Elsewhere, and under GEMMLAB_STATIC (gemmlab.execution), the recorded
    figure is returned and says so; where none is recorded, `record` is None and `why` says it. Raises GemmlabError for
    an unknown kernel, a shape that it does not take, and everything that gemmlab.measuring.refusals refuses.
    """
    from gemmlab.device import device

    spec = spec_of(kernel)
    for name, size in zip("MNK", (M, N, K), strict=True):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise GemmlabError(f"{name} must be a positive integer, not {size!r}")
    if mode not in results.MODES:
        raise GemmlabError(f"mode must be one of {', '.join(results.MODES)}, not {mode!r}")
    if not spec.accepts(M, N, K):
        raise GemmlabError(f"{spec.name} takes only M, N, K that are multiples of {spec.align}, not {M} x {N} x {K}")
    here = device()
    able = here.kind == "gpu" and spec.runs_on(here.cc) and here.holds(spec.launch_dims(M, N, K)[2])
    if is_static() or not able:
        return recorded(spec, M, N, K, mode)
    from gemmlab.measuring.measure_gpu import measure_here

    return measure_here(spec, M, N, K, mode, rounds, rivals)


def spec_of(kernel):
    """Return the Spec of a ladder kernel given as Spec or name. Raises GemmlabError for anything else."""
    if isinstance(kernel, kernels.Spec):
        return kernel
    if isinstance(kernel, str):
        try:
            return kernels.spec(kernel)
        except KeyError as error:
            raise GemmlabError(error.args[0]) from None
    raise GemmlabError("measure takes a kernel of the ladder: a Spec or a name such as 'k03_naive'")


def recorded(
    kernel, M: int, N: int, K: int, mode: str = "cold", gpu_stem: str = RECORDED_ON, directory=None
) -> Measurement:
    """Return the stored figure of a kernel at one shape, or a Measurement that says that none is stored."""
    spec = spec_of(kernel)
    found = results.find(spec.name, M, N, K, mode, gpu_stem, directory)
    name = results.gpu_name(gpu_stem, directory)
    if not found:
        return Measurement(spec.name, M, N, K, name, None, True, f"no measurement of this shape is recorded on {name}")
    old = found[0]["source_sha256"] != results.spec_sha256(spec)
    why = "the kernel's source changed since then" if old else ""
    return Measurement(spec.name, M, N, K, name, found[0], True, why)


def read_bytes(spec, M: int, N: int, K: int) -> float:
    """Return the bytes of A and B."""
    return ITEM_BYTES[rate_name(spec.a_dtype)] * M * K + ITEM_BYTES[rate_name(spec.b_dtype)] * K * N


def hardware_of(attributes: dict):
    """Return the hardware row of the current device: the table's, or one made from its attributes."""
    try:
        found = gpu(attributes["name"])
    except GemmlabError:
        return from_device(attributes)
    # A variant of the same name with another number of SMs (Ti, laptop) is not the table's product.
    return found if found.sms == attributes["sms"] else from_device(attributes)


def refuse_impossible(spec, record: dict, hardware, clock_mhz: float | None):
    """Refuse a record in which the kernel or a rival beats the hardware's limit."""
    shape = record["M"], record["N"], record["K"]
    own = MATH.get(spec.math, Math(spec.a_dtype, 1, 0.0))
    rival = MATH["tf32"] if spec.math == "tf32" else Math(spec.a_dtype, 1, 0.0)
    for name, samples in {spec.name: record["samples_us"], **record["rival_samples_us"]}.items():
        how = own if name == spec.name else rival
        refusals.impossible_time(
            name,
            hardware,
            how.rate,
            *shape,
            results.median(samples),
            read_bytes(spec, *shape),
            record["mode"] == "cold",
            clock_mhz,
            how.products,
        )
