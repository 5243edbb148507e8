"""Check the built book: links, launch buttons, outside resources, tracebacks, missing outputs, sizes.

python -m tools.check_html        exit 1 with one line per problem; 2 if there is no built book
"""

import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlparse

from bs4 import BeautifulSoup

from tools.common import ROOT, ToolError, repository, run, toc_entries

PAGE_LIMIT = 3 << 20
BOOK_LIMIT = 60 << 20
GENERATED = {"genindex", "search"}  # Sphinx's own pages: checked for resources, not for content
TRACEBACK = re.compile(r"Traceback \(most recent call last\)")


@cache
def parse(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(), "html.parser")


@cache
def anchors(path: Path) -> frozenset[str]:
    return frozenset(tag["id"] for tag in parse(path).find_all(id=True)) | {"top"}


def broken_links(page: Path, site: Path) -> list[str]:
    """Links and resources within the book that lead nowhere."""
    problems = []
    for tag in parse(page).find_all(["a", "img", "script", "link", "source", "iframe"]):
        target = tag.get("href") or tag.get("src") or ""
        url = urlparse(target)
        if not target or url.scheme or url.netloc:
            continue
        path = (page.parent / unquote(url.path)).resolve() if url.path else page
        if not path.is_relative_to(site) or not path.is_file():
            problems.append(f"link to {target}, which does not exist")
        elif url.fragment and path.suffix == ".html" and unquote(url.fragment) not in anchors(path):
            problems.append(f"link to {target}: the page has no such anchor")
    return problems


def outside_resources(page: Path) -> list[str]:
    """Scripts, styles, images and fonts that a reader without a network would miss."""
    problems = []
    for tag in parse(page).find_all(["script", "link", "img", "iframe", "source"]):
        target = tag.get("src") or (tag.get("href") if "stylesheet" in (tag.get("rel") or []) else None)
        if target and urlparse(target).netloc:
            problems.append(f"loads {target}: keep it in the book")
    return problems


def launch_buttons(page: Path, root: Path) -> list[str]:
    """Every Colab link opens a valid notebook of the repository that _config.yml names; every notebook page has one."""
    url, branch = repository(root)
    prefix = f"https://colab.research.google.com/github/{url.removeprefix('https://github.com/')}/blob/{branch}/"
    links = {tag["href"] for tag in parse(page).find_all("a", href=True) if "colab.research" in tag["href"]}
    problems = []
    for link in links:
        path = root / link.removeprefix(prefix)
        if not link.startswith(prefix):
            problems.append(f"launches {link}, which is not in {url} at {branch}")
        elif path.suffix != ".ipynb" or not path.is_file():
            problems.append(f"launches {path.name}, which is not a notebook of this repository")
        else:
            try:
                json.loads(path.read_text())
            except ValueError:
                problems.append(f"launches {path.name}, which is not valid JSON")
    return problems


def content(page: Path, name: str) -> list[str]:
    """Tracebacks, error outputs, lessons without any output, images without alternative text, oversized pages."""
    soup, problems = parse(page), []
    if soup.select("div.output.traceback") or TRACEBACK.search(soup.get_text()):
        problems.append("shows a traceback: catch the error in the cell and print its message")
    if soup.select(".system-message, .problematic"):
        problems.append("has a Sphinx error inside the text")
    if name.startswith("notebooks/") and not soup.select("div.cell_output"):
        problems.append("is a lesson without a single output")
    problems += [
        f"image {tag.get('src', '')[:60]} has no alternative text" for tag in soup.select("article img:not([alt])")
    ]
    size = page.stat().st_size
    if size > PAGE_LIMIT:
        problems.append(f"has {size >> 10} KB, more than {PAGE_LIMIT >> 10}: shrink its outputs")
    return problems


def check(site: Path, root: Path) -> list[str]:
    """Return one line per problem of the built book in `site`. Raises ToolError if nothing is built there."""
    site = site.resolve()
    if not (site / "index.html").is_file():
        raise ToolError(f"{site} holds no book: run 'make book' first")
    problems = []
    pages = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    for page in pages:
        name = page.relative_to(site).with_suffix("").as_posix()
        found = broken_links(page, site) + outside_resources(page) + launch_buttons(page, root)
        if name not in GENERATED:
            found += content(page, name)
        problems += [f"{name}.html {problem}" for problem in dict.fromkeys(found)]
    built = {page.relative_to(site).with_suffix("").as_posix() for page in pages}
    for entry in toc_entries(root):
        if entry not in built:
            problems.append(f"{entry}.html is missing though _toc.yml lists it")
        elif (
            entry.startswith(("notebooks/", "exercises/"))
            and "colab.research" not in (site / f"{entry}.html").read_text()
        ):
            problems.append(f"{entry}.html has no launch button")
    index = site / "searchindex.js"
    if not index.is_file() or "coalesc" not in index.read_text():
        problems.append("searchindex.js is missing or empty: search would find nothing")
    total = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    if total > BOOK_LIMIT:
        problems.append(f"the book has {total >> 20} MB, more than {BOOK_LIMIT >> 20}")
    return problems


def main() -> int:
    problems = check(ROOT / "_build" / "html", ROOT)
    print("\n".join(problems) or "the built book is sound: links, launch buttons, resources, outputs, sizes")
    return 1 if problems else 0


if __name__ == "__main__":
    run(main)
