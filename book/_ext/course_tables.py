"""Sphinx extension: the ladder of chapters (`{ladder}`) and the map of source sections (`{source-map}`), from YAML."""

import itertools
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def load(folder: Path) -> tuple[list[dict], list[dict]]:
    """Return (chapters, sources) of book/chapters.yml and book/sources.yml."""
    return tuple(yaml.safe_load((folder / name).read_text()) for name in ("chapters.yml", "sources.yml"))


class CourseDirective(SphinxDirective):
    """Knows which chapters are written: those whose notebook is part of this build."""

    def data(self) -> tuple[list[dict], list[dict]]:
        folder = Path(self.env.srcdir) / "book"
        for name in ("chapters.yml", "sources.yml"):
            self.env.note_dependency(str(folder / name))
        return load(folder)

    def written(self, chapter: dict) -> str | None:
        page = f"notebooks/{chapter['number']}_{chapter['slug']}"
        return page if page in self.env.found_docs else None

    def markdown(self, text: str) -> list[nodes.Node]:
        holder = nodes.container()
        self.state.nested_parse(text.split("\n"), self.content_offset, holder)
        return holder.children


class Ladder(CourseDirective):
    """The chapters as rungs, grouped by part, the highest on top."""

    def run(self) -> list[nodes.Node]:
        ladder = nodes.container(classes=["ladder"])
        for part, chapters in itertools.groupby(reversed(self.data()[0]), key=lambda chapter: chapter["part"]):
            section = nodes.container(classes=["part"])
            section += nodes.paragraph(part, part, classes=["part-name"])
            for chapter in chapters:
                section += self.rung(chapter)
            ladder += section
        return [ladder]

    def rung(self, chapter: dict) -> nodes.Node:
        page = self.written(chapter)
        rung = nodes.container(classes=["rung", "written" if page else "planned"])
        title = f"[{chapter['title']}](/{page}.ipynb)" if page else f"[{chapter['title']}]{{.title}}"
        rung += self.markdown(f"**{chapter['number']}** {title} [{chapter['question']}]{{.question}}")
        rung += self.markdown(f"[{chapter['rung']}]{{.adds}}")
        return rung


class SourceMap(CourseDirective):
    """One table per source: section, title, chapters, written or planned."""

    def run(self) -> list[nodes.Node]:
        chapters, sources = self.data()
        by_number = {chapter["number"]: chapter for chapter in chapters}
        text = []
        for source in sources:
            text += [f"**{source['id']}: {source['title']}** ({source['author']}; {source['language']})", ""]
            text += ["| Section | Topic | Chapter | State |", "|---|---|---|---|"]
            for entry in source["sections"]:
                homes = [by_number[number] for number in entry["chapters"]]
                links = ", ".join(self.link(chapter) for chapter in homes)
                done = sum(bool(self.written(chapter)) for chapter in homes)
                state = "written" if done == len(homes) else "partly written" if done else "planned"
                text.append(f"| {entry['section']} | {entry['title']} | {links} | {state} |")
            text.append("")
        return self.markdown("\n".join(text))

    def link(self, chapter: dict) -> str:
        name, page = f"{chapter['number']} {chapter['title']}", self.written(chapter)
        return f"[{name}](/{page}.ipynb)" if page else name


def setup(app: Sphinx) -> dict:
    app.add_directive("ladder", Ladder)
    app.add_directive("source-map", SourceMap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
