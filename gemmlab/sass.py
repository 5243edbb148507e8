"""Machine code by instruction family: how many instructions of each kind, in the whole kernel and in its main loop.

These are instructions as they stand in the code, not executions; each is one for a warp.
"""

import re
from collections import Counter
from dataclasses import dataclass

FAMILIES = {  # mnemonic: what it is; in the order of a table
    "HGMMA": "wgmma, 16-bit and TF32 factors",
    "IGMMA": "wgmma, INT8",
    "QGMMA": "wgmma, FP8",
    "HMMA": "mma.sync, 16-bit and TF32 factors",
    "IMMA": "mma.sync, INT8",
    "FFMA": "FP32 multiply-add",
    "HFMA2": "two FP16 multiply-adds, or a constant",
    "LDSM": "ldmatrix",
    "STSM": "stmatrix",
    "LDS": "load from shared memory",
    "STS": "store to shared memory",
    "LDGSTS": "cp.async",
    "UTMALDG": "TMA load of a box",
    "UTMASTG": "TMA store of a box",
    "UTMAREDG": "TMA reduction of a box",
    "UBLKCP": "bulk copy",
    "LDG": "load from global memory",
    "STG": "store to global memory",
    "LDL": "load from local memory (spill)",
    "STL": "store to local memory (spill)",
    "SYNCS": "mbarrier",
    "BAR": "barrier of the block",
    "UCGABAR_ARV": "barrier of the cluster, arrive",
    "UCGABAR_WAIT": "barrier of the cluster, wait",
    "DEPBAR": "wait for copies or results",
    "WARPGROUP": "order of a warpgroup's registers and wgmma",
    "USETMAXREG": "setmaxnreg",
}
WORK = frozenset(("HGMMA", "IGMMA", "QGMMA", "HMMA", "IMMA", "FFMA", "DFMA"))
COPIES = frozenset(("LDGSTS", "UTMALDG"))
_SECTION = re.compile(r"^//-+ \.text\.(\S+)", re.MULTILINE)
_LINE = re.compile(r"^(\.L_x_\d+):|/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\w+)(\S*)([^;]*);", re.MULTILINE)
_TO = re.compile(r"`\((\.L_x_\d+)\)")


@dataclass(frozen=True)
class Instructions:
    """Counts by mnemonic: `total`, and `loop` for the innermost loop with the most arithmetic (empty without one)."""

    total: Counter
    loop: Counter


def instructions(sass: str, entry: str) -> Instructions:
    """Count the instructions of the kernel `entry` in nvdisasm's text; padding after the end does not count."""
    names, labels, loops = [], {}, []
    for label, name, _, operands in _LINE.findall(_body(sass, entry)):
        if label:
            labels[label] = len(names)
            continue
        target = _TO.search(operands) if name == "BRA" else None
        names.append(name)
        if target and target[1] in labels:
            loops.append((labels[target[1]], len(names)))
    while names and names[-1] in ("NOP", "BRA"):  # the endless loop and the padding behind EXIT
        names.pop()
    loops = [(s, e) for s, e in loops if not any(x < s < y < e for x, y in loops)]  # a jump back from a wait's retries
    working = [(start, end) for start, end in loops if WORK.intersection(names[start:end])]
    inner = [(s, e) for s, e in working if not any((s, e) != (x, y) and s <= x and y <= e for x, y in working)]
    start, end = max(inner, key=lambda loop: _weight(names[slice(*loop)]), default=(0, 0))
    return Instructions(Counter(names), Counter(names[start:end]))


def _weight(loop: list[str]) -> tuple[int, int, int]:
    """Order loops by arithmetic; of loops with equal amounts the one with asynchronous copies, then the shorter."""
    return sum(name in WORK for name in loop), sum(name in COPIES for name in loop), -len(loop)


def _body(sass: str, entry: str) -> str:
    starts = {match[1]: match.start() for match in _SECTION.finditer(sass)}
    if entry not in starts:
        return sass
    after = re.compile(r"^//-+ \.", re.MULTILINE).search(sass, starts[entry] + 1)
    return sass[starts[entry] : after.start() if after else None]
