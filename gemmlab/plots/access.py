"""Pick and describe the warp accesses that a picture shows: plain reading of the emulator's `Access` records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

SECTOR = 32  # bytes that global memory moves at least (CUDA C++ Best Practices Guide, "Coalesced access")
LINE = 128  # bytes of one cache line: four sectors
BANKS = 32  # banks of shared memory, one 4-byte word wide each


@dataclass(frozen=True)
class Sectors:
    """What one warp request asks of global memory.

    lines: byte address of each 128-byte line touched, ascending; sectors: byte address of each 32-byte sector;
    words: {byte address of a 4-byte word: lanes that use it}; used: distinct bytes asked for; active: lanes at work.
    """

    lines: tuple[int, ...]
    sectors: tuple[int, ...]
    words: dict[int, tuple[int, ...]]
    used: int
    active: int

    @property
    def moved(self) -> int:
        """Bytes moved: 32 for each sector."""
        return SECTOR * len(self.sectors)


def sectors_of(access) -> Sectors:
    """Return the sectors, lines and words that `access` (addresses int64[32], -1 for an idle lane) touches."""
    words: dict[int, list[int]] = {}
    used: set[int] = set()
    active = 0
    for lane, address in enumerate(np.asarray(access.addresses, dtype=np.int64).tolist()):
        if address < 0:
            continue
        active += 1
        used.update(range(address, address + access.width))
        for word in range(address & ~3, address + access.width, 4):
            words.setdefault(word, []).append(lane)
    return Sectors(
        lines=tuple(sorted({byte & ~(LINE - 1) for byte in used})),
        sectors=tuple(sorted({byte & ~(SECTOR - 1) for byte in used})),
        words={word: tuple(lanes) for word, lanes in sorted(words.items())},
        used=len(used),
        active=active,
    )


def picture_kind(access) -> str:
    """Return the access's kind, or what is served otherwise: "ldmatrix", whose groups of lanes are served apart, and
    "sectors", a copy that passes the banks by.
    """
    if passes_banks_by(access):
        return "sectors"
    return "ldmatrix" if access.site.opcode.startswith("ldmatrix") else access.kind


def family(access) -> str:
    """Return what moves the bytes: "lane" (each lane has its address), "copy" (cp.async), "bulk" (TMA) or "wgmma".

    The last two have no lane addresses: a trace shows their 16-byte chunks, 32 at a time, as if a warp moved them.
    """
    opcode = access.site.opcode
    if opcode.startswith("wgmma"):
        return "wgmma"
    if opcode.startswith("cp."):
        return "bulk" if ".bulk" in opcode else "copy"
    return "lane"


def passes_banks_by(access) -> bool:
    """Tell whether an access writes shared memory in whole sectors, without a request to the banks: cp.async.cg."""
    return access.space == "shared" and access.site.opcode.startswith("cp.async.cg")


def lane_groups(access) -> list[list[int]]:
    """Return the active lanes of a shared-memory request in the groups that are served one after the other.

    A warp for up to 4 bytes per lane, half-warps for 8, quarter-warps for 16; a load serves two neighbouring groups
    together where all their active lanes i and i ^ 1, or all i and i ^ 2, want the same address, but ldmatrix never
    does. These are the rules of ptxemu.counting, calibrated on an H200.
    """
    addresses = np.asarray(access.addresses, dtype=np.int64)
    size = 32 * 4 // max(4, access.width)
    groups = []
    for first in range(0, 32, min(32, 2 * size)):
        lanes = [lane for lane in range(first, min(32, first + 2 * size)) if addresses[lane] >= 0]
        same = picture_kind(access) == "ld" and any(
            all(addresses[lane] == addresses[lane ^ partner] for lane in lanes if lane ^ partner in lanes)
            for partner in (1, 2)
        )
        low, high = [i for i in lanes if i < first + size], [i for i in lanes if i >= first + size]
        halves = [lanes] if same else [low, high]
        groups += [half for half in halves if half]
    return groups


def wavefronts_of(access) -> list[dict[int, tuple[int, tuple[int, ...]]]]:
    """Return the wavefronts of a shared-memory request, each {bank: (word index, lanes served)}.

    Lanes that want the same 4-byte word share one read of it. Within a group of lanes that is served at once, words
    that fall on one bank take one wavefront each.
    """
    addresses = np.asarray(access.addresses, dtype=np.int64).tolist()
    fronts: list[dict[int, tuple[int, tuple[int, ...]]]] = []
    for group in lane_groups(access):
        banks: dict[int, dict[int, list[int]]] = {}
        for lane in group:
            for word in range(addresses[lane] // 4, (addresses[lane] + access.width + 3) // 4):
                banks.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
        for depth in range(max((len(words) for words in banks.values()), default=0)):
            fronts.append(
                {
                    bank: (list(words)[depth], tuple(list(words.values())[depth]))
                    for bank, words in sorted(banks.items())
                    if depth < len(words)
                }
            )
    return fronts


def ideal_wavefronts(access) -> int:
    """Return the fewest wavefronts that a request of this width takes: one for each group of lanes that is served."""
    return max(1, len(lane_groups(access)))


def variants_of(accesses, default: str = "") -> dict[str, list]:
    """Return {variant title: list of Access} from a mapping, a list of Access or one Access."""
    if isinstance(accesses, Mapping):
        return {str(title): variants_of(some)[""] for title, some in accesses.items()}
    if isinstance(accesses, Iterable):
        return {default: list(accesses)}
    return {default: [accesses]}


def one_per_site(accesses, space: str, step: int = 0, arrays=None) -> list:
    """Return the `step`-th access of each load or store in `space`, by array name, then in order of first execution.

    `arrays`: names to keep (None keeps all). One that ran fewer times gives its last access.
    """
    sites: dict[tuple, list] = {}
    for access in accesses:
        if access.space != space or (arrays is not None and access.name not in arrays):
            continue
        sites.setdefault(site_key(access), []).append(access)
    return sorted((ran[min(step, len(ran) - 1)] for ran in sites.values()), key=lambda access: access.name or "")


def site_key(access) -> tuple:
    """Return what tells one load or store of the *source* from another; copies that unrolling made count as one.

    In global memory that is the source line, kind, array and width. In shared memory, where arrays have no names, the
    lanes' addresses relative to one another stand in for the name; chunks of TMA repeat no pattern.
    """
    place = source_line(access) or getattr(access.site, "ptx_line", None)
    pattern = None
    if access.name is None and family(access) != "bulk":
        addresses = np.asarray(access.addresses)
        pattern = np.where(addresses >= 0, addresses - addresses.max(initial=0), 1).tobytes()
    return (place, access.kind, access.name, access.width, pattern)


def source_line(access) -> int | None:
    """Return the source line of the access's instruction, or None when the trace does not know it."""
    return getattr(access.site, "line", None)


