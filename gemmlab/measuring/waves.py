"""When each tile of C was multiplied and stored, and on which SM: stamps taken inside kernels on a GPU, or recorded.

The kernels get a stamp of the GPU-wide timer (%globaltimer, nanoseconds) at the start of a tile, after its last product
and after its stores (TMA's: after they are handed over), by the first thread of their first consumer warpgroup; %smid
says where. Records stand under "ceilings" in results/<gpu>.json as "waves"; tools/record_roles.py writes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemmlab import results
from gemmlab.call import Call
from gemmlab.errors import GemmlabError
from gemmlab.launch import launch
from gemmlab.measuring.measure import RECORDED_ON
from gemmlab.reference import Problem, numpy_dtype
from gemmlab.source import CudaSource, cuda_source
from kernels import spec
from kernels.rule import cdiv
from kernels.spec import H200_SMS

SHAPE = (2176, 2176, 2176)  # 153 tiles of 128 × 256: a full round of 132 SMs, and one of 21
SIZES = "int M, int N, int K)"
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
    kernel, (tile, start, multiplied, stored) = spec(name), PLACES[name]
    text = kernel.path.read_text(encoding="utf-8").replace(SIZES, f"{SIZES[:-1]}, long long* stamps)")
    text = text.replace('extern "C"', f'{PRELUDE}\nextern "C"', 1)
    for line, number in ((start, 1), (multiplied, 2), (stored, 3)):
        if text.count(line) != 1:
            raise GemmlabError(f"{name} has changed: no stamp can be placed at {line.strip()!r}")
        stamp = f"STAMP({tile}, {number})\n"
        text = text.replace(line, f"{stamp}{line}" if number == 1 else f"{line}{stamp}")
    return cuda_source(text, kernel.entry, **dict(kernel.defines))


def measure_waves(name: str, shape: tuple[int, int, int] = SHAPE, sms: int = H200_SMS) -> np.ndarray:
    """Run a stamped kernel on the GPU at hand; return int64[tiles, FIELDS], times in ns after the first stamp."""
    kernel, (M, N, K) = spec(name), shape
    problem, pairs = Problem.of(kernel, kernel.rule()), cdiv(M, 2 * kernel.tile["BM"])
    A, B = problem.inputs(np.random.default_rng(0), M, N, K, 1.0)
    call = Call(kernel.rule(), A, B, np.zeros((M, N), numpy_dtype(kernel.c_dtype)), sms=sms)
    stamps = np.full((2 * pairs * cdiv(N, kernel.tile["BN"]), FIELDS), -1, np.int64)
    launch(stamped(name), *call.args(), stamps, **call.launch, backend="gpu")
    stamps = stamps[stamps[:, 1] >= 0]  # a pair of tiles at the edge may have one that no CTA takes
    stamps[:, 1:] -= stamps[:, 1].min()
    return stamps


def rows(stamps: np.ndarray) -> np.ndarray:
    """Return float64[2 · tiles, 5]: SM, group 0, kind (0 multiplying, 1 storing), start, end in µs."""
    found = []
    for sm, start, multiplied, stored in stamps.tolist():
        found += [(sm, 0, 0, start / 1e3, multiplied / 1e3), (sm, 0, 1, multiplied / 1e3, stored / 1e3)]
    return np.array(found)


def waves(directory=None) -> Waves:
    """Return the recorded stamps of one launch of each kernel of PLACES at 2176 x 2176 x 2176."""
    path = (directory or results.DIRECTORY) / f"{RECORDED_ON}.json"
    stored = results.load(path)["ceilings"].get("waves") if path.exists() else None
    gpu = results.gpu_name(RECORDED_ON, directory)
    if stored is None:
        return Waves({}, f"not recorded yet on {gpu}; tools/record_roles.py records it on a GPU")
    stamps = {name: rows(np.array(found)) for name, found in stored["stamps"].items()}
    return Waves(stamps, f"recorded on {gpu}, {stored['date']}")
