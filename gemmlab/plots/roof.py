"""Rooflines: what a GPU can reach at an intensity, and where kernels and model layers stand below that limit."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from gemmlab.errors import GemmlabError
from gemmlab.hardware import gpu, rate_name
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from gemmlab.plots.labels import place_labels
from gemmlab.roofline import Point, attainable

MARKERS = {"ideal": "D", "requested": "o", "measured DRAM": "s"}
SYMBOLS = {"ideal": "◇", "requested": "○", "measured DRAM": "□"}
MEANS = {
    "ideal": "ideal bytes (every element moved once)",
    "requested": "requested bytes (counted)",
    "measured DRAM": "DRAM bytes (profiler)",
}
NAMES = {"float64": "FP64", "float32": "FP32", "tf32": "TF32", "bfloat16": "BF16", "float16": "FP16", "int8": "INT8"}
LIMIT = "limit"  # origin of a point that nobody measured: it lies on the roof and gets an open marker
LABEL = 8.5  # points


@styled
def roofline(on="H200", dtype="float32", *, dtypes=None, points=(), bytes="ideal", title="", caption="", span=None,
             ceilings: Mapping[str, float] | None = None, linear: bool = False):
    """Draw the roof of a GPU and points under it, over a logarithmic axis of intensity.

    on: a name of `gemmlab.hardware` or a GPU; dtypes: one roof for each (default: `dtype` alone), at its published
    dense rate; points: `gemmlab.roofline.Point`s or tuples (label, FLOP/byte) or (label, FLOP/byte, TFLOP/s), whose
    bytes are of kind `bytes` ("ideal", "requested" or "measured DRAM"). A tuple without a rate lies on the roof with an
    open marker: the limit there, not a measurement. caption: where measured points come from (GPU and date);
    span: (lowest, highest) intensity shown; ceilings: {name: TFLOP/s} measured, as dotted lines under the roof;
    linear: the rates on a linear axis, which tells fast kernels apart. Raises GemmlabError for an unknown GPU, rate or
    byte kind.
    """
    card, dtypes = gpu(on), [rate_name(d) for d in dtypes or [dtype]]
    points = [_point(point, card, dtypes[0], bytes) for point in points]
    low, high = span or _span(card, dtypes, points)
    figure, axes = new_figure(3.6)
    ax, top = axes[0, 0], max(card.peak(d) for d in dtypes)
    lowest = min([attainable(low, card, d) for d in dtypes] + [p.tflops for p in points])
    ax.set(xscale="log", xlim=(low, high))
    ax.set(ylim=(0, 1.14 * top)) if linear else ax.set(yscale="log", ylim=(lowest / 1.6, 2.6 * top))
    ax.set_xlabel("intensity, FLOP per byte; " + (_kinds(points) if points else "bytes from DRAM"))
    ax.set_ylabel("TFLOP/s")
    for axis in (ax.xaxis, ax.yaxis) if not linear else (ax.xaxis,):
        first, last = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if last / first < 50 else (1,)))
        axis.set_minor_formatter(NullFormatter())
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.grid(which="major", color="#EEEEEE", lw=0.7)
    ax.set_title(title or f"Roofline of the {card.name} at its published dense rates")
    figure.draw_without_rendering()  # settles the layout, which the slope's angle and the labels' places depend on
    for name in dtypes:
        _roof(ax, card, name, low, high, linear)
    _slope_label(ax, card, low, linear)
    taken = _ceilings(ax, card, high, ceilings or {}, top)
    texts = [point.label if point.origin == LIMIT else f"{point.label}: {point.tflops:.3g}" for point in points]
    limits = {i for i, point in enumerate(points) if point.origin == LIMIT}
    places = place_labels(ax, [(p.intensity, p.tflops) for p in points], texts, limits, taken, top)
    for point, text, place in zip(points, texts, places, strict=True):
        _mark(ax, point, text, place)
    if any(p.bytes_kind == "requested" and p.tflops > 1.001 * attainable(p.intensity, card, dtypes[0]) for p in points):
        caption = f"{caption} Above the slope: caches answer most of the requested bytes.".strip()
    if limits:
        caption = f"{caption} Open markers: limits, not measurements.".strip()
    if ceilings:
        caption = f"{caption} Dotted: what the instruction alone reaches, measured.".strip()
    return finish(figure, _alt(card, dtypes, points, ceilings or {}), caption)


def _point(point, card, dtype, kind) -> Point:
    if not isinstance(point, tuple):
        return point
    label, intensity, *rate = point
    if not intensity > 0:
        raise GemmlabError(f"{label}: an intensity must be a positive number of FLOP per byte, not {intensity!r}")
    if rate and rate[0] is not None:
        return Point(label, intensity, rate[0], kind, "given")
    return Point(label, intensity, attainable(intensity, card, dtype), kind, LIMIT)


def _span(card, dtypes, points):
    values = [point.intensity for point in points] + [card.ridge(d) for d in dtypes]
    return min(values) / 5, max(values) * 8


def _roof(ax, card, dtype, low, high, linear):
    ridge, peak = card.ridge(dtype), card.peak(dtype)
    slope = np.geomspace(low, max(low, ridge), 60)
    rates = [attainable(x, card, dtype) for x in slope]
    ax.plot([*slope, high], [*rates, peak], color=palette.ROOF, lw=2, zorder=2)
    text, above = f"{NAMES.get(dtype, dtype.upper())} {peak:,g} TFLOP/s", peak + 0.01 * peak if linear else peak * 1.07
    ax.text(high, above, text, ha="right", va="bottom", fontsize=LABEL, color=palette.MUTED)
    ax.plot([ridge, ridge], [ax.get_ylim()[0], peak], color=palette.ROOF, lw=0.7, ls=":", zorder=1)
    ax.annotate(
        f"ridge {ridge:.3g}", (ridge, 0), xycoords=("data", "axes fraction"), xytext=(3, 4),
        textcoords="offset points", fontsize=7.5, color=palette.MUTED,
    )  # fmt: skip


def _slope_label(ax, card, low, linear):
    """Write the bandwidth along the slope, above its lower end; on a linear axis beside the curve."""
    x, text = low * 1.25, f"DRAM {card.bandwidth_gbs:,g} GB/s"
    if linear:
        rate = 0.28 * ax.get_ylim()[1]
        ax.annotate(text, (rate * 1e3 / card.bandwidth_gbs, rate), (8, 0), textcoords="offset points", va="top",
                    color=palette.MUTED, fontsize=LABEL)  # fmt: skip
        return
    (x0, y0), (x1, y1) = ax.transData.transform([(1, 1), (2, 2)])
    ax.text(
        x, card.bandwidth_gbs * x / 1e3 * 1.2, text, color=palette.MUTED, fontsize=LABEL,
        rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", va="bottom",
    )  # fmt: skip


def _ceilings(ax, card, high, ceilings, top) -> list[tuple[float, float, float, float]]:
    """Draw measured ceilings from where the slope meets them, the highest first; return their labels' boxes.

    Labels stand on their lines, or lower where the roof at `top` or the label before leaves no room.
    """
    boxes, scale, above = [], ax.get_figure().dpi / 72, ax.transData.transform((1, top))[1]
    for name, rate in sorted(ceilings.items(), key=lambda item: -item[1]):
        start = rate * 1e3 / card.bandwidth_gbs
        ax.plot([start, high], [rate, rate], color=palette.ROOF, lw=1.2, ls=(0, (1, 1.5)), zorder=2)
        x, y = ax.transData.transform((start, rate))
        low = min(y + 1.5 * scale, above - 10.5 * scale)
        text = f"{name} {rate:.0f}"
        label = ax.annotate(text, (start, rate), (8, (low - y) / scale), textcoords="offset points", va="bottom",
                            fontsize=7.5, color=palette.MUTED,
                            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.2, "alpha": 0.85})  # fmt: skip
        label.set_in_layout(False)
        boxes.append((x, low, x + (8 + 7.5 * 0.6 * len(text)) * scale, low + 10 * scale))
        above = low
    return boxes


def _mark(ax, point, text, place):
    limit = point.origin == LIMIT
    rival = point.label.startswith("cuBLAS")
    colour = palette.CUBLAS if rival else palette.INK if limit else palette.C
    face = "white" if limit else colour
    shape = MARKERS[point.bytes_kind]
    ax.plot(point.intensity, point.tflops, shape, ms=7, zorder=5, color=colour, mfc=face, mew=1.6)
    edge = (0, 0.5) if place.ha == "left" else (1, 0.5)
    line = {"arrowstyle": "-", "color": palette.MUTED, "lw": 0.6, "shrinkA": 0, "shrinkB": 3, "relpos": edge}
    label = ax.annotate(
        text, (point.intensity, point.tflops), xytext=place.offset, textcoords="offset points", fontsize=LABEL,
        ha=place.ha, va="center", zorder=6, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
        arrowprops=line if abs(place.offset[1]) > 8 or abs(place.offset[0]) > 14 else None,
    )  # fmt: skip
    label.set_in_layout(False)


def _kinds(points) -> str:
    kinds = list(dict.fromkeys(point.bytes_kind for point in points))
    return MEANS[kinds[0]] if len(kinds) == 1 else ", ".join(f"{SYMBOLS[kind]} {kind}" for kind in kinds) + " bytes"


def _alt(card, dtypes, points, ceilings) -> str:
    roofs = ", ".join(f"{d} {card.peak(d):g} TFLOP/s with its ridge at {card.ridge(d):.3g} FLOP/byte" for d in dtypes)
    lines = "".join(f" Measured ceiling, {name}: {rate:.3g} TFLOP/s." for name, rate in ceilings.items())
    marks = "".join(
        f" {p.label}: {p.intensity:.4g} FLOP per byte ({p.bytes_kind} bytes), "
        f"{'limit ' if p.origin == LIMIT else ''}{p.tflops:.3g} TFLOP/s."
        for p in points
    )
    return f"Roofline of the {card.name}: {card.bandwidth_gbs:,g} GB/s; {roofs}.{lines}{marks}"
