"""Where the GEMMs of a transformer sit under the roof, while it reads a prompt and while it writes tokens."""

from __future__ import annotations

from gemmlab.hardware import gpu, rate_name
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from gemmlab.roofline import attainable
from gemmlab.roofline import llm_layers as shapes_of

PHASES = {"prefill": (palette.INK, "o"), "decode": ("white", "s")}


@styled
def llm_layers(on="H200", dtype="bfloat16", *, batch: int = 1, seq=4096, d: int = 4096, heads: int = 32, title=""):
    """Draw the limits of a decoder block's GEMMs, prefill above decode, at their intensities by ideal bytes.

    batch sequences of `seq` tokens, model width `d`, `heads` attention heads. Every point is a limit (modelled), none
    is a measurement. Raises GemmlabError for an unknown GPU or data type and for sizes that do not divide.
    """
    card, dtype = gpu(on), rate_name(dtype)
    layers = {p: shapes_of(p, batch=batch, seq=seq, d=d, heads=heads) for p in PHASES}
    names = [layer.name for layer in layers["prefill"]]
    found = {p: [layer.intensity(dtype) for layer in some] for p, some in layers.items()}
    low = min(min(values) for values in found.values()) / 2
    high = max(max(max(values) for values in found.values()), card.ridge(dtype)) * 3
    figure, axes = new_figure(3.9, rows=2, sharex=True, height_ratios=(1, 1.1))
    _roof(axes[0, 0], card, dtype, found, (low, high))
    _rows(axes[1, 0], card, dtype, found, names)
    axes[0, 0].set_title(title or f"Limits of a transformer layer's GEMMs, {card.name}, {dtype}")
    text = "; ".join(
        f"{phase}: " + ", ".join(f"{name} {value:.4g}" for name, value in zip(names, values, strict=True))
        for phase, values in found.items()
    )
    return finish(
        figure,
        f"Intensity in FLOP per ideal byte of the GEMMs of a transformer layer, {dtype}, {card.name} (ridge at "
        f"{card.ridge(dtype):.3g}). {text}. Those left of the ridge are bound by memory.",
        f"Modelled from published dense rates and ideal bytes: batch {batch}, {seq} tokens, width {d}, {heads} heads.",
    )


def _roof(ax, card, dtype, found, span):
    low, high = span
    ridge, peak = card.ridge(dtype), card.peak(dtype)
    ax.plot([low, ridge, high], [attainable(low, card, dtype), peak, peak], color=palette.ROOF, lw=2)
    for phase, values in found.items():
        colour, shape = PHASES[phase]
        rates = [attainable(value, card, dtype) for value in values]
        ax.plot(values, rates, shape, color=colour, ms=6.5, mec=palette.INK, mew=0.6, zorder=4)
        side = "left" if phase == "decode" else "right"
        place, shift = (min(values), min(rates)), (10, -3) if side == "left" else (-8, 5)
        ax.annotate(phase, place, shift, textcoords="offset points", ha=side, fontsize=9, fontweight="bold")
    ax.set(xscale="log", yscale="log", xlim=span, ylabel="TFLOP/s, limit", ylim=(None, peak * 3.5))
    ax.axvline(ridge, color=palette.ROOF, lw=0.8, ls=":")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.text(high, peak * 1.45, f"{peak:,g} TFLOP/s dense", ha="right", va="bottom", fontsize=8.5, color=palette.MUTED)


def _rows(ax, card, dtype, found, names):
    """One row for each GEMM: prefill and decode at their intensities, so that no label can meet another."""
    for row in range(len(names)):
        ax.plot([found["decode"][row], found["prefill"][row]], [row, row], color="#DDDDDD", lw=2, zorder=1)
        for phase, values in found.items():
            colour, shape = PHASES[phase]
            ax.plot(values[row], row, shape, color=colour, ms=6.5, mec=palette.INK, mew=0.6, zorder=3)
    ridge = card.ridge(dtype)
    ax.axvline(ridge, color=palette.ROOF, lw=0.8, ls=":")
    ax.text(ridge, len(names) - 0.4, f" ridge {ridge:.3g}", fontsize=8, color=palette.MUTED, va="center")
    ax.set_yticks(range(len(names)), names)
    ax.set(ylim=(len(names), -0.7), xlabel="intensity, FLOP per ideal byte")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
