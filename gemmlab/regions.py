"""Say in words which elements of a matrix are meant."""

import numpy as np

SHOWN = 4  # ranges that are spelled out


def runs(indices) -> list[tuple[int, int]]:
    """Return sorted indices as inclusive ranges."""
    found: list[list[int]] = []
    for index in map(int, indices):
        if found and index == found[-1][1] + 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return [(first, last) for first, last in found]


def words(indices, count: int, name: str) -> str:
    """Return a set of rows or columns in words: "row 32 of 33", "columns 16–31 of 40", "every 2nd row from 1"."""
    indices = np.asarray(indices)
    if len(indices) == count:
        return f"all {name}s"
    steps = np.diff(indices)
    if len(indices) > 2 and steps.min() == steps.max() > 1:
        step = int(steps[0])
        ordinal = {2: "2nd", 3: "3rd"}.get(step, f"{step}th")
        return f"every {ordinal} {name} from {indices[0]}"
    ranges = runs(indices)
    text = ", ".join(f"{a}" if a == b else f"{a}–{b}" for a, b in ranges[:SHOWN])
    text += " …" if len(ranges) > SHOWN else ""
    return f"{name}{'s' if len(indices) > 1 else ''} {text} of {count}"


def describe(mask: np.ndarray) -> str:
    """Return the marked elements of a matrix in words: rows, columns, a rectangle, all but one, or a count."""
    M, N = mask.shape
    if mask.all():
        return "all of C"
    rows, columns = mask.any(axis=1), mask.any(axis=0)
    if (mask == rows[:, None] & columns[None, :]).all():
        row_words, column_words = words(np.flatnonzero(rows), M, "row"), words(np.flatnonzero(columns), N, "column")
        if columns.all():
            return row_words
        return column_words if rows.all() else f"{row_words} × {column_words}"
    rest = ~mask
    rows, columns = rest.any(axis=1), rest.any(axis=0)
    if (rest == rows[:, None] & columns[None, :]).all():
        row_words, column_words = words(np.flatnonzero(rows), M, "row"), words(np.flatnonzero(columns), N, "column")
        return f"everything but {row_words} × {column_words}"
    for edge in (64, 32, 16, 8):
        if M > edge or N > edge:
            tiles = _tiles(mask, edge)
            if tiles is not None:
                return f"{tiles} tiles of {edge}×{edge} elements"
    m, n = np.argwhere(mask)[0]
    return f"{int(mask.sum())} of {mask.size} elements (the first is C[{m}, {n}])"


def _tiles(mask: np.ndarray, edge: int) -> str | None:
    """Return how many edge×edge tiles are marked, if each tile is marked as a whole or not at all."""
    M, N = mask.shape
    marked = total = 0
    for top in range(0, M, edge):
        for left in range(0, N, edge):
            tile = mask[top : top + edge, left : left + edge]
            if tile.any() and not tile.all():
                return None
            marked, total = marked + bool(tile.all()), total + 1
    return f"{marked} of {total}" if 1 < total else None
