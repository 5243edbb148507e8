"""Runs native segments under observation and tells the observer what they did."""

from __future__ import annotations

import numpy as np

from .faults import report_faults
from .group import Group
from .layout import CLUSTER_SPAN, CTX, LOCAL_WINDOW, SEEN_LANES, SHARED_WINDOW, WINDOW_SIZE
from .observe import Lanes
from .state import State


class Telling(State):
    """The observed way to run a segment."""

    def observed(self, segment, function, group):
        """Run in pieces of at most SEEN_LANES lanes (whole warps) and tell the observer what each did."""
        total, start = 0, 0
        pieces = self._pieces(group)
        taken = np.empty(group.n, np.uint8) if len(pieces) > 1 else None
        for piece in pieces:
            count = function(self.ctx_address, piece.address, piece.n)
            self._tell(segment, piece)
            total += count
            if taken is not None:
                taken[start : start + piece.n] = self.taken[: piece.n]
                start += piece.n
        if taken is not None:
            self.taken[: group.n] = taken
        return total

    def _pieces(self, group):
        if group.n <= SEEN_LANES:
            return [group]
        if group.pieces is None:
            cuts, at, idx = [0], 0, group.idx
            while group.n - at > SEEN_LANES:
                at = int(np.searchsorted(idx, idx[at + SEEN_LANES] & ~31))
                cuts.append(at)
            cuts.append(group.n)
            group.pieces = [Group(idx[a:b]) for a, b in zip(cuts, cuts[1:], strict=False)]
        return group.pieces

    def _tell(self, segment, piece):
        observer, lanes, n = self.observer, self.lanes(piece), piece.n
        observer.execute(segment.index, lanes)
        faults = self.ctx[CTX["n_faults"]]
        if faults:
            report_faults(self, segment)
        for row, site in enumerate(self.unit.seen[segment.index]):
            info = self.program.sites[site]
            addr = self.seen[row, :n]
            same = self.same[row, :n].view(bool) if info.op == "st" else None
            active = lanes
            if faults or self.guarded[site]:
                mask = addr != -1
                if not mask.all():
                    if not mask.any():
                        continue
                    active = Lanes(lanes.slot[mask], lanes.tid[mask])
                    addr, same = addr[mask], None if same is None else same[mask]
            space = {"param": "const"}.get(info.space, info.space)
            if space == "generic":
                self._generic(site, addr, active, same)
            elif space == "shared" and self.program.clusters:
                self._cluster(site, addr, active, same)
            else:
                observer.access(site, space, addr, active, same)
        for site in self.unit.guarded[segment.index]:
            observer.guard(site, lanes, int(self.guards[site]))
            self.guards[site] = 0
        last = segment.instrs[-1]
        if last[0].op in ("fence", "membar"):
            observer.fence(last[1], lanes)

    def _generic(self, site, addr, lanes, same):
        """Sort generic addresses by window."""
        span = CLUSTER_SPAN if self.program.clusters else WINDOW_SIZE
        shared = (addr >= SHARED_WINDOW) & (addr < SHARED_WINDOW + span)
        local = (addr >= LOCAL_WINDOW) & (addr < LOCAL_WINDOW + WINDOW_SIZE)
        for mask, space, base in (
            (shared, "shared", SHARED_WINDOW),
            (local, "local", LOCAL_WINDOW),
            (~(shared | local), "global", 0),
        ):
            tell = self._cluster if space == "shared" and self.program.clusters else self.observer.access
            first = (site,) if space == "shared" and self.program.clusters else (site, space)
            if mask.all():
                tell(*first, addr - base, lanes, same)
                return
            if mask.any():
                part = Lanes(lanes.slot[mask], lanes.tid[mask])
                tell(*first, addr[mask] - base, part, None if same is None else same[mask])

    def _cluster(self, site, addr, lanes, same):
        """Sort shared addresses by the CTA that they lead to: one's own, or another of the cluster."""
        home, offset = self.clusters.locate(lanes.slot.astype(np.int64), addr)
        own = home == lanes.slot
        for mask, where in ((own, None), (~own, home)):
            if mask.any():
                part, picked = lanes.part(mask), None if same is None else same[mask]
                places = None if where is None else where[mask]
                self.observer.access(site, "shared", offset[mask], part, picked, home=places)
