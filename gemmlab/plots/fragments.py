"""The seating chart of a matrix instruction: lane and element number for every element of its operands."""

from __future__ import annotations

from matplotlib.backends.backend_agg import FigureCanvasAgg

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import WIDTH, BookFigure, cells, finish, styled
from gemmlab.plots.seats import Seats, seats

COLUMNS = 40  # of cells in one row of panels
WARP_ROWS = 16  # of a matrix that a warpgroup shares; only those of one warp are drawn
GAP = 2.2  # cells between panels
MARGIN = 0.2  # inches
HEAD, FOOT = 0.52, 0.08  # inches above and below a panel
OPAQUE = "PTX leaves the layout of wmma open; this is where compilers put it from sm_80 on. "


@styled
def fragments(instruction: str = "mma.m16n8k16.bf16", *, lane: int = 0, operands=None, title=""):
    """Draw which lane holds which element of each operand, with the elements of one lane in strong colour.

    instruction: as for `seats`; lane: the one to show (0 to 31; 0 to 127 for wgmma); operands: names to show, e.g.
    ("A",). A cell holds its lane's number; cells of `lane` hold the element's name, as in the PTX ISA. wgmma shows the
    16 rows of that thread's warp and at most 32 columns. Raises GemmlabError as `seats`, and for another lane or name.
    """
    found = chosen(instruction, lane, operands)
    group = instruction.startswith("wgmma")
    sizes = {name: (WARP_ROWS if group else s.shape[0], min(32, s.shape[1])) for name, s in found.items()}
    lines = _lines(sizes)
    widest = max(sum(sizes[name][1] for name in line) + GAP * (len(line) - 1) for line in lines)
    cell = min(0.2, (WIDTH - 2 * MARGIN) / widest)
    tall = 0.3 + sum(HEAD + FOOT + cell * max(sizes[name][0] for name in line) for line in lines) + 0.42
    figure = BookFigure(figsize=(WIDTH, tall))
    FigureCanvasAgg(figure)
    top = tall - 0.3
    for line in lines:
        top, left = top - HEAD, MARGIN
        for name in line:
            rows, columns = sizes[name]
            place = (left / WIDTH, (top - cell * rows) / tall, cell * columns / WIDTH, cell * rows / tall)
            ax = figure.add_axes(place)
            _panel(ax, found[name], lane, lane // 32 * WARP_ROWS, rows, columns, cell)
            left += cell * (columns + GAP)
        top -= cell * max(sizes[name][0] for name in line) + FOOT
    figure.text(0.012, 1 - 0.06 / tall, title or instruction, va="top", fontsize=10.5, fontweight="bold")
    note = OPAQUE if instruction.startswith("wmma") else "Number: the lane that holds the element. "
    who = f"thread {lane}" if group else f"lane {lane}"
    return finish(
        figure,
        f"{instruction}: which lane holds each element. " + describe(instruction, lane, operands),
        f"{note}Strong: {who}, with names as in PTX; {_register_rule(found)}. From the emulator's tables.",
    )


def chosen(instruction: str, lane: int, operands=None) -> dict[str, Seats]:
    """Return the operands to show. Raises GemmlabError for a lane or operand that the instruction does not have."""
    found = seats(instruction)
    lanes = 128 if instruction.startswith("wgmma") else 32
    if not 0 <= lane < lanes:
        raise GemmlabError(f"lane = {lane!r}: {instruction} has lanes 0 to {lanes - 1}")
    unknown = [name for name in operands or () if name not in found]
    if unknown:
        raise GemmlabError(f"{instruction} has no operand {unknown[0]!r}: it has {', '.join(found)}")
    return {name: found[name] for name in operands or found}


def describe(instruction: str, lane: int, operands=None) -> str:
    """Return as a sentence what one lane holds of an instruction's operands."""
    found = chosen(instruction, lane, operands)
    text = "; ".join(
        ", ".join(f"{name}[{row}, {column}] as {label}" for row, column, label in seat.held(lane)[:16])
        for name, seat in found.items()
    )
    return f"Lane {lane} holds {text}."


def colour_of(name: str) -> str:
    """Return an operand's colour: A, B and C have theirs, matrices of ldmatrix the fourth."""
    return palette.of_array(name)


def _lines(sizes) -> list[list[str]]:
    """Break the panels into lines of at most COLUMNS cells."""
    lines, used = [[]], 0.0
    for name, (_, columns) in sizes.items():
        if lines[-1] and used + GAP + columns > COLUMNS:
            lines.append([])
            used = 0.0
        used += columns + GAP * bool(lines[-1])
        lines[-1].append(name)
    return lines


def _register_rule(found) -> str:
    packed, letter = max((seat.packed, seat.letter) for seat in found.values())
    return f"{letter}0 to {letter}{packed - 1} share a register" if packed > 1 else "each has a register of its own"


def _panel(ax, seat, lane, first, rows, columns, cell):
    colour, faces, numbers = colour_of(seat.name), {}, {}
    for row in range(rows):
        for column in range(columns):
            owner = int(seat.lane[first + row, column])
            mine = owner == lane
            faces[column, row] = colour if mine else palette.tint(colour, 0.08 + 0.34 * (owner % 32) / 31)
            numbers[column, row] = seat.label(first + row, column) if mine else str(owner)
    cells(ax, faces, numbers, size=min(6.2, 33 * cell))
    ax.set(xlim=(0, columns), ylim=(rows, 0))
    step = 4 if columns <= 16 else 8
    ax.set_xticks([c + 0.5 for c in range(0, columns, step)], [str(c) for c in range(0, columns, step)], fontsize=7)
    ax.set_yticks([r + 0.5 for r in range(0, rows, 8)], [str(first + r) for r in range(0, rows, 8)], fontsize=7)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, pad=1.5, colors=palette.MUTED)
    ax.spines[:].set_visible(False)
    whole = f"{seat.shape[0]} × {seat.shape[1]}"
    ax.set_title(seat.name if seat.name.startswith("matrix") else f"{seat.name}: {whole}", pad=4, fontsize=9.5)
