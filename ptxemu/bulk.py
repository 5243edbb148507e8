"""Bulk and tensor copies between their issue and their landing (PTX ISA 9.7.9.25.4 and .5).

Towards shared memory a copy reports its bytes to an mbarrier; towards global memory it belongs to a bulk group of the
thread that issued it. Schedule "late": a load lands when nothing else can run and somebody waits for its mbarrier, and
its destination holds ones until then; a store reads its source at ``wait_group.read`` (or ``wait_group``, or the end
of the CTA) and writes global memory at ``wait_group`` or the end. "early": at once. Seeded: each one or the other.
For the checks a load is under way until a wait has seen its phase complete, and a store until its ``wait_group``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import tensormap
from .layout import GLOBAL_BASE

CHUNK = np.complex128  # 16 bytes, moved, never computed with


@dataclass(eq=False, slots=True)
class BulkCopy:
    """One copy. ``lane``: who issued it; ``slot``: whose shared memory; ``at``: its first byte there; ``view``,
    ``corner``: of a tensor copy; ``address``: in global memory, of a linear one; ``chunks``: where its 16-byte pieces
    lie in all slots' shared memory; ``key``: its mbarrier; ``group``: number of its bulk group; ``phase``: the one of
    the mbarrier in which its bytes counted; ``data``: what a store has read; ``refused``: its places are wrong.
    """

    site: int
    lane: int
    slot: int
    at: int
    nbytes: int
    chunks: np.ndarray
    load: bool
    view: object = None
    corner: tuple = ()
    address: int = 0
    key: tuple | None = None
    group: int = 0
    reduce: object = None
    phase: int | None = None
    data: np.ndarray | None = None
    landed: bool = False
    serial: int = 0
    refused: bool = False
    map_address: int = 0  # of its tensor map, if that lies in global memory
    echo: bool = False  # one of the further destinations of a multicast
    told: bool = False  # somebody who did not wait for it has been reported
    where: np.ndarray | None = None  # what pieces() gives

    def span(self):
        """int64: addresses of the 16-byte pieces of global memory that it touches."""
        if self.view is not None:
            return tensormap.chunk_addresses(self.view, self.corner)
        return self.address + 16 * np.arange(self.nbytes // 16)

    def offsets(self):
        """int64: byte offsets of its pieces in the shared memory of its CTA, in the order of the tile; of a store,
        those that hold elements inside the tensor.
        """
        pieces = self.pieces()
        if self.view is not None and not self.load:
            pieces = pieces[tensormap.inside(self.view, self.corner)]
        return pieces << 4

    def pieces(self):
        """int64: the same for all pieces, in units of 16 bytes."""
        if self.where is None:
            linear = (self.at >> 4) + np.arange(self.nbytes >> 4)
            self.where = linear if self.view is None else tensormap.places(self.view, self.at)
        return self.where


class Bulk:
    """All bulk copies under way, oldest first."""

    def __init__(self, machine):
        self.machine = machine
        self.loads, self.stores = [], []
        self.unobserved = {}  # mbarrier key -> copies that landed and that no wait has seen
        self.committed = np.zeros(machine.capacity, np.int32)
        self.serial = 0

    def checks(self):
        observer = self.machine.observer
        return None if observer is None else observer.async_

    def reset(self, slots):
        """New CTAs in ``slots``."""
        if not self.serial:
            return
        gone = set(slots.tolist())
        fresh = np.zeros(self.machine.slots, bool)
        fresh[slots] = True
        self.committed[np.flatnonzero(np.repeat(fresh, self.machine.stride))] = 0
        self.loads = [c for c in self.loads if c.slot not in gone]
        self.stores = [c for c in self.stores if c.slot not in gone]
        self.unobserved = {k: v for k, v in self.unobserved.items() if k[0] not in gone}

    def issue(self, copy):
        """Start a copy."""
        self.serial += 1
        copy.serial = self.serial
        self._announce("issue", copy, (copy.lane,))
        if self.machine.observer is not None:
            self.machine.observer.bulk_issued(copy)
        early = self.machine.lands_now()
        if copy.load:
            self.loads.append(copy)
            if early:
                self._land(copy)
            elif not copy.refused:
                self._shared()[copy.chunks] = np.full(1, -1, np.int64).repeat(2).view(CHUNK)
        else:
            copy.group = int(self.committed[copy.lane])
            self.stores.append(copy)
            if early:
                self._read(copy)
                self._write(copy)

    def _announce(self, kind, copy, idx=()):
        if self.machine.events:
            self.machine.events.bulk(kind, copy, idx)

    def _shared(self):
        return self.machine.shared.reshape(-1).view(CHUNK)

    # loads

    def _fetch(self, copy):
        """uint8[nbytes]: what a load brings."""
        arena = self.machine.memory.arena
        if copy.view is None:
            return arena[copy.address - GLOBAL_BASE :][: copy.nbytes].copy()
        tile = tensormap.blank(copy.view)
        for rows, columns, part in tensormap.windows(arena, GLOBAL_BASE, copy.view, copy.corner):
            tile[rows, columns] = tensormap.loaded(copy.view, part)
        return tile.reshape(-1)

    def _land(self, copy):
        """Data in place, bytes reported."""
        self.loads.remove(copy)
        self._announce("land", copy)
        if not copy.refused:
            self._shared()[copy.chunks] = self._fetch(copy).view(CHUNK)
        copy.landed = True
        mbarriers = self.machine.mbarriers
        barrier = mbarriers.table.get(copy.key)
        if barrier is None:
            return
        if self.machine.observer is not None:
            copy.phase = barrier.phase
            self.unobserved.setdefault(copy.key, []).append(copy)
        mbarriers.complete_tx(copy.site, copy.key, barrier, copy.nbytes)

    def land_awaited(self, waits):
        """Land copies for which somebody waits, oldest first, until that somebody can go on."""
        for copy in [c for c in self.loads if c.key in waits]:
            if copy.key in waits:
                self._land(copy)

    def observed(self, key, barrier):
        """A wait saw every phase before ``barrier.phase`` complete."""
        waiting = self.unobserved.get(key)
        if not waiting:
            return
        done = [c for c in waiting if c.phase < barrier.phase]
        self.unobserved[key] = [c for c in waiting if c.phase >= barrier.phase]
        checks = self.checks()
        if checks:
            for copy in done:
                checks.bulk_landed(copy, barrier)

    def bytes_for(self, key):
        """Bytes under way to an mbarrier."""
        return sum(c.nbytes for c in self.loads if c.key == key)

    # stores

    def commit(self, idx):
        self.committed[idx] += 1
        if self.machine.events:
            self.machine.events.group("commit", "bulk", idx)

    def wait(self, site, idx, keep, read_only):
        """Lanes wait until at most ``keep`` of their groups are under way (``read_only``: still read their source)."""
        if self.machine.events:
            self.machine.events.group("wait_group", "bulk", idx, site, number=keep)
        done = self.committed[idx] - keep
        limit = dict(zip(idx.tolist(), done.tolist(), strict=True))
        for copy in [c for c in self.stores if c.group < limit.get(c.lane, 0)]:
            self._finish(copy, read_only)

    def _finish(self, copy, read_only):
        self._read(copy)
        checks = self.checks()
        if checks:
            checks.bulk_read(copy)
        if not read_only:
            self._write(copy)
            self.stores.remove(copy)
            if checks:
                checks.bulk_written(copy)

    def _read(self, copy):
        if copy.data is None:
            self._announce("read", copy)
            copy.data = self._shared()[copy.chunks].view(np.uint8)

    def _write(self, copy):
        if copy.landed or copy.refused:
            return
        copy.landed = True
        self._announce("land", copy)
        arena = self.machine.memory.arena
        if copy.view is None:
            to = arena[copy.address - GLOBAL_BASE :][: copy.nbytes]
            to[:] = copy.data if copy.reduce is None else copy.reduce(to, copy.data)
            return
        tile = copy.data.reshape(tensormap.blank(copy.view).shape)
        for rows, columns, part in tensormap.windows(arena, GLOBAL_BASE, copy.view, copy.corner, True):
            new = tile[rows, columns]
            part[:] = new if copy.reduce is None else copy.reduce(part, new)

    def ended(self, slots):
        """CTAs ended: their stores finish; copies still under way are told."""
        if not (self.loads or self.stores or self.unobserved):
            return
        gone, checks = set(slots.tolist()), self.checks()
        for copy in [c for c in self.stores if c.slot in gone]:
            if checks and copy.load is False:
                checks.unfinished(copy)
            self._read(copy)
            self._write(copy)
            self.stores.remove(copy)
        for copy in [c for c in self.loads if c.slot in gone]:
            if checks:
                checks.unfinished(copy)
            self.loads.remove(copy)
        for key in [k for k in self.unobserved if k[0] in gone]:
            for copy in self.unobserved.pop(key):
                if checks:
                    checks.unfinished(copy)
