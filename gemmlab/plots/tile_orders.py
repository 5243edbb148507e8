"""In which order CTAs take the tiles of C, and how much of A and B one wave of them shares in L2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgb

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.access import item_bytes
from gemmlab.plots.figure import WIDTH, finish, new_figure, styled

Order = int | None | Callable[[int, int, int], tuple[int, int]] | list[tuple[int, int]]


@dataclass(frozen=True)
class Wave:
    """What the CTAs that run together touch: `rows` of tiles of A, `columns` of tiles of B, and how many `tiles`.

    `hit_rate` is modelled: each strip comes from DRAM once per wave, everything else from L2.
    """

    tiles: int
    rows: int
    columns: int
    hit_rate: float


def order_of(tiles_m: int, tiles_n: int, order: Order = None) -> np.ndarray:
    """Return int64[tiles, 2]: the tile (m, n) that each CTA takes, by its number.

    order: None for a plain grid (along the rows of C, blockIdx.x counts columns); a group size G, for G rows of tiles
    at a time, down each column of the group (kernels/tile/tile_order.cuh); f(number, tiles_m, tiles_n) -> (m, n); or
    the tiles themselves, as `tiles_taken` reads them from a trace. Raises GemmlabError for sizes below 1 and for an
    order that misses a tile.
    """
    if min(tiles_m, tiles_n) < 1 or (isinstance(order, int) and order < 1):
        raise GemmlabError(f"{tiles_m} × {tiles_n} tiles in groups of {order}: every size is at least 1")
    take = order if callable(order) else (lambda i, m, n: _grouped(i, m, n, order or 1))
    listed = order if isinstance(order, list) else [take(i, tiles_m, tiles_n) for i in range(tiles_m * tiles_n)]
    found = np.array(listed).reshape(-1, 2)
    outside = (found < 0).any() or (found >= (tiles_m, tiles_n)).any()
    if outside or len(np.unique(found @ (tiles_n, 1))) != tiles_m * tiles_n or len(found) != tiles_m * tiles_n:
        raise GemmlabError(f"the order does not take each of the {tiles_m} × {tiles_n} tiles once")
    return found


def _grouped(index: int, tiles_m: int, tiles_n: int, group: int) -> tuple[int, int]:
    first, inside = index // (group * tiles_n) * group, index % (group * tiles_n)
    rows = min(group, tiles_m - first)
    return first + inside % rows, inside // rows


def tiles_taken(accesses, shape: tuple[int, int], tile: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the tiles (m, n) of C in the order in which CTAs take them, from their stores.

    accesses: a trace of all CTAs and warps, `gl.trace(kernel, M, N, K, cta=None, warp=None)`; shape: (M, N); tile: (BM,
    BN). CTAs start in the order of their numbers; of CTAs that take several tiles first come all first ones. Raises
    GemmlabError for a trace without stores to C.
    """
    taken: dict[tuple, list[tuple[int, int]]] = {}
    for access in accesses:
        if access.space != "global" or access.name != "C" or access.kind not in ("st", "red"):
            continue
        addresses = np.asarray(access.addresses)
        row, column = divmod(int(addresses[addresses >= 0][0] - access.base) // item_bytes(access), shape[1])
        mine = taken.setdefault(access.cta[::-1], [])
        if (row // tile[0], column // tile[1]) not in mine:
            mine.append((row // tile[0], column // tile[1]))
    if not taken:
        raise GemmlabError("the trace stores nothing to C: trace all CTAs and warps of a kernel that writes C")
    most = max(map(len, taken.values()))
    return [mine[turn] for turn in range(most) for _, mine in sorted(taken.items()) if turn < len(mine)]


def waves_of(order: np.ndarray, wave: int, BM: int = 1, BN: int = 1) -> list[Wave]:
    """Return a Wave for every `wave` CTAs of an order, for tiles of BM × BN elements."""
    found = []
    for start in range(0, len(order), wave):
        some = order[start : start + wave]
        rows, columns = (len(np.unique(axis)) for axis in some.T)
        asked = len(some) * (BM + BN)
        found.append(Wave(len(some), rows, columns, 1 - (rows * BM + columns * BN) / asked))
    return found


@styled
def tile_order(orders: Mapping[str, Order], tiles: tuple[int, int] = (32, 32), *, wave: int = 132,
               tile: tuple[int, int] = (128, 128), measured: Mapping[str, float] | None = None, title: str = ""):
    """Draw C as tiles, coloured by when they are taken, with the first wave strong, for some orders side by side.

    orders: {title: order}, as for `order_of`; tiles: of C, (rows, columns); wave: CTAs that run together (SMs × CTAs
    per SM); tile: (BM, BN) elements; measured: {title: L2 hit rate, 0 to 1} of a profiler, told beside the model.
    Raises GemmlabError as `order_of`, and for more than three orders.
    """
    if not 1 <= len(orders) <= 3:
        raise GemmlabError(f"{len(orders)} orders: the figure shows one to three")
    found = {name: order_of(*tiles, order) for name, order in orders.items()}
    side = (WIDTH - 0.3) / max(len(found), 2) * min(1.25, tiles[0] / tiles[1])
    figure, axes = new_figure(side + 1.25, columns=max(len(found), 2))
    said = []
    for ax, (name, order) in zip(axes[0], found.items(), strict=False):
        first, average = waves_of(order, wave, *tile)[0], _average(waves_of(order, wave, *tile))
        _panel(ax, order, tiles, wave)
        ax.set_title(name)
        seen = f"; measured {measured[name]:.0%}" if measured and name in measured else ""
        words = f"first wave: {first.rows} rows + {first.columns} columns\nL2 hits {average:.0%} (modelled){seen}"
        ax.set_xlabel(words, fontsize=7.5)
        said.append(f"{name}: the first {first.tiles} CTAs need {first.rows} rows of tiles of A and {first.columns} "
                    f"columns of B, L2 hit rate {average:.0%} (modelled{seen})")  # fmt: skip
    for ax in axes[0, len(found) :]:
        ax.axis("off")
    figure.suptitle(title or f"Order of {tiles[0]} × {tiles[1]} tiles of C", x=0.01, ha="left", fontweight="bold",
                    fontsize=10.5)  # fmt: skip
    caption = f"Strong: the first {wave} CTAs. Grey: later ones. Model: a wave reads each strip from DRAM once."
    return finish(figure, f"Order of tiles. {'; '.join(said)}.", caption)


def _average(waves) -> float:
    return sum(wave.hit_rate * wave.tiles for wave in waves) / sum(wave.tiles for wave in waves)


def _panel(ax, order, tiles, wave):
    picture = np.empty((*tiles, 3))
    for number, (m, n) in enumerate(order):
        if number < wave:
            picture[m, n] = to_rgb(palette.tint(palette.C, 0.35 + 0.65 * number / wave))
        else:
            level = 0.97 - 0.25 * number / len(order)
            picture[m, n] = (level, level, level)
    ax.imshow(picture, interpolation="nearest")
    ax.set_xticks([0, tiles[1] - 1])
    ax.set_yticks([0, tiles[0] - 1])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0, labelsize=7.5)
