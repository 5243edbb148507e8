"""Sphinx extension: what changed from each rung to the next (`{rung-changes}`), from the files of the kernels."""

import difflib

from course_tables import CourseDirective
from docutils import nodes
from sphinx.application import Sphinx

import kernels
from kernels.spec import Spec


def changes(below: Spec, spec: Spec) -> list[str]:
    """Return the unified diff of two kernels' files, without its two header lines; empty if they share a file."""
    texts = [entry.path.read_text().splitlines() for entry in (below, spec)]
    return list(difflib.unified_diff(*texts, n=2, lineterm=""))[2:]


def summary(spec: Spec, diff: list[str]) -> str:
    """Return how many lines a diff adds and removes, or which macros differ, in words."""
    if not diff:
        return "the same file, compiled with " + ", ".join(f"{name}={value}" for name, value in spec.defines.items())
    added, removed = (sum(line.startswith(sign) for line in diff) for sign in "+-")
    return f"+{added} −{removed} lines"


class RungChanges(CourseDirective):
    """A closed box for each rung: its title, how many lines changed, and the diff against the rung below."""

    def run(self) -> list[nodes.Node]:
        boxes = [self.box(kernels.spec(spec.prev), spec) for spec in kernels.RUNGS if spec.prev]
        return self.markdown("\n".join(boxes))

    def box(self, below: Spec, spec: Spec) -> str:
        self.env.note_dependency(str(spec.path))
        diff = changes(below, spec)
        files = f"`{below.file}` → `{spec.file}`: {spec.change}."
        code = "\n".join(["", "````diff", *diff, "````"]) if diff else ""
        head = f":::::{{dropdown}} {spec.rung} · {spec.title} ({summary(spec, diff)})\n:name: rung-{spec.rung}\n"
        return f"{head}\n{files}\n{code}\n:::::\n"


def setup(app: Sphinx) -> dict:
    app.add_directive("rung-changes", RungChanges)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
