"""Lanes that share a program counter."""

from __future__ import annotations

import numpy as np


class Group:
    """Lanes at one segment: ``idx`` int32[n], ascending. ``parent``: the group that it was split from.
    ``warps``: None until known, then the first lanes of its warps, or False where some are not whole."""

    __slots__ = ("idx", "n", "address", "parent", "_lanes", "pieces", "back_edges", "warps")

    def __init__(self, idx, parent=None):
        self.idx = np.ascontiguousarray(idx, np.int32)
        self.n = len(self.idx)
        self.address = self.idx.ctypes.data
        self.parent = parent
        self._lanes = self.pieces = self.warps = None
        self.back_edges = 0
