"""TMA's swizzles: where each 16-byte chunk of a box lies in shared memory, from the emulator's own rule."""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import WIDTH, BookFigure, cells, finish, styled
from ptxemu.tensormap import SWIZZLES, swizzled

CHUNK = 16  # bytes
GROUPS = 8  # chunks in a line of 128 bytes: all 32 banks once
PATTERN = 64  # chunks after which every swizzle repeats: 1024 bytes
PHASE = 8  # rows that one phase of ldmatrix reads


def placement(span: int, row_bytes: int | None = None, rows: int = PHASE) -> np.ndarray:
    """Return int64[rows, chunks]: the index of the 16-byte chunk of shared memory where each chunk of a box lies.

    span: 0 (no swizzle), 32, 64 or 128 bytes; row_bytes: of a row of the box (default: the span, or 128 without one).
    The box starts at a multiple of 1024 bytes; under a swizzle every row takes the whole span, however short it is.
    Raises GemmlabError for other spans and rows that TMA refuses.
    """
    row_bytes = (span or GROUPS * CHUNK) if row_bytes is None else row_bytes
    if span not in SWIZZLES:
        raise GemmlabError(f"swizzle {span!r}: TMA knows 0, 32, 64 and 128 bytes")
    if row_bytes % CHUNK or not CHUNK <= row_bytes <= (span or 256 * CHUNK):
        limit = f"at most {span}" if span else "at least 16"
        raise GemmlabError(f"rows of {row_bytes} bytes: a box row is a multiple of 16 bytes, here {limit}")
    first = (span or row_bytes) // CHUNK * np.arange(rows)
    return swizzled(first[:, None] + np.arange(row_bytes // CHUNK), span)


def wavefronts_of_column(places: np.ndarray, chunk: int = 0, first: int = 0) -> int:
    """Return the wavefronts that eight rows of one chunk column take: the most that share the same four banks."""
    return int(np.bincount(places[first : first + PHASE, chunk] % GROUPS).max())


@styled
def swizzle(*spans: int, chunk: int = 0, title: str = ""):
    """Draw where the chunks of a box lie in shared memory under swizzles, and which banks eight rows of one chunk meet.

    spans: swizzles in bytes (default: none, 32, 64, 128), at most four. The box has rows of as many bytes as the
    swizzle spans, 128 without one. A cell is 16 bytes, four banks, and holds "row.chunk" of the box; in strong colour
    the eight rows of chunk number `chunk`, which one phase of ldmatrix reads. Raises GemmlabError as `placement`.
    """
    spans = spans or SWIZZLES
    if len(spans) > 4:
        raise GemmlabError(f"{len(spans)} swizzles: the figure shows at most four")
    places = {span: placement(span) for span in spans}
    cell, gap, left = 0.163, 1.2, 0.12
    tall = 0.3 + 0.25 + cell * GROUPS + 0.55
    figure = BookFigure(figsize=(WIDTH, tall))
    FigureCanvasAgg(figure)
    said = []
    for number, (span, table) in enumerate(places.items()):
        width, bottom = GROUPS * cell, 0.55
        place = ((left + number * (width + gap * cell)) / WIDTH, bottom / tall, width / WIDTH, width / tall)
        waves = wavefronts_of_column(table, chunk % table.shape[1])
        _panel(figure.add_axes(place), span, table, chunk % table.shape[1], waves)
        said.append(f"{_name(span)}: {waves} wavefront{'s' * (waves > 1)} for eight rows of chunk {chunk}.")
    figure.text(0.012, 1 - 0.06 / tall, title or "Where TMA puts a box", va="top", fontsize=10.5, fontweight="bold")
    return finish(
        figure,
        f"Places of a box's 16-byte chunks in shared memory. {' '.join(said)}",
        "Line: 128 bytes of shared memory; a column is four banks. r.c: row and chunk of the box. Strong: what a phase "
        f"of ldmatrix reads, chunk {chunk} of rows 0 to 7.",
    )


def _name(span: int) -> str:
    return f"{span}-byte swizzle" if span else "no swizzle"


def _panel(ax, span, table, chunk, waves):
    faces = {(x, y): palette.IDLE for x in range(GROUPS) for y in range(GROUPS)}
    numbers = {}
    for (row, column), index in np.ndenumerate(table):
        line, group = divmod(int(index), GROUPS)
        strong = palette.A if waves == 1 else palette.PROBLEM
        mine = column == chunk
        faces[group, line] = strong if mine else palette.tint(palette.A, 0.1 + 0.25 * column / table.shape[1])
        numbers[group, line] = f"{row}.{column}"
    cells(ax, faces, numbers, size=5.2)
    ax.set(xlim=(0, GROUPS), ylim=(GROUPS, 0))
    ax.axis("off")
    ax.set_title(_name(span), fontsize=8.5, pad=3)
    colour = palette.INK if waves == 1 else palette.PROBLEM
    verdict = "1 wavefront" if waves == 1 else f"{waves} wavefronts"
    ax.text(GROUPS / 2, GROUPS + 0.25, verdict, ha="center", va="top", fontsize=8, color=colour)
