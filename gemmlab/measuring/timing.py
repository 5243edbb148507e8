"""Time kernels on a GPU so that two of them can be compared: events, cold data, interleaved rounds.

The method, in order:

1. Every candidate works on several sets of A, B and C in turn, together more than twice the L2 cache, and the cache is
   overwritten before each sample: data come from DRAM ("cold"). The "warm" mode keeps one set and does not flush.
2. Each round takes one sample of every candidate, in an order shuffled anew (the round's number is the seed), so that
   a clock that sinks or rises touches all of them alike, and at the power limit nobody always follows the same one.
3. A sample is the time between two CUDA events around enough launches for about 2 ms, divided by their number. When
   any candidate takes less than 200 us, all are replayed from CUDA graphs: otherwise the host's launch time would be
   measured (about 5 us from CuPy, 25 us from Numba).
4. The end event is waited for before its time is read: an unsynchronised time cannot come out of here.

That is a burst: the power limit acts within milliseconds, temperature within seconds. `sustain` runs each candidate
without a pause for some seconds instead and times the second half.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from gemmlab.errors import GemmlabError

SAMPLE_US = 2000
GRAPH_BELOW_US = 200
MAX_LAUNCHES = 128
WARMUP_US = 30_000


@dataclass
class Timed:
    """What came out of one comparison: microseconds per launch for each candidate, and how they were taken."""

    samples_us: dict[str, list[float]]
    launches: dict[str, int]
    graphs: bool
    telemetry: list[dict] = field(default_factory=list)


def rotation_sets(set_bytes: int, l2_bytes: int, free_bytes: int, warm: bool = False) -> int:
    """Return how many sets of A, B, C to rotate over, given the bytes of one set, of L2 and of free device memory.

    Cold: between two uses of a set at least twice the L2 passes through the cache; at least two sets, and no more than
    a sample has launches, since the cache is overwritten before each sample. Warm: one set.
    Raises GemmlabError when the sets do not fit into 80 % of the free memory.
    """
    sets = 1 if warm else min(MAX_LAUNCHES, max(2, 1 + math.ceil(2 * l2_bytes / set_bytes)))
    if sets * set_bytes > 0.8 * free_bytes:
        raise GemmlabError(
            f"{sets} sets of {set_bytes / 1e9:.2f} GB do not fit into {free_bytes / 1e9:.2f} GB of free "
            "device memory: measure a smaller shape, or mode='warm'"
        )
    return sets


def launches_per_sample(time_us: float, sets: int = 1) -> int:
    """Return the number of launches between two events: about 2 ms, in whole rotations when there are many."""
    wanted = min(MAX_LAUNCHES, max(1, math.ceil(SAMPLE_US / time_us)))
    return math.ceil(wanted / sets) * sets if wanted >= sets else wanted


def order_of_round(names: list[str], number: int) -> list[str]:
    """Return the order in which round `number` visits the candidates: `names` shuffled with the number as the seed."""
    return random.Random(number).sample(names, len(names))


def compare(
    candidates: dict[str, Callable[[int], None]],
    sets: int,
    rounds: int,
    flush_bytes: int,
    telemetry: Callable[[], dict] | None = None,
) -> Timed:
    """Time every candidate in interleaved rounds on the current GPU.

    `candidates` maps a name to launch(i), which enqueues one launch on set i of CuPy's current stream and must not
    synchronise. `flush_bytes` of L2 are overwritten before each sample (0: none). `telemetry()` is called once a round
    while the GPU is busy.
    """
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        flush = cupy.empty(max(flush_bytes, 1), dtype=cupy.uint8)
        estimate = {name: _warm_up(cupy, stream, launch, sets) for name, launch in candidates.items()}
        counts = {name: launches_per_sample(us, sets) for name, us in estimate.items()}
        graphs = min(estimate.values()) < GRAPH_BELOW_US
        if graphs:
            play = {name: _capture(stream, launch, counts[name], sets, name) for name, launch in candidates.items()}
        else:
            play = {name: _loop(launch, counts[name], sets) for name, launch in candidates.items()}
        out = Timed({name: [] for name in candidates}, counts, graphs)
        for number in range(-1, rounds):  # round -1 brings the clock to where it stays; its samples are dropped
            for name in order_of_round(list(candidates), number):
                if flush_bytes:
                    flush.fill(number & 0xFF)
                sample = _between_events(cupy, stream, play[name]) / counts[name]
                if number >= 0:
                    out.samples_us[name].append(sample)
            if telemetry and number >= 0:
                play[order_of_round(list(candidates), number)[-1]]()
                out.telemetry.append(telemetry())
                stream.synchronize()
    return out


def sustain(
    candidates: dict[str, Callable[[int], None]],
    sets: int,
    rounds: int,
    seconds: float,
    telemetry: Callable[[], dict] | None = None,
) -> Timed:
    """Time each candidate while it runs alone for about `seconds`: `rounds` samples of its second half.

    Arguments as in `compare`; sets are rotated, and the cache is not overwritten between launches.
    """
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with stream:
        estimate = {name: _warm_up(cupy, stream, launch, sets) for name, launch in candidates.items()}
        counts = {name: max(1, int(seconds * 0.5e6 / rounds / us)) for name, us in estimate.items()}
        out = Timed({name: [] for name in candidates}, counts, False)
        for name, launch in candidates.items():
            play = _loop(launch, counts[name], sets)
            for number in range(-rounds, rounds):
                sample = _between_events(cupy, stream, play) / counts[name]
                if number >= 0:
                    out.samples_us[name].append(sample)
                    out.telemetry += [telemetry()] if telemetry else []
    return out


def _between_events(cupy, stream, play) -> float:
    """Run `play` between two events and return microseconds; the end event is waited for."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record(stream)
    play()
    end.record(stream)
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) * 1e3


def _warm_up(cupy, stream, launch, sets: int) -> float:
    """Launch until 30 ms have passed (twice at least) and return the last time in microseconds."""
    spent, last, i = 0.0, 0.0, 0
    while i < 2 or (spent < WARMUP_US and i < 1000):
        last = _between_events(cupy, stream, lambda i=i: launch(i % sets))
        spent, i = spent + last, i + 1
    return max(last, 1.0)


def _loop(launch, count: int, sets: int):
    def play():
        for i in range(count):
            launch(i % sets)

    return play


def _capture(stream, launch, count: int, sets: int, name: str):
    """Return a function that replays `count` launches from one CUDA graph. Raises GemmlabError if that fails."""
    stream.begin_capture()
    try:
        _loop(launch, count, sets)()
    except Exception as error:
        with contextlib.suppress(Exception):  # a broken capture cannot always be ended
            stream.end_capture()
        raise GemmlabError(f"{name} cannot be captured into a CUDA graph ({error})") from error
    graph = stream.end_capture()
    return lambda: graph.launch(stream)
