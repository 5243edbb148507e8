"""Explorers of tensor-core chapters: fragments, swizzles, tensor maps, descriptors, phases."""

from __future__ import annotations

from gemmlab.plots.export import fragment_data
from gemmlab.plots.fragments import OPAQUE, chosen, describe
from gemmlab.widgets.twin import Twin

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
