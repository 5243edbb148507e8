"""The lane-bank grid: which bank of shared memory serves which lane, wavefront by wavefront."""

from __future__ import annotations

from gemmlab.plots import palette
from gemmlab.plots.access import (
    BANKS,
    family,
    headline,
    ideal_wavefronts,
    one_per_site,
    passes_banks_by,
    variants_of,
    wavefronts_of,
)
from gemmlab.plots.figure import cells, finish, panel_titles, stacked, styled

ROWS_SHOWN = 16
NO_SHARED = "No shared memory access: 0 bank conflicts"


@styled
def bank_grid(accesses, *, step: int = 0, limit: int = 4, title: str = ""):
    """Draw, for each shared-memory instruction of a trace, the wavefronts of one warp request on the 32 banks.

    accesses: a list of `ptxemu.Access`, one `Access`, or {variant title: list}. A row is one wavefront (one pass over
    the 32 banks), a column a bank, the number the lane served (×n: n lanes share the word). Wavefronts beyond the
    fewest possible are conflicts and take the problem colour. step: which execution of each instruction;
    limit: panels at most, those with most wavefronts first. Copies of TMA and operands of wgmma have no lanes: their
    16-byte chunks are shown, 32 at a time; TMA's are called modelled, wgmma's wavefronts are those that a profiler
    counted in the products of tests/ptxemu/data/wgmma_patterns_*.json.
    Returns a figure with `.alt`. A trace without shared access gives a compact panel that states 0 conflicts.
    """
    panels = [
        (variant, access, wavefronts_of(access), ideal_wavefronts(access))
        for variant, some in variants_of(accesses).items()
        for access in one_per_site(some, "shared", step)
    ]
    if not panels:
        return _empty()
    panels = sorted(panels, key=lambda panel: -len(panel[2]))[:limit] if len(panels) > limit else panels
    figure, axes = stacked([_rows(fronts) for _, _, fronts, _ in panels], title=title)
    for ax, panel in zip(axes, panels, strict=True):
        _panel(ax, *panel)
    return finish(
        figure,
        "Shared-memory banks used by one warp request. " + " ".join(_sentence(*panel) for panel in panels),
        "Row: one wavefront. Column: bank. Number: lane served (×n: n lanes share the word)." + _chunks(panels),
    )


def _chunks(panels) -> str:
    """Return what a number means where no lane has an address, or nothing."""
    kinds = {family(access) for _, access, _, _ in panels}
    text = " TMA and wgmma have no lanes: chunks of 16 bytes, 32 at a time." if kinds & {"bulk", "wgmma"} else ""
    return text + (" wgmma's conflicts: as profiled in 64 products." if "wgmma" in kinds else "")


def describe_banks(accesses, step: int = 0) -> str:
    """Return one sentence for each shared-memory instruction of a trace (or of {variant: trace}): its wavefronts."""
    sentences = [
        _sentence(variant, access, wavefronts_of(access), ideal_wavefronts(access))
        for variant, some in variants_of(accesses).items()
        for access in one_per_site(some, "shared", step)
    ]
    return " ".join(sentences) or NO_SHARED + "."


def _rows(fronts) -> int:
    return min(len(fronts), ROWS_SHOWN) + (len(fronts) > ROWS_SHOWN) + 1


def _verdict(access, fronts, ideal) -> str:
    if passes_banks_by(access):
        return "whole sectors, no bank request"
    where = " at the destination" if family(access) == "copy" else ""
    count = f"{len(fronts)} wavefront{'s' * (len(fronts) != 1)}{where}"
    if len(fronts) <= ideal:
        return f"{count}, no conflict"
    ways = len(fronts) / ideal
    return f"{count}: {ways:g}-way conflict" if ideal == 1 else f"{count} where {ideal} would do"


def _sentence(variant, access, fronts, ideal) -> str:
    return f"{headline(variant, access)}: {_verdict(access, fronts, ideal)}."


def _panel(ax, variant, access, fronts, ideal):
    shown, conflict = fronts[:ROWS_SHOWN], len(fronts) > ideal and not passes_banks_by(access)
    faces, numbers, unit = {}, {}, "quarter" if passes_banks_by(access) else "wavefront"
    for row, banks in enumerate(shown):
        for bank in range(BANKS):
            lanes = banks.get(bank, (0, ()))[1]
            busy = palette.PROBLEM if conflict and row >= ideal else palette.LEVELS["DRAM"]
            faces[bank, row] = busy if lanes else palette.IDLE
            if lanes:
                numbers[bank, row] = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
        ax.text(-0.4, row + 0.5, f"{unit} {row + 1}", ha="right", va="center", fontsize=7, color=palette.MUTED)
    cells(ax, faces, numbers)
    if len(fronts) > len(shown):
        text = f"… and {len(fronts) - len(shown)} more wavefronts"
        ax.text(16, len(shown) + 0.5, text, ha="center", va="center", fontsize=8, color=palette.MUTED)
    for bank in (0, 8, 16, 24, 31):
        text = "bank 0" if bank == 0 else str(bank)
        ax.text(bank + 0.5, _rows(fronts) - 0.8, text, ha="center", va="top", fontsize=7, color=palette.MUTED)
    panel_titles(ax, headline(variant, access), _verdict(access, fronts, ideal), bad=conflict)
    ax.set(xlim=(-5.6, 32.1), ylim=(_rows(fronts), 0))
    ax.axis("off")


def _empty():
    figure, (ax,) = stacked([1], caption=False)
    cells(ax, {(bank, 0): palette.IDLE for bank in range(BANKS)}, {})
    ax.text(-0.4, 0.5, "32 banks", ha="right", va="center", fontsize=7, color=palette.MUTED)
    panel_titles(ax, NO_SHARED, "", bad=False)
    ax.set(xlim=(-5.6, 32.1), ylim=(1, 0))
    ax.axis("off")
    return finish(figure, NO_SHARED + ".")
