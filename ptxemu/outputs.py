"""What became of the arrays with role "out": elements never written, and elements stored more than once."""

from __future__ import annotations

import numpy as np

from . import shadow as sh
from .findings import ADVICE, Finding
from .places import element


def output_findings(memory, race, sites):
    """never-written and redundant-store findings for every array of role "out", from the race check's shadow
    memory.
    """
    findings = []
    for array in memory.arrays:
        if array.role == "out" and array.nbytes:
            cells = _cells(array, race.global_.reshape(-1, race.entries, sh.ENTRY), memory, race.shift)
            site = _store_site(cells, sites)
            findings += _never_written(array, (cells[:, 0, 0] | cells[:, -2, 0]) != 0, site)
            findings += _redundant(array, _cells(array, race.stores, memory, race.shift), site)
    return findings


def _cells(array, table, memory, shift):
    """One row of ``table`` (per granule of 1 << shift bytes) for every element of ``array``, in memory order."""
    offset = array.address - memory.global_base
    return table[(offset + np.arange(0, array.nbytes, array.itemsize)) >> shift]


def _store_site(cells, sites):
    """The instruction that last wrote one of the elements, or None."""
    written = np.flatnonzero(cells[:, 0, 0])
    return sites[int(cells[written[0], 0, 1]) >> sh.SITE_SHIFT] if len(written) else None


def _finding(rule, severity, message, site, where, count):
    place = (site.file, site.line, None, site.ptx_line) if site else ()
    finding = Finding(rule, severity, message, ADVICE[rule], *place)
    finding.where, finding.count = where, count
    return [finding]


def _never_written(array, touched, site):
    if touched.all():
        return []
    shape = tuple(array.shape) or (1,)
    order = sorted(range(len(shape)), key=lambda axis: -array.strides[axis]) if array.strides else [0]
    written = touched.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))
    where = [element(array, array.address + int(i) * array.itemsize) for i in np.flatnonzero(~touched)[:4]]
    message = f"{array.name}: {unwritten_pattern(written, shape)}"
    return _finding("never-written", "error", message, site, where, int((~touched).sum()))


def _redundant(array, stores, site):
    most = int(stores.max())
    if most <= 1:
        return []
    name = element(array, array.address + int(np.argmax(stores)) * array.itemsize)
    message = f"{array.name}: up to {most} stores per element ({name}), expected 1"
    return _finding("redundant-store", "info", message, site, [name], int((stores > 1).sum()))


def ranges(indices, limit=4):
    """Compress sorted integers: [0, 1, 2, 7] is "0–2, 7"."""
    indices = np.asarray(indices)
    parts = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    text = [f"{p[0]}–{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts[:limit]]
    return ", ".join(text) + (", …" if len(parts) > limit else "")


def unwritten_pattern(written, shape):
    """Describe where a boolean map of ``shape`` is False: whole rows, whole columns, or first elements."""
    missing = ~np.asarray(written, bool).reshape(shape)
    total = int(missing.sum())
    if total == missing.size:
        return "no element was ever written"
    if missing.ndim == 2:
        rows, cols = np.flatnonzero(missing.all(axis=1)), np.flatnonzero(missing.all(axis=0))
        if len(rows) and missing[np.setdiff1d(np.arange(shape[0]), rows)].sum() == 0:
            return f"{_plural('row', rows)} of {shape[0]} never written"
        if len(cols) and missing[:, np.setdiff1d(np.arange(shape[1]), cols)].sum() == 0:
            return f"{_plural('column', cols)} of {shape[1]} never written"
        if len(rows) and len(cols) and missing.sum() == _cross(missing, rows, cols):
            return f"{_plural('row', rows)} of {shape[0]} and {_plural('column', cols)} of {shape[1]} never written"
    first = np.argwhere(missing)[:3]
    sample = ", ".join("[" + ", ".join(map(str, index)) + "]" for index in first)
    return f"{total:,} of {missing.size:,} elements never written, the first at {sample}"


def _plural(word, indices):
    return f"{word}{'s' if len(indices) > 1 else ''} {ranges(indices)}"


def _cross(missing, rows, cols):
    cross = np.zeros_like(missing)
    cross[rows] = True
    cross[:, cols] = True
    return int(cross.sum())
