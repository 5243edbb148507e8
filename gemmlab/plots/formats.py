"""Number formats by their bits: sign, exponent, mantissa; range and spacing derived from them."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled


@dataclass(frozen=True)
class Format:
    """`exponent` and `mantissa` bits beside the sign; `unused` low bits of its 32-bit container; `largest` value,
    `smallest` normal value, and `spacing` of the numbers just above 1 (0 for an integer: all are 1 apart).
    """

    exponent: int
    mantissa: int
    largest: float
    smallest: float
    spacing: float
    unused: int = 0

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa


def _floating(dtype) -> Format:
    info = ml_dtypes.finfo(dtype)
    largest, smallest = float(info.max), float(info.smallest_normal)
    return Format(int(info.nexp), int(info.nmant), largest, smallest, float(info.eps))


def _tf32() -> Format:
    """TF32 is FP32 whose mantissa ends after 10 bits (PTX ISA, "Alternate floating-point data formats")."""
    single, kept = np.finfo(np.float32), 10
    largest = float(2.0 ** (single.maxexp - 1) * (2 - 2.0**-kept))
    return Format(8, kept, largest, float(single.smallest_normal), 2.0**-kept, unused=13)


FORMATS = {
    "FP32": _floating(np.float32), "TF32": _tf32(), "BF16": _floating(ml_dtypes.bfloat16),
    "FP16": _floating(np.float16), "FP8 e4m3": _floating(ml_dtypes.float8_e4m3fn),
    "FP8 e5m2": _floating(ml_dtypes.float8_e5m2), "INT8": Format(0, 7, 127, 1, 0),
}  # fmt: skip
COLUMNS = {"largest": 33.2, "least normal": 39.4, "gap above 1": 47.4}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@styled
def number_formats(*names: str, title: str = ""):
    """Draw the bits of number formats (all of FORMATS by default), with largest, smallest normal and gap above 1.

    Raises GemmlabError for an unknown name.
    """
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise GemmlabError(f"unknown format {unknown[0]!r}: use {', '.join(FORMATS)}")
    chosen = {name: FORMATS[name] for name in names or FORMATS}
    figure, axes = new_figure(0.75 + 0.3 * len(chosen))
    ax = axes[0, 0]
    for row, (name, form) in enumerate(chosen.items()):
        ax.text(-0.6, row + 0.45, name, ha="right", va="center", fontsize=8.5)
        _bits(ax, row, form)
        gap = "2" + str(int(np.log2(form.spacing))).translate(RAISED) if form.spacing else "1"
        values = (f"{form.largest:.3g}", f"{form.smallest:.2g}", gap)
        for x, value in zip(COLUMNS.values(), values, strict=True):
            ax.text(x, row + 0.45, value, va="center", fontsize=7.8)
    for heading, x in COLUMNS.items():
        ax.text(x, -0.25, heading, va="center", fontsize=7.5, color=palette.MUTED)
    ax.set(xlim=(-6.5, 53.5), ylim=(len(chosen), -0.7))
    ax.axis("off")
    ax.set_title(title or "Bits of a number")
    text = "; ".join(
        f"{name}: 1 sign, {f.exponent} exponent, {f.mantissa} mantissa bits, largest {f.largest:.3g}, smallest normal "
        f"{f.smallest:.2g}" + (f", gap above 1 {f.spacing:.2g}" if f.spacing else "")
        for name, f in chosen.items()
    )
    caption = "Grey: sign; orange: exponent (range); blue: mantissa (accuracy). Derived from the formats."
    return finish(figure, f"Number formats. {text}.", caption)


def _bits(ax, row, form):
    fields = (("", 1, palette.LEVELS["DRAM"]), ("exponent", form.exponent, palette.B),
              ("mantissa", form.mantissa, palette.A), ("unused", form.unused, palette.IDLE))  # fmt: skip
    left = 0
    for name, width, colour in fields:
        for bit in range(width):
            ax.add_patch(Rectangle((left + bit, row), 0.94, 0.82, facecolor=colour, lw=0))
        text = name if name == "unused" else f"{name} {width}" if width > 7 else str(width)
        if width > 3:
            ink = palette.ink_on(colour)
            ax.text(left + width / 2, row + 0.44, text, ha="center", va="center", fontsize=6.8, color=ink)
        left += width
