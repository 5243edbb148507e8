"""Proxy fences and global memory: whether an asynchronous copy may see what threads wrote before it.

A generic write is seen where a ``fence.proxy.async`` (or ``.global``) stands on the way from it to the copy: with the
thread that wrote, with the one that starts the copy, or with another on the way, in whichever block (PTX ISA 8.9.6,
proxy-preserved causality). The end of a kernel is such a fence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .flags import GPU_SCOPE


@dataclass(eq=False, slots=True)
class Fence:
    """One, by threads ``tids`` of a warp at ``stamp``. ``row``: bound per thread of the CTA, what they all knew;
    ``foreign``: (None, or which of them, {(cta, scope): bound per thread}) that they had acquired of other CTAs.
    """

    tids: np.ndarray
    stamp: int
    row: np.ndarray
    foreign: list


class GlobalFences:
    """All of a launch by CTA, in order: those of CTAs that have ended count on."""

    def __init__(self, clocks):
        self.clocks, self.fences = clocks, {}

    def add(self, slot, tids, stamp, row):
        """Threads ``tids`` of one warp, which all know ``row`` of their CTA, execute a fence."""
        clocks, foreign = self.clocks, []
        d = clocks.dense_index[slot]
        if d >= 0 and len(tids) > 1 and (clocks.dense[d, tids] != clocks.dense[d, tids[0]]).any():
            for k, tid in enumerate(tids.tolist()):  # each knows something else
                self.add(slot, tids[k : k + 1], stamp, np.maximum(row, clocks.dense[d, tid, : len(row)]))
            return
        if clocks.any_acquire:
            tables = [(None, clocks.cta_foreign.get(slot))]
            tables += [(tid, clocks.thread_foreign.get((slot, tid))) for tid in tids.tolist()]
            foreign = [(tid, dict(table)) for tid, table in tables if table]
        self.fences.setdefault(int(clocks.cta_of[slot]), []).append(Fence(tids, int(stamp), row, foreign))

    def unseen(self, slot, tid, bounds, cta, threads, stamps):
        """bool per write of ``threads`` of ``cta`` at ``stamps``: ordered before what ``tid`` in ``slot`` does now, and
        no fence between. ``bounds``: what it knows of its own CTA.
        """
        mine = int(self.clocks.cta_of[slot])
        left = self._known(slot, tid, bounds, mine, cta, threads, stamps)
        for other in dict.fromkeys((cta, mine, *self.fences)):
            for fence in reversed(self.fences.get(other, ())):
                if not left.any():
                    return left
                reached = self._known(slot, tid, bounds, mine, other, fence.tids, fence.stamp)
                if other == mine:
                    reached |= fence.tids == tid
                if reached.any():
                    left &= ~self._before(fence, fence.tids[reached], other == cta, cta, threads, stamps)
        return left

    def _known(self, slot, tid, bounds, mine, cta, threads, stamps):
        """bool per event of ``threads`` of ``cta``: ordered before what ``tid`` in ``slot`` does now."""
        if cta == mine:
            return stamps < bounds[threads]
        known = np.zeros(len(threads), bool)
        for row in self.clocks.bounds_of(slot, tid, cta, GPU_SCOPE):
            known |= stamps < row[threads]
        return known

    @staticmethod
    def _before(fence, by, same, cta, threads, stamps):
        """bool per write: ordered before the fence of the threads ``by``."""
        if same:
            return (stamps < fence.row[threads]) | (np.isin(threads, by) & (stamps < fence.stamp))
        before = np.zeros(len(threads), bool)
        for tid, table in fence.foreign:
            row = table.get((cta, GPU_SCOPE))
            if row is not None and (tid is None or tid in by):
                before |= stamps < row[threads]
        return before
