"""The explorers that lessons call: each returns a component that shows itself in Jupyter, Colab and the book."""

from __future__ import annotations

from gemmlab.errors import GemmlabError
from gemmlab.hardware import ITEM_BYTES, gpu, rate_name
from gemmlab.occupancy import REGISTER_UNIT, WARP_UNIT, occupancy
from gemmlab.plots import describe_banks, describe_sectors
from gemmlab.plots.export import fragment_data, gpu_table, timeline_data, trace_data
from gemmlab.widgets import live
from gemmlab.widgets.twin import Twin
from ptxemu.profile import H200

SIZES = (8, 16, 32, 33, 48, 64, 96)


class Explorer(Twin):
    """A component whose data Python can remake: in a Jupyter kernel it comes with ipywidgets controls that do so."""

    def __init__(self, part, data, alt, controls=None, make=None):
        super().__init__(part, data, alt)
        self.controls, self.make = controls, make

    def live(self):
        """Return the ipywidgets view. Raises GemmlabError when the explorer has nothing to recompute."""
        if self.make is None:
            raise GemmlabError("this explorer shows recorded data: give it kernels to get controls that run them again")
        return live.view(self.controls, self.make)

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = super()._repr_mimebundle_()
        if self.make is not None and live.available():
            bundle = {**self.live()._repr_mimebundle_(), **bundle}
        return bundle


def roofline_explorer(on="H200", dtype="float32", M: int = 4096, N: int = 4096, K: int = 4096, title="") -> Twin:
    """Show a GEMM's place under the roof, with GPU, data type, M, N and K to choose (sizes are powers of two).

    Raises GemmlabError for an unknown GPU or data type and for sizes that are not powers of two up to 16384.
    """
    card, dtype = gpu(on), rate_name(dtype)
    for name, size in {"M": M, "N": N, "K": K}.items():
        if size not in [2**e for e in range(15)]:
            raise GemmlabError(f"{name} = {size}: the explorer takes powers of two from 1 to 16384")
    card.peak(dtype)
    data = {
        "title": title or "Roofline explorer",
        "gpus": gpu_table(),
        "bytes": ITEM_BYTES,
        "gpu": card.key,
        "dtype": dtype,
        "M": M,
        "N": N,
        "K": K,
    }
    return Twin("roofline", data, f"Roofline explorer: {M} × {N} × {K} in {dtype} on the {card.name}, with controls.")


def sector_explorer(*, M: int = 32, N: int = 32, K: int = 32, warp: int = 0, title="", **kernels) -> Explorer:
    """Show which sectors one warp moves at each step of a kernel, two or more kernels side by side.

    kernels: title=kernel, where a kernel is anything that `gl.trace` takes, (kernel, launch rule), or a finished trace
    (list of `ptxemu.Access`). With kernels, a Jupyter kernel offers M, N, K and the warp as ipywidgets that run the
    emulator again. Raises GemmlabError when no kernel is given or a trace is empty.
    """

    def make(M=M, N=N, K=K, warp=warp):
        traces = {name: _trace(kernel, M, N, K, warp) for name, kernel in kernels.items()}
        shapes = {"A": (M, K), "B": (K, N), "C": (M, N)}
        data = trace_data(traces, "global", shapes=shapes, title=title or _title(kernels, M, N, K, warp))
        if not data["variants"]:
            raise GemmlabError("none of the kernels touches global memory in the traced CTA and warp")
        data["source"] = "Addresses: the emulator's trace."
        return Twin("sectors", data, describe_sectors(traces))

    return _explorer("sector_explorer", kernels, make, M, N, K, warp)


def bank_explorer(*, M: int = 32, N: int = 32, K: int = 32, warp: int = 0, title="", **kernels) -> Twin:
    """Show bank conflicts of kernels (as in `sector_explorer`) or, without any, of a layout that the reader chooses."""
    if not kernels:
        data = {"title": title or "Bank explorer: which layout is free of conflicts?", "explore": True}
        said = "Bank explorer: choose access width, row length, padding or an XOR swizzle; count wavefronts."
        return Twin("banks", data, said)

    def make(M=M, N=N, K=K, warp=warp):
        traces = {name: _trace(kernel, M, N, K, warp) for name, kernel in kernels.items()}
        data = trace_data(traces, "shared", title=title or _title(kernels, M, N, K, warp))
        data["source"] = "Addresses: the emulator's trace."
        return Twin("banks", data, describe_banks(traces))

    return _explorer("bank_explorer", kernels, make, M, N, K, warp)


def tile_explorer(BM: int = 32, BN: int = 32, BK: int = 32, title="") -> Twin:
    """Show the tiles that a block of a tiled kernel copies along K, and what the tile sizes cost, with sliders.

    BM, BN, BK: tile sizes to begin with, powers of two from 4 to 128. Raises GemmlabError for others.
    """
    for name, size in {"BM": BM, "BN": BN, "BK": BK}.items():
        if size not in [2**e for e in range(2, 8)]:
            raise GemmlabError(f"{name} = {size}: the explorer takes powers of two from 4 to 128")
    data = {"title": title or "Tile explorer", "size": 128, "BM": BM, "BN": BN, "BK": BK}
    said = f"Tile explorer: tiles of {BM} × {BK} of A and {BK} × {BN} of B walk along K; sliders change their sizes."
    return Twin("tiles", data, said)


