"""The repository's own book: in sync, complete, one setting for its address."""

import ast
import re
import sys
from pathlib import Path

import nbformat
import pytest

import kernels
from tools import sync
from tools.common import ROOT, ToolError, repository, toc_entries

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from course_tables import load  # noqa: E402  (a Sphinx extension: not a package)

CHAPTERS, SOURCES = load(ROOT / "book")


def test_notebooks_are_in_sync():
    assert sync.differences(ROOT) == []


def test_kernels_is_ours():
    assert Path(kernels.__file__).is_relative_to(ROOT), "a PyPI package called kernels came first on sys.path"


def test_every_toc_page_exists():
    for entry in toc_entries():
        assert any((ROOT / f"{entry}{suffix}").exists() for suffix in (".md", ".ipynb")), entry


def test_a_broken_toc_is_one_line(tmp_path):
    for content in (None, "root: ["):
        if content:
            (tmp_path / "_toc.yml").write_text(content)
        with pytest.raises(ToolError, match="_toc.yml: not a readable table of contents") as caught:
            toc_entries(tmp_path)
        assert "\n" not in str(caught.value)


def test_every_lesson_is_in_the_toc_with_its_exercises():
    lessons = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert lessons
    for stem in lessons:
        assert {f"notebooks/{stem}", f"exercises/{stem}"} <= set(toc_entries()), stem


def test_chapters_are_numbered_without_gap_and_lessons_are_chapters():
    assert [chapter["number"] for chapter in CHAPTERS] == [f"{n:02d}" for n in range(1, len(CHAPTERS) + 1)]
    names = {f"{chapter['number']}_{chapter['slug']}" for chapter in CHAPTERS}
    assert {path.stem for path in (ROOT / "notebooks").glob("*.py")} <= names


def test_every_source_section_has_an_existing_chapter():
    numbers = {chapter["number"] for chapter in CHAPTERS}
    assert [source["id"] for source in SOURCES] == ["S0", "S1", "S3", "S4"]
    for source in SOURCES:
        for entry in source["sections"]:
            assert entry["title"] and entry["chapters"], (source["id"], entry)
            assert set(entry["chapters"]) <= numbers, (source["id"], entry)


def test_source_sections_have_no_gap():
    """Every number follows from the one before it: next sibling, first child, or the next of an ancestor."""
    for source in SOURCES:
        skipped = set(source.get("skips", []))
        seen = [entry["section"] for entry in source["sections"]]
        assert len(seen) == len(set(seen)), source["id"]
        known = set(seen) | skipped
        for section in seen:
            *parents, last = section.split(".")
            if int(last) > 1:
                before = ".".join([*parents, str(int(last) - 1)])
                children = any(name.startswith(f"{before}.") for name in known)
                assert before in known or children, f"{source['id']}: {section} stands there, {before} does not"
        assert not skipped & set(seen), source["id"]


def test_the_repository_is_named_in_one_place_and_where_it_must_be_typed():
    url, _ = repository()
    typed = {"README.md", "book/how_to_use.md"}  # commands that a reader types
    generated = {"notebooks", "solutions", "exercises"}
    owner = re.escape(url.removeprefix("https://github.com/"))
    for path in ROOT.rglob("*"):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in {".md", ".py", ".yml"} or name.startswith((".venv", "_build", "tests/book", ".git/")):
            continue
        if name == "_config.yml" or name in typed or name.split("/")[0] in generated:
            continue
        assert not re.search(owner, path.read_text()), f"{name} repeats the repository's address; use _config.yml"
    for name in typed:
        assert url in (ROOT / name).read_text(), f"{name} must name {url}"


def imports(source: str) -> set[str]:
    """First part of every module that this code imports."""
    nodes = list(ast.walk(ast.parse(source)))
    plain = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    from_ = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in plain | from_}


def test_pages_run_without_the_book_tooling():
    """What a reader runs on Colab imports nothing that only builds or checks the book."""
    tooling = {"sphinx", "docutils", "jupyter_book", "myst_nb", "myst_parser", "jupytext", "bs4", "tools", "tests"}
    packages = [ROOT / name for name in ("gemmlab", "kernels", "ptxemu")]
    sources = {path: path.read_text() for package in packages for path in package.rglob("*.py")}
    for path in [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*.ipynb"), *ROOT.glob("solutions/*.ipynb")]:
        cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        code = [cell for cell in cells if not cell.startswith("%%")]
        sources[path] = re.sub(r"^\s*[%!].*$", "", "\n".join(code), flags=re.MULTILINE)
    for path, source in sources.items():
        assert not imports(source) & tooling, f"{path.name} imports {imports(source) & tooling}"
