"""A small table that shows itself: HTML on a page, aligned text elsewhere."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """`columns`: titles; `rows`: of text. Numbers stand to the right, words and the first column to the left; `links`
    become a line of (text, address) under the table, after `note`.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    links: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]

        def line(row):
            right = self._right()
            cells = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True))
            return "  ".join(cells).rstrip()

        sources = ["Sources: " + ", ".join(text for text, _ in self.links) + "."] if self.links else []
        return "\n".join([self.title, line(self.columns), *map(line, self.rows), *filter(None, (self.note,)), *sources])

    __repr__ = __str__

    def _right(self) -> list[bool]:
        """Say of each column whether it stands to the right: any but the first with more numbers than words."""
        columns = zip(self.columns, *self.rows, strict=True)
        return [i > 0 and 2 * sum(map(_is_number, cells)) > len(cells) for i, (_, *cells) in enumerate(columns)]

    def _repr_html_(self) -> str:
        def cells(row, tag):
            return "".join(
                f'<{tag} style="text-align:{"right" if right else "left"}">{html.escape(text)}</{tag}>'
                for text, right in zip(row, self._right(), strict=True)
            )

        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in self.rows)
        sources = ", ".join(f'<a href="{html.escape(url)}">{html.escape(text)}</a>' for text, url in self.links)
        note = " ".join(filter(None, (html.escape(self.note), f"Sources: {sources}." if sources else "")))
        return (
            f'<div style="overflow-x:auto"><table><caption>{html.escape(self.title)}</caption>'
            f"<thead><tr>{cells(self.columns, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"
            + (f"<p>{note}</p>" if note else "")
        )


def _is_number(text: str) -> bool:
    """Say whether a cell is a number with its unit, several of them, or a sign that one is missing."""
    return bool(re.fullmatch(r"[\d.,/×%–\- ]+[A-Za-zµ/]*|not recorded.*|", text.strip()))
