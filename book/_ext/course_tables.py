"""Sphinx extension: the ladder of chapters (`{ladder}`), the map of source sections (`{source-map}`), both from YAML,
and the list of exercises (`{exercise-list}`), from the notebooks and their checks.
"""

import functools
import itertools
import re
from pathlib import Path

import nbformat
import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import kernels
from gemmlab import results
from gemmlab.grading.exercise import chapter as chapter_exercises
from gemmlab.measuring.measure import RECORDED_ON

SHAPE = (4096, 4096, 4096)


@functools.cache
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


def fastest(path: Path) -> dict[str, float]:
    """Return {chapter: TFLOP/s of its fastest rung at 4096³} as a results file holds them, cold."""
    found, best = {}, {}
    for record in results.load(path)["records"] if path.exists() else ():
        if record["mode"] == "cold" and (record["M"], record["N"], record["K"]) == SHAPE:
            found[record["kernel"]] = record["tflops"]
    for spec in kernels.RUNGS:
        if spec.name in found:
            best[spec.chapter] = max(best.get(spec.chapter, 0.0), found[spec.name])
    return best


class Ladder(CourseDirective):
    """The chapters as rungs, grouped by part, the highest on top; at the right what each adds, and its fastest rung."""

    def run(self) -> list[nodes.Node]:
        path = results.DIRECTORY / f"{RECORDED_ON}.json"
        self.env.note_dependency(str(path))
        self.rates = fastest(path)
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
        rate = self.rates.get(chapter["number"])
        rung += self.markdown(f"[{chapter['rung']}]{{.adds}}" + (f" [{rate:.3g}]{{.rate}}" if rate else ""))
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


class ExerciseList(CourseDirective):
    """One table per chapter: every exercise, what kind of answer it wants, and the target that its notebook states."""

    TITLE = re.compile(r"^## (?P<id>\d\d\.\d+) .*$", re.MULTILINE)
    TARGET = re.compile(r"^\*\*Target\.\*\* (.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
    KINDS = {  # what an answer is, and the target of an exercise that states none
        "value": ("number", "Within {rel:.0%} of the right one."),
        "choice": ("names", "All of them, and no other."),
        "function": ("function", "Right on arguments that you do not see."),
        "layout": ("function", ""),
        "order": ("function", ""),
        "kernel": ("kernel", "Right at every shape, no finding."),
    }

    def run(self) -> list[nodes.Node]:
        text = []
        for chapter in self.data()[0]:
            if self.written(chapter):
                text += self.table(chapter)
        return self.markdown("\n".join(text))

    def table(self, chapter: dict) -> list[str]:
        page = f"exercises/{chapter['number']}_{chapter['slug']}"
        path = Path(self.env.srcdir) / f"{page}.ipynb"
        self.env.note_dependency(str(path))
        notebook = nbformat.read(path, as_version=4)
        said = {}
        for cell in notebook.cells:
            title = self.TITLE.search(cell.source) if cell.cell_type == "markdown" else None
            if title:
                target = self.TARGET.search(cell.source)
                said[title["id"]] = " ".join(target[1].split()) if target else None
        exercises = chapter_exercises(chapter["number"])
        points = sum(item.points for item in exercises)
        rows = [f"**{chapter['number']} [{chapter['title']}](/{page}.ipynb)**, {points} points", ""]
        rows += ["| | Exercise | Answer | Target |", "|---|---|---|---|"]
        for item in exercises:
            answer, target = self.KINDS[item.kind]
            if item.kind == "value" and item.rel < 0.005:  # a whole number
                target = "Exactly the right one."
            target = (said[item.id] or target.format(rel=getattr(item, "rel", 0))).replace("|", "\\|")
            rows.append(f"| {item.id} | {item.title} | {answer} | {target} |")
        return [*rows, ""]


def setup(app: Sphinx) -> dict:
    app.add_directive("exercise-list", ExerciseList)
    app.add_directive("ladder", Ladder)
    app.add_directive("source-map", SourceMap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
