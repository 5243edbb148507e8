"""Which thread computes which element of C: block, warp and lane on the tile of one CTA."""

from __future__ import annotations

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import WIDTH, BookFigure, cells, finish, styled


@styled
def thread_map(block=(32, 8), x="m", *, warp: int = 0, title=""):
    """Draw the tile of C that a 2-D block computes, one element per thread, with one warp's lanes numbered.

    block: threads in x and y; x: what threadIdx.x counts, "m" (rows of C) or "n" (columns); warp: the one in colour.
    Raises GemmlabError for a block of more than 1024 threads, another `x`, or a warp that the block does not have.
    """
    bx, by = (*block, 1)[:2]
    if x not in ("m", "n"):
        raise GemmlabError(f'x must be "m" (rows) or "n" (columns), not {x!r}')
    if not 1 <= bx * by <= 1024:
        raise GemmlabError(f"a block has 1 to 1024 threads, not {bx} × {by}")
    warps = -(-bx * by // 32)
    if not 0 <= warp < warps:
        raise GemmlabError(f"block {bx} × {by} has warps 0 to {warps - 1}, not {warp}")
    rows, columns = (bx, by) if x == "m" else (by, bx)
    cell = 0.14 if rows <= 16 else 0.118  # inches
    height = cell * rows + 0.95
    figure = BookFigure(figsize=(WIDTH, height))
    left, bottom = 0.62, 0.34
    ax = figure.add_axes((left / WIDTH, bottom / height, cell * columns / WIDTH, cell * rows / height))
    elements, faces, numbers = [], {}, {}
    for thread in range(bx * by):
        tx, ty = thread % bx, thread // bx
        m, n = (tx, ty) if x == "m" else (ty, tx)
        faces[n, m] = palette.IDLE if (thread // 32) % 2 else "#E4E4E4"
        if thread // 32 == warp:
            elements.append((m, n))
            faces[n, m] = palette.tint(palette.C, 0.35 + 0.65 * (thread % 32) / 31)
            numbers[n, m] = str(thread % 32)
    cells(ax, faces, numbers, size=5)
    ax.set(xlim=(0, columns), ylim=(rows, 0), xticks=[0.5, columns - 0.5], yticks=[0.5, rows - 0.5])
    ax.set_xticklabels([0, columns - 1], fontsize=7.5)
    ax.set_yticklabels([0, rows - 1], fontsize=7.5)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, pad=2)
    ax.spines[:].set_visible(False)
    middle = (bottom + cell * rows / 2) / height
    figure.text((left - 0.42) / WIDTH, middle, "row m", rotation=90, va="center", fontsize=8.5)
    figure.text((left + 0.3) / WIDTH, 1 - 0.4 / height, "column n", va="center", fontsize=8.5)
    what = "row m" if x == "m" else "column n"
    if columns * cell < WIDTH / 2:  # room beside the tile
        some = [(tx, ty) for tx, ty in ((0, 0), (1, 0), (bx - 1, 0), (0, 1)) if tx < bx and ty < by]
        lines = [f"thread ({tx}, {ty}): {_role(tx + bx * ty)} → C[{', '.join(_place(tx, ty, x))}]" for tx, ty in some]
        place = ((left + columns * cell + 0.35) / WIDTH, middle)
        figure.text(*place, "\n".join(lines), va="center", fontsize=9, linespacing=1.7)
    title = title or f"Block ({bx}, {by}): threadIdx.x counts {what}"
    figure.text(0.012, 1 - 0.06 / height, title, va="top", fontsize=10, fontweight="bold")
    return finish(
        figure,
        f"A block of {bx} by {by} threads on a {rows} by {columns} tile of C, one element per thread. "
        f"Warp {warp} of {warps} covers {_span(elements)}, from lane 0 at C[{elements[0][0]}, {elements[0][1]}] "
        f"to lane {len(elements) - 1} at C[{elements[-1][0]}, {elements[-1][1]}].",
        f"Warp {warp} (lanes numbered) covers {_span(elements)} of C; grey: the other {warps - 1} warps.",
    )


def _role(thread: int) -> str:
    return f"warp {thread // 32}, lane {thread % 32}"


def _place(tx: int, ty: int, x: str) -> tuple[str, str]:
    return (str(tx), str(ty)) if x == "m" else (str(ty), str(tx))


def _span(elements) -> str:
    rows, columns = ({e[i] for e in elements} for i in (0, 1))
    count = {"row": len(rows), "column": len(columns)}
    return " and ".join(f"{n} {what}{'s' * (n > 1)}" for what, n in count.items())

