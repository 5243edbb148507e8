"""Happens-before clocks: what each thread of the resident CTAs is ordered after.

Every CTA (slot) has a counter of ordering events. A thread's accesses carry its ``clock``, the counter's value at
its last event. Knowledge is kept as compactly as the kernel allows: a full barrier moves the CTA's ``base``; a full
``bar.warp.sync`` moves the warp's ``warp_base``; partial barriers, partial masks and flags inside a CTA switch it
to a ``dense`` matrix [thread, other thread] until the next full barrier. Bounds are exclusive: accesses with a
smaller stamp are known. Fences and flags: see flags.py.

Where a kernel has relaxed arrivals, ``dense`` has as many columns again: they hold what a thread knows of the reads of
another, and of its asynchronous writes, which such an arrival tells without publishing what the thread itself wrote.
"""

from __future__ import annotations

import numpy as np


class Clocks:
    """Clocks of ``slots`` resident CTAs of ``n_threads`` threads; ``relaxed``: the kernel has relaxed arrivals."""

    def __init__(self, slots, n_threads, relaxed=False):
        self.n_threads, self.relaxed = n_threads, relaxed
        self.columns = n_threads * (1 + relaxed)
        self.n_warps = (n_threads + 31) // 32
        self.counter = np.ones(slots, np.int32)
        self.base = np.ones(slots, np.int32)
        self.clock = np.ones((slots, n_threads), np.int32)
        self.warp_base = np.zeros((slots, self.n_warps), np.int32)
        self.dense_index = np.full(slots, -1, np.int64)
        self.dense = np.zeros((1, 1, 1), np.int32)
        self._free = []
        self.cta_of = np.full(slots, -1, np.int64)
        self.arrived = {}

    def begin(self, slots, ctas):
        """New CTAs in ``slots``: no thread knows anything yet."""
        self.cta_of[slots] = ctas
        for slot in slots.tolist():
            self._drop_dense(slot)
        self.counter[slots] = self.base[slots] = 1
        self.clock[slots] = 1
        self.warp_base[slots] = 0
        self.forget(self.arrived, slots)

    @staticmethod
    def forget(table, slots):
        """Drop the entries of a dict whose keys start with one of ``slots``."""
        gone = set(slots.tolist())
        for key in [k for k in table if k[0] in gone]:
            del table[key]

    def full_barrier(self, slot):
        """Every living thread of the CTA met every other."""
        c = self._tick(slot)
        self.base[slot] = c
        self.clock[slot] = c
        self._drop_dense(slot)

    def whole_warp(self, slot, warp, tids):
        """Whether ``tids`` are a whole warp of a CTA that only barriers of whole CTAs and warps have ordered."""
        return self.dense_index[slot] < 0 and len(tids) == min(32, self.n_threads - 32 * warp)

    def syncwarp(self, slot, warp, tids):
        """Threads ``tids`` of one warp met."""
        c = self._tick(slot)
        if self.whole_warp(slot, warp, tids):
            self.warp_base[slot, warp] = c
        else:
            dense = self._densify(slot)
            row = dense[tids].max(axis=0)
            self.mark(row, tids, c)
            dense[tids] = row
        self.clock[slot, tids] = c

    def arrive(self, slot, barrier, tids):
        """Threads announce themselves at a barrier and go on."""
        dense = self._densify(slot)
        c = self._tick(slot)
        row = dense[tids].max(axis=0)
        self.mark(row, tids, c)
        self.clock[slot, tids] = c
        previous = self.arrived.get((slot, barrier))
        self.arrived[slot, barrier] = row if previous is None else np.maximum(previous, row)

    def partial_barrier(self, slot, barrier, tids):
        """Threads ``tids`` met at a barrier, after those that only arrived."""
        dense = self._densify(slot)
        c = self._tick(slot)
        row = dense[tids].max(axis=0)
        self.mark(row, tids, c)
        arrived = self.arrived.pop((slot, barrier), None)
        if arrived is not None:
            row = np.maximum(row, arrived)
        dense[tids] = row
        self.clock[slot, tids] = c

    def mark(self, row, tids, stamp):
        """Enter into a row of ``dense`` that everything of threads ``tids`` before ``stamp`` is known."""
        row[tids] = stamp
        if self.relaxed:
            row[self.n_threads + np.asarray(tids)] = stamp

    def _tick(self, slot):
        self.counter[slot] += 1
        return self.counter[slot]

    def _densify(self, slot):
        d = self.dense_index[slot]
        if d < 0:
            if not self._free:
                old = len(self.dense) if self.dense.shape[1] == self.n_threads else 0
                grown = np.zeros((max(1, 2 * old), self.n_threads, self.columns), np.int32)
                grown[:old] = self.dense[:old]
                self.dense = grown
                self._free = list(range(old, len(grown)))
            d = self.dense_index[slot] = self._free.pop()
            self.dense[d] = self.base[slot]
            for w in range(self.n_warps):
                first, last = 32 * w, min(32 * w + 32, self.n_threads)
                for column in range(0, self.columns, self.n_threads):
                    part = self.dense[d, first:last, column + first : column + last]
                    np.maximum(part, self.warp_base[slot, w], out=part)
        return self.dense[d]

    def beyond_base(self, slot, tid, reads=False):
        """What a thread knows of its CTA (of ``reads``) besides the last full barrier: bound per thread, or None."""
        if self.dense_index[slot] >= 0:
            first = self.n_threads if reads and self.relaxed else 0
            return self.dense[self.dense_index[slot], tid, first : first + self.n_threads].copy()
        bound = self.warp_base[slot, tid >> 5]
        if bound <= self.base[slot]:
            return None
        row = np.full(self.n_threads, self.base[slot], np.int32)
        row[tid & ~31 : (tid & ~31) + 32] = bound
        return row

    def _drop_dense(self, slot):
        if self.dense_index[slot] >= 0:
            self._free.append(int(self.dense_index[slot]))
            self.dense_index[slot] = -1
