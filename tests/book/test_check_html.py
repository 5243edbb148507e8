"""Each fault of a built page is found and named; a sound page is silent."""

import json

import pytest

from tools import check_html
from tools.common import ToolError

PAGE = """<html><head><link rel="stylesheet" href="../_static/a.css"></head><body><article>
<a href="#here">x</a><h1 id="here">Lesson</h1><div class="cell_output">2</div>
<a href="https://colab.research.google.com/github/me/book/blob/main/notebooks/01_a.ipynb">Colab</a>
{extra}</article></body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "_config.yml").write_text("repository:\n  url: https://github.com/me/book\n  branch: main\n")
    (tmp_path / "_toc.yml").write_text("root: notebooks/01_a\n")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks/01_a.ipynb").write_text(json.dumps({"cells": []}))
    html = tmp_path / "html"
    for name, text in {
        "index.html": "<html></html>",
        "searchindex.js": "coalesc",
        "_static/a.css": "",
        "notebooks/01_a.html": PAGE.format(extra=""),
    }.items():
        (html / name).parent.mkdir(parents=True, exist_ok=True)
        (html / name).write_text(text)
    check_html.parse.cache_clear()
    check_html.anchors.cache_clear()
    return tmp_path


def test_a_sound_book_is_silent(site):
    assert check_html.check(site / "html", site) == []


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ('<a href="gone.html">x</a>', "link to gone.html, which does not exist"),
        ('<a href="../../outside.html">x</a>', "which does not exist"),
        ('<a href="#gone">x</a>', "link to #gone: the page has no such anchor"),
        ('<a href="../index.html#gone">x</a>', "has no such anchor"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<img src="//cdn.example/x.png" alt="">', "loads //cdn.example/x.png"),
        ("<pre>Traceback (most recent call last)</pre>", "shows a traceback"),
        ('<div class="system-message">x</div>', "has a Sphinx error"),
        ('<img src="../_static/a.css">', "has no alternative text"),
        ('<a href="https://colab.research.google.com/github/other/book/blob/main/a.ipynb">x</a>', "not in https"),
        ('<a href="https://colab.research.google.com/github/me/book/blob/main/a.md">x</a>', "not a notebook"),
    ],
)
def test_each_fault_is_named(site, extra, message):
    (site / "html/notebooks/01_a.html").write_text(PAGE.format(extra=extra))
    problems = check_html.check(site / "html", site)
    assert len(problems) == 1 and message in problems[0] and problems[0].startswith("notebooks/01_a.html ")


def test_a_lesson_without_output_is_found(site):
    path = site / "html/notebooks/01_a.html"
    path.write_text(path.read_text().replace("cell_output", "other"))
    assert check_html.check(site / "html", site) == ["notebooks/01_a.html is a lesson without a single output"]


def test_a_missing_page_and_an_empty_search_index_are_found(site):
    (site / "html/notebooks/01_a.html").unlink()
    (site / "html/searchindex.js").write_text("")
    problems = check_html.check(site / "html", site)
    assert problems[0].startswith("notebooks/01_a.html is missing") and "search would find nothing" in problems[1]


def test_a_corrupt_notebook_behind_a_button_is_found(site):
    (site / "notebooks/01_a.ipynb").write_text("{")
    assert any("not valid JSON" in line for line in check_html.check(site / "html", site))


def test_no_book_is_an_error(tmp_path):
    with pytest.raises(ToolError, match="run 'make book' first"):
        check_html.check(tmp_path, tmp_path)
