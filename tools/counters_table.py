"""The emulator's counters beside the profiler's, kernel by kernel: a table of book/ladder.md (tools/results_tables.py).

Every block inside the matrix makes the same requests, so one block at the recorded K is counted and multiplied by the
number of blocks. The table holds the kernels of the CUDA cores, each at the smallest n³ that was profiled.
"""

import functools

import gemmlab as gl
import kernels

LAST_CHAPTER = "09"  # later kernels move data in ways that these counters do not name
COLUMNS = {
    "load_requests": "global load requests",
    "load_sectors": "global load sectors",
    "store_sectors": "global store sectors",
    "shared_load_wavefronts": "shared load wavefronts",
    "shared_store_wavefronts": "shared store wavefronts",
    "shared_load_conflicts": "excess, loads",
    "shared_store_conflicts": "excess, stores",
}
NOTE = (
    "\nOne launch each. A single number: the emulator and the profiler (Nsight Compute on NVIDIA H200) agree to the "
    "last digit. Two numbers: emulator / profiler. The emulator counts PTX; where `ptxas` merges neighbouring loads "
    "into one `LDS.128`, the profiler sees fewer wavefronts and conflicts. Its wavefronts of stores also hold cycles "
    "in which data from L2 took the port.\n"
)


def rows(records: list[dict]) -> list[list[str]]:
    """Return one row of cells per profiled kernel, in the order of `records`."""
    smallest = {}
    for record in records:
        square = record["M"] == record["N"] == record["K"] and record["chapter"] <= LAST_CHAPTER
        if record.get("profile") and square:
            known = smallest.setdefault(record["kernel"], record)
            smallest[record["kernel"]] = min(known, record, key=lambda r: r["M"])
    out = []
    for kernel, record in smallest.items():
        mine, seen = counted(kernel, record["M"]), record["profile"]
        out.append([f"`{kernel}`", f"{record['M']}³", *(_cell(mine[key], seen.get(key)) for key in COLUMNS)])
    return out


@functools.cache
def counted(kernel: str, size: int) -> dict[str, int]:
    """Return what a kernel of the ladder requests at size³, by the names of tools/ncu.py."""
    spec = kernels.spec(kernel)
    height, width = _block(spec, size, 0), _block(spec, size, 1)
    blocks = (size // height) * (size // width)
    counters = gl.count(spec, height, width, size)
    out = {}
    for space, name in (("global", ""), ("shared", "shared_")):
        for op, word in (("ld", "load"), ("st", "store")):
            total = counters.total(space=space, op=op)
            out |= {
                f"{name}{word}_requests": blocks * total.requests,
                f"{name}{word}_sectors": blocks * total.sectors,
                f"{name}{word}_wavefronts": blocks * total.wavefronts,
                f"{name}{word}_conflicts": blocks * total.excess_wavefronts,
            }
    return out


def _block(spec, limit: int, axis: int) -> int:
    """Return how many rows (axis 0) or columns (axis 1) of C one block computes, a power of two up to `limit`."""
    extent = 1
    while extent < limit:
        shape = (2 * extent, 1, 1) if axis == 0 else (1, 2 * extent, 1)
        if spec.launch_dims(*shape)[0] != spec.launch_dims(1, 1, 1)[0]:
            break
        extent *= 2
    return extent


def _cell(mine: int, seen: float | None) -> str:
    if seen is None:
        return f"{mine:,}"
    return f"{mine:,}" if mine == seen else f"{mine:,} / {seen:,.0f}"
