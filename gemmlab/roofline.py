"""The roofline model: what a GEMM may reach on a GPU, given the bytes it moves (Williams, Waterman, Patterson, 2009).

FLOP counts take a fused multiply-add as two. A point on the roofline is meaningless without saying which bytes it
divides by, so every `Point` carries one of three kinds:

- "ideal": each of A and B read once, C written once (and read once if beta is not 0);
- "requested": what the kernel's loads and stores ask for, as the emulator counts it, before any cache;
- "measured DRAM": what the profiler saw leave and enter DRAM.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemmlab.errors import GemmlabError
from gemmlab.hardware import GPU, ITEM_BYTES, gpu, rate_name

BYTE_KINDS = ("ideal", "requested", "measured DRAM")


@dataclass(frozen=True)
class Point:
    """One kernel on the roofline: intensity in FLOP/byte of the named `bytes_kind`, and TFLOP/s.

    `origin` says where the rate comes from: "measured", "recorded on <GPU>, <date>" or "modelled".
    """

    label: str
    intensity: float
    tflops: float
    bytes_kind: str
    origin: str

    def __post_init__(self):
        if self.bytes_kind not in BYTE_KINDS:
            raise GemmlabError(f"bytes_kind must be one of {', '.join(BYTE_KINDS)}, not {self.bytes_kind!r}")


@dataclass(frozen=True)
class Floor:
    """The least time in seconds that arithmetic and DRAM traffic allow; `bound` names the longer of the two."""

    compute_s: float
    memory_s: float

    @property
    def seconds(self) -> float:
        return max(self.compute_s, self.memory_s)

    @property
    def bound(self) -> str:
        return "compute" if self.compute_s >= self.memory_s else "memory"


@dataclass(frozen=True)
class Layer:
    """One GEMM of a transformer block: `count` independent products of shape M x N x K."""

    name: str
    M: int
    N: int
    K: int
    count: int = 1

    def intensity(self, dtype="bfloat16") -> float:
        """Return FLOP per ideal byte; it does not depend on `count`, since every product has its own operands."""
        return intensity(self.M, self.N, self.K, dtype)


def flops(M: int, N: int, K: int) -> int:
    """Return the floating-point operations of C = A @ B: 2 M N K."""
    _positive(M=M, N=N, K=K)
    return 2 * M * N * K


def ideal_bytes(M: int, N: int, K: int, dtype="float32", c_dtype=None, beta: bool = False) -> float:
    """Return the least DRAM traffic: A and B read once, C written once, and read once more when `beta`."""
    _positive(M=M, N=N, K=K)
    item, c_item = ITEM_BYTES[rate_name(dtype)], ITEM_BYTES[rate_name(c_dtype or dtype)]
    return item * (M * K + K * N) + c_item * M * N * (2 if beta else 1)


def tiled_bytes(M: int, N: int, K: int, BM: int, BN: int, dtype="float32", c_dtype=None) -> float:
    """Return the bytes that BM x BN output tiles request from global memory: M N K (1/BM + 1/BN) elements, plus C.

    Exact when BM divides M and BN divides N; BM = BN = 1 is the naive kernel's 2 M N K elements.
    """
    _positive(M=M, N=N, K=K, BM=BM, BN=BN)
    item, c_item = ITEM_BYTES[rate_name(dtype)], ITEM_BYTES[rate_name(c_dtype or dtype)]
    return item * M * N * K * (1 / BM + 1 / BN) + c_item * M * N


def intensity(
    M: int, N: int, K: int, dtype="float32", c_dtype=None, beta: bool = False, traffic: float | None = None
) -> float:
    """Return FLOP/byte over the ideal bytes, or over `traffic` bytes (requested or measured) where given."""
    moved = ideal_bytes(M, N, K, dtype, c_dtype, beta) if traffic is None else traffic
    if not moved > 0:
        raise GemmlabError(f"traffic must be a positive number of bytes, not {traffic!r}")
    return flops(M, N, K) / moved


def attainable(
    intensity: float, on: str | GPU, dtype="float32", sparse: bool = False, bandwidth_gbs: float | None = None
) -> float:
    """Return the roof in TFLOP/s at `intensity` FLOP/byte on GPU `on`: the lower of peak and bandwidth x intensity."""
    if not intensity > 0:
        raise GemmlabError(f"intensity must be positive, not {intensity!r}")
    machine = gpu(on)
    return min(machine.peak(dtype, sparse), intensity * (bandwidth_gbs or machine.bandwidth_gbs) / 1e3)


def ridge(on: str | GPU, dtype="float32", sparse: bool = False) -> float:
    """Return the intensity (FLOP/byte) where the two roofs of GPU `on` meet."""
    machine = gpu(on)
    return machine.peak(dtype, sparse) * 1e3 / machine.bandwidth_gbs


def time_floor(
    M: int,
    N: int,
    K: int,
    on: str | GPU,
    dtype="float32",
    c_dtype=None,
    traffic: float | None = None,
    beta: bool = False,
) -> Floor:
    """Return the least time of the GEMM on GPU `on` by its published rates, from ideal bytes or from `traffic`."""
    machine = gpu(on)
    moved = ideal_bytes(M, N, K, dtype, c_dtype, beta) if traffic is None else traffic
    return Floor(flops(M, N, K) / (machine.peak(dtype) * 1e12), moved / (machine.bandwidth_gbs * 1e9))


def llm_layers(
    phase: str = "prefill",
    batch: int = 1,
    seq: int = 4096,
    d: int = 4096,
    heads: int = 32,
    vocab: int = 128_256,
    ffn: int = 4,
) -> list[Layer]:
    """Return the GEMMs of one decoder block and the LM head of a multi-head transformer, as M x N x K.

    In "prefill" all `seq` tokens of `batch` sequences go through at once. In "decode" one new token of each sequence
    does, and attention reads `seq` cached tokens, once for each sequence and head. `d` is the model width, `ffn` the
    widening of the feed-forward layer. Causal masking and grouped-query attention are left out.
    """
    if phase not in ("prefill", "decode"):
        raise GemmlabError(f"phase must be 'prefill' or 'decode', not {phase!r}")
    _positive(batch=batch, seq=seq, d=d, heads=heads, vocab=vocab, ffn=ffn)
    if d % heads:
        raise GemmlabError(f"d = {d} must be a multiple of heads = {heads}")
    new, head = (seq if phase == "prefill" else 1), d // heads
    tokens = batch * new
    return [
        Layer("QKV projection", tokens, 3 * d, d),
        Layer("QKᵀ", new, seq, head, batch * heads),
        Layer("PV", new, head, seq, batch * heads),
        Layer("output projection", tokens, d, d),
        Layer("FFN up", tokens, ffn * d, d),
        Layer("FFN down", tokens, d, ffn * d),
        Layer("LM head", tokens, vocab, d),
    ]


def recorded(
    names,
    M: int,
    N: int,
    K: int,
    bytes: str = "requested",
    gpu: str = "nvidia_h200",
    mode: str = "cold",
    directory=None,
) -> list[Point]:
    """Return the roofline points of kernels that were measured at one shape on a GPU (results file stem `gpu`).

    `bytes`: "ideal", "requested" (from the tile sizes of the kernel's Spec; a kernel without tiles requests 2 M N K
    elements) or "measured DRAM". Kernels without such a record are left out, so the list may be empty.
    """
    import kernels
    from gemmlab import results

    if bytes not in BYTE_KINDS:
        raise GemmlabError(f"bytes must be one of {', '.join(BYTE_KINDS)}, not {bytes!r}")
    points = []
    for name in names:
        spec = kernels.spec(name)
        for record in results.find(name, M, N, K, mode, gpu, directory):
            tile = spec.tile.get("BM", 1), spec.tile.get("BN", 1)
            traffic = {
                "ideal": ideal_bytes(M, N, K, spec.a_dtype, spec.c_dtype),
                "requested": tiled_bytes(M, N, K, *tile, spec.a_dtype, spec.c_dtype),
                "measured DRAM": results.dram_bytes(record),
            }[bytes]
            if traffic:
                origin = f"recorded on {results.gpu_name(gpu, directory)}, {record['date']}"
                points.append(Point(name, flops(M, N, K) / traffic, record["tflops"], bytes, origin))
    return points


@dataclass(frozen=True)
class Ceiling:
    """A measured flat part of a roof: the rate of an instruction alone, without global memory, in TFLOP/s."""

    label: str
    tflops: float
    origin: str


def ceilings(dtype="float32", gpu: str = "nvidia_h200", directory=None) -> list[Ceiling]:
    """Return the measured ceilings of a data type on a GPU (results file stem), highest first; empty without records.

    Runs on zeros are left out: no data of a GEMM are that quiet.
    """
    from gemmlab import results

    path = (directory or results.DIRECTORY) / f"{gpu}.json"
    data = results.load(path) if path.exists() else {"ceilings": {}}
    found = []
    for name, entry in data["ceilings"].items():
        kind = "float32" if name == "fp32_fma" else entry.get("dtype")
        if kind == rate_name(dtype) and not name.endswith("_zeros"):
            origin = f"recorded on {data['machine']['gpu']}, {entry['date']}"
            found.append(Ceiling(entry["how"], entry["value"], origin))
    return sorted(found, key=lambda ceiling: -ceiling.tflops)


def _positive(**sizes):
    for name, size in sizes.items():
        if not size > 0:
            raise GemmlabError(f"{name} must be positive, not {size!r}")
