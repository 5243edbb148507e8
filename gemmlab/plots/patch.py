"""A thread's patch of C: the outer product that feeds it, what its size buys, and where a warp's patches lie."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import to_rgb

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.access import item_bytes
from gemmlab.plots.figure import WIDTH, BookFigure, cells, finish, new_figure, styled

REGISTERS_OF_A_THREAD = 255  # PTX ISA and CUDA C++ Programming Guide, technical specifications
LARGEST = 16


def patch_intensity_of(TM: int, TN: int, itemsize: int = 4) -> float:
    """Return FLOP per byte read from shared memory by a TM x TN patch: a step reads TM + TN elements."""
    if TM < 1 or TN < 1:
        raise GemmlabError(f"a patch has at least one row and one column, not {TM} × {TN}")
    return 2 * TM * TN / ((TM + TN) * itemsize)


@styled
def outer_product(TM: int = 8, TN: int = 8, *, title=""):
    """Draw one step of k of a thread: a column of A times a row of B, added to its TM x TN patch of C.

    Raises GemmlabError for sizes outside 1 to 16.
    """
    if not (1 <= TM <= LARGEST and 1 <= TN <= LARGEST):
        raise GemmlabError(f"the figure shows patches of up to {LARGEST} × {LARGEST}, not {TM} × {TN}")
    head, beside = 0.42, 3.7  # inches above the patch, and for the text on its right
    cell = min(0.2, (WIDTH - beside) / (TN + 2.4))
    height = head + cell * (TM + 2) + 0.12
    figure = BookFigure(figsize=(WIDTH, height))
    ax = figure.add_axes((0.02, 0.04 / height, cell * (TN + 2.4) / WIDTH, cell * (TM + 2) / height))
    faces, numbers = {}, {}
    for i in range(TM):
        faces[0, i + 2] = palette.A
        numbers[0, i + 2] = f"a{i}"
    for j in range(TN):
        faces[j + 2, 0] = palette.B
        numbers[j + 2, 0] = f"b{j}"
    for i in range(TM):
        for j in range(TN):
            lit = i == min(2, TM - 1) or j == min(4, TN - 1)
            faces[j + 2, i + 2] = palette.tint(palette.C, 0.75 if lit else 0.3)
    faces[0, min(2, TM - 1) + 2], faces[min(4, TN - 1) + 2, 0] = palette.A, palette.B
    cells(ax, faces, numbers, size=min(6.5, 33 * cell))
    ax.set(xlim=(-0.1, TN + 2.3), ylim=(TM + 2, 0))
    ax.axis("off")
    row, column = min(2, TM - 1), min(4, TN - 1)
    lines = [
        f"{TM} + {TN} = {TM + TN} values read from shared memory",
        f"{TM} · {TN} = {TM * TN} multiply-adds, all in registers",
        f"a{row} is used {TN} times, b{column} {TM} times",
        f"{patch_intensity_of(TM, TN):.3g} FLOP per byte of shared memory (FP32)",
    ]
    place = ((0.2 + cell * (TN + 2.4) + 0.3) / WIDTH, 1 - (head + cell * (TM + 2) / 2) / height)
    figure.text(*place, "\n".join(lines), va="center", fontsize=9.5, linespacing=1.9)
    title = title or f"One step of k: acc[i, j] += a[i] · b[j] on a patch of {TM} × {TN}"
    figure.text(0.012, 1 - 0.06 / height, title, va="top", fontsize=10.5, fontweight="bold")
    return finish(figure, f"{title}. {'; '.join(lines)}.")


@styled
def patch_intensity(*, sizes=(1, 2, 4, 8, 16), mark=(), title=""):
    """Draw FLOP per byte of shared memory for patches of TM x TN, FP32, with the accumulators that each takes.

    sizes: the TM and TN shown; mark: (TM, TN) pairs to frame. Patches whose accumulators and fragments exceed 255
    registers, the most that a thread can have, are greyed. The figure is arithmetic (derived).
    """
    figure, axes = new_figure(0.85 + 0.52 * len(sizes), width=WIDTH)
    ax = axes[0, 0]
    faces, edges = {}, []
    best = patch_intensity_of(max(sizes), max(sizes))
    for y, TM in enumerate(sizes):
        for x, TN in enumerate(sizes):
            value = patch_intensity_of(TM, TN)
            fits = TM * TN + TM + TN <= REGISTERS_OF_A_THREAD
            faces[x, y] = palette.tint(palette.C, 0.08 + 0.8 * value / best) if fits else palette.WASTED
            edges.append(palette.INK if (TM, TN) in mark else "white")
            ink = palette.ink_on(faces[x, y])
            ax.text(x + 0.5, y + 0.37, f"{value:.3g}", ha="center", va="center", fontsize=10, color=ink)
            below = f"{TM * TN} sum{'s' * (TM * TN > 1)}" if fits else "too many registers"
            ax.text(x + 0.5, y + 0.72, below, ha="center", va="center", fontsize=7, color=ink)
    cells(ax, faces, {}, edges)
    for TM, TN in mark:
        x, y = sizes.index(TN), sizes.index(TM)
        ax.plot([x, x + 1, x + 1, x, x], [y, y, y + 1, y + 1, y], color=palette.INK, lw=2, zorder=4)
    ax.set(xlim=(0, len(sizes)), ylim=(len(sizes), 0))
    ax.set_xticks([i + 0.5 for i in range(len(sizes))], [f"TN = {n}" for n in sizes])
    ax.set_yticks([i + 0.5 for i in range(len(sizes))], [f"TM = {n}" for n in sizes])
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title or "FLOP per byte of shared memory, by patch (derived)", pad=22)
    text = "; ".join(f"{n} × {n}: {patch_intensity_of(n, n):.3g}" for n in sizes)
    caption = "2·TM·TN / 4(TM + TN); BK does not enter. Framed: the patches of this chapter." if mark else ""
    alt = f"FLOP per byte of shared memory for a TM by TN patch in FP32. Square patches: {text}."
    return finish(figure, alt, caption)


@styled
def warp_patches(traces: Mapping[str, list], shape: tuple[int, int], *, lanes=(0, 1), title=""):
    """Draw which elements of C one warp stores, with the elements of two lanes in strong colour.

    traces: {title: list of `ptxemu.Access` of one warp}; shape: rows and columns of C. Under each panel stand the rows
    of A and columns of B that the warp needs in each step of k. Raises GemmlabError for a trace without stores to C.
    """
    owners = {name: owners_of(trace, shape) for name, trace in traces.items()}
    figure, axes = new_figure(3.5, columns=len(owners))
    said = []
    for ax, (name, owner) in zip(axes[0], owners.items(), strict=True):
        picture = np.empty((*shape, 3))
        picture[:] = to_rgb(palette.IDLE)
        picture[owner >= 0] = to_rgb(palette.tint(palette.C, 0.3))
        for lane, colour in zip(lanes, (palette.C, palette.IN_FLIGHT), strict=False):
            picture[owner == lane] = to_rgb(colour)
        ax.imshow(picture, interpolation="nearest")
        rows, columns = (int(np.unique(axis).size) for axis in np.nonzero(owner >= 0))
        ax.set_xticks([0, shape[1] - 1])
        ax.set_yticks([0, shape[0] - 1])
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        ax.set_title(name)
        words = f"{rows} rows of A + {columns} columns of B\n= {rows + columns} different words per step of k"
        ax.set_xlabel(words, fontsize=8.5)
        said.append(f"{name}: {rows} rows by {columns} columns")
    title = title or "The elements of C that one warp owns"
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    caption = f"Light: the warp. Strong: lane {lanes[0]} (green), lane {lanes[1]} (pink). From the kernels' own stores."
    return finish(figure, f"Elements of C owned by one warp. {'; '.join(said)}.", caption)


def owners_of(accesses, shape: tuple[int, int]) -> np.ndarray:
    """Return int array of `shape`: the lane that stores each element of C in a one-warp trace, -1 for none."""
    owner = np.full(shape[0] * shape[1], -1)
    for access in accesses:
        if access.space != "global" or access.kind != "st" or access.name != "C":
            continue
        for lane, address in enumerate(np.asarray(access.addresses).tolist()):
            if address >= 0:
                first = (address - access.base) // item_bytes(access)
                owner[first : first + access.width // item_bytes(access)] = lane
    if (owner < 0).all():
        raise GemmlabError("the trace stores nothing to C: trace one warp of a kernel that writes the array C")
    return owner.reshape(shape)
