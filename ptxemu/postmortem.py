"""What is said when a launch cannot go on."""

from __future__ import annotations

import numpy as np

from .telling import Telling


class Stop(Exception):
    """Ends a launch early (deadlock, livelock, trap)."""


class PostMortem(Telling):
    """Deadlock and livelock: who waits where."""

    def site_of(self, number):
        """First site of a segment that has a source line."""
        for _, site in self.program.segments[number].instrs:
            if self.program.sites[site].line:
                return site
        return self.program.segments[number].instrs[0][1]

    def line(self, site):
        """ "k.cu:12" or the PTX line."""
        info = self.program.sites[site]
        return f"{info.file.rsplit('/', 1)[-1]}:{info.line}" if info.line else f"PTX line {info.ptx_line}"

    def _waiting(self):
        """(site, idx, what) of every group that waits."""
        out = [*self.barriers.waiting(), *self.mbarriers.waiting()]
        for number, group in self.parked.items():
            ins, site = self.program.segments[number].instrs[0]
            who = "warps of its warpgroup" if ins.op == "wgmma" else "threads of its mask"
            what = f"{ins.opcode} for the other {who}"
            if ins.op == "setmaxnreg":
                what = f"{ins.opcode} for {self.pool.waiting(self.program.segments[number].plan, group)}"
            if ins.op == "barrier":
                what = self.clusters.waiting(group)
            out.append((site, group.idx, what))
        return out

    @staticmethod
    def _merged(waiting):
        """Equal (site, what) once, with all their lanes."""
        groups = {}
        for site, idx, what in waiting:
            groups.setdefault((site, what), []).append(idx)
        return [(site, np.concatenate(parts), what) for (site, what), parts in groups.items()]

    def deadlock(self):
        """Nothing can run: report who waits where and stop."""
        waiting = self._waiting()
        lines = []
        for site, idx, what in self._merged(waiting):
            slots = np.unique(self.slot_of[idx])
            lines.append(f"{len(idx)} threads of {len(slots)} CTAs wait at {self.line(site)}: {what}")
        if self.observer is not None and waiting:
            self.observer.finding(
                "deadlock", waiting[0][0], lanes=self.lanes_of(waiting[0][1]), detail="\n".join(lines)
            )
        raise Stop

    def livelock(self, number, group):
        """Too many steps without a CTA finishing: report the loops and stop."""
        lines = [f"{group.n} threads loop at {self.line(self.site_of(number))}"]
        others = sorted((self.asleep | self.runnable).items())
        lines += [f"{g.n} threads are ready at {self.line(self.site_of(s))}" for s, g in others]
        lines += [f"{len(idx)} threads wait at {self.line(site)}: {what}" for site, idx, what in self._waiting()]
        if self.observer is not None:
            self.observer.finding(
                "livelock", self.site_of(number), lanes=self.lanes_of(group.idx), detail="\n".join(lines)
            )
        raise Stop
