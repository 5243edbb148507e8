"""Where the rows of ldmatrix and stmatrix lie: eight row addresses per phase on the eight groups of four banks."""

from __future__ import annotations

import numpy as np

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.access import headline, ideal_wavefronts, one_per_site, variants_of, wavefronts_of
from gemmlab.plots.figure import cells, finish, panel_titles, stacked, styled

CHUNK = 16  # bytes of one row of an 8 x 8 matrix of 16-bit elements
GROUPS = 8  # chunks side by side in the 32 banks
PITCH = GROUPS + 1  # columns from one phase to the next


@styled
def matrix_rows(accesses, *, step: int = 0, limit: int = 6, title: str = ""):
    """Draw the row addresses of the matrix loads and stores of a trace, phase by phase, on the banks.

    accesses: as for `bank_grid`. Each phase serves the eight rows of one 8 × 8 matrix; a row of 16 bytes covers four
    neighbouring banks. Eight rows in eight columns need one wavefront; rows that share a column take the problem
    colour. The number is the lane that gives the address. Raises GemmlabError for a trace without ldmatrix or stmatrix.
    """
    panels = [
        (variant, access)
        for variant, some in variants_of(accesses).items()
        for access in one_per_site(some, "shared", step)
        if access.site.opcode.startswith(("ldmatrix", "stmatrix"))
    ][:limit]
    if not panels:
        raise GemmlabError("the trace holds no ldmatrix or stmatrix: trace a kernel that uses one")
    figure, axes = stacked([GROUPS + 1.2] * len(panels), title=title, row=0.15)
    said = []
    for ax, (variant, access) in zip(axes, panels, strict=True):
        fronts, ideal = len(wavefronts_of(access)), ideal_wavefronts(access)
        verdict = f"{fronts} wavefronts" + (", no conflict" if fronts == ideal else f" where {ideal} would do")
        _panel(ax, np.asarray(access.addresses).tolist())
        panel_titles(ax, headline(variant, access), verdict, bad=fronts > ideal)
        said.append(f"{headline(variant, access)}: {verdict}.")
    return finish(
        figure,
        f"Row addresses of matrix accesses on the banks. {' '.join(said)}",
        "Row: a lane's address. Column: the four banks of its 16 bytes. Orange: shared, a conflict.",
    )


def rows_of(addresses: list[int], phase: int) -> list[tuple[int, int, bool]]:
    """Return (lane, chunk column, shares it) of the active rows of one phase; addresses: 32, -1 for an idle lane."""
    lanes = [lane for lane in range(8 * phase, 8 * phase + 8) if addresses[lane] >= 0]
    columns = {lane: addresses[lane] // CHUNK % GROUPS for lane in lanes}
    return [
        (lane, column, any(columns[other] == column and addresses[other] != addresses[lane] for other in lanes))
        for lane, column in columns.items()
    ]


def _panel(ax, addresses):
    faces, numbers = {}, {}
    for phase in range(4):
        active = rows_of(addresses, phase)
        if not active:
            continue
        left = phase * PITCH
        faces |= {(left + column, row): palette.IDLE for column in range(GROUPS) for row in range(8)}
        for lane, column, shared in active:
            place = left + column, lane - 8 * phase
            faces[place] = palette.PROBLEM if shared else palette.LEVELS["DRAM"]
            numbers[place] = str(lane)
        ax.text(left + 4, 8.15, f"phase {phase}: banks 0 to 31", ha="center", va="top", fontsize=7, color=palette.MUTED)
    cells(ax, faces, numbers, size=6.5)
    ax.set(xlim=(-0.1, 4 * PITCH - 0.9), ylim=(GROUPS + 1.2, 0))
    ax.axis("off")
