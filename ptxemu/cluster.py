"""Clusters: CTAs that run together, reach each other's shared memory and meet at barrier.cluster (PTX ISA 2.2.2, 4.1,
9.7.13.4).

The CTAs of a cluster stand in slots that follow each other, rank 0 first. An address of another CTA's shared memory is
its offset plus (rank + 1) * 2^24, in the shared and in the generic window; without such a part it is the CTA's own.
"""

from __future__ import annotations

import numpy as np

from .layout import LANE_SPECIAL, WINDOW_SIZE

RANK_SHIFT = WINDOW_SIZE.bit_length() - 1


class Clusters:
    """Clusters of a launch, of ``dims`` CTAs. Per lane: ``phase``, its arrivals at the cluster's barrier; per cluster:
    ``done``, completed phases, and ``count``, arrivals in the present one.
    """

    def __init__(self, machine, dims):
        self.machine, self.dims = machine, dims
        self.size = dims[0] * dims[1] * dims[2]
        number = -(-machine.slots // self.size)
        self.phase = np.zeros(machine.capacity, np.int32)
        self.done, self.count = np.zeros(number, np.int32), np.zeros(number, np.int32)

    def place(self, sequence):
        """Linear ids of the CTAs that start as number ``sequence`` int64[n]: cluster after cluster."""
        if self.size == 1:
            return sequence
        gx, gy, _ = self.machine.grid
        cx, cy, cz = self.dims
        cluster, rank = np.divmod(sequence, self.size)
        nx, ny = gx // cx, gy // cy
        x = cluster % nx * cx + rank % cx
        y = cluster // nx % ny * cy + rank // cx % cy
        z = cluster // (nx * ny) * cz + rank // (cx * cy)
        return x + gx * (y + gy * z)

    def start(self, slots, lanes, position):
        """New CTAs in ``slots``, with ``lanes`` int32[n, stride] each, at ``position`` in the grid."""
        special, rank = self.machine.special, slots % self.size
        cx, cy, _ = self.dims
        inside = rank % cx, rank // cx % cy, rank // (cx * cy)
        for axis, mine, at, extent in zip("xyz", inside, position, self.dims, strict=True):
            special[LANE_SPECIAL.index(f"cluster_ctaid.{axis}"), lanes] = mine[:, None]
            special[LANE_SPECIAL.index(f"clusterid.{axis}"), lanes] = (at // extent)[:, None]
        special[LANE_SPECIAL.index("cluster_ctarank"), lanes] = rank[:, None]
        self.phase[lanes] = 0
        self.done[slots // self.size] = self.count[slots // self.size] = 0

    def restartable(self, ended):
        """Slots, of clusters in which CTAs just ended, where new clusters may start."""
        if self.size == 1:
            return ended
        clusters = np.unique(ended // self.size)
        slots = clusters[:, None] * self.size + np.arange(self.size)
        return slots[(self.machine.live[slots] == 0).all(axis=1)].ravel()

    def members(self, slot):
        """Slots of the CTAs of the cluster of ``slot``, by rank."""
        first = slot // self.size * self.size
        return list(range(first, first + self.size))

    def locate(self, slot, addr):
        """(slots, offsets): where shared addresses of threads in ``slot`` int64[n] lead."""
        rank = addr >> RANK_SHIFT
        home = np.where(rank > 0, slot // self.size * self.size + np.minimum(rank, self.size) - 1, slot)
        return home, addr & (WINDOW_SIZE - 1)

    # barrier.cluster

    def arrive(self, site, group, release):
        machine = self.machine
        slots = machine.slot_of[group.idx]
        self.phase[group.idx] += 1
        self.count += np.bincount(slots // self.size, minlength=len(self.count)).astype(np.int32)
        if machine.observer is not None:
            machine.observer.cluster_arrive(site, machine.lanes(group), release)
        self._settle()

    def ready(self, group):
        """bool per lane: the phase in which it arrived is complete."""
        self._settle()
        return self.done[self.machine.slot_of[group.idx] // self.size] >= self.phase[group.idx]

    def _settle(self):
        live = self.machine.live
        expected = np.zeros(len(self.count) * self.size, np.int32)
        expected[: len(live)] = live
        complete = (self.count > 0) & (self.count >= expected.reshape(-1, self.size).sum(axis=1))
        for cluster in np.flatnonzero(complete).tolist():
            self.done[cluster] += 1
            self.count[cluster] = 0
            if self.machine.observer is not None:
                slots = [s for s in self.members(cluster * self.size) if s < self.machine.slots]
                self.machine.observer.cluster_barrier(slots)

    def waiting(self, group):
        """What a group waits for at barrier.cluster.wait."""
        slot = int(self.machine.slot_of[group.idx[0]])
        live = int(self.machine.live[self.members(slot)].sum())
        return f"barrier.cluster: {int(self.count[slot // self.size])} of {live} threads of the cluster arrived"
