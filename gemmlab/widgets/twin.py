"""A component of the book as notebook output: self-contained HTML with its script and data inlined.

One mechanism serves Jupyter, Colab and the rendered book: `text/html` output. It loads nothing from a network, several
on one page share one copy of the code at run time, and where scripts do not run the text alternative stays.
"""

from __future__ import annotations

import hashlib
import html
import json
from functools import cache
from importlib.resources import files

from gemmlab.plots import palette

PARTS = (
    "sectors", "banks", "timeline", "fragments", "roofline", "tiles", "patch", "occupancy", "swizzle", "tensormap",
    "phases", "descriptor", "clusters",
)  # fmt: skip
STATIC = files(__package__) / "static"


@cache
def asset(name: str) -> str:
    """Return the text of a file in `gemmlab/widgets/static`."""
    return (STATIC / name).read_text(encoding="utf-8")


class Twin:
    """One interactive component with its data. Shows itself in a notebook; `html()` is the same for any page.

    part: one of PARTS; data: what `gemmlab.plots.export` makes; alt: what a reader without scripts is told.
    Raises ValueError for an unknown part.
    """

    _shown = 0

    def __init__(self, part: str, data: dict, alt: str):
        if part not in PARTS:
            raise ValueError(f"unknown component {part!r}: use one of {', '.join(PARTS)}")
        self.part, self.data, self.alt = part, data, " ".join(alt.split())

    def html(self, identifier: str | None = None) -> str:
        """Return the HTML of the component; `identifier` must be unique on the page (one is made when not given)."""
        text = json.dumps(self.data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        if identifier is None:
            Twin._shown += 1
            identifier = f"gl-{self.part}-{hashlib.sha256(text.encode()).hexdigest()[:8]}-{Twin._shown}"
        return (
            f"<style>{palette.css('.gl-viz')}{asset('viz.css')}</style>"
            f'<div class="gl-viz" id="{identifier}" data-component="{self.part}" role="group" '
            f'aria-label="{html.escape(self.data.get("title") or self.part)}">'
            f'<script type="application/json">{text}</script>'
            f'<p class="gl-fallback">{html.escape(self.alt)}</p></div>'
            f"<script>{asset('core.js')}\n{asset(self.part + '.js')}\n"
            f"gemmLadder.mount({json.dumps(identifier)});</script>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self.html(), "text/plain": f"[interactive figure] {self.alt}"}
