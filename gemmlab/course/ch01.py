"""Exercises of chapter 01: the machine."""

from gemmlab.grading.exercise import Function, Value
from gemmlab.grading.vector_exercise import Axpy
from gemmlab.occupancy import occupancy

LATENCY_CYCLES, CLOCK_GHZ, BANDWIDTH_GBS, SMS = 600, 1.5, 2400, 100
FLIGHT = LATENCY_CYCLES / CLOCK_GHZ * BANDWIDTH_GBS / SMS / 512  # warps with one 16-byte load per lane


def blocks_per_sm(threads, registers, shared):
    """Blocks of `threads` with `registers` per thread and `shared` bytes that an SM of an H200 holds."""
    return occupancy(int(threads), int(registers), int(shared)).blocks


def _without(threads, registers, shared, drop):
    limits = dict(occupancy(int(threads), int(registers), int(shared)).limits)
    limits.pop(drop, None)
    return min(limits.values())


def draw_blocks(rng):
    """Eight hidden cases (threads, registers, shared bytes)."""
    return [(32 * int(rng.integers(1, 17)), 8 * int(rng.integers(2, 16)), 1024 * int(rng.integers(0, 100)))
            for _ in range(8)]


EXERCISES = (
    Axpy(id="01.1", title="A vector kernel for any grid"),
    Function(
        id="01.2",
        title="Blocks per SM",
        parameters=("threads", "registers", "shared"),
        reference=blocks_per_sm,
        public=((256, 32, 0), (256, 128, 0), (256, 128, 100 << 10), (32, 16, 0), (1024, 64, 0), (64, 32, 40 << 10),
                (128, 40, 20 << 10), (512, 96, 0), (96, 40, 0), (256, 16, 0)),
        draw=draw_blocks,
        because="as the SM's limits say",
        hints=(
            (lambda t, r, s: _without(t, r, s, "registers"), "the registers are missing: an SM has 65,536"),
            (lambda t, r, s: _without(t, r, s, "shared memory"), "the shared memory is missing"),
            (lambda t, r, s: _without(t, r, s, "blocks"), "an SM holds at most 32 blocks"),
            (lambda t, r, s: _without(t, r, s, "threads"), "an SM holds at most 2,048 threads"),
            (lambda t, r, s: min(65536 // (r * t), 2048 // t, 32, (228 << 10) // s if s else 32),
             "the system takes 1 KB of shared memory for every block"),
        ),
    ),
    Value(
        id="01.3",
        title="Warps to fill a memory",
        unit="warps per SM",
        expected=FLIGHT,
        because="400 ns × 2,400 GB/s = 960 KB, over 100 SMs of warps with 512 bytes each",
        hints=(
            (FLIGHT * 4, "that is for 4-byte loads: a 16-byte load per lane is 512 bytes per warp"),
            (FLIGHT * SMS, "that is for the whole GPU: divide by its 100 SMs"),
            (FLIGHT * 32, "that counts lanes: a warp has 32"),
            (LATENCY_CYCLES * BANDWIDTH_GBS / SMS / 512, "600 cycles at 1.5 GHz are 400 ns"),
            (LATENCY_CYCLES * CLOCK_GHZ * BANDWIDTH_GBS / SMS / 512, "600 cycles at 1.5 GHz are 400 ns"),
            (FLIGHT * 512, "that is bytes: divide by what one warp has under way"),
        ),
    ),
)
