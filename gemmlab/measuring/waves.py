"""When each tile of C was multiplied and stored, and on which SM: stamps taken inside kernels on a GPU, or recorded.

The kernels get a stamp of the GPU-wide timer (%globaltimer, nanoseconds) at the start of a tile, after its last product
and after its stores (TMA's: after they are handed over), by the first thread of their first consumer warpgroup; %smid
says where. The record is called "waves".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemmlab.measuring import stamps
from gemmlab.source import CudaSource
from kernels import spec
from kernels.rule import cdiv
from kernels.spec import H200_SMS

SHAPE = (2176, 2176, 2176)  # 153 tiles of 128 × 256: a full round of 132 SMs, and one of 21
FIELDS = 4  # of a tile: SM, start, multiplied, stored
PRELUDE = """
__device__ long long now() {
  long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}
__device__ int sm() {
  int id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}
#define STAMP(tile, i) if (threadIdx.x == 128) stamps[(tile) * 4] = sm(), stamps[(tile) * 4 + i] = now();
"""
# For each kernel: what numbers a tile; before which text it starts; after which texts it is multiplied and stored.
PLACES = {
    "k16_two_consumers": (
        "blockIdx.y * gridDim.x + blockIdx.x",
        "  Ring<STAGES> ring;\n",
        "  wgmma_wait_group<0>(acc[0]);\n",
        "  store_direct<BN>(acc[0], C, m + row, n, M, N);\n",
    ),
    "k18_cooperative": (
        "t * CLUSTER + rank",
        "      consume<BN, CLUSTER>(s.ring, ring, my, acc, steps);\n",
        "      finish<CLUSTER>(s.ring, ring, my, acc);\n",
        "      tma_store_c(acc[0], s.c[consumer], &C, m, tile.n * BN, 1 + consumer);\n",
    ),
}


@dataclass(frozen=True)
class Waves:
    """`stamps`: {kernel: rows (sm, group, kind, start, end)} for `gl.plots.gantt`, in µs; empty without a record.

    Kind 0 is multiplying, kind 1 storing; `label` says where they come from.
    """

    stamps: dict[str, np.ndarray]
    label: str


def stamped(name: str) -> CudaSource:
    """Return a kernel of PLACES with stamps; its last parameter is `long long* stamps`, (tiles, FIELDS)."""
    tile, start, multiplied, stored = PLACES[name]
    first, second, third = (f"STAMP({tile}, {number})\n" for number in (1, 2, 3))
    places = (start, first, ""), (multiplied, "", second), (stored, "", third)
    return stamps.placed(name, "long long* stamps", PRELUDE, places)


def measure_waves(name: str, shape: tuple[int, int, int] = SHAPE, sms: int = H200_SMS) -> np.ndarray:
    """Run a stamped kernel on the GPU at hand; return int64[tiles, FIELDS], times in ns after the first stamp."""
    size, (M, N, _) = spec(name).tile, shape
    found = np.full((2 * cdiv(M, 2 * size["BM"]) * cdiv(N, size["BN"]), FIELDS), -1, np.int64)
    stamps.take(name, stamped(name), found, shape, sms)
    found = found[found[:, 1] >= 0]  # a pair of tiles at the edge may have one that no CTA takes
    found[:, 1:] -= found[:, 1].min()
    return found


def rows(tiles: np.ndarray) -> np.ndarray:
    """Return float64[2 · tiles, 5]: SM, group 0, kind (0 multiplying, 1 storing), start, end in µs."""
    found = []
    for sm, start, multiplied, stored in tiles.tolist():
        found += [(sm, 0, 0, start / 1e3, multiplied / 1e3), (sm, 0, 1, multiplied / 1e3, stored / 1e3)]
    return np.array(found)


def waves(directory=None) -> Waves:
    """Return the recorded stamps of one launch of each kernel of PLACES at 2176 x 2176 x 2176."""
    stored, label = stamps.recorded("waves", directory)
    if stored is None:
        return Waves({}, label)
    return Waves({name: rows(np.array(found)) for name, found in stored["stamps"].items()}, label)
