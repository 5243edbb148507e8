"""The life of an mbarrier: its phase, pending arrivals and missing bytes, event by event, from the emulator's log."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.event_text import barrier_names, sentence
from gemmlab.plots.figure import finish, stacked, styled

ROWS = 4.2  # rows of 0.22 inches in a panel: phase, arrivals, bytes, waits
SHORT = {"init": "init", "arrive": "arrive", "expect": "expect_tx", "bytes": "bytes", "complete": "", "wait": "wait",
         "pass": "pass"}  # fmt: skip
LEFT, MOST = 15, 24


def of_barriers(events: Sequence, barriers=None) -> dict[str, list]:
    """Return {name: its events}, in the order of the log. barriers: names as `barrier_names` gives them, or None for
    all. Raises GemmlabError for a log without mbarriers and for a name that it does not have.
    """
    names = barrier_names(events)
    if not names:
        raise GemmlabError("the events hold no mbarrier")
    unknown = [name for name in barriers or () if name not in names.values()]
    if unknown:
        raise GemmlabError(f"there is no barrier {unknown[0]!r}: the events name {', '.join(names.values())}")
    return {
        name: [event for event in events if event.what == "mbarrier" and event.barrier == address]
        for address, name in names.items()
        if barriers is None or name in barriers
    }


@styled
def phases(events: Sequence, barriers=("full 0",), *, first: int = 0, title: str = ""):
    """Draw the life of mbarriers: phase with its parity, arrivals and bytes that are missing, and who waits.

    events: of `gl.trace_events`; barriers: names such as "full 0" or "empty 1"; first: the event of each to begin
    with. A panel shows up to 24 events, each one step wide: the order of the emulator, not a time. Raises GemmlabError
    for a log without such barriers.
    """
    names = barrier_names(events)
    chosen = {name: some[first : first + MOST] for name, some in of_barriers(events, barriers).items()}
    figure, axes = stacked([ROWS + 1.4] * len(chosen), title=title, row=0.22)
    for ax, (name, some) in zip(axes, chosen.items(), strict=True):
        _panel(ax, some)
        ax.set_title(name, fontsize=9.5, pad=4)
    text = " ".join(sentence(event, names) + "." for some in chosen.values() for event in some)
    return finish(
        figure,
        f"Life of mbarriers. {text}",
        "One event per step, in the emulator's order. A phase ends when no arrival and no byte is missing.",
    )


def _panel(ax, events):
    scale = (100 - LEFT) / max(len(events), 8)
    deepest = max((event.tx for event in events), default=0) or 1
    most = max((event.pending for event in events), default=0) or 1
    rows = ("phase (parity)", "arrivals missing", "bytes missing", "warps waiting")
    for row, name in enumerate(rows):
        ax.text(LEFT - 0.8, 1.1 * row + 0.5, name, ha="right", va="center", fontsize=7)
        ax.add_patch(Rectangle((LEFT, 1.1 * row), scale * len(events), 1, facecolor=palette.IDLE, lw=0))
    start, waiting = 0, set()
    for at, event in enumerate(events):
        x = LEFT + scale * at
        last = at + 1 == len(events)
        if event.kind == "complete" or last:
            phase = event.phase - 1 if event.kind == "complete" else _phase_after(event)
            _phase(ax, LEFT + scale * start, scale * (at + last - start), phase)
            start = at
        if event.kind in ("wait", "pass"):
            waiting = waiting | set(event.warps) if event.kind == "wait" else waiting - set(event.warps)
        _level(ax, x, scale, 1, event.pending / most, palette.PROBLEM, str(event.pending))
        size = f"{event.tx / 1024:g}K" if event.tx else "0"
        _level(ax, x, scale, 2, max(event.tx, 0) / deepest, palette.IN_FLIGHT, size)
        _level(ax, x, scale, 3, bool(waiting), palette.WASTED, str(len(waiting)) if waiting else "")
        ax.text(x + scale / 2, 4.55, SHORT[event.kind], rotation=35, ha="right", va="top", fontsize=6.5,
                rotation_mode="anchor", color=palette.MUTED)  # fmt: skip
    ax.set(xlim=(0, 100.2), ylim=(ROWS + 1.4, -0.05))
    ax.axis("off")


def _phase_after(event) -> int:
    return event.phase + 1 if event.kind == "pass" else event.phase


def _phase(ax, x, width, phase):
    colour = palette.C if phase % 2 == 0 else palette.tint(palette.C, 0.55)
    ax.add_patch(Rectangle((x, 0), width, 1, facecolor=colour, edgecolor="white", lw=1))
    if width > 5:
        ink = palette.ink_on(colour)
        ax.text(x + width / 2, 0.53, f"{phase} ({phase % 2})", ha="center", va="center", fontsize=7, color=ink)


def _level(ax, x, width, row, share, colour, text):
    if share:
        ax.add_patch(Rectangle((x, 1.1 * row + 1 - share), width, share, facecolor=colour, edgecolor="white", lw=0.5))
    ax.text(x + width / 2, 1.1 * row + 0.55, text, ha="center", va="center", fontsize=6.2)
