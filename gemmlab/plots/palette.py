"""The book's one palette: Okabe-Ito colours, each with a fixed meaning in every figure, component and page.

Colours: M. Okabe and K. Ito, "Color Universal Design" (2008), distinguishable with common colour-vision deficiencies.
"""

from __future__ import annotations

A = "#0072B2"  # operand A, and what belongs to it
B = "#E69F00"  # operand B
C = "#009E73"  # operand C and the accumulator
PROBLEM = "#D55E00"  # what costs: conflicts, waste, findings
IN_FLIGHT = "#CC79A7"  # data on its way: copies issued and not yet landed
ISSUING = "#E6BCD3"  # the moment when a copy is issued: the same, at half strength
OTHER = "#56B4E9"  # a fourth thing, where a figure needs one (the remaining Okabe-Ito blue)

INK = "#222222"  # text and outlines on the white card
MUTED = "#6B6B6B"  # secondary text: 5.3:1 on white
ROOF = "#8A8A8A"  # rooflines
CUBLAS = "#000000"  # rivals: black, dashed
LEVELS = {"registers": "#F0F0F0", "shared": "#D4D4D4", "L2": "#ADADAD", "DRAM": "#868686"}  # memory levels: greys

IDLE = "#F3F3F3"  # a cell that nothing touches
WASTED = "#DADADA"  # bytes moved and not used

MEANINGS = {
    "A": A,
    "B": B,
    "C": C,
    "problem": PROBLEM,
    "in-flight": IN_FLIGHT,
    "issuing": ISSUING,
    "other": OTHER,
    "roof": ROOF,
    "idle": IDLE,
    "wasted": WASTED,
}


def of_array(name: str | None) -> str:
    """Return the colour of the array called `name`: A, B and C have theirs, everything else shares one."""
    return {"A": A, "B": B, "C": C}.get(name or "", OTHER)


def tint(colour: str, amount: float) -> str:
    """Blend `colour` ("#rrggbb") with white; amount 0 is white, 1 the colour itself."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (c - 255) * amount):02X}" for c in channels)


def ink_on(colour: str) -> str:
    """Return black or white, whichever reads better on `colour` (WCAG relative luminance)."""
    linear = []
    for i in (1, 3, 5):
        c = int(colour[i : i + 2], 16) / 255
        linear.append(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


def css(selector: str = ":root") -> str:
    """Return the palette as CSS custom properties (--gl-a, --gl-problem, …) on `selector`."""
    return selector + " { " + " ".join(f"--gl-{name.lower()}: {colour};" for name, colour in MEANINGS.items()) + " }\n"
