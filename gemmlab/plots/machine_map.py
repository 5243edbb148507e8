"""Grid, block, warp and lane above the hardware that runs them: blocks go to SMs, warps to schedulers."""

from __future__ import annotations

from gemmlab.errors import GemmlabError
from gemmlab.plots import palette
from gemmlab.plots.figure import WIDTH, BookFigure, finish, styled

# One hue, as colours of the palette stand for matrices and states: the darker a block, the higher its SM's number.
SHADES = tuple(palette.tint(palette.C, strength) for strength in (0.2, 0.4, 0.6, 0.8, 0.9, 1.0))
SCHEDULERS = 4


@styled
def machine_map(blocks: int = 8, warps: int = 8, sms: int = 4, *, title=""):
    """Draw a grid of `blocks`, each of `warps` warps, dealt out in turn to `sms` SMs with four schedulers each.

    The real order of dealing is not documented; in turn is what an idle GPU is seen to do. Raises GemmlabError for
    sizes that do not fit the picture (1 to 16 blocks, 1 to 16 warps, 1 to 6 SMs).
    """
    for name, value, most in (("blocks", blocks, 16), ("warps", warps, 16), ("sms", sms, len(SHADES))):
        if not isinstance(value, int) or not 1 <= value <= most:
            raise GemmlabError(f"{name} = {value!r}: the picture takes 1 to {most}")
    figure = BookFigure(figsize=(WIDTH, 3.5))
    ax = figure.add_axes((0.01, 0.09, 0.98, 0.83))
    ax.set(xlim=(0, 100), ylim=(0, 60))
    ax.axis("off")

    def box(x, y, w, h, face, text="", size=8.5, edge="white"):
        ax.add_patch(_rectangle((x, y), w, h, face, edge))
        if text:
            ax.text(x + w / 2, y + h / 2, text, ha="center", va="center", fontsize=size, color=palette.ink_on(face))

    ax.text(0, 58, "grid", fontsize=9.5, va="center")
    pitch = 88 / blocks
    for block in range(blocks):
        text = f"block {block}" if blocks <= 8 else f"{block}"
        box(12 + block * pitch, 55, pitch - 0.8, 6, SHADES[block % sms], text, 8)
    ax.text(0, 46.5, "block 0", fontsize=9.5, va="center")
    pitch = 88 / warps
    for warp in range(warps):
        box(12 + warp * pitch, 43.5, pitch - 0.8, 6, palette.tint(palette.C, 0.85 if warp == 0 else 0.25),
            f"warp {warp}" if warps <= 8 else f"{warp}", 8)
    ax.text(0, 35.5, "warp 0", fontsize=9.5, va="center")
    for lane in range(32):
        box(12 + lane * 88 / 32, 33, 88 / 32 - 0.3, 5, palette.tint(palette.C, 0.3 + 0.6 * lane / 31), str(lane), 6)
    width = 100 / sms
    for sm in range(sms):
        left = sm * width
        held = list(range(sm, blocks, sms))
        box(left + 0.6, 0, width - 1.2, 27, "#F3F3F3", edge=palette.MUTED)
        ax.text(left + 2, 24.3, f"SM {sm}", fontsize=9.5, fontweight="bold", va="center")
        ax.text(left + width - 2, 24.3, "block " + ", ".join(map(str, held)) if held else "idle", fontsize=8,
                ha="right", va="center")
        inner = (width - 4) / SCHEDULERS
        for scheduler in range(SCHEDULERS):
            x = left + 2 + scheduler * inner
            mine = [warp for warp in range(warps) if warp % SCHEDULERS == scheduler]
            box(x, 9, inner - 0.6, 12.5, SHADES[sm] if held and mine else palette.IDLE)
            some = ", ".join(map(str, mine[:3])) + ("…" if len(mine) > 3 else "")
            text = f"warps\n{some}\n32\nlanes" if held and mine else "32\nlanes"
            ax.text(x + inner / 2 - 0.3, 15.2, text, fontsize=6.6, ha="center", va="center", linespacing=1.35)
        box(left + 2, 5, width - 4.6, 3, palette.LEVELS["registers"], "registers 256 KB", 6.8, palette.MUTED)
        box(left + 2, 1.2, width - 4.6, 3, palette.LEVELS["shared"], "L1 + shared 256 KB", 6.8, palette.MUTED)
    figure.text(0.012, 0.985, title or "Grid, block, warp, lane, and where they run", va="top", fontsize=10.5,
                fontweight="bold")
    return finish(
        figure,
        f"A grid of {blocks} blocks of {warps} warps of 32 lanes. Blocks are dealt in turn to {sms} SMs: "
        + "; ".join(f"SM {sm} has blocks {', '.join(map(str, range(sm, blocks, sms)))}" for sm in range(sms))
        + ". In each SM four schedulers with 32 lanes share the warps of its blocks.",
        "Numbers under a scheduler: the warps of each resident block that it issues for.",
    )


def _rectangle(place, width, height, face, edge):
    from matplotlib.patches import Rectangle

    return Rectangle(place, width, height, facecolor=face, edgecolor=edge, linewidth=0.7)
