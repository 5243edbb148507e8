"""Errors of number formats over the length K of the sums, from recorded measurements."""

from __future__ import annotations

import json

from gemmlab import results
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled

# family of formats -> colour: the first part of a label that is found decides
FAMILIES = {"INT8": palette.IN_FLIGHT, "BF16x": palette.OTHER, "TF32": palette.A, "BF16": palette.C, "FP16": palette.B,
            "FP8": palette.PROBLEM, "FP32": palette.INK}  # fmt: skip
STYLES = ("-", "--", ":", "-.")
TITLES = {"normal": "normal data", "uniform": "uniform data in [0, 1)"}
NOT_YET = "No errors recorded yet"


def recorded_errors(gpu: str = "nvidia_h200", directory=None) -> list[dict]:
    """Return the records of results/precision/<gpu>.json, [] where there is none. Made by tools/record_precision.py."""
    path = (directory or results.DIRECTORY) / "precision" / f"{gpu}.json"
    return json.loads(path.read_text(encoding="utf-8"))["records"] if path.exists() else []


@styled
def error_curves(records=None, *, formats=None, kind: str = "rms", machine: str = "NVIDIA H200", title: str = ""):
    """Draw the error of each format against FP64 over K, a panel for each distribution of the data.

    records: dicts with "format", "data" ("normal" or "uniform"), "K" and the errors "rms" and "max", relative to the
    root mean square of C (default: those of `recorded_errors`); formats: labels to show, in order; kind: "rms" or
    "max". Without records the figure says so.
    """
    records = recorded_errors() if records is None else records
    records = [r for r in records if formats is None or r["format"] in formats]
    if not records:
        figure, axes = new_figure(0.7)
        axes[0, 0].axis("off")
        axes[0, 0].text(0, 0.5, NOT_YET, fontsize=10, transform=axes[0, 0].transAxes, va="center")
        return finish(figure, NOT_YET + ".")
    names = list(formats or dict.fromkeys(r["format"] for r in records))
    kinds = list(dict.fromkeys(r["data"] for r in records))
    figure, axes = new_figure(3.7, columns=len(kinds), sharey=True)
    said = []
    for ax, data in zip(axes[0], kinds, strict=True):
        mine = [r for r in records if r["data"] == data]
        curves = {name: sorted((r["K"], r[kind]) for r in mine if r["format"] == name) for name in names}
        curves = {name: points for name, points in curves.items() if points}
        _panel(ax, curves, names)
        ax.set_title(TITLES.get(data, data))
        for name, points in curves.items():
            said.append(f"{data}, {name}: " + ", ".join(f"{y:.2g} at K = {x}" for x, y in points))
    errors = [r[kind] for r in records if r["format"] in names and r[kind] > 0]
    axes[0, 0].set_ylim(min(errors) / 2, max(errors) * 2)  # the panels share it
    axes[0, 0].set_ylabel(f"{'largest' if kind == 'max' else 'RMS'} error, relative to the RMS of C")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    dates = ", ".join(sorted({r["date"] for r in records if "date" in r}))
    return finish(figure, f"Errors against FP64. {'; '.join(said)}.", f"Measured on {machine}, {dates}, against FP64.")


def colour_of(name: str) -> str:
    """Return the colour of a format's family."""
    return next((colour for part, colour in FAMILIES.items() if part in name), palette.MUTED)


def _panel(ax, curves, names):
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    used: dict[str, int] = {}
    for name in names:
        style = used[colour_of(name)] = used.get(colour_of(name), -1) + 1
        if name in curves:
            look = {"color": colour_of(name), "ls": STYLES[style % 4], "marker": "o", "ms": 3, "lw": 1.3}
            ax.plot(*zip(*curves[name], strict=True), **look)
    sizes = sorted({x for points in curves.values() for x, _ in points})
    ax.set_xticks(sizes, [f"{x:g}" for x in sizes])
    ax.minorticks_off()
    ax.set(xlabel="K", xlim=(sizes[0] / 1.15, sizes[-1] * (sizes[-1] / sizes[0]) ** 0.85))
    ax.grid(which="major", axis="y", color="#EEEEEE", lw=0.7)
    low, high = (f(y for points in curves.values() for _, y in points if y > 0) for f in (min, max))
    heights = spread([curves[name][-1][1] for name in curves], (high * 4 / low) ** (1 / 19))
    for (name, points), y in zip(curves.items(), heights, strict=True):
        ax.annotate(name, (points[-1][0], points[-1][1]), (sizes[-1] * 1.15, y), textcoords="data", fontsize=6.8,
                    va="center", color=colour_of(name), annotation_clip=False,
                    arrowprops={"arrowstyle": "-", "color": colour_of(name), "lw": 0.5, "shrinkB": 3})  # fmt: skip


def spread(values: list[float], factor: float) -> list[float]:
    """Return heights for labels at positive `values`, moved so that neighbours differ by at least `factor`."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    placed = [values[i] for i in order]
    for _ in range(200):
        for k in range(1, len(placed)):
            if placed[k] < placed[k - 1] * factor * 0.999:
                middle = (placed[k] * placed[k - 1]) ** 0.5
                placed[k - 1], placed[k] = middle / factor**0.5, middle * factor**0.5
    heights = [0.0] * len(values)
    for place, index in zip(placed, order, strict=True):
        heights[index] = place
    return heights
