"""A small table that shows itself: HTML on a page, aligned text elsewhere."""

from __future__ import annotations

import html
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """`columns`: titles; `rows`: of text, the first column to the left, the others to the right; `links` become a line
    of (text, address) under the table, after `note`.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    links: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]

        def line(row):
            return "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()

        sources = ["Sources: " + ", ".join(text for text, _ in self.links) + "."] if self.links else []
        return "\n".join([self.title, line(self.columns), *map(line, self.rows), *filter(None, (self.note,)), *sources])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def cells(row, tag):
            return "".join(
                f'<{tag} style="text-align:{"left" if i == 0 else "right"}">{html.escape(text)}</{tag}>'
                for i, text in enumerate(row)
            )

        body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in self.rows)
        sources = ", ".join(f'<a href="{html.escape(url)}">{html.escape(text)}</a>' for text, url in self.links)
        note = " ".join(filter(None, (html.escape(self.note), f"Sources: {sources}." if sources else "")))
        return (
            f'<div style="overflow-x:auto"><table><caption>{html.escape(self.title)}</caption>'
            f"<thead><tr>{cells(self.columns, 'th')}</tr></thead><tbody>{body}</tbody></table></div>"
            + (f"<p>{note}</p>" if note else "")
        )
