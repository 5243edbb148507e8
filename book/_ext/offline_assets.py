"""Sphinx extension: serve MathJax from the book itself, so that pages work without a network.

The files come from the pinned wheel sphinx-mathjax-offline (MathJax 3.2, Apache-2.0); only the TeX input, the CHTML
output and its fonts are copied (about 1.5 MB).
"""

import importlib.util
import shutil
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

SCRIPT = "tex-chtml.js"
FONTS = "output/chtml/fonts/woff-v2"


def mathjax_folder() -> Path:
    """Return the wheel's folder of MathJax files. Raises ExtensionError if the wheel is not installed."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or not spec.submodule_search_locations:
        raise ExtensionError("sphinx-mathjax-offline is not installed: run 'make env'")
    return Path(spec.submodule_search_locations[0]) / "static" / "mathjax"


def copy_mathjax(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    source, target = mathjax_folder(), Path(app.outdir) / "_static" / "mathjax"
    (target / FONTS).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / SCRIPT, target / SCRIPT)
    shutil.copytree(source / FONTS, target / FONTS, dirs_exist_ok=True)


def drop_thebe(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Leave out Thebe (live code through a server): Jupyter Book adds it to every page, this book does not use it."""
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if "thebe" not in f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', {}).get('body', '')}"
    ]


def setup(app: Sphinx) -> dict:
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    # The menu offers speech and zoom components that are not shipped.
    app.config.mathjax3_config = {"options": {"enableMenu": False}}
    app.connect("build-finished", copy_mathjax)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
