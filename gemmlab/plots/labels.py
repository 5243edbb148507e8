"""Where the labels of points go, so that no two of them meet and crowded ones keep their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SIZE = 8.5  # points
HEIGHT = 12.0  # of a line of that size
NEAR = 10.0  # points from the marker to its label
MARKER = 5.0  # points: half a marker


@dataclass(frozen=True)
class Place:
    """On which side of its marker a label stands (`ha` of the text), and where, in points from the marker."""

    ha: str
    offset: tuple[float, float]


def place_labels(
    ax, spots: Sequence[tuple[float, float]], texts: Sequence[str], below=(), taken=(), top: float | None = None
) -> list[Place]:
    """Choose for each label the side of its marker and a height such that labels and markers stay apart.

    spots: data coordinates of the markers; below: indices whose labels aim below the marker; taken: boxes (x0, y0, x1,
    y1) in pixels that are not free; top: a height in data coordinates that labels of points under it do not cross.
    Labels that share a range of x are stacked in the order of their markers, as near to these as their heights allow.
    """
    scale = ax.get_figure().dpi / 72
    box = [edge / scale for edge in ax.get_window_extent().extents]
    taken = [[edge / scale for edge in one] for one in taken]
    spots = [[v / scale for v in ax.transData.transform(spot)] for spot in spots]
    widths = [SIZE * 0.6 * len(text) for text in texts]
    aims = [y - (14 if i in below else 0) for i, (_, y) in enumerate(spots)]
    right = [_to_the_right(i, aims[i], widths[i], spots, taken, box) for i in range(len(spots))]
    starts = [x + NEAR if side else x - NEAR - width for (x, _), width, side in zip(spots, widths, right, strict=True)]
    ceiling = box[3] if top is None else min(box[3], ax.transData.transform((1, top))[1] / scale)
    places: dict[int, Place] = {}
    corners: dict[int, tuple[float, float]] = {}  # left edge and middle of each label
    for stack in _stacks(starts, widths):
        stack.sort(key=lambda i: (-aims[i], i))
        left, end = min(starts[i] for i in stack), max(starts[i] + widths[i] for i in stack)
        above = [y0 for x0, y0, x1, _ in taken if x0 < end and left < x1 and y0 >= aims[stack[0]]]
        high = max(min([ceiling, *above]) - HEIGHT / 2, aims[stack[0]])
        heights = spread([aims[i] for i in stack], HEIGHT, box[1] + HEIGHT / 2, high)
        for i, y in zip(stack, heights, strict=True):
            x = _clear(i, starts[i], y, widths[i], right[i], spots, taken)
            corners[i] = (x, y)
    for i, (x, y) in corners.items():
        if not box[0] <= x <= box[2] - widths[i]:  # no room beside what is there: under it and under other labels
            others = [(a, b - HEIGHT / 2, a + widths[j], b + HEIGHT / 2) for j, (a, b) in corners.items() if j != i]
            lower = _under(i, starts[i], y, widths[i], spots, [*taken, *others])
            if lower >= box[1] + HEIGHT / 2:
                corners[i] = (starts[i], lower)
    for i, (x, y) in corners.items():
        edge = x if right[i] else x + widths[i]
        places[i] = Place("left" if right[i] else "right", (edge - spots[i][0], y - spots[i][1]))
    return [places[i] for i in range(len(spots))]


def spread(aims: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return heights at least `gap` apart for descending `aims`, nearest to them in least squares, in low … high.

    Pools adjacent violators. Where low … high is too small for all, the lowest ones leave it.
    """
    blocks: list[list[float]] = []  # [sum, count] of aims freed of the gaps, merged until they descend
    for i, aim in enumerate(aims):
        blocks.append([aim + gap * i, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] < blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    free = [total / count for total, count in blocks for _ in range(count)]
    last = len(aims) - 1
    heights = [max(value - gap * i, low + gap * (last - i)) for i, value in enumerate(free)]
    return [min(value, high - gap * i) for i, value in enumerate(heights)]


def _stacks(starts, widths) -> list[list[int]]:
    """Group labels whose ranges of x overlap, directly or through others."""
    stacks: list[list[int]] = []
    reach = float("-inf")
    for i in sorted(range(len(starts)), key=lambda i: starts[i]):
        if starts[i] >= reach:
            stacks.append([])
        stacks[-1].append(i)
        reach = max(reach, starts[i] + widths[i])
    return stacks


def _to_the_right(mine, y, width, spots, taken, box) -> bool:
    """Say on which side of its marker a label goes: the right, unless it is free and inside on the left alone."""
    after, before = spots[mine][0] + NEAR, spots[mine][0] - NEAR - width
    if after + width > box[2]:
        return False
    clear = _clear(mine, after, y, width, True, spots, taken) == after
    return clear or before < box[0] or _clear(mine, before, y, width, False, spots, taken) != before


def _under(mine, x, y, width, spots, taken) -> float:
    """Return the height nearest below `y` at which a label covers no other point's marker and nothing that is taken."""
    while _clear(mine, x, y, width, True, spots, taken) != x:
        y -= 1
    return y


def _clear(mine, x, y, width, right, spots, taken) -> float:
    """Move a label outwards until it covers no other point's marker and nothing that is taken."""
    obstacles = [(px - MARKER, py - MARKER, px + MARKER, py + MARKER) for i, (px, py) in enumerate(spots) if i != mine]
    for x0, y0, x1, y1 in sorted([*obstacles, *taken], key=lambda one: one[0] if right else -one[2]):
        if x < x1 and x0 < x + width and y - HEIGHT / 2 < y1 and y0 < y + HEIGHT / 2:
            x = x1 + 2 if right else x0 - 2 - width
    return x
