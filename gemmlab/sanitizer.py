"""Records of compute-sanitizer: which tool looked at which kernel, at which shape, and what it said.

`results/sanitizer/<gpu>.json` holds {"machine": {...}, "records": [{kernel, M, N, K, tool, messages, count, date,
source_sha256}]}; tools/record_sanitizer.py writes it. `messages` holds the first few of `count`.
"""

from __future__ import annotations

import json
from pathlib import Path

from gemmlab.measuring.provenance import spec_sha256
from gemmlab.results import DIRECTORY as RESULTS

DIRECTORY = RESULTS / "sanitizer"
TOOLS = ("memcheck", "synccheck", "racecheck")
GATES = ("memcheck", "synccheck")
MOST_MESSAGES = 3


def shapes(spec) -> list[tuple[int, int, int]]:
    """Return two small shapes for a kernel: two tiles each way and several stages of K, and one past a tile."""
    bm, bn, bk = (spec.tile.get(name, 16) for name in ("BM", "BN", "BK"))
    wanted = [(2 * bm, 2 * bn, 6 * bk), (bm + 1, bn + 1, bk + 1)]
    return [tuple(-(-size // spec.align) * spec.align for size in shape) for shape in wanted]


def record(spec, shape: tuple[int, int, int], tool: str, messages: list[str], date: str) -> dict:
    """Return the record of one launch under one tool."""
    M, N, K = shape
    return {
        "kernel": spec.name,
        "M": M,
        "N": N,
        "K": K,
        "tool": tool,
        "messages": messages[:MOST_MESSAGES],
        "count": len(messages),
        "date": date,
        "source_sha256": spec_sha256(spec),
    }


def _key(entry: dict) -> tuple:
    return tuple(entry[name] for name in ("kernel", "tool", "M", "N", "K"))


def load(path: Path) -> dict:
    """Return the content of a records file; an empty one when there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"machine": {}, "records": []}


def merge(path: Path, machine: dict, records: list[dict]) -> None:
    """Add records to a file; one replaces that of the same kernel, tool and shape."""
    kept = {_key(entry): entry for entry in [*load(path)["records"], *records]}
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"machine": machine, "records": [kept[key] for key in sorted(kept)]}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def verdicts(ladder, path: Path) -> dict[str, dict[str, str]]:
    """Return {kernel: {tool: verdict}} for the Specs of `ladder` that a tool looked at, of their present source only.

    A verdict is "clean, 2 shapes" or the number of messages.
    """
    current = {spec.name: spec_sha256(spec) for spec in ladder}
    seen: dict[tuple[str, str], list[dict]] = {}
    for entry in load(path)["records"]:
        if current.get(entry["kernel"]) == entry["source_sha256"]:
            seen.setdefault((entry["kernel"], entry["tool"]), []).append(entry)
    out: dict[str, dict[str, str]] = {}
    for name in current:
        for tool in TOOLS:
            if entries := seen.get((name, tool)):
                count = sum(entry["count"] for entry in entries)
                text = f"clean, {len(entries)} shapes" if not count else f"{count} message{'s' * (count > 1)}"
                out.setdefault(name, {})[tool] = text
    return out
