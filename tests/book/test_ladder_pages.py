"""What the book's pages about the ladder say: every rung stands in one chapter and differs from the rung below."""

import sys

import kernels
from tools.common import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from course_tables import load  # noqa: E402  (Sphinx extensions: not a package)
from rung_changes import changes, summary  # noqa: E402
from where_am_i import rungs_of, spelled  # noqa: E402


def test_every_rung_belongs_to_one_chapter():
    found = [rung for chapter in load(ROOT / "book")[0] for rung in rungs_of(chapter["number"])]
    assert found == sorted(spec.rung for spec in kernels.LADDER if spec.rung)
    assert spelled(rungs_of("02")) == "no rung of its own"
    assert spelled(rungs_of("07")) == f"rungs 4 to 6 of {found[-1]}"


def test_every_rung_differs_from_the_one_below_in_text_or_macros():
    for spec in kernels.LADDER:
        if spec.rung and spec.prev:
            below = kernels.spec(spec.prev)
            said = summary(spec, changes(below, spec))
            assert said.startswith("+") or (spec.file == below.file and spec.defines != below.defines), spec.name
