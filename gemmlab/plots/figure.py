"""Figures of the book: one style, a white card for light and dark pages, alt text that travels with the PNG."""

from __future__ import annotations

import base64
import io
import textwrap

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gemmlab.plots import palette

WIDTH = 6.2  # inches: one column of the book
CAPTION_COLUMNS = 98  # characters of caption that fit WIDTH
TITLE_COLUMNS = 72  # of a panel's two titles
DPI = 220  # sharp on a high-density screen at column width

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.edgecolor": palette.MUTED,
    "axes.labelcolor": palette.INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "text.color": palette.INK,
    "xtick.color": palette.INK,
    "ytick.color": palette.INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "svg.fonttype": "none",
}


class BookFigure(Figure):
    """A Matplotlib figure that carries `alt` text and a `caption`, and shows itself in a notebook exactly once.

    It is not registered with pyplot, so `plt.show()` and inline back ends neither show it twice nor keep it alive.
    The alt text is stored in the PNG ("Description") as well as in the output's metadata and its text/plain form.
    """

    alt: str = ""
    caption: str = ""

    def png(self) -> bytes:
        """Return the figure as PNG bytes."""
        buffer = io.BytesIO()
        with matplotlib.rc_context(STYLE):
            self.savefig(buffer, format="png", dpi=DPI, metadata={"Description": self.alt, "Software": None})
        return buffer.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"image/png": base64.b64encode(self.png()).decode("ascii"), "text/plain": f"[figure] {self.alt}"}
        return data, {"image/png": {"alt": self.alt, "width": round(self.get_figwidth() * 112)}}


def new_figure(height: float, width: float = WIDTH, rows: int = 1, columns: int = 1, **subplots):
    """Return (figure, axes array of shape (rows, columns)) in the book's style; sizes in inches."""
    with matplotlib.rc_context(STYLE):
        figure = BookFigure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False, **subplots)
    return figure, axes


def stacked(rows, *, title: str = "", caption: bool = True, row: float = 0.17, head: float = 0.3, foot: float = 0.1):
    """Return (figure, list of axes) for panels of cells under one another, all with rows of `row` inches.

    rows: number of cell rows of each panel (its y range); each panel has `head` inches above for its title.
    """
    tall = 0.3 * bool(title) + sum(head + row * n + foot for n in rows) + 0.22 * caption
    with matplotlib.rc_context(STYLE):
        figure = BookFigure(figsize=(WIDTH, tall))
        FigureCanvasAgg(figure)
        axes, top = [], tall - 0.3 * bool(title)
        for n in rows:
            top -= head + row * n
            axes.append(figure.add_axes((0.012, top / tall, 0.976, row * n / tall)))
            top -= foot
    if title:
        figure.text(0.012, 1 - 0.05 / tall, title, ha="left", va="top", fontsize=11, fontweight="bold")
    return figure, axes


def cells(ax, faces: dict[tuple[int, int], str], numbers: dict[tuple[int, int], str], edges="white", size=5.6) -> None:
    """Fill unit cells {(column, row): colour} and write `numbers` {(column, row): text} into them, in one collection.

    edges: one colour, or a list with one for each cell; size: of the numbers, in points.
    """
    squares = [[(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)] for x, y in faces]
    ax.add_collection(PolyCollection(squares, facecolors=list(faces.values()), edgecolors=edges, linewidths=0.6))
    for (x, y), text in numbers.items():
        ink = palette.ink_on(faces[x, y])
        ax.text(x + 0.5, y + 0.52, text, ha="center", va="center", fontsize=size, color=ink)


def panel_titles(ax, left: str, right: str, bad: bool) -> None:
    """Write a panel's headline on the left and its verdict on the right, in the problem colour if `bad`."""
    weight = "bold" if bad else "normal"
    colour = palette.PROBLEM if bad else palette.INK
    fit = min(1.0, TITLE_COLUMNS / (len(left) + len(right) + 2))
    ax.set_title(left, fontsize=9.5 * fit, pad=4)
    ax.set_title(right, loc="right", fontsize=9 * fit, pad=4, color=colour, fontweight=weight)


def finish(figure: BookFigure, alt: str, caption: str = "") -> BookFigure:
    """Attach alt text and, if given, a caption line under the axes; return the figure."""
    figure.alt = " ".join(alt.split())
    if caption:
        figure.caption = caption
        place = {"y": 0.05 / figure.get_figheight()} if figure.get_layout_engine() is None else {}
        text = textwrap.fill(caption, CAPTION_COLUMNS)
        figure.supxlabel(text, fontsize=8, color=palette.MUTED, x=0.012, ha="left", **place)
    return figure


def styled(function):
    """Run a plotting function inside the book's style."""
    return matplotlib.rc_context(STYLE)(function)
