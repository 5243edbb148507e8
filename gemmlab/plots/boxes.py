"""What one copy of a tensor map moves: the box on the array, and the part of it that lies outside."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled


def inside(extent: int, start: int, length: int) -> int:
    """Return how many of `length` positions from `start` on lie in 0 … extent - 1."""
    return max(0, min(extent, start + length) - max(0, start))


@styled
def tensor_box(tensor_map, *corners, name="A", title=""):
    """Draw the boxes of a two-dimensional tensor map (`gl.tensor_map`) on its array.

    corners: (row, column) of each box's first element; a kernel passes them the other way round, innermost first.
    The part of a box outside the array is hatched: it arrives as the fill value and counts in expect_tx all the same.
    Raises GemmlabError for a map that is not two-dimensional.
    """
    tiled = tensor_map.tiled
    if len(tiled.dims) != 2:
        raise GemmlabError(f"the figure shows maps of two dimensions, this one has {len(tiled.dims)}")
    (columns, rows), (wide, high) = tiled.dims, tiled.box
    corners = corners or ((0, 0),)
    left = min(0, *(c for _, c in corners)) if corners else 0
    top = min(0, *(r for r, _ in corners))
    right = max(columns, *(c + wide for _, c in corners))
    bottom = max(rows, *(r + high for r, _ in corners))
    figure, axes = new_figure(min(4.2, 1.2 + 5 * (bottom - top) / (right - left)))
    ax, colour = axes[0, 0], palette.of_array(name)
    ax.add_patch(Rectangle((0, 0), columns, rows, facecolor=palette.tint(colour, 0.15), edgecolor=colour, lw=1.2))
    said = []
    for row, column in corners:
        whole = {"width": wide, "height": high}
        ax.add_patch(Rectangle((column, row), **whole, facecolor="none", edgecolor=palette.PROBLEM, hatch="////", lw=0))
        kept = inside(columns, column, wide), inside(rows, row, high)
        if min(kept) > 0:
            ax.add_patch(Rectangle((max(0, column), max(0, row)), *kept, facecolor=colour, lw=0))
        ax.add_patch(Rectangle((column, row), **whole, facecolor="none", edgecolor=palette.INK, lw=1.4))
        ax.text(column + wide / 2, row + high / 2, f"({column}, {row})", ha="center", va="center", fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.9})  # fmt: skip
        said.append(f"at coordinates ({column}, {row}) {kept[0] * kept[1]} of {wide * high} elements are inside")
    ax.set(xlim=(left - 0.02 * (right - left), right * 1.02), ylim=(bottom + 0.04 * (bottom - top), top - 0.5))
    ax.set_aspect("equal")
    ax.set(xlabel=f"column, up to {columns}", ylabel=f"row, up to {rows}")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    fill = "NaN" if tiled.nan_fill else "zeros"
    ax.set_title(title or f"{name}: {rows} × {columns} {tiled.dtype}, box {high} × {wide}")
    return finish(
        figure,
        f"Boxes of a tensor map on {name}, {rows} by {columns}: " + "; ".join(said) + ".",
        f"Every box brings {tensor_map.box_bytes:,} bytes; hatched: outside, arrives as {fill}. "
        "Numbers: the kernel's coordinates, innermost first.",
    )
