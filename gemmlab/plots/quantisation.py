"""Whole waves and few tiles: how much of the machine a number of tiles can use, by the scheme that divides the work."""

from __future__ import annotations

from collections.abc import Mapping

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled

COLOURS = (palette.MUTED, palette.A, palette.OTHER, palette.B, palette.C)


def efficiency(tiles: int, sms: int = 132, *, split: int = 1, steps: int = 64, stream: bool = False) -> float:
    """Return the share of the SMs' time that is work, for `tiles` equal tiles of `steps` steps of K each (modelled).

    One CTA per SM. split: each tile is cut along K into so many parts (Split-K); stream: the steps of all tiles are
    dealt evenly to the SMs (Stream-K). Starting, storing and adding up are left out. Raises GemmlabError for sizes
    below 1 and for more parts than steps.
    """
    if min(tiles, sms, split, steps) < 1 or split > steps:
        raise GemmlabError(f"{tiles} tiles, {sms} SMs, {split} parts of {steps} steps: at least 1, and parts ≤ steps")
    if stream:
        longest = -(-tiles * steps // sms)
    else:
        longest = -(-tiles * split // sms) * -(-steps // split)
    return tiles * steps / (sms * longest)


def tiles_of(M: int, N: int, BM: int, BN: int) -> int:
    """Return the tiles of BM × BN that cover C (M, N)."""
    return -(-M // BM) * -(-N // BN)


@styled
def wave_quantisation(tile=(128, 256), *, sizes=range(512, 8193, 128), sms: int = 132, measured=None,
                      machine: str = "NVIDIA H200", title: str = ""):
    """Draw the share of the SMs that square GEMMs of M = N can use, and measured rates relative to the best of them.

    tile: (BM, BN); sizes: of M = N; measured: [(M, TFLOP/s), …] recorded on `machine`, drawn as a share of the largest
    rate. Raises GemmlabError for sizes below 1.
    """
    model = [(size, efficiency(tiles_of(size, size, *tile), sms)) for size in sizes]
    figure, axes = new_figure(2.9)
    ax = axes[0, 0]
    ax.plot(*zip(*model, strict=True), color=palette.C, lw=1.3, ls="--")
    points = sorted(measured or [])
    best = max((rate for _, rate in points), default=0)
    if points:
        ax.plot([m for m, _ in points], [rate / best for _, rate in points], "o", ms=4, color=palette.INK)
    whole = [size for size, share in model if share > 0.999]
    _axis(ax, "M = N")
    ax.set_title(title or f"Tiles of {tile[0]} × {tile[1]} on {sms} SMs")
    said = "; ".join(f"{m}: {rate:.4g} TFLOP/s" for m, rate in points)
    dots = f" Dots: measured on {machine}, of the best." if points else ""
    return finish(
        figure,
        f"Share of {sms} SMs that M = N can use with tiles of {tile[0]} by {tile[1]} (modelled): lowest "
        f"{min(share for _, share in model):.0%}, full at {', '.join(map(str, whole[:6])) or 'no size'}. {said}",
        f"Dashed: modelled, whole waves of {sms} tiles.{dots}",
    )


@styled
def split_efficiency(*, tiles=range(1, 401), sms: int = 132, steps: int = 64, splits=(2, 4), stream: bool = True,
                     measured: Mapping[str, list] | None = None, machine: str = "NVIDIA H200", title: str = ""):
    """Draw the share of the SMs' time that is work over the number of tiles: whole tiles, Split-K, Stream-K.

    steps: of K per tile; splits: parts of Split-K; measured: {name: [(tiles, share), …]}, recorded on `machine`, each
    share one of the best rate. Curves are modelled as in `efficiency`. Raises GemmlabError as `efficiency`.
    """
    schemes = {"whole tiles": {}} | {f"Split-K, {s}": {"split": s} for s in splits}
    schemes |= {"Stream-K": {"stream": True}} if stream else {}
    figure, axes = new_figure(3.0)
    ax, said = axes[0, 0], []
    for number, (name, scheme) in enumerate(schemes.items()):
        curve = [(t, efficiency(t, sms, steps=steps, **scheme)) for t in tiles]
        ax.plot(*zip(*curve, strict=True), color=COLOURS[number % 5], lw=1.2, ls="--", label=f"{name} (modelled)")
        some = [curve[len(curve) * i // 4] for i in range(4)]
        said.append(f"{name}: " + ", ".join(f"{share:.0%} at {t}" for t, share in some))
    for number, (name, points) in enumerate((measured or {}).items()):
        look = {"color": COLOURS[number % 5], "marker": "osD^v"[number % 5], "ls": "none", "ms": 4.5}
        ax.plot(*zip(*points, strict=True), label=f"{name}, measured", **look)
        said.append(f"{name}, measured: " + ", ".join(f"{share:.0%} at {t}" for t, share in points))
    _axis(ax, "tiles of C")
    ax.legend(frameon=False, fontsize=7.5, loc="lower right")
    ax.set_title(title or f"Work of {sms} SMs, tiles of {steps} steps along K")
    seen = f" Measured on {machine}." if measured else ""
    caption = f"Modelled: even steps; starting, storing and adding up left out.{seen}"
    return finish(figure, f"Share of the SMs' time that is work. {'; '.join(said)}.", caption)


def _axis(ax, name):
    ax.set(xlabel=name, ylabel="share of the SMs", ylim=(0, 1.05))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.grid(which="major", axis="y", color="#EEEEEE", lw=0.7)
