"""Records of compute-sanitizer: which tool looked at which kernel, at which shape, and what it said.

`results/sanitizer/<gpu>.json` holds {"machine": {...}, "records": [{kernel, M, N, K, tool, messages, count, date,
source_sha256}]}; tools/record_sanitizer.py writes it. `messages` holds the first few of `count`.
"""

from __future__ import annotations

import json
from pathlib import Path

import kernels
from gemmlab.errors import GemmlabError
from gemmlab.measuring.provenance import spec_sha256
from gemmlab.results import DIRECTORY as RESULTS
from gemmlab.source import cuda_source

DIRECTORY = RESULTS / "sanitizer"
TOOLS = ("memcheck", "synccheck", "racecheck")
GATES = ("memcheck", "synccheck")
MOST_MESSAGES = 3
# Kernels that are broken on purpose, to learn what racecheck sees: {name: (what is wrong, kernel, edits of its text)}.
CONTROLS = {
    "no_barrier": ("`k11_swizzled` without `__syncthreads`", "k11_swizzled", (("__syncthreads();", ""),)),
    "early_release": (
        "`k16_two_consumers` that releases a stage before `wgmma` has read it",
        "k16_two_consumers",
        (
            ("    wgmma_wait_group<1>();\n", ""),
            ("(ring.stage + STAGES - 1) % STAGES", "ring.stage"),
            ("k > 0 && lane == 0", "lane == 0"),
        ),
    ),
}


def shapes(spec) -> list[tuple[int, int, int]]:
    """Return two small shapes for a kernel: two tiles each way and several stages of K, and one past a tile."""
    bm, bn, bk = (spec.tile.get(name, 16) for name in ("BM", "BN", "BK"))
    wanted = [(2 * bm, 2 * bn, 6 * bk), (bm + 1, bn + 1, bk + 1)]
    return [tuple(-(-size // spec.align) * spec.align for size in shape) for shape in wanted]


def kernel_of(name: str) -> tuple:
    """Return (what is launched, Spec with its launch rule) of a kernel of the ladder or of CONTROLS.

    Raises GemmlabError where an edit no longer fits the kernel, KeyError for an unknown name.
    """
    if name not in CONTROLS:
        return kernels.spec(name), kernels.spec(name)
    _, kernel, edits = CONTROLS[name]
    spec = kernels.spec(kernel)
    text = spec.path.read_text(encoding="utf-8")
    for old, new in edits:
        if old not in text:
            raise GemmlabError(f"{kernel} has changed: {old!r} is not there to be broken")
        text = text.replace(old, new)
    return cuda_source(text, spec.entry, **spec.defines), spec


def seen_by_racecheck(path: Path) -> list[tuple[str, int]]:
    """Return (what is wrong, number of messages) of each broken kernel that racecheck looked at."""
    counts = {entry["kernel"]: entry["count"] for entry in load(path)["records"] if entry["tool"] == "racecheck"}
    return [(what, counts[name]) for name, (what, _, _) in CONTROLS.items() if name in counts]


def record(spec, shape: tuple[int, int, int], tool: str, messages: list[str], date: str, name: str = "") -> dict:
    """Return the record of one launch under one tool; `name`: of CONTROLS, for a broken copy of the Spec's kernel."""
    M, N, K = shape
    return {
        "kernel": name or spec.name,
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
