"""Order through fences and flags: release and acquire (PTX ISA, "Memory Consistency Model").

A fence followed by a strong store or atomic releases what was before the fence; an atomic or strong load that reads
it, followed by a fence or a barrier, acquires. "Followed by a barrier" on the acquiring side is lenient on purpose:
the CUDA guide's own last-block reduction relies on it. A thread's fence also covers, after a barrier or
``bar.warp.sync``, a strong store by another thread that took part. Fences of scope .cta release inside the CTA
only.
"""

from __future__ import annotations

import numpy as np

from .clocks import Clocks

CTA_SCOPE, GPU_SCOPE = 0, 1
READS = 2  # in place of a scope: what a relaxed arrival tells, see clocks.py


class OrderedClocks(Clocks):
    """Clocks that also know fences and flags. Knowledge of other CTAs is kept in dicts {(cta, scope): bound per
    thread}.
    """

    def __init__(self, slots, n_threads, relaxed=False):
        super().__init__(slots, n_threads, relaxed)
        self.fence_mark = np.zeros((2, slots, n_threads), np.int32)
        self.fence_base = np.zeros((2, slots, n_threads), np.int32)
        self.shared_mark = np.zeros((2, slots, n_threads), np.int32)
        self.fence_rows = {}
        self.any_fence = False
        self.any_acquire = False
        self.flags = {}
        self.pending = {}
        self.thread_foreign = {}
        self.cta_foreign = {}
        self.updates = {}  # location -> strong stores and updates so far
        self.seen = {}  # (slot, tid, location) -> how many of them the thread's last strong read came after

    def begin(self, slots, ctas):
        """New CTAs in ``slots``: no thread knows anything yet. Flags in global memory stay."""
        super().begin(slots, ctas)
        self.fence_mark[:, slots] = self.fence_base[:, slots] = self.shared_mark[:, slots] = 0
        for table in (self.thread_foreign, self.pending, self.fence_rows, self.flags, self.updates, self.seen):
            self.forget(table, slots)
        for slot in slots.tolist():
            self.cta_foreign.pop(slot, None)

    def full_barrier(self, slot):
        super().full_barrier(slot)
        if self.any_fence:
            marks = np.maximum(self.shared_mark[:, slot], self.fence_mark[:, slot])
            self.shared_mark[:, slot] = np.maximum(marks, self.fence_base[:, slot].max(axis=1, keepdims=True))
        if self.any_acquire:
            self._commit(slot, range(self.n_threads))
            merged = self.cta_foreign.setdefault(slot, {})
            for key in [k for k in self.thread_foreign if k[0] == slot]:
                join(merged, self.thread_foreign.pop(key))

    def syncwarp(self, slot, warp, tids):
        super().syncwarp(slot, warp, tids)
        self._share_foreign(slot, tids)

    def partial_barrier(self, slot, barrier, tids):
        super().partial_barrier(slot, barrier, tids)
        self._share_foreign(slot, tids)

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
                    row = self.beyond_base(slot, t)
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
            join(merged, known)
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
        join(waiting, flag)
        if now:
            self._commit(slot, (tid,))

    def observed(self, key, slot, tid):
        """Whether the thread has read the location with an atomic or strong load after every strong write to it so far:
        what it stores there itself comes after them.
        """
        return self.seen.get((slot, tid, key)) == self.updates.get(key, 0)

    def bounds_of(self, slot, tid, cta, scope):
        """What (slot, tid) knows through flags of CTA ``cta``: up to two arrays, an exclusive bound per thread."""
        key = cta, scope
        tables = self.cta_foreign.get(slot), self.thread_foreign.get((slot, tid))
        return [row for table in tables if table for row in (table.get(key),) if row is not None]

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
                    join(known, table)
        return known

    def _commit(self, slot, tids):
        for tid in tids:
            waiting = self.pending.pop((slot, tid), None)
            if waiting:
                join(self.thread_foreign.setdefault((slot, tid), {}), waiting)

    def _share_foreign(self, slot, tids):
        """Give each of ``tids`` what any of them has acquired, and let each release what the others' fences
        covered.
        """
        if self.any_fence:
            self._share_fences(slot, tids)
        if not self.any_acquire:
            return
        tids = tids.tolist()
        self._commit(slot, tids)
        together = {}
        for tid in tids:
            join(together, self.thread_foreign.get((slot, tid), {}))
        if together:
            for tid in tids:
                self.thread_foreign[slot, tid] = dict(together)

    def _share_fences(self, slot, tids):
        for scope in (CTA_SCOPE, GPU_SCOPE):
            marks = self.fence_mark[scope, slot, tids]
            if not marks.any():
                continue
            for tid in tids.tolist():
                row = self.fence_rows.get((slot, tid, scope))
                row = np.zeros(self.n_threads, np.int32) if row is None else row.copy()
                row[tids] = np.maximum(row[tids], marks)
                self.fence_rows[slot, tid, scope] = row


def reads_of(table):
    """The same knowledge as a relaxed arrival tells it."""
    out = {}
    for (cta, _), row in table.items():
        join(out, {(cta, READS): row})
    return out


def join(into, other, made=None):
    """Add what is known of CTAs: {(cta, scope): bound per thread}. ``made``: joint arrays so far, by their parts, for
    many threads that learn the same.
    """
    for key, row in other.items():
        mine = into.get(key)
        if mine is None or mine is row:
            into[key] = row
            continue
        parts = id(mine), id(row)
        both = made.get(parts) if made is not None else None
        if both is None:
            both = np.maximum(mine, row)
            if made is not None:
                made[parts] = both, mine, row  # the parts stay alive, so that their ids stay theirs
        else:
            both = both[0]
        into[key] = both
