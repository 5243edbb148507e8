"""A timeline as a figure: roles on rows, spans in the colour of what happens, one panel for each variant."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, stacked, styled

KINDS = {
    "load": (palette.IN_FLIGHT, "on its way"), "compute": (palette.C, "computing, or data in use"),
    "store": (palette.OTHER, "storing"), "issue": (palette.ISSUING, "issuing copies"),
    "part": (palette.OTHER, "computing a part of a tile"),
    "wait": (palette.WASTED, "waiting"), "barrier": (palette.PROBLEM, "at a barrier"),
}  # fmt: skip
COLOURS = {palette.IN_FLIGHT: "pink", palette.ISSUING: "light pink", palette.C: "green", palette.OTHER: "blue",
           palette.WASTED: "grey", palette.PROBLEM: "orange"}  # fmt: skip
CHARACTER = 0.93  # of 100 units of width: one of a row's name


@styled
def timeline(rows, *, unit: str = "cycles", title: str = "", caption: str = "", until: float | None = None):
    """Draw {role: [(start, end, kind, label), …]}, or {variant: such rows}, over one common axis.

    kinds: load, compute, store, issue, part, wait, barrier. unit: what the axis counts; until: where it ends. Raises
    GemmlabError for an unknown kind and when there is no span.
    """
    variants = rows if rows and all(isinstance(some, Mapping) for some in rows.values()) else {"": rows}
    spans = [span for some in variants.values() for row in some.values() for span in row]
    if not spans:
        raise GemmlabError("there is no span to draw")
    unknown = sorted({kind for _, _, kind, _ in spans if kind not in KINDS})
    if unknown:
        raise GemmlabError(f"unknown kind of span {unknown[0]!r}: use {', '.join(KINDS)}")
    end = until or max(span[1] for span in spans)
    sizes = [1.15 * len(some) + 0.9 for some in variants.values()]
    figure, axes = stacked(sizes, title=title, row=0.22, head=0.3 if len(variants) > 1 or "" not in variants else 0.06)
    left = 2 + CHARACTER * max(len(role) for some in variants.values() for role in some)
    for ax, (name, some), tall in zip(axes, variants.items(), sizes, strict=True):
        _panel(ax, name, some, tall, end, unit, left)
    used = key([kind for kind in KINDS if any(span[2] == kind for span in spans)])
    said = "; ".join(
        f"{name + ': ' if name else ''}" + ", ".join(f"{role} {len(row)} spans" for role, row in some.items())
        for name, some in variants.items()
    )
    legend = f"{used}. {caption}".strip()
    legend = legend[0].upper() + legend[1:]
    return finish(figure, f"{title or 'Timeline'}, 0 to {end:g} {unit}. {said}.", legend)


def key(kinds) -> str:
    """Return what the colours of these kinds mean, each colour once: "blue: storing or computing a part of a tile"."""
    meanings = {}
    for kind in kinds:
        colour, meaning = KINDS[kind]
        meanings.setdefault(COLOURS[colour], []).append(meaning)
    return "; ".join(f"{colour}: {' or '.join(some)}" for colour, some in meanings.items())


def _panel(ax, name, rows, tall, end, unit, first):
    scale = (100 - first) / end
    for number, (role, spans) in enumerate(rows.items()):
        y = 1.15 * number
        ax.add_patch(Rectangle((first, y), 100 - first, 1, facecolor=palette.IDLE, lw=0))
        ax.text(first - 0.8, y + 0.52, role, ha="right", va="center", fontsize=7)
        for start, stop, kind, label in spans:
            left, width, colour = first + scale * start, scale * (stop - start), KINDS[kind][0]
            ax.add_patch(Rectangle((left, y), width, 1, facecolor=colour, edgecolor="white", lw=0.5))
            if label and width > 1.0 * len(label) + 0.3:
                ink = palette.ink_on(colour)
                ax.text(left + width / 2, y + 0.54, label, ha="center", va="center", fontsize=6.5, color=ink)
    for x, text, side in ((first, "0", "left"), (100, f"{end:g} {unit}", "right")):
        ax.text(x, 1.15 * len(rows) + 0.05, text, ha=side, va="top", fontsize=7, color=palette.MUTED)
    ax.set(xlim=(0, 100.2), ylim=(tall, -0.05))
    ax.axis("off")
    if name:
        ax.set_title(name, fontsize=9.5, pad=4)
