"""A cluster of CTAs on C: which strips of A and B its CTAs share, and what multicast saves."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import WIDTH, BookFigure, finish, styled


@dataclass(frozen=True)
class Traffic:
    """Bytes that one step of BK asks of L2 for a cluster: `alone`, each CTA for itself; `shared`, with multicast."""

    alone: int
    shared: int

    @property
    def saved(self) -> float:
        """The share that multicast saves."""
        return 1 - self.shared / self.alone


def cluster_traffic(rows: int, columns: int, BM: int, BN: int, BK: int, itemsize: int = 2) -> Traffic:
    """Return the Traffic of a cluster of `rows` × `columns` CTAs (along M and N) with tiles of BM × BN (derived).

    A strip of A serves the CTAs of a row, a strip of B those of a column. Raises GemmlabError for sizes below 1.
    """
    if min(rows, columns, BM, BN, BK, itemsize) < 1:
        raise GemmlabError(f"cluster {rows} × {columns} with tiles {BM} × {BN} × {BK}: every size is at least 1")
    a, b = BM * BK * itemsize, BN * BK * itemsize
    return Traffic(rows * columns * (a + b), rows * a + columns * b)


@styled
def cluster_map(rows: int = 2, columns: int = 1, *, tile=(128, 256, 64), itemsize: int = 2, title: str = ""):
    """Draw a cluster of CTAs, the strips of A and B that they need, and which CTA asks for which part of them.

    rows, columns: CTAs along M and N, at most 16 in all; tile: (BM, BN, BK). With multicast each CTA of a row asks for
    an equal part of the row's strip of A, each CTA of a column for a part of B, and all get the whole. Raises
    GemmlabError as `cluster_traffic`, and for more than 16 CTAs.
    """
    traffic = cluster_traffic(rows, columns, *tile, itemsize)
    if rows * columns > 16:
        raise GemmlabError(f"a cluster of {rows} × {columns} CTAs: the largest has 16")
    cell = min(0.62, 3.4 / max(columns, 2), 3.4 / max(rows, 2))
    strip, left, head = 0.5, 0.75, 0.42
    height = head + strip + rows * cell + 0.78
    figure = BookFigure(figsize=(WIDTH, height))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, WIDTH), ylim=(height, 0))
    ax.axis("off")
    x0, y0 = left + strip + 0.12, head + strip + 0.12
    for row in range(rows):
        for column in range(columns):
            rank = row * columns + column
            _box(ax, x0 + column * cell, y0 + row * cell, cell, cell, palette.tint(palette.C, 0.35), f"CTA {rank}")
            of_a, of_b = strip / columns, strip / rows
            shade_a = palette.tint(palette.A, 0.85 - 0.4 * column / columns)
            shade_b = palette.tint(palette.B, 0.95 - 0.5 * row / rows)
            _box(ax, left + column * of_a, y0 + row * cell, of_a, cell, shade_a, str(rank))
            _box(ax, x0 + column * cell, head + row * of_b, cell, of_b, shade_b, str(rank))
    ax.text(left + strip / 2, y0 + rows * cell + 0.06, "A", ha="center", va="top", fontsize=9, color=palette.A)
    ax.text(x0 - 0.08, head + strip / 2, "B", ha="right", va="center", fontsize=9, color=palette.B)
    per = traffic.alone // (rows * columns)
    lines = [
        f"per step of K, tiles {tile[0]} × {tile[1]} × {tile[2]}:",
        f"each CTA for itself: {rows * columns} × {per >> 10} KB = {traffic.alone >> 10} KB",
        f"with multicast: {traffic.shared >> 10} KB, {traffic.saved:.0%} less",
    ]
    ax.text(x0 + columns * cell + 0.3, y0 + rows * cell / 2, "\n".join(lines), va="center", fontsize=9, linespacing=1.8)
    name = title or f"A cluster of {rows * columns}: {rows} along M, {columns} along N"
    ax.text(0.08, 0.06, name, va="top", fontsize=10.5, fontweight="bold")
    return finish(
        figure,
        f"{name}. {' '.join(lines)}.",
        "Number on A or B: the CTA that asks for that part; all CTAs of the row or column receive it. Derived.",
    )


def _box(ax, x, y, width, height, colour, text):
    ax.add_patch(Rectangle((x, y), width - 0.02, height - 0.02, facecolor=colour, lw=0))
    ink = palette.ink_on(colour)
    ax.text(x + width / 2 - 0.01, y + height / 2, text, ha="center", va="center", fontsize=7.5, color=ink)
