"""What the tools share: the repository's root, its settings, and one-line errors."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent


class ToolError(Exception):
    """Bad input or a failed step; the message is one line that says what to do."""


def repository(root: Path = ROOT) -> tuple[str, str]:
    """Return (URL, branch) of the published repository: the one setting, `repository` in _config.yml."""
    path = root / "_config.yml"
    try:
        section = yaml.safe_load(path.read_text())["repository"]
        return section["url"].rstrip("/"), section["branch"]
    except (OSError, KeyError, TypeError, yaml.YAMLError) as error:
        raise ToolError(f"{path.name}: needs repository.url and repository.branch ({one_line(error)})") from error


def toc_entries(root: Path = ROOT) -> list[str]:
    """Return every page of _toc.yml in reading order, without suffix, e.g. ``notebooks/03_naive``."""
    found: list[str] = []

    def walk(node) -> None:
        if isinstance(node, dict):
            found.extend(str(node[key]) for key in ("root", "file") if key in node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    try:
        walk(yaml.safe_load((root / "_toc.yml").read_text()))
    except (OSError, yaml.YAMLError) as error:
        raise ToolError(f"_toc.yml: not a readable table of contents ({one_line(error)})") from error
    return found


def run(main: Callable[[], int]) -> None:
    """Run a tool's main and exit: 2 and one line for a ToolError, else main's own code."""
    try:
        sys.exit(main())
    except ToolError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def one_line(error: BaseException) -> str:
    """Return an exception as one line of at most 200 characters."""
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200]
