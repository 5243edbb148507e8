"""Lines over a doubling axis: measured series solid with markers, models dashed, levels of memory shaded."""

from __future__ import annotations

from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled

COLOURS = (palette.A, palette.C, palette.IN_FLIGHT, palette.B, palette.OTHER)
NOTHING = "Nothing recorded yet"


def bytes_text(size: float) -> str:
    """Write a number of bytes with a binary unit: 4096 -> "4 KB"."""
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:g} {unit}"
    return f"{size:g} B"


@styled
def lines(series, *, models=None, x="", y="", title="", caption="", levels=None, x_bytes=False, y_log=False):
    """Draw {name: [(x, y), …]} as lines with markers on a log2 axis, and `models`, of the same form, dashed.

    levels: {label: (low, high)} ranges of x to shade, with their names at the top; x_bytes: label x as KB, MB, GB.
    Without any points the figure says that nothing is recorded.
    """
    models, levels = models or {}, levels or {}
    if not any(series.values()) and not models:
        figure, axes = new_figure(0.7)
        axes[0, 0].axis("off")
        axes[0, 0].text(0, 0.5, f"{title or y}: {NOTHING.lower()}.", fontsize=10, va="center")
        return finish(figure, f"{title or y}: {NOTHING.lower()}.")
    figure, axes = new_figure(2.9)
    ax = axes[0, 0]
    ax.set_xscale("log", base=2)
    if y_log:
        ax.set_yscale("log", base=2)
        ax.yaxis.set_major_formatter("{x:g}")
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        ax.plot(*zip(*points, strict=True), marker="o", ms=3.5, lw=1.4, color=colour, label=name)
    for number, (name, points) in enumerate(models.items()):
        colour = COLOURS[number % len(COLOURS)]
        ax.plot(*zip(*points, strict=True), ls="--", lw=1.2, color=colour, label=f"{name} (modelled)")
    ticks = sorted({point[0] for points in (*series.values(), *models.values()) for point in points})
    ticks = [t for t in ticks if t and (int(t) & (int(t) - 1)) == 0] if x_bytes else ticks
    step = -(-len(ticks) // 9)
    ax.set_xticks(ticks[::step], [bytes_text(t) if x_bytes else f"{t:g}" for t in ticks[::step]])
    ax.minorticks_off()
    ax.set(xlabel=x, ylabel=y)
    ax.set_ylim(bottom=None if y_log else 0)
    for number, (name, (low, high)) in enumerate(levels.items()):
        ax.axvspan(low, high, color=list(palette.LEVELS.values())[min(number + 1, 3)], alpha=0.35, lw=0)
        ax.text((low * high) ** 0.5, 1.01, name, transform=ax.get_xaxis_transform(), ha="center", fontsize=8.5)
    if len(series) + len(models) > 1:
        beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if len(series) + len(models) > 4 else {}
        ax.legend(frameon=False, fontsize=8, **beside)
    ax.set_title(title, pad=16 if levels else None)
    text = "; ".join(f"{name}: " + ", ".join(f"{px:g} → {py:.3g}" for px, py in points)
                     for name, points in {**series, **{f"{k} (modelled)": v for k, v in models.items()}}.items())
    caption = caption and caption[0].upper() + caption[1:].rstrip(".") + "."
    return finish(figure, f"{title}. {y} by {x}. {text}.", caption)


def staircase(probe):
    """Draw a latency staircase (`gl.machine.latency_staircase()`), with the footprints that stand for each level."""
    from gemmlab.measuring.machine import LEVELS

    return lines(
        {name: points for name, points in probe.series.items()},
        x="footprint: bytes visited in random order",
        y="cycles per load",
        title="Latency of one load",
        caption=probe.label,
        levels=LEVELS,
        x_bytes=True,
        y_log=True,
    )
