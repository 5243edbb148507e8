"""Measure the machine itself on the GPU at hand, or show what was recorded: latencies, issue rate, copies, residency.

    gl.machine.latency_staircase()   cycles of one load, by the bytes that the loads visit
    gl.machine.issue_rate()          multiply-adds per cycle of one SM, by warps and by chains per thread
    gl.machine.copy_rate()           GB/s of a copy, by the warps on each SM
    gl.machine.residency()           blocks that an SM held at once, by threads and shared memory per block

Each returns a Probe. Records stand under "ceilings" in results/<gpu>.json; tools/record_machine.py writes them. The
kernels are kernels/simt/k01_*.py; the clock is the SM's own (%clock64), so a latency needs no host and no event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gemmlab import results
from gemmlab.errors import GemmlabError
from gemmlab.execution import is_static
from gemmlab.measuring.measure import RECORDED_ON
from gemmlab.results import median

SAMPLES = 5
LINE_BYTES = 128
FOOTPRINTS = sorted({1 << e for e in range(12, 31)} | {3 << e for e in range(14, 26)})  # bytes
WARMED_BYTES = 128 << 20  # rings up to here are visited once before the clock starts
STEPS = 4096
THREE_REGISTERS = "1 chain, three registers"
CHAINS, WARPS, LOOPS = (1, 2, 4, 8), (1, 2, 4, 8, 16, 32), 64
LANES = 128  # FP32 lanes of an SM, the most of any GPU so far
COPY_WARPS, COPY_FLOATS = (1, 2, 4, 8, 16, 32, 64), 1 << 28
BLOCKS = ((1024, 0), (256, 0), (64, 0), (32, 0), (256, 16384), (256, 49152), (256, 98304), (256, 204800))
STAY_CYCLES = 2_000_000

# Which footprints stand for which level; the guide's cycles are those of S0, section 1.4 (not verified there).
LEVELS = {"L1": (4 << 10, 128 << 10), "L2": (1 << 20, 16 << 20), "DRAM": (256 << 20, 1 << 30)}
GUIDE_CYCLES = {"shared": "20–30", "L1": "20–30", "L2": "100–200", "DRAM": "400–700"}


@dataclass(frozen=True)
class Probe:
    """One measurement of the machine: `series` maps a name to its points (x, y); empty when nothing is recorded."""

    name: str
    x: str
    y: str
    series: dict[str, list]
    gpu: str
    date: str
    recorded: bool

    @property
    def label(self) -> str:
        if not self.series:
            return f"not recorded yet on {self.gpu}; tools/record_machine.py measures it on a GPU"
        return f"{'recorded' if self.recorded else 'measured'} on {self.gpu}, {self.date}"

    def __str__(self) -> str:
        lines = [f"{self.name} ({self.y} by {self.x}): {self.label}"]
        return "\n".join(
            lines
            + [f"  {key}: " + ", ".join(f"{x:g}: {y:.4g}" for x, y in points) for key, points in self.series.items()]
        )

    __repr__ = __str__


def latency_staircase() -> Probe:
    """Return cycles per dependent load by footprint in bytes; series "global" and, at one footprint, "shared"."""
    return _probe("latency", "footprint in bytes", "cycles per load", _latency)


def issue_rate() -> Probe:
    """Return FP32 multiply-adds per cycle of one SM by resident warps; one series per number of chains."""
    return _probe("issue_rate", "warps on the SM", "multiply-adds per cycle", _issue)


def copy_rate() -> Probe:
    """Return GB/s, read plus write, of a one-word-per-step copy by the number of warps on each SM."""
    return _probe("copy_rate", "warps on each SM", "GB/s", _copy)


def residency() -> Probe:
    """Return the most blocks that an SM held at once; series are "threads, bytes", x the prediction, y the count."""
    return _probe("residency", "blocks predicted", "blocks seen", _residency)


def latencies(probe: Probe | None = None) -> dict[str, float]:
    """Return the median cycles of each memory level, from a staircase; empty when none is recorded."""
    series = (probe or latency_staircase()).series
    found = {"shared": series["shared"][0][1]} if series else {}
    for level, (low, high) in LEVELS.items():
        cycles = [y for x, y in series.get("global", []) if low <= x <= high]
        if cycles:
            found[level] = median(cycles)
    return found


def bytes_in_flight(latency_ns: float, gb_per_s: float) -> float:
    """Return the bytes that must be under way at any time to reach a bandwidth (Little's law)."""
    return latency_ns * gb_per_s


def _probe(name: str, x: str, y: str, measure: Callable[[], dict]) -> Probe:
    from gemmlab.device import device

    here = device()
    if is_static() or here.kind != "gpu":
        return recorded(name, x, y)
    from gemmlab.measuring import telemetry

    return Probe(name, x, y, measure(), here.name, telemetry.today(), False)


def recorded(name: str, x: str = "x", y: str = "y", stem: str = RECORDED_ON, directory=None) -> Probe:
    """Return a stored probe, or an empty one that says that none is stored."""
    path = (directory or results.DIRECTORY) / f"{stem}.json"
    stored = results.load(path)["ceilings"].get(name) if path.exists() else None
    gpu = results.gpu_name(stem, directory)
    if stored is None:
        return Probe(name, x, y, {}, gpu, "", True)
    return Probe(name, x, y, stored["series"], gpu, stored["date"], True)


def measure_machine(names: tuple[str, ...] = ()) -> Iterator[tuple[str, dict | Exception]]:
    """Yield (name, record) of each probe in `names` (default: all) on the GPU at hand, for a file's "ceilings".

    A probe that fails yields its exception in place of a record: what the others measured is not lost with it.
    """
    from gemmlab.measuring import telemetry

    sensors, known = telemetry.Telemetry(), probes()
    for name in names or known:
        unit, function = known[name]
        try:
            series = function()
            clocks = telemetry.summary([sensors.sample()], "sm_mhz")
        except Exception as error:  # a driver's refusal too must not cost the other probes
            yield name, error
            continue
        how, date = " ".join(function.__doc__.split()), telemetry.today()
        yield name, {"series": series, "unit": unit, "how": how, "clocks_mhz": clocks, "date": date}


def probes() -> dict[str, tuple[str, Callable[[], dict]]]:
    """Return {name: (unit, function that measures)} of every probe."""
    return {
        "latency": ("cycles", _latency),
        "issue_rate": ("multiply-adds per cycle", _issue),
        "copy_rate": ("GB/s", _copy),
        "residency": ("blocks", _residency),
    }


def ring_of(lines: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return (order, following): the random order in which a ring of lines is visited, and each line's successor."""
    order = rng.permutation(lines).astype(np.uint32)
    following = np.empty(lines, np.uint32)
    following[order] = np.roll(order, -1)
    return order, following


def _latency() -> dict:
    """One thread follows a chain of addresses through lines in random order; medians of five samples."""
    from kernels.simt.k01_chase import chase_shared

    out = _zeros(2, np.uint64)
    shared = []
    for _ in range(SAMPLES):
        _launch(chase_shared, np.int32(STEPS), out, grid=1, block=1)
        shared.append(int(out[0]) / STEPS)
    points = [[footprint, round(_chase(footprint // LINE_BYTES), 2)] for footprint in FOOTPRINTS]
    return {"shared": [[8192, round(median(shared), 2)]], "global": points}


def _chase(lines: int) -> float:
    """Return cycles per load on a ring of `lines` cache lines. Raises GemmlabError if the chain ended elsewhere."""
    import cupy

    from kernels.simt.k01_chase import LINE, chase, link

    rng = np.random.default_rng(lines)
    order, following = ring_of(lines, rng)
    ring, out = _zeros(lines * LINE, np.uint64), _zeros(2, np.uint64)
    _launch(link, ring, cupy.asarray(following), grid=-(-lines // 256), block=256)
    warm, found = lines if lines * LINE_BYTES <= WARMED_BYTES else 0, []
    for _ in range(SAMPLES):
        first = int(rng.integers(lines))
        start = np.uint32(int(order[first]) * LINE)
        _launch(chase, ring, start, np.int32(warm), np.int32(STEPS), out, grid=1, block=1)
        if int(out[1]) != order[(first + warm + STEPS) % lines]:
            raise GemmlabError(f"the chain through {lines} lines ended at a wrong line: no measurement")
        found.append(int(out[0]) / STEPS)
    return median(found)


def _issue() -> dict:
    """One block of 1 to 32 warps runs chains of dependent FMAs; cycles from its first begin to its last end."""
    from kernels.simt.k01_issue import issue_kernel, unroll

    series, two = {}, {f"{n} chain{'s' * (n > 1)} per thread": (n, False) for n in CHAINS}
    for name, (chains, three) in {**two, THREE_REGISTERS: (1, True)}.items():
        kernel, points = issue_kernel(chains, three), []
        for warps in WARPS:
            out, clocks = _zeros(32 * warps, np.float32), _zeros(2 * warps, np.uint64)
            factors = np.float32(0.5), np.float32(0.5)
            for _ in range(2):  # the first launch loads the code
                _launch(kernel, *factors, np.int32(LOOPS), out, clocks, grid=1, block=32 * warps)
            done = 32 * warps * chains * unroll(chains) * LOOPS
            rate = done / block_cycles(clocks.get())
            if rate > LANES:
                raise GemmlabError(
                    f"{name}, {warps} warps: {rate:.1f} multiply-adds per cycle are more than an SM's "
                    f"{LANES} lanes: no measurement"
                )
            points.append([warps, round(rate, 2)])
        series[name] = points
    return series


def block_cycles(clocks: np.ndarray) -> int:
    """Return the cycles from the first begin to the last end; `clocks` holds begin and end of each warp in turn.

    Not the longest warp: a scheduler may let a warp read its first clock only when others have finished theirs.
    """
    return int(clocks[1::2].max()) - int(clocks[::2].min())


def _copy() -> dict:
    """Copy 1 GiB with one 4-byte load and store per thread and step; medians of 15 launches between events."""
    import cupy

    from gemmlab.launch import bind
    from gemmlab.measuring import telemetry
    from gemmlab.measuring.ceilings import sample
    from kernels.simt.k01_stream import copy

    sms = telemetry.attributes()["sms"]
    source = cupy.asarray(np.random.default_rng(1).standard_normal(COPY_FLOATS, dtype=np.float32))
    target, points = cupy.empty_like(source), []
    for warps in COPY_WARPS:
        start = bind(copy, source, target, grid=sms * max(1, warps // 32), block=32 * min(warps, 32))
        times, _ = sample(start, dict)
        points.append([warps, round(8 * COPY_FLOATS / median(times) / 1e3, 1)])
    if not bool((source == target).all()):
        raise GemmlabError("the copy did not copy: its rate means nothing")
    return {"one float per step": points}


def _residency() -> dict:
    """Blocks note their SM, when they came and when they left; the most that were there at once, and the prediction."""
    import ptxemu
    from gemmlab.compile import compile_kernel
    from gemmlab.device import device
    from gemmlab.measuring import telemetry
    from gemmlab.occupancy import occupancy
    from kernels.simt.k01_residency import residency as kernel

    profile = ptxemu.profile_for(device().target)
    sms, series = telemetry.attributes()["sms"], {}
    stamps = [_zeros(1, np.uint64)] * 3
    registers = compile_kernel(kernel, signature=[*stamps, np.int64(0)]).registers
    for threads, shared in BLOCKS:
        if shared > profile.shared_per_block_optin:
            continue
        expected = occupancy(threads, registers, shared, profile).blocks
        grid = sms * (expected + 4)
        stamps = [_zeros(grid, np.uint64) for _ in range(3)]
        _launch(kernel, *stamps, np.int64(STAY_CYCLES), grid=grid, block=threads, shared=shared)
        series[f"{threads} threads, {shared} bytes"] = [[expected, most_at_once(*(s.get() for s in stamps))]]
    return series


def most_at_once(where: np.ndarray, came: np.ndarray, left: np.ndarray) -> int:
    """Return the largest number of blocks that were on one SM at once, from each block's SM and its two times."""
    most = 0
    for sm in np.unique(where):
        here = where == sm
        times = np.concatenate([left[here], came[here]])
        change = np.repeat([-1, 1], here.sum())  # a block that leaves makes room for one that comes
        most = max(most, int(change[np.argsort(times, kind="stable")].cumsum().max()))
    return most


def _launch(kernel, *args, **where) -> None:
    from gemmlab.launch import launch

    launch(kernel, *args, backend="gpu", **where)


def _zeros(size: int, dtype):
    import cupy

    return cupy.zeros(size, dtype)
