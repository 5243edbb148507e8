"""The address map: which 32-byte sectors one warp's request touches, and how much of them it uses."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from gemmlab.plots import palette
from gemmlab.plots.access import LINE, SECTOR, element_label, headline, one_per_site, sectors_of, variants_of
from gemmlab.plots.figure import cells, finish, new_figure, panel_titles, stacked, styled

ROWS_SHOWN = 12  # lines drawn in full; a longer map shows the first ones and says how many follow


@styled
def sector_map(accesses, *, arrays=None, step: int = 0, shapes=None, title: str = ""):
    """Draw, for each global-memory instruction of a trace, the sectors that one warp request touches.

    accesses: a list of `ptxemu.Access`, one `Access`, or {variant title: list} to compare variants. Each row is one
    128-byte line (four sectors, 32 words of 4 bytes). Coloured: a word that a lane asked for, with the lane's number,
    light for lane 0 and dark for lane 31; grey: moved with the sector and not used; white: not moved.
    arrays: names to show, e.g. ("A", "B"); step: which execution of each instruction (0 = first);
    shapes: {"A": (rows, columns)} labels the lines with matrix elements.
    Returns a figure with `.alt`; a trace without global access gives a panel that says so.
    """
    panels = [
        (variant, access, sectors_of(access))
        for variant, some in variants_of(accesses).items()
        for access in one_per_site(some, "global", step, arrays)
    ]
    if not panels:
        return _empty()
    figure, axes = stacked([_rows(found) for _, _, found in panels], title=title)
    for ax, (variant, access, found) in zip(axes, panels, strict=True):
        _panel(ax, variant, access, found, shapes)
    return finish(
        figure,
        "Sectors that one warp request touches. " + " ".join(_sentence(*panel) for panel in panels),
        "Row: a 128-byte line. Colour: used (number: lane, ×n: n lanes). Grey: moved in vain. White: idle.",
    )


def describe_sectors(accesses, step: int = 0) -> str:
    """Return a sentence for each global-memory instruction of a trace (or {variant: trace}): bytes moved and used."""
    return " ".join(
        _sentence(variant, access, sectors_of(access))
        for variant, some in variants_of(accesses).items()
        for access in one_per_site(some, "global", step)
    )


def _rows(found) -> int:
    return min(len(found.lines), ROWS_SHOWN) + (len(found.lines) > ROWS_SHOWN)


def _sentence(variant, access, found) -> str:
    count = len(found.sectors)
    return (
        f"{headline(variant, access)}: {count} sector{'s' * (count != 1)}, "
        f"{found.used} of {found.moved} bytes moved are used."
    )


def _panel(ax, variant, access, found, shapes):
    shown = found.lines[:ROWS_SHOWN]
    moved = set(found.sectors)
    faces, numbers, edges = {}, {}, []
    for row, line in enumerate(shown):
        for column in range(LINE // 4):
            word = line + 4 * column
            lanes, in_sector = found.words.get(word, ()), word & -SECTOR in moved
            faces[column, row] = _face(access, lanes, in_sector)
            edges.append("white" if in_sector else "#EDEDED")
            if lanes:
                numbers[column, row] = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
        for sector in range(line, line + LINE, SECTOR):
            edge, z = (palette.INK, 3) if sector in moved else ("#DDDDDD", 2)
            ax.add_patch(Rectangle(((sector - line) // 4, row), 8, 1, fill=False, edgecolor=edge, lw=0.9, zorder=z))
        text = element_label(access, line, shapes)
        ax.text(-0.4, row + 0.5, text, ha="right", va="center", fontsize=7, color=palette.MUTED)
    cells(ax, faces, numbers, edges)
    if len(found.lines) > len(shown):
        text = f"… and {len(found.lines) - len(shown)} more lines"
        ax.text(16, len(shown) + 0.5, text, ha="center", va="center", fontsize=8, color=palette.MUTED)
    count = len(found.sectors)
    verdict = f"{count} sector{'s' * (count != 1)}, {found.used} of {found.moved} B used"
    panel_titles(ax, headline(variant, access), verdict, bad=count > -(-found.used // SECTOR))
    ax.set(xlim=(-5.6, 32.1), ylim=(_rows(found), 0))
    ax.axis("off")


def _face(access, lanes, moved) -> str:
    """Return a 4-byte word's colour: light for lane 0, dark for 31, grey when moved for nothing, else white."""
    if not lanes:
        return palette.WASTED if moved else "#FFFFFF"
    return palette.tint(palette.of_array(access.name), 0.35 + 0.65 * lanes[0] / 31)


def _empty():
    figure, axes = new_figure(0.75)
    axes[0, 0].axis("off")
    text = "No global memory access in this trace"
    axes[0, 0].text(0, 0.5, text, fontsize=10, transform=axes[0, 0].transAxes, va="center")
    return finish(figure, text + ".")
