"""Progress bars for long work: only where somebody watches, never in checked notebook output or in a pipe."""

import sys
from collections.abc import Iterable


def progress(items: Iterable, what: str, quiet: bool = False) -> Iterable:
    """Return `items`, with a tqdm bar on stderr while a person watches a terminal (and tqdm is installed)."""
    if quiet or not sys.stderr.isatty():
        return items
    try:
        from tqdm import tqdm
    except ImportError:
        return items
    return tqdm(items, desc=what, leave=False, file=sys.stderr)
