"""Plain data for the interactive components, taken from a trace: small, JSON-ready, the same for any kernel.

A warp access is kept as [start, stride] when its 32 lanes' addresses are evenly spaced, [start, stride, mask] when some
lanes are idle (bit i of mask: lane i is active), and as the list of 32 addresses (null: idle) otherwise. Addresses are
bytes from the array's base in global memory, and from the start of the CTA's shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gemmlab.plots.access import family, item_bytes, picture_kind, site_key, source_line, variants_of, verb, what


def trace_data(accesses, space: str, *, shapes=None, steps: int = 64, title: str = "") -> dict:
    """Return {"title", "shapes", "variants"} for the components "sectors" (space "global") and "banks" ("shared").

    accesses: as for `sector_map`; shapes: {"A": (rows, columns)} of the arrays; steps: executions kept of each
    instruction, from the first.
    """
    found = variants_of(accesses)
    sizes = {access.name: item_bytes(access) for some in found.values() for access in some if access.name}
    variants = [{"title": name, "warps": _warps(some, space, steps)} for name, some in found.items()]
    variants = [variant for variant in variants if variant["warps"]]
    return {
        "title": title,
        "shapes": {
            name: {"rows": shape[0], "columns": shape[1], "itemsize": sizes.get(name, 4)}
            for name, shape in (shapes or {}).items()
        },
        "variants": variants,
    }


def _warps(accesses, space: str, steps: int) -> list[dict]:
    warps: dict[tuple, dict[tuple, dict]] = {}
    for access in accesses:
        if access.space != space:
            continue
        sites = warps.setdefault((access.cta, access.warp), {})
        site = sites.setdefault(site_key(access), _site(access))
        if len(site["steps"]) < steps:
            site["steps"].append(compact(access.addresses, access.base))
    return [
        {"cta": list(cta), "warp": warp, "sites": _named_apart(sorted(sites.values(), key=_by_array))}
        for (cta, warp), sites in sorted(warps.items(), key=lambda item: item[0])
    ]


def _by_array(site: dict) -> str:
    return site["array"] or ""


def _site(access) -> dict:
    return {
        "label": _label(access),
        "array": access.name,
        "line": source_line(access),
        "width": int(access.width),
        "kind": picture_kind(access),
        "steps": [],
    }


def _label(access) -> str:
    if family(access) == "lane" and not access.site.opcode.startswith(("ldmatrix", "stmatrix")):
        return f"{verb(access)} {access.name}" if access.name else verb(access)
    return what(access)


def _named_apart(sites: list[dict]) -> list[dict]:
    """Add the source line, and then a number, to labels that would otherwise be equal."""
    for suffix in (lambda site, _: f" (line {site['line']})", lambda _, rank: f" #{rank}"):
        alike: dict[str, list[dict]] = {}
        for site in sites:
            alike.setdefault(site["label"], []).append(site)
        for twins in alike.values():
            if len(twins) > 1:
                for rank, twin in enumerate(twins, 1):
                    twin["label"] += suffix(twin, rank)
    return sites


def compact(addresses, base: int = 0) -> list:
    """Return one access's 32 addresses, less `base`, in the shortest of the three forms of this module."""
    values = np.asarray(addresses, dtype=np.int64)
    active = np.flatnonzero(values >= 0)
    if len(active) == 0:
        return [0, 0, 0]
    offsets = values[active] - base
    stride = int(offsets[1] - offsets[0]) // int(active[1] - active[0]) if len(active) > 1 else 0
    start = int(offsets[0]) - stride * int(active[0])
    if np.array_equal(offsets, start + stride * active):
        mask = int(np.bitwise_or.reduce(np.left_shift(np.int64(1), active)))
        return [start, stride] if len(active) == 32 else [start, stride, mask]
    return [int(value - base) if value >= 0 else None for value in values]


def timeline_data(variants: Mapping[str, Mapping[str, list]], *, unit="cycles", title="", source="") -> dict:
    """Return the data of the component "timeline".

    variants: {variant title: {role: [(start, end, kind, label), …]}}; kinds: load, compute, store, wait, barrier.
    """
    return {
        "title": title,
        "unit": unit,
        "source": source,
        "variants": [
            {
                "title": name,
                "rows": [
                    {
                        "name": role,
                        "spans": [
                            {"start": start, "end": end, "kind": kind, "label": label}
                            for start, end, kind, label in spans
                        ],
                    }
                    for role, spans in roles.items()
                ],
            }
            for name, roles in variants.items()
        ],
    }


def fragment_data(operands: Mapping[str, tuple], *, lanes: int = 32, title: str = "", source: str = "") -> dict:
    """Return the data of the component "fragments".

    operands: {name: (rows, columns, owner)} where owner(row, column) returns (lane, register name).
    """
    return {
        "title": title,
        "lanes": lanes,
        "source": source,
        "operands": [
            {"name": name, "cells": [[list(owner(row, column)) for column in range(columns)] for row in range(rows)]}
            for name, (rows, columns, owner) in operands.items()
        ],
    }


def gpu_table() -> list[dict]:
    """Return the GPUs of `gemmlab.hardware` as the roofline explorer reads them: GB/s and dense TFLOP/s."""
    from gemmlab.hardware import GPUS

    return [{"key": g.key, "name": g.name, "bandwidth": g.bandwidth_gbs, "rates": g.rates} for g in GPUS.values()]
