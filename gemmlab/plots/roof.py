"""Rooflines: what a GPU can reach at an intensity, and where kernels and model layers stand below that limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gemmlab.errors import GemmlabError
from gemmlab.hardware import gpu, rate_name
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from gemmlab.roofline import Point, attainable

MARKERS = {"ideal": "D", "requested": "o", "measured DRAM": "s"}
SYMBOLS = {"ideal": "◇", "requested": "○", "measured DRAM": "□"}
MEANS = {
    "ideal": "ideal bytes (every element moved once)",
    "requested": "requested bytes (counted)",
    "measured DRAM": "DRAM bytes (profiler)",
}
NAMES = {"float64": "FP64", "float32": "FP32", "tf32": "TF32", "bfloat16": "BF16", "float16": "FP16"}
LIMIT = "limit"  # origin of a point that nobody measured: it lies on the roof and gets an open marker
LABEL = 8.5  # points


@styled
def roofline(on="H200", dtype="float32", *, dtypes=None, points=(), bytes="ideal", title="", caption="", span=None):
    """Draw the roof of a GPU and points under it; both axes are logarithmic.

    on: a name of `gemmlab.hardware` or a GPU; dtypes: one roof for each (default: `dtype` alone), at its published
    dense rate; points: `gemmlab.roofline.Point`s or tuples (label, FLOP/byte) or (label, FLOP/byte, TFLOP/s), whose
    bytes are of kind `bytes` ("ideal", "requested" or "measured DRAM"). A tuple without a rate lies on the roof with an
    open marker: the limit there, not a measurement. caption: where measured points come from (GPU and date);
    span: (lowest, highest) intensity shown. Raises GemmlabError for an unknown GPU, rate or byte kind.
    """
    card, dtypes = gpu(on), [rate_name(d) for d in dtypes or [dtype]]
    points = [_point(point, card, dtypes[0], bytes) for point in points]
    low, high = span or _span(card, dtypes, points)
    figure, axes = new_figure(3.6)
    ax = axes[0, 0]
    lowest = min([attainable(low, card, d) for d in dtypes] + [p.tflops for p in points])
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(lowest / 1.6, 2.6 * max(card.peak(d) for d in dtypes)))
    ax.set_xlabel("intensity, FLOP per byte; " + (_kinds(points) if points else "bytes from DRAM"))
    ax.set_ylabel("TFLOP/s")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.grid(which="major", color="#EEEEEE", lw=0.7)
    ax.set_title(title or f"Roofline of the {card.name} at its published dense rates")
    figure.draw_without_rendering()  # settles the layout, which the slope's angle and the labels' places depend on
    for name in dtypes:
        _roof(ax, card, name, low, high)
    _slope_label(ax, card, low)
    for point, place in zip(points, _label_places(ax, points), strict=True):
        _mark(ax, point, place)
    if any(p.bytes_kind == "requested" and p.tflops > 1.001 * attainable(p.intensity, card, dtypes[0]) for p in points):
        caption = f"{caption} Above the slope: caches answer most of the requested bytes.".strip()
    if any(p.origin == LIMIT for p in points):
        caption = f"{caption} Open markers: limits, not measurements.".strip()
    return finish(figure, _alt(card, dtypes, points), caption)


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


def _roof(ax, card, dtype, low, high):
    ridge, peak = card.ridge(dtype), card.peak(dtype)
    ax.plot([low, ridge, high], [attainable(low, card, dtype), peak, peak], color=palette.ROOF, lw=2, zorder=2)
    text = f"{NAMES.get(dtype, dtype.upper())} {peak:,g} TFLOP/s"
    ax.text(high, peak * 1.07, text, ha="right", va="bottom", fontsize=LABEL, color=palette.MUTED)
    ax.plot([ridge, ridge], [ax.get_ylim()[0], peak], color=palette.ROOF, lw=0.7, ls=":", zorder=1)
    ax.annotate(
        f"ridge {ridge:.3g}", (ridge, 0), xycoords=("data", "axes fraction"), xytext=(3, 4),
        textcoords="offset points", fontsize=7.5, color=palette.MUTED,
    )  # fmt: skip


def _slope_label(ax, card, low):
    """Write the bandwidth along the slope, above its lower end."""
    x = low * 1.25
    (x0, y0), (x1, y1) = ax.transData.transform([(1, 1), (2, 2)])
    ax.text(
        x, card.bandwidth_gbs * x / 1e3 * 1.2, f"DRAM {card.bandwidth_gbs:,g} GB/s", color=palette.MUTED,
        fontsize=LABEL, rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", va="bottom",
    )  # fmt: skip


def _mark(ax, point, place):
    limit = point.origin == LIMIT
    rival = point.label.startswith("cuBLAS")
    colour = palette.CUBLAS if rival else palette.INK if limit else palette.C
    face = "white" if limit else colour
    shape = MARKERS[point.bytes_kind]
    ax.plot(point.intensity, point.tflops, shape, ms=7, zorder=5, color=colour, mfc=face, mew=1.6)
    ax.annotate(
        place.text, (point.intensity, point.tflops), xytext=place.offset, textcoords="offset points", fontsize=LABEL,
        ha=place.ha, va="center", zorder=6, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85},
    )  # fmt: skip


@dataclass(frozen=True)
class _Place:
    text: str
    ha: str
    offset: tuple[float, float]  # points from the marker


def _label_places(ax, points) -> list[_Place]:
    """Choose for each label the side of its marker and a height such that labels and markers stay apart.

    The highest point chooses first and the others move down rather than up, so that crowded labels keep their order.
    """
    box, scale = ax.get_window_extent(), ax.get_figure().dpi / 72
    spots = [tuple(ax.transData.transform((p.intensity, p.tflops))) for p in points]
    taken = [(x - 5 * scale, y - 5 * scale, x + 5 * scale, y + 5 * scale) for x, y in spots]
    places: dict[int, _Place] = {}
    for i in sorted(range(len(points)), key=lambda i: -spots[i][1]):
        point, (px, py) = points[i], spots[i]
        text = point.label if point.origin == LIMIT else f"{point.label}: {point.tflops:.3g}"
        width, height = LABEL * 0.6 * len(text) * scale, 12 * scale
        left = px + 10 * scale + width > box.x1
        start = px - 10 * scale - width if left else px + 10 * scale
        for shift in (-14 if point.origin == LIMIT else 0, -13, -26, 13, -39, 26, 39, -52, -65, -78, -91, -104):
            middle = py + shift * scale
            mine = (start, middle - height / 2, start + width, middle + height / 2)
            inside = box.y0 < mine[1] and mine[3] < box.y1
            if inside and not any(_overlap(mine, other) for other in taken):
                break
        taken.append(mine)
        places[i] = _Place(text, "right" if left else "left", (-10 if left else 10, shift))
    return [places[i] for i in range(len(points))]


def _overlap(a, b) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _kinds(points) -> str:
    kinds = list(dict.fromkeys(point.bytes_kind for point in points))
    return MEANS[kinds[0]] if len(kinds) == 1 else ", ".join(f"{SYMBOLS[kind]} {kind}" for kind in kinds) + " bytes"


def _alt(card, dtypes, points) -> str:
    roofs = ", ".join(f"{d} {card.peak(d):g} TFLOP/s with its ridge at {card.ridge(d):.3g} FLOP/byte" for d in dtypes)
    marks = "".join(
        f" {p.label}: {p.intensity:.4g} FLOP per byte ({p.bytes_kind} bytes), "
        f"{'limit ' if p.origin == LIMIT else ''}{p.tflops:.3g} TFLOP/s."
        for p in points
    )
    return f"Roofline of the {card.name}: {card.bandwidth_gbs:,g} GB/s; {roofs}.{marks}"
