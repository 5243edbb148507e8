"""Happens-before clocks: what each thread of the resident CTAs is ordered after.

Every CTA (slot) has a counter of ordering events. A thread's accesses carry its ``clock``, the counter's value at
its last event. Knowledge is kept as compactly as the kernel allows: a full barrier moves the CTA's ``base``; a full
``bar.warp.sync`` moves the warp's ``warp_base``; partial barriers, partial masks and flags inside a CTA switch it
to a ``dense`` matrix [thread, other thread] until the next full barrier. Bounds are exclusive: accesses with a
smaller stamp are known.

Across CTAs (and through flags inside one), order comes from release and acquire (PTX ISA, "Memory Consistency
Model"): a fence followed by a strong store or atomic releases what was before the fence; an atomic or strong load
that reads it, followed by a fence or a barrier, acquires. "Followed by a barrier" on the acquiring side is lenient
on purpose: the guide's own last-block reduction relies on it. A thread's fence also covers, after a barrier, a
strong store by another thread of its CTA. Fences of scope .cta release inside the CTA only.
"""

from __future__ import annotations

import numpy as np

CTA_SCOPE, GPU_SCOPE = 0, 1


class Clocks:
    """Clocks of ``slots`` resident CTAs of ``n_threads`` threads."""

    def __init__(self, slots, n_threads):
        self.n_threads = n_threads
        self.n_warps = (n_threads + 31) // 32
        self.counter = np.ones(slots, np.int32)
        self.base = np.ones(slots, np.int32)
        self.clock = np.ones((slots, n_threads), np.int32)
        self.warp_base = np.zeros((slots, self.n_warps), np.int32)
        self.dense_index = np.full(slots, -1, np.int64)
        self.dense = np.zeros((1, 1, 1), np.int32)
        self._free = []
        self.cta_of = np.full(slots, -1, np.int64)
        self.fence_mark = np.zeros((2, slots, n_threads), np.int32)
        self.fence_base = np.zeros((2, slots, n_threads), np.int32)
        self.fence_rows = {}
        self.shared_mark = np.zeros((2, slots, n_threads), np.int32)
        self.any_fence = False
        self.any_acquire = False
        self.flags = {}
        self.arrived = {}
        self.pending = {}
        self.thread_foreign = {}
        self.cta_foreign = {}

    def begin(self, slots, ctas):
        """New CTAs in ``slots``: no thread knows anything yet."""
        for slot, cta in zip(slots.tolist(), ctas.tolist(), strict=True):
            self.cta_of[slot] = cta
            self._drop_dense(slot)
            self.cta_foreign.pop(slot, None)
        self.counter[slots] = self.base[slots] = 1
        self.clock[slots] = 1
        self.warp_base[slots] = 0
        self.fence_mark[:, slots] = self.fence_base[:, slots] = self.shared_mark[:, slots] = 0
        gone = set(slots.tolist())
        for table in (self.thread_foreign, self.pending, self.fence_rows, self.arrived):
            for key in [k for k in table if k[0] in gone]:
                del table[key]
        if self.flags:
            self.flags = {k: v for k, v in self.flags.items() if k[0] not in gone}

    # barriers

    def full_barrier(self, slot):
        c = self._tick(slot)
        self.base[slot] = c
        self.clock[slot] = c
        self._drop_dense(slot)
        if self.any_fence:
            np.maximum(self.shared_mark[:, slot], self.fence_mark[:, slot], out=self.shared_mark[:, slot])
            self.shared_mark[:, slot] = np.maximum(
                self.shared_mark[:, slot], self.fence_base[:, slot].max(axis=1, keepdims=True)
            )
        if self.any_acquire:
            self._commit(slot, range(self.n_threads))
            merged = self.cta_foreign.setdefault(slot, {})
            for key in [k for k in self.thread_foreign if k[0] == slot]:
                _join(merged, self.thread_foreign.pop(key))

    def syncwarp(self, slot, warp, tids):
        c = self._tick(slot)
        if self.dense_index[slot] < 0 and len(tids) == min(32, self.n_threads - 32 * warp):
            self.warp_base[slot, warp] = c
        else:
            dense = self._densify(slot)
            row = dense[tids].max(axis=0)
            row[tids] = c
            dense[tids] = row
        self.clock[slot, tids] = c
        self._share_foreign(slot, tids)

    def arrive(self, slot, barrier, tids):
        dense = self._densify(slot)
        c = self._tick(slot)
        row = dense[tids].max(axis=0)
        row[tids] = c
        self.clock[slot, tids] = c
        previous = self.arrived.get((slot, barrier))
        self.arrived[slot, barrier] = row if previous is None else np.maximum(previous, row)

    def partial_barrier(self, slot, barrier, tids):
        dense = self._densify(slot)
        c = self._tick(slot)
        row = dense[tids].max(axis=0)
        row[tids] = c
        arrived = self.arrived.pop((slot, barrier), None)
        if arrived is not None:
            row = np.maximum(row, arrived)
        dense[tids] = row
        self.clock[slot, tids] = c
        self._share_foreign(slot, tids)

    # fences and flags

    def fence(self, slots, tids, scope):
        """Threads execute a fence of ``scope`` CTA_SCOPE or GPU_SCOPE: it may release what came before, and
        completes pending acquires.
        """
        self.any_fence = True
        for slot in np.unique(slots):
            mine = tids[slots == slot]
            c = self._tick(slot)
            self.clock[slot, mine] = c
            for s in range(scope + 1):
                self.fence_mark[s, slot, mine] = c
                self.fence_base[s, slot, mine] = self.base[slot]
                for t in mine.tolist():
                    row = self._beyond_base(slot, t)
                    if row is not None:
                        self.fence_rows[slot, t, s] = row
            if self.any_acquire:
                self._commit(slot, mine.tolist())

    def release(self, key, slot, tid, update):
        """A strong store (or, with ``update``, an atomic) to the location ``key``: it carries what the thread's
        fence has released.
        """
        known = self._released(slot, tid) if self.any_fence else None
        if known is None:
            if not update:
                self.flags.pop(key, None)
            return
        flag = self.flags.get(key) if update else None
        if flag is None:
            self.flags[key] = known
        else:
            merged = dict(flag)
            _join(merged, known)
            self.flags[key] = merged

    def acquire(self, key, slot, tid, now):
        """A strong load or atomic by (slot, tid) read ``key``; ``now``: the instruction itself acquires, else the
        next fence or barrier does.
        """
        flag = self.flags.get(key)
        if flag is None:
            return
        self.any_acquire = True
        waiting = self.pending.setdefault((slot, tid), {})
        _join(waiting, flag)
        if now:
            self._commit(slot, (tid,))

    def knows(self, slot, tid, cta, other, stamp, in_cta):
        """Vector over ``other``, ``stamp``: whether (slot, tid) is ordered after those accesses of CTA ``cta``
        through flags.
        """
        known = np.zeros(len(other), bool)
        for table in (self.cta_foreign.get(slot), self.thread_foreign.get((slot, tid))):
            row = table.get((cta, CTA_SCOPE if in_cta else GPU_SCOPE)) if table else None
            if row is not None:
                known |= stamp < row[other]
        return known

    # internals

    def _tick(self, slot):
        self.counter[slot] += 1
        return self.counter[slot]

    def _densify(self, slot):
        d = self.dense_index[slot]
        if d < 0:
            if not self._free:
                old = len(self.dense) if self.dense.shape[1] == self.n_threads else 0
                grown = np.zeros((max(1, 2 * old), self.n_threads, self.n_threads), np.int32)
                grown[:old] = self.dense[:old]
                self.dense = grown
                self._free = list(range(old, len(grown)))
            d = self.dense_index[slot] = self._free.pop()
            self.dense[d] = self.base[slot]
            for w in range(self.n_warps):
                lanes = slice(32 * w, 32 * w + 32)
                np.maximum(self.dense[d, lanes, lanes], self.warp_base[slot, w], out=self.dense[d, lanes, lanes])
        return self.dense[d]

    def _beyond_base(self, slot, tid):
        """What a thread knows of its CTA besides the last full barrier: bound per thread, or None."""
        if self.dense_index[slot] >= 0:
            return self.dense[self.dense_index[slot], tid].copy()
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

    def _released(self, slot, tid):
        """{(cta, scope): bound per thread} that the thread's last fence released, or None."""
        known = {}
        cta = int(self.cta_of[slot])
        for scope in (CTA_SCOPE, GPU_SCOPE):
            row = np.maximum(self.shared_mark[scope, slot], self.fence_base[scope, slot, tid])
            row[tid] = max(row[tid], self.fence_mark[scope, slot, tid])
            saved = self.fence_rows.get((slot, tid, scope))
            if saved is not None:
                row = np.maximum(row, saved)
            if row.any():
                known[cta, scope] = row
        if not known:
            return None
        if any(scope == GPU_SCOPE for _, scope in known):
            for table in (self.cta_foreign.get(slot), self.thread_foreign.get((slot, tid))):
                if table:
                    _join(known, table)
        return known

    def _commit(self, slot, tids):
        for tid in tids:
            waiting = self.pending.pop((slot, tid), None)
            if waiting:
                _join(self.thread_foreign.setdefault((slot, tid), {}), waiting)

    def _share_foreign(self, slot, tids):
        """Give each of ``tids`` what any of them has acquired."""
        if not self.any_acquire:
            return
        tids = tids.tolist()
        self._commit(slot, tids)
        together = {}
        for tid in tids:
            _join(together, self.thread_foreign.get((slot, tid), {}))
        if together:
            for tid in tids:
                self.thread_foreign[slot, tid] = dict(together)


def _join(into, other):
    for key, row in other.items():
        mine = into.get(key)
        into[key] = row if mine is None or mine is row else np.maximum(mine, row)
