"""What the executor tells, and what is made of it: counters, findings and the access trace of one launch.

The executor makes one :class:`Observer` per launch when ``check``, ``count`` or ``trace`` is on, and calls it as follows.

``entry.sites``
    One object per instruction, in program order, with ``opcode`` (with modifiers, "ld.global.v4.f32"), ``file``, ``line``, ``ptx_line``,
    ``block`` (index of its basic block), ``space`` ("" for non-memory, else "global", "shared", "local", "const", "param" or "generic"),
    ``op`` ("" | "ld" | "st" | "atom" | "red"), ``width`` (bytes of one element), ``vec`` (1, 2, 4 or 8),
    ``sem`` ("" weak | "volatile" | "relaxed" | "acquire" | "release" | "acq_rel" | "sc"; "relaxed" for atom/red without one)
    and ``scope`` ("" | "cta" | "cluster" | "gpu" | "sys").
``memory``
    ``global_base`` and ``global_size`` (virtual address and bytes of the arena, guard zones included) and ``arrays``: a list of objects with
    ``name``, ``address``, ``nbytes``, ``role`` ("in" | "out" | "inout" | "module"), ``shape``, ``strides`` (bytes) and ``itemsize``,
    plus ``peek(space, slot, addr, nbytes) -> uint8[n, nbytes]`` (bytes that memory holds now; ``addr`` and ``slot`` int64[n]).
``n_threads``
    Threads of a CTA, ``block`` is (x, y, z). CTAs are numbered linearly, x fastest.

Order of calls: ``begin(slots, ctas)`` when CTAs start in slots (shared memory of those slots is new), then the events below, each *before* it
takes effect in memory, then ``finish()`` once. Lanes with a bad address are reported through ``finding`` and left out of ``access``.
"""

from __future__ import annotations

import numpy as np


class Lanes:
    """The active lanes of one group: ``slot`` and ``tid`` int32[n], sorted by (slot, tid). Reuse one object for a whole block: it caches."""

    __slots__ = ("slot", "tid", "n", "_starts")

    def __init__(self, slot, tid):
        self.slot = np.ascontiguousarray(slot, dtype=np.int32)
        self.tid = np.ascontiguousarray(tid, dtype=np.int32)
        self.n = len(self.slot)
        self._starts = None

    @property
    def starts(self):
        """int64[w + 1]: where each warp's lanes begin, with the end appended."""
        if self._starts is None:
            warp = (self.slot.astype(np.int64) << 5) | (self.tid >> 5)
            change = np.flatnonzero(warp[1:] != warp[:-1]) + 1
            self._starts = np.concatenate(([0], change, [self.n])) if self.n else np.zeros(1, np.int64)
        return self._starts

    @property
    def warps(self):
        return len(self.starts) - 1


class Observer:
    """Collects one launch's counters, findings and trace. See the module's docstring for what the executor supplies."""

    def __init__(self, entry, grid, block, memory, profile, check=True, count=True, trace=None, shared_bytes=0, slots=1):
        self.entry = entry

    def begin(self, slots, ctas):
        """CTAs with linear ids ``ctas`` int64[n] start in ``slots`` int64[n]; the slots' shared memory is new."""

    def execute(self, block, lanes):
        """Lanes run basic block ``block`` (index) to its end, once. Called once per run of a block, cheap."""

    def guard(self, site, lanes):
        """Optional: the lanes for which a guarded non-memory instruction of the block was really executed (no call: all lanes of the block)."""

    def access(self, site, space, addr, lanes, values=None):
        """Lanes access memory at ``addr`` int64[n] (global: virtual address; shared, local, const: byte offset in the CTA or thread).

        ``site`` is an index into ``entry.sites``, which gives op, width, vec and ordering. ``space`` is the real one, also for generic accesses.
        ``values``: for stores, a list of ``vec`` arrays (n elements or broadcastable scalars, any dtype of ``width`` bytes), else None.
        """

    def fence(self, site, lanes):
        """membar / fence; its scope and semantics stand in the site."""

    def syncwarp(self, site, slot, warp, tids):
        """bar.warp.sync completed for ``tids`` int32[n] of one warp."""

    def arrive(self, site, slot, barrier, tids):
        """bar.arrive (non-blocking) by ``tids``: their accesses so far will be ordered before what follows the barrier's completion."""

    def barrier(self, site, slot, barrier, tids, full=True):
        """A barrier of a CTA completed for the waiting ``tids`` (threads that used ``arrive`` before are not repeated here).

        ``full``: every thread of the CTA that has not exited takes part. ``site`` is where the first waiting thread waits.
        """

    def finding(self, rule, site, lanes=None, addr=None, space=None, other_site=None, detail=""):
        """Report a fact found by the executor: out-of-bounds, misaligned, divergent-barrier, barrier-after-exit, deadlock, livelock,
        uninitialised-register, trap. ``lanes``: the offending :class:`Lanes`; ``addr`` int64[n] for memory rules; ``detail``: one clause
        or, for deadlock and livelock, the lines of the post-mortem. Equal (rule, site, other_site) are merged and counted.
        """

    def finish(self):
        """Return (findings: list[Finding], counters: Counters | None, trace: list[Access])."""
        return [], None, []
