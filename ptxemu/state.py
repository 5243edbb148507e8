"""What one launch holds in memory: registers, shared and local memory, lane tables, and the table that native code
reads.
"""

from __future__ import annotations

import numpy as np

from .layout import CTX, LANE_SPECIAL, LAUNCH_SPECIAL, MAX_FAULTS, SEEN_LANES
from .observe import Lanes


class State:
    """The arrays of a launch; the machine inherits them. Lane = slot * stride + linear thread id."""

    def allocate(self, shared_bytes):
        """Make every array and fill in the table of their addresses."""
        unit, capacity = self.unit, self.capacity
        self.registers = np.full(unit.register_bytes + 64, 0xFF, np.uint8)
        self.shared = np.full((self.slots, -(-max(shared_bytes, 1) // 1024) * 1024), 0xFF, np.uint8)
        self.shared_bytes = shared_bytes
        local = self.program.local_size
        self.local = np.full(max(local * self.slots * self.stride, 1), 0xFF, np.uint8)
        self.taken = np.zeros(capacity, np.uint8)
        rows = max((len(s) for s in unit.seen.values()), default=0)
        self.seen = np.zeros((max(rows, 1), SEEN_LANES), np.int64)
        self.same = np.zeros((max(rows, 1), SEEN_LANES), np.uint8)
        self.cache = np.zeros((len(self.program.sites), 2), np.int64)
        self.cache[:, 0] = -1
        self.faults = np.zeros((MAX_FAULTS, 3), np.int64)
        self.pad = np.zeros(64, np.int64)
        self.special = np.zeros((len(LANE_SPECIAL), capacity), np.int32)
        lane = np.arange(capacity)
        tid = lane % self.stride
        self.slot_of = (lane // self.stride).astype(np.int32)
        self.tid_of = tid.astype(np.int32)
        x, y, _ = self.block
        for row, values in zip(range(3), (tid % x, tid // x % y, tid // (x * y)), strict=True):
            self.special[row] = values
        self.special[-1] = tid
        self.launch_words = np.zeros(len(LAUNCH_SPECIAL), np.int32)
        dynamic = max(shared_bytes - self.program.dynamic_offset, 0)
        values = (*self.block, *self.grid, self.profile.sms, dynamic, shared_bytes, self.stride // 32)
        clusters = [n // c for n, c in zip(self.grid, self.cluster, strict=True)]
        self.launch_words[:] = (*values, *self.cluster, *clusters, int(np.prod(self.cluster)))
        self.guards = np.zeros(len(self.program.sites), np.int64)
        self.clock = np.zeros(1, np.int64)
        self.index = np.zeros(capacity, np.int32)
        pad = -(-self.pad.ctypes.data // 64) * 64
        self.lane_shared = np.zeros(capacity, np.int64)
        self.lane_shared[:] = (
            self.shared.ctypes.data + np.minimum(self.slot_of, self.slots - 1).astype(np.int64) * self.shared.shape[1]
        )
        self.ctx = np.zeros(len(CTX), np.int64)
        fields = {
            "registers": self.registers.ctypes.data,
            "global_delta": self.memory.delta,
            "lane_shared": self.lane_shared.ctypes.data,
            "shared_size": shared_bytes,
            "local": self.local.ctypes.data,
            "taken": self.taken.ctypes.data,
            "seen": self.seen.ctypes.data,
            "same": self.same.ctypes.data,
            "cache": self.cache.ctypes.data,
            "params": self.memory.param_address + self.memory.delta,
            "allocations": self.memory.ranges.ctypes.data,
            "n_allocations": len(self.memory.ranges),
            "faults": self.faults.ctypes.data,
            "pad": pad,
            "lane_special": self.special.ctypes.data,
            "launch": self.launch_words.ctypes.data,
            "clock": self.clock.ctypes.data,
            "index": self.index.ctypes.data,
            "guards": self.guards.ctypes.data,
            "shared_pitch": self.shared.shape[1],
        }
        for name, value in fields.items():
            self.ctx[CTX[name]] = value
        self.ctx_address = self.ctx.ctypes.data

    def row(self, reg, dtype=None):
        """View of a register's row: one element per lane, unsigned unless ``dtype`` says otherwise."""
        offset, size = self.unit.slot(reg)
        view = self.registers[offset : offset + self.capacity * size]
        return view.view(dtype or f"u{size}")

    def lanes(self, group):
        """The observer's view of a group, made once."""
        if group._lanes is None:
            group._lanes = Lanes(self.slot_of[group.idx], self.tid_of[group.idx])
        return group._lanes

    def lanes_of(self, idx):
        """Observer lanes of any lane numbers."""
        return Lanes(self.slot_of[idx], self.tid_of[idx])
