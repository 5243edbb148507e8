"""The registers of a CTA at its launch and after setmaxnreg, beside the file of an SM."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.patches import Rectangle

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from ptxemu.profile import H200

UNIT, LEAST, MOST = 8, 24, 256  # setmaxnreg takes multiples of 8 from 24 to 256 (PTX ISA, "setmaxnreg")
SHADES = (palette.OTHER, palette.C, palette.A, palette.B)


@styled
def register_budget(roles: Mapping[str, tuple[int, int]], launch: int, *, on=None, title: str = ""):
    """Draw how a CTA's registers are divided at the launch and after setmaxnreg.

    roles: {name: (warps, registers per thread after setmaxnreg)}; launch: registers per thread that the compiler gave
    all of them; on: a `ptxemu.DeviceProfile` (default: H200). The pool of a CTA is what it got at the launch: roles can
    take no more than others gave back. Raises GemmlabError for numbers that setmaxnreg does not take.
    """
    device = on or H200
    for name, (warps, registers) in roles.items():
        if warps < 1 or registers % UNIT or not LEAST <= registers <= MOST:
            raise GemmlabError(f"{name}: {registers} registers in {warps} warps; setmaxnreg takes multiples of {UNIT} "
                               f"from {LEAST} to {MOST}")
    warps = sum(count for count, _ in roles.values())
    rows = {"at the launch": {name: count * 32 * launch for name, (count, _) in roles.items()},
            "after setmaxnreg": {name: count * 32 * each for name, (count, each) in roles.items()}}
    pool, used = warps * 32 * launch, sum(rows["after setmaxnreg"].values())
    figure, axes = new_figure(1.95)
    ax, top = axes[0, 0], device.registers_per_sm
    for y, parts in enumerate(rows.values()):
        left = 0
        for number, (name, size) in enumerate(parts.items()):
            colour = SHADES[number % len(SHADES)]
            ax.add_patch(Rectangle((left, y + 0.1), size, 0.72, facecolor=colour, edgecolor="white", lw=1))
            each = roles[name][1] if y else launch
            text = f"{name}\n{roles[name][0]} × 32 × {each}"
            if size > 0.13 * top:
                ax.text(left + size / 2, y + 0.46, text, ha="center", va="center", fontsize=7.5,
                        color=palette.ink_on(colour))  # fmt: skip
            left += size
    late = palette.PROBLEM if used > pool else palette.INK
    for value, colour in ((pool, late), (top, palette.MUTED)):
        ax.axvline(value, color=colour, lw=1.2, ls="--")
    text = f"{pool:,} registers of the CTA, of {top:,} of the SM"
    ax.text(0.99 * min(pool, top), -0.14, text, ha="right", va="center", fontsize=8, color=late)
    ax.set(xlim=(0, 1.02 * max(top, used)), ylim=(2, -0.3), xticks=[])
    ax.set_yticks([0.46, 1.46], list(rows))
    ax.tick_params(axis="y", length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title or "Registers of a CTA", pad=8)
    verdict = "waits for ever: roles take more than the others gave back" if used > pool else "fits"
    text = "; ".join(f"{name}: {count} warps, {launch} then {each} per thread" for name, (count, each) in roles.items())
    caption = f"warps × 32 threads × registers. After setmaxnreg {used:,} of the CTA's {pool:,}: {verdict}. Derived."
    return finish(figure, f"Registers of a CTA. {text}. {caption}", caption[0].upper() + caption[1:])
