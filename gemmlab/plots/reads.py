"""How often each element of a matrix is read, from the addresses of a trace that covers the whole grid."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.access import item_bytes
from gemmlab.plots.figure import finish, new_figure, styled


def count_reads(accesses, name: str, shape: tuple[int, int]):
    """Return (by_thread, by_request): int64 arrays of `shape` with the reads of each element of the array `name`.

    by_thread counts every lane; by_request counts one for all lanes of a warp that read the element together (a
    broadcast). accesses: `ptxemu.Access` records. Raises GemmlabError when the trace has no read of the array or reads
    outside `shape`.
    """
    by_thread = np.zeros(shape[0] * shape[1], np.int64)
    by_request = by_thread.copy()
    found = False
    for access in accesses:
        if access.space != "global" or access.kind != "ld" or access.name != name:
            continue
        found = True
        addresses, itemsize = np.asarray(access.addresses), item_bytes(access)
        first = (addresses[addresses >= 0] - access.base) // itemsize
        elements = (first[:, None] + np.arange(max(1, access.width // itemsize))).ravel()
        if elements.min() < 0 or elements.max() >= by_thread.size:
            raise GemmlabError(f"the trace reads {name} outside shape {shape}: give the shape that the kernel ran on")
        np.add.at(by_thread, elements, 1)
        by_request[np.unique(elements)] += 1
    if not found:
        raise GemmlabError(f"the trace holds no read of {name}: trace all CTAs and warps, and name the arrays")
    return by_thread.reshape(shape), by_request.reshape(shape)


@styled
def reads_per_element(accesses, shapes: Mapping[str, tuple[int, int]] | None = None, *, title=""):
    """Draw a heat map of the reads of each element of each array in `shapes`, e.g. {"A": (M, K), "B": (K, N)}.

    accesses: a trace over all CTAs and warps; shapes may be left out when the trace carries them as `.shapes`.
    Raises GemmlabError as `count_reads`, or when no shapes are known.
    """
    shapes = dict(shapes or getattr(accesses, "shapes", None) or {})
    shapes = {name: shape for name, shape in shapes.items() if name != "C" or len(shapes) == 1}
    if not shapes:
        raise GemmlabError('give the shapes of the arrays: reads_per_element(trace, {"A": (M, K), "B": (K, N)})')
    counts = {name: count_reads(accesses, name, shape) for name, shape in shapes.items()}
    figure, axes = new_figure(3.3, columns=len(counts), width_ratios=[max(0.3, c / r) for r, c in shapes.values()])
    for ax, (name, (by_thread, by_request)) in zip(axes[0], counts.items(), strict=True):
        colour = palette.of_array(name)
        shades = LinearSegmentedColormap.from_list(name, [palette.IDLE, colour])
        image = ax.imshow(by_thread, cmap=shades, vmin=0, vmax=max(1, by_thread.max()), aspect="equal")
        bar = figure.colorbar(image, ax=ax, shrink=0.75, pad=0.02, ticks=sorted({0, int(by_thread.max())}))
        bar.outline.set_visible(False)
        rows, columns = by_thread.shape
        ax.set_xticks([0, columns - 1])
        ax.set_yticks([0, rows - 1])
        ax.spines[:].set_visible(False)
        ax.set_title(name)
        ax.set_xlabel(f"{_range(by_thread)} reads by lanes\n{_range(by_request)} warp requests", fontsize=8.5)
    title = title or f"Reads of each element by {_who(accesses)}, counted"
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    text = "; ".join(f"{name}: {_range(a)} reads by lanes, {_range(b)} requests" for name, (a, b) in counts.items())
    return finish(figure, f"Heat map of reads per element. {text}.")


def _who(accesses) -> str:
    """Say whose reads a trace holds, so that a part of the grid is not taken for all of it."""
    warps = {(access.cta, access.warp) for access in accesses}
    ctas = len({cta for cta, _ in warps})
    return f"{len(warps)} warp{'s' * (len(warps) != 1)} of {ctas} CTA{'s' * (ctas != 1)}"


def _range(counts) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"
