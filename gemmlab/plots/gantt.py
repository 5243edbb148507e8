"""SMs over time: from stamps that a kernel recorded, or from the model of waves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from gemmlab.plots.spans import KINDS, key

FIELDS = ("sm", "group", "kind", "start", "end")


def stamps_of(stamps) -> np.ndarray:
    """Return stamps as float64[n, 5]: SM, group (warpgroup or CTA), number of the kind, start, end; the first at 0.

    stamps: an array of that form or rows of it. Raises GemmlabError for another form, and where an end comes before
    its start.
    """
    found = np.array(stamps, np.float64)
    if found.ndim != 2 or found.shape[1] != len(FIELDS) or not len(found):
        raise GemmlabError(f"stamps have five columns, {', '.join(FIELDS)}; got an array of shape {found.shape}")
    if (found[:, 4] < found[:, 3]).any():
        raise GemmlabError("a stamp ends before it starts: are start and end exchanged?")
    found[:, 3:] -= found[:, 3].min()
    return found


def stamp_rows(stamps, kinds: Mapping[int, str], *, sm: int | None = None, groups: Mapping[int, str] | None = None):
    """Return {row: [(start, end, kind, "")]} of one SM's groups for `gl.plots.timeline` and `gl.widgets.timeline`.

    kinds: {number in the stamps: "load", "compute", "store", "issue", "wait" or "barrier"}; sm: which one (default: the
    first in the stamps); groups: {number: name of the row}. Raises GemmlabError for an SM without stamps.
    """
    found = stamps_of(stamps)
    chosen = found[found[:, 0] == (found[0, 0] if sm is None else sm)]
    if not len(chosen):
        known = ", ".join(map(str, np.unique(found[:, 0]).astype(int)[:8]))
        raise GemmlabError(f"there are no stamps of SM {sm}: the stamps know {known} …")
    rows = {}
    for group in np.unique(chosen[:, 1]).astype(int).tolist():
        mine = chosen[chosen[:, 1] == group]
        name = (groups or {}).get(group, f"group {group}")
        rows[name] = [(float(s), float(e), kinds[int(kind)], "") for _, _, kind, s, e in mine[np.argsort(mine[:, 3])]]
    return rows


def wave_stamps(tiles: int, sms: int = 132, *, time: float = 1.0, epilogue: float = 0.0) -> np.ndarray:
    """Return stamps of a model: equal tiles dealt to the SMs in turn, kind 0 computing, kind 1 storing.

    Raises GemmlabError for fewer than one tile or SM.
    """
    if tiles < 1 or sms < 1:
        raise GemmlabError(f"{tiles} tiles on {sms} SMs: give at least one of each")
    found = []
    for tile in range(tiles):
        start = tile // sms * (time + epilogue)
        found.append((tile % sms, 0, 0, start, start + time))
        if epilogue:
            found.append((tile % sms, 0, 1, start + time, start + time + epilogue))
    return np.array(found)


@styled
def gantt(stamps, kinds: Mapping[int, str] | None = None, *, sms: int | None = None, unit: str = "tiles",
          title: str = "", caption: str = "", height: float | None = None):
    """Draw what every SM does over time, a row for each SM.

    stamps: as for `stamps_of`, from a kernel's clocks or from `wave_stamps`; kinds: {number: name of a kind of
    `gl.plots.timeline`} (default: 0 compute, 1 store, 2 load, 3 wait); sms: rows to draw, for SMs that never worked;
    unit: of the stamps; caption: says where they come from; height: of the figure, in inches. Raises GemmlabError as
    `stamps_of` and for unknown kinds.
    """
    found = stamps_of(stamps)
    kinds = dict(kinds or {0: "compute", 1: "store", 2: "load", 3: "wait"})
    unknown = sorted(set(found[:, 2].astype(int).tolist()) - set(kinds)) + sorted(set(kinds.values()) - set(KINDS))
    if unknown:
        raise GemmlabError(f"unknown kind {unknown[0]!r}: give kinds={{0: 'compute', …}} out of {', '.join(KINDS)}")
    rows = sms or int(found[:, 0].max()) + 1
    groups = {int(g): i for i, g in enumerate(np.unique(found[:, 1]))}
    figure, axes = new_figure(height or min(4.6, 1.3 + 0.1 * rows))
    ax, end = axes[0, 0], found[:, 4].max()
    ax.add_patch(Rectangle((0, 0), end, rows, facecolor=palette.WASTED, lw=0))
    high, drawn = 1 / len(groups), (0.94 if rows <= 40 else 1) / len(groups)
    for number, kind in kinds.items():
        mine = found[found[:, 2] == number]
        boxes = [_box(s, e, int(sm) + high * groups[int(group)], drawn) for sm, group, _, s, e in mine]
        ax.add_collection(PolyCollection(boxes, facecolors=KINDS[kind][0], linewidths=0))
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set(xlim=(0, end), ylim=(rows, 0), xlabel=unit, ylabel="SM")
    busy = float((found[:, 4] - found[:, 3]).sum() / (end * rows * len(groups)))
    ax.set_title(title or f"{rows} SMs over time")
    words = key(_used(found, kinds))
    legend = f"{words}. {busy:.0%} of the area is busy. {caption}".strip()
    alt = f"{title or 'SMs over time'}: {rows} rows, 0 to {end:.4g} {unit}, {busy:.0%} of the area busy."
    return finish(figure, alt, legend[0].upper() + legend[1:])


def _used(found, kinds) -> Iterable[str]:
    present = set(found[:, 2].astype(int))
    return dict.fromkeys(kind for number, kind in kinds.items() if number in present)


def _box(start, end, top, high):
    return [(start, top), (end, top), (end, top + high), (start, top + high)]
