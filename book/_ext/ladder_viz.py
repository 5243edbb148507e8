"""Give every figure of a notebook its text alternative: the one that its plotting function stored in the PNG."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from PIL import Image, UnidentifiedImageError
from sphinx.util import logging

logger = logging.getLogger(__name__)


def stored_alt(path: Path) -> str:
    """Return the "Description" text of a PNG file, "" when it has none or is no image."""
    try:
        with Image.open(path) as image:
            return getattr(image, "text", {}).get("Description", "")
    except (OSError, UnidentifiedImageError):
        return ""


def add_alt(app, doctree):
    """Set `alt` on notebook output images that have none; warn about those that bring none (a strict build fails)."""
    source = Path(app.srcdir)
    for image in doctree.findall(nodes.image):
        uri = image["uri"]
        if image.get("alt") or "jupyter_execute" not in uri:
            continue
        places = (Path(uri), source / uri.lstrip("/"), Path(app.env.doc2path(app.env.docname)).parent / uri)
        path = next((place for place in places if place.is_file()), Path(uri))
        image["alt"] = stored_alt(path)
        if not image["alt"]:
            logger.warning("a figure has no text alternative: draw it with gemmlab.plots", location=image)


def setup(app):
    app.connect("doctree-read", add_alt, priority=400)  # before image files are collected and their URIs rewritten
    return {"parallel_read_safe": True}
