"""Sphinx extension: a line below the title of each lesson and exercise page that says where on the ladder it stands."""

from pathlib import Path

from course_tables import load
from docutils import nodes
from sphinx.application import Sphinx

import kernels


def link(text: str, target: str, **attributes) -> nodes.reference:
    return nodes.reference(text, text, internal=True, refuri=target, **attributes)


def rungs_of(number: str) -> tuple[int, ...]:
    """Return the rungs of the ladder that a chapter adds, lowest first."""
    return tuple(spec.rung for spec in kernels.RUNGS if spec.chapter == number)


def spelled(rungs: tuple[int, ...]) -> str:
    """Return rungs in words: "rungs 4 to 6 of 24"."""
    last = kernels.RUNGS[-1].rung
    if not rungs:
        return "no rung of its own"
    return f"rung {rungs[0]} of {last}" if len(rungs) == 1 else f"rungs {rungs[0]} to {rungs[-1]} of {last}"


def strip(chapters: list[dict], here: dict, folder: str) -> nodes.container:
    """Return the line: part, rungs, links to the lesson or the exercises, and the written chapters' numbers."""
    page = "{number}_{slug}.html".format_map
    other = "exercises" if folder == "notebooks" else "notebooks"
    named = {"exercises": "exercises", "notebooks": "the lesson"}[other]
    rungs = rungs_of(here["number"])
    words = nodes.inline(classes=["where-words"])
    words += nodes.Text(f"{here['part']} · {spelled(rungs)} · ")
    words += link(named, f"../{other}/{page(here)}")
    if rungs:
        words += [nodes.Text(" · "), link("what changed", f"../book/changes.html#rung-{max(2, rungs[0])}")]
    numbers = nodes.inline(classes=["where-numbers"])
    for chapter in chapters:
        label = f"{chapter['number']} {chapter['title']}"
        if chapter is here:
            numbers += nodes.strong(here["number"], here["number"])
        else:
            numbers += link(chapter["number"], page(chapter), reftitle=label)
        numbers += nodes.Text(" ")
    return nodes.container("", nodes.paragraph("", "", words, numbers), classes=["where"])


def add_strip(app: Sphinx, doctree: nodes.document) -> None:
    folder, _, name = app.env.docname.partition("/")
    if folder not in ("notebooks", "exercises"):
        return
    written = [
        chapter
        for chapter in load(Path(app.srcdir) / "book")[0]
        if f"{folder}/{chapter['number']}_{chapter['slug']}" in app.env.found_docs
    ]
    here = next(chapter for chapter in written if name.startswith(chapter["number"]))
    title = next(doctree.findall(nodes.title))
    title.parent.insert(title.parent.index(title) + 1, strip(written, here, folder))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", add_strip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