VERBS = {"ld": "read", "st": "write", "atom": "atomic", "red": "reduction"}


def verb(access) -> str:
    """Return the access's kind as a word: read, write, atomic or reduction."""
    return VERBS.get(access.kind, str(access.kind))


def what(access) -> str:
    """Return what the access does, such as "read of A", "ldmatrix.x4.trans" or "TMA chunks (modelled)"."""
    opcode, kind = access.site.opcode, family(access)
    if opcode.startswith(("ldmatrix", "stmatrix")):
        kept = ("ldmatrix", "stmatrix", "x1", "x2", "x4", "trans")
        return ".".join(part for part in opcode.split(".") if part in kept)
    if opcode.startswith("wmma."):
        return f"{'.'.join(opcode.split('.')[:3])}, {access.name or 'shared memory'}"
    if kind == "wgmma":
        return "operand chunks of wgmma"
    if kind == "bulk":
        return f"TMA chunks in {access.name or 'shared memory'} (modelled)"
    if kind == "copy":
        return f"cp.async {'from' if access.space == 'global' else 'to'} {access.name or 'shared memory'}"
    return f"{verb(access)} of {access.name or ('memory' if access.space == 'global' else 'shared memory')}"


def headline(variant: str, access) -> str:
    """Return a panel's title: the variant, what the access does, and its source line; a header's with its name."""
    line, file = source_line(access), str(getattr(access.site, "file", "") or "")
    place = f"{file.rpartition('/')[2]}:{line}" if file.endswith((".cuh", ".h")) else f"line {line}"
    text = what(access) + (f", {place}" if line else "")
    mnemonic = text.startswith(("ldmatrix", "stmatrix", "cp.", "wmma."))
    return f"{variant}: {text}" if variant else text if mnemonic else text[0].upper() + text[1:]


def element_label(access, address: int, shapes: Mapping[str, tuple[int, ...]] | None = None) -> str:
    """Return "A[3, 16]" for a byte address when the array's name and 2-D shape are known, else "A + 448 B" or hex."""
    if access.name is None:
        return f"{address:#x}"
    offset = address - access.base
    shape = (shapes or {}).get(access.name)
    if shape is None or len(shape) != 2 or offset < 0:
        return f"{access.name} + {offset} B" if offset >= 0 else f"{access.name} − {-offset} B"
    row, column = divmod(offset // item_bytes(access), shape[1])
    return f"{access.name}[{row}, {column}]"


def item_bytes(access) -> int:
    """Return the bytes of one element of the array that the access touches."""
    return getattr(access, "itemsize", 4)
