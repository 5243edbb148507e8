"""Explorers of tensor-core chapters: fragments, swizzles, tensor maps, descriptors, phases."""

from __future__ import annotations

import itertools

import numpy as np

from gemmlab.errors import GemmlabError
from gemmlab.plots.clusters import cluster_traffic
from gemmlab.plots.export import fragment_data
from gemmlab.plots.fragments import OPAQUE, chosen, describe
from gemmlab.plots.swizzles import PATTERN, placement
from gemmlab.tensormap import SWIZZLES, Tiled, refusal
from gemmlab.widgets.twin import Twin
from ptxemu import decode_wgmma_descriptor, encode_wgmma_descriptor
from ptxemu.tensormap import swizzled

COLUMNS_OF_A_GROUP = 16  # of a wgmma accumulator: the next ones go on in the same way


def fragments(instruction: str = "mma.m16n8k16.bf16", *, lane: int = 0, operands=None, title="") -> Twin:
    """Show which lane holds which element of a matrix instruction, lane by lane.

    instruction, lane, operands: as for `gl.plots.fragments`. An accumulator of wgmma shows its first 16 columns: the
    others repeat them, eight columns for every four elements. Raises GemmlabError as `gl.plots.fragments`.
    """
    found, group = chosen(instruction, lane, operands), instruction.startswith("wgmma")
    sizes = {name: (seat.shape[0], min(COLUMNS_OF_A_GROUP, seat.shape[1]) if group else seat.shape[1])
             for name, seat in found.items()}  # fmt: skip
    table = {name: (*sizes[name], _owner(seat)) for name, seat in found.items()}
    note = OPAQUE if instruction.startswith("wmma") else ""
    source = f"{note}From the emulator's tables."
    data = fragment_data(table, lanes=128 if group else 32, title=title or instruction, source=source) | {"lane": lane}
    return Twin("fragments", data, f"{instruction}, by lane. {describe(instruction, lane, operands)}")


def _owner(seat):
    return lambda row, column: (int(seat.lane[row, column]), seat.label(row, column))


def swizzle_explorer(span: int = 128, title="") -> Twin:
    """Show where the 16-byte chunks of a box lie in shared memory; swizzle, box and the rows that are read to choose.

    span: the swizzle to begin with, 0, 32, 64 or 128 bytes. Raises GemmlabError for others.
    """
    placement(span)
    places = {width: swizzled(np.arange(PATTERN), width).tolist() for width in SWIZZLES}
    data = {"title": title or "Swizzle explorer", "span": span, "places": places, "source": "Places: the emulator's."}
    return Twin("swizzle", data, "Swizzle explorer: choose a swizzle, the bytes of a box row and the chunk read.")


def tensor_map_explorer(*, box=(16, 64), columns: int = 96, swizzle: int = 128, at=(0, 0), title="") -> Twin:
    """Show a box of a tensor map on an array, what lies outside, and which maps the driver refuses and why.

    box: (rows, columns) of the copy, columns of the array, swizzle in bytes and at = (row, column) to begin with.
    Raises GemmlabError for values that its menus do not have.
    """
    sizes, rows = {"bfloat16": 2, "float32": 4}, 96
    menus = {"columns": (64, 96, 100, 128), "boxes": (8, 12, 16, 32, 64, 128), "heights": (8, 16, 32, 64)}
    for name, value, choices in (("columns", columns, menus["columns"]), ("box columns", box[1], menus["boxes"]),
                                 ("box rows", box[0], menus["heights"]), ("swizzle", swizzle, SWIZZLES)):
        if value not in choices:
            raise GemmlabError(f"{name} = {value!r}: the explorer takes {', '.join(map(str, choices))}")
    reasons, refusals = [], {}
    for dtype, wide, narrow, span in itertools.product(sizes, menus["columns"], menus["boxes"], SWIZZLES):
        why = refusal(Tiled(dtype, 0, (wide, rows), (wide * sizes[dtype],), (narrow, box[0]), (1, 1), span))
        if why:
            reasons += [why] * (why not in reasons)
            refusals[f"{dtype},{wide},{narrow},{span}"] = reasons.index(why)
    choice = {"dtype": "bfloat16", "columns": columns, "box": box[1], "high": box[0], "swizzle": swizzle,
              "x": at[1], "y": at[0]}  # fmt: skip
    data = {"title": title or "Tensor-map explorer", "rows": rows, "sizes": sizes, **menus, "choice": choice,
            "reasons": reasons, "refusals": refusals, "source": "Refusals: gl.tensor_map."}  # fmt: skip
    said = f"Tensor-map explorer: a box of {box[0]} × {box[1]} on A, {rows} × {columns}, with sizes to choose."
    return Twin("tensormap", data, said)


def descriptor(word: int | None = None, *, major: str = "K", title="") -> Twin:
    """Take a wgmma descriptor apart: its fields, and the chunks of shared memory that the first core matrices read.

    word: 64 bits (default: a K-major tile of 64 columns of 16-bit elements with a 128-byte swizzle); major: "K" or
    "MN", which the instruction says. Fields and word can be changed. Raises GemmlabError for what is no descriptor.
    """
    word = encode_wgmma_descriptor(0, lbo=16, sbo=1024, swizzle=128) if word is None else word
    try:
        fields = decode_wgmma_descriptor(word, major)
    except ValueError as error:
        raise GemmlabError(str(error)) from None
    choice = {"start": fields.start, "lbo": fields.lbo, "sbo": fields.sbo, "swizzle": fields.swizzle,
              "base": fields.base_offset, "major": major}  # fmt: skip
    data = {"title": title or "Descriptor decoder", "choice": choice, "source": "Rules: the emulator's."}
    return Twin("descriptor", data, f"Descriptor {word:#018x}: {fields}".replace("\n", "; "))


def cluster_explorer(rows: int = 2, columns: int = 1, *, tile=(128, 256, 64), title="") -> Twin:
    """Show which strips of A and B the CTAs of a cluster share, and the bytes that multicast saves (bf16, derived).

    rows, columns: CTAs along M and N, 1, 2 or 4; tile: (BM, BN, BK), BM and BN of 64, 128 or 256, to begin with. Raises
    GemmlabError for others.
    """
    bm, bn, bk = tile
    for name, value, choices in (("rows", rows, (1, 2, 4)), ("columns", columns, (1, 2, 4)),
                                 ("BM", bm, (64, 128, 256)), ("BN", bn, (64, 128, 256))):  # fmt: skip
        if value not in choices:
            raise GemmlabError(f"{name} = {value!r}: the explorer takes {', '.join(map(str, choices))}")
    traffic = cluster_traffic(rows, columns, *tile)
    choice = {"rows": rows, "columns": columns, "bm": bm, "bn": bn, "bk": bk}
    data = {"title": title or "A cluster on C", "choice": choice, "source": f"Steps of {bk} along K, bf16. Derived."}
    said = f"{traffic.shared >> 10} KB per step instead of {traffic.alone >> 10}, {traffic.saved:.0%} less"
    return Twin("clusters", data, f"A cluster of {rows} × {columns} CTAs with tiles of {bm} × {bn}: {said}.")