def patch_explorer(TM: int = 8, TN: int = 8, BK: int = 8, title="") -> Twin:
    """Show a thread's TM x TN patch of C with sliders: reads and multiply-adds per step, registers, blocks per SM.

    TM, TN: 1 to 16; BK: 8, 16 or 32; blocks have 16 x 16 threads. Raises GemmlabError for other sizes.
    """
    if not (TM in range(1, 17) and TN in range(1, 17) and BK in (8, 16, 32)):
        raise GemmlabError(f"the explorer takes TM and TN from 1 to 16 and BK of 8, 16 or 32, not {TM}, {TN}, {BK}")
    data = {"title": title or "Patch explorer", "TM": TM, "TN": TN, "BK": BK, "threads": 256}
    said = f"Patch explorer: {TM} + {TN} values make {TM * TN} multiply-adds; sliders for TM, TN and BK."
    return Twin("patch", data, said)


def timeline(variants, *, unit="cycles", title="Timeline", source="") -> Twin:
    """Show roles over time: {variant: {role: [(start, end, kind, label), …]}}, kinds as in `timeline_data`."""
    data = timeline_data(variants, unit=unit, title=title, source=source)
    rows = "; ".join(f"{role}: {len(spans)} spans" for roles in variants.values() for role, spans in roles.items())
    return Twin("timeline", data, f"{title}. {rows}.")


def occupancy_explorer(*, threads: int = 256, registers: int = 128, shared_kb: int = 16, on=None, title="") -> Twin:
    """Show how many blocks an SM holds, with threads, registers and shared memory per block to choose.

    on: a `ptxemu.DeviceProfile` (default: H200). Raises GemmlabError for values that its sliders do not have.
    """
    device = on or H200
    top = device.shared_per_block_optin >> 10
    for name, value, choices in (("threads", threads, range(32, 1025, 32)), ("registers", registers, range(16, 249, 8)),
                                 ("shared_kb", shared_kb, range(top + 1))):
        if value not in choices:
            raise GemmlabError(f"{name} = {value!r}: the explorer takes {choices[0]} to {choices[-1]}, "
                               f"in steps of {choices.step}")
    reserved = 1024 if device.cc >= (8, 0) else 0
    data = {
        "title": title or f"Occupancy explorer: one SM of the {device.name}",
        "choice": {"threads": threads, "registers": registers, "shared": shared_kb},
        "limits": {"registers": device.registers_per_sm, "threads": device.max_threads_per_sm, "reserved": reserved,
                   "blocks": device.max_blocks_per_sm, "shared": device.shared_per_sm, "block_kb": top,
                   "register_unit": REGISTER_UNIT, "warp_unit": WARP_UNIT},
        "source": "Orange: used up first. Limits: CUDA C++ Programming Guide, Compute Capabilities.",
    }
    return Twin("occupancy", data, f"Occupancy explorer: {occupancy(threads, registers, shared_kb << 10, device)}.")


def stage_explorer(
    *, load: int = 300, compute: int = 100, stages: int = 2, producer: bool = False, transfer=None, title=""
) -> Twin:
    """Show the stage model of `gemmlab.stages`: times of load and multiply, buffers and order to choose by slider.

    transfer: the time that memory is busy with one tile's bytes, with a slider of its own; None leaves bandwidth out.
    Raises GemmlabError for times that are no multiples of 50 (up to 600) and for stages outside 1 to 6.
    """
    times = {"load": load, "compute": compute} | ({} if transfer is None else {"transfer": transfer})
    for name, value in times.items():
        first = 0 if name == "transfer" else 50
        if value not in range(first, 601, 50):
            raise GemmlabError(f"{name} = {value!r}: the explorer takes multiples of 50 from {first} to 600")
    if stages not in range(1, 7):
        raise GemmlabError(f"stages = {stages!r}: the explorer takes 1 to 6")
    model = "loads overlap each other freely; bound by latency, not by bandwidth"
    model = model if transfer is None else "loads overlap, but memory serves the bytes of one tile at a time"
    data = {
        "title": title or "Stage explorer: when do loads hide?",
        "unit": "time",
        "source": f"Modelled: {model}.",
        "explore": {**times, "stages": stages, "producer": producer},
    }
    return Twin("timeline", data, "Stage explorer: choose the times of load and multiply, the buffers and who loads.")


def fragment_map(operands, *, lanes: int = 32, title="Fragment map", source="") -> Twin:
    """Show which lane holds what: {operand: (rows, columns, owner)}, owner(row, column) -> (lane, register)."""
    data = fragment_data(operands, lanes=lanes, title=title, source=source)
    sizes = ", ".join(f"{name} {rows} × {columns}" for name, (rows, columns, _) in operands.items())
    return Twin("fragments", data, f"{title}: which of {lanes} lanes holds each element of {sizes}.")


def _title(kernels, M, N, K, warp) -> str:
    """Name the warp and the sizes that were traced; finished traces do not tell theirs."""
    finished = all(isinstance(kernel, list) for kernel in kernels.values())
    return "One warp's accesses" if finished else f"Warp {warp}, M = {M}, N = {N}, K = {K}"


def _explorer(what, kernels, make, M, N, K, warp) -> Explorer:
    if not kernels:
        raise GemmlabError(f"give {what} at least one kernel, e.g. {what}(naive=kernel)")
    first = make()
    if all(isinstance(kernel, list) for kernel in kernels.values()):
        return Explorer(first.part, first.data, first.alt)
    sizes = {name: (name, sorted({*SIZES, value}), value) for name, value in (("M", M), ("N", N), ("K", K))}
    controls = {**sizes, "warp": ("warp", sorted({0, 1, 2, 3, warp}), warp)}
    return Explorer(first.part, first.data, first.alt, controls, make)


def _trace(kernel, M, N, K, warp):
    if isinstance(kernel, list):
        return kernel
    from gemmlab.count import trace  # here, because compiling and emulating load much that other explorers do not need

    kernel, rule = kernel if isinstance(kernel, tuple) else (kernel, None)
    return trace(kernel, M, N, K, warp=warp, **({} if rule is None else {"rule": rule}))
