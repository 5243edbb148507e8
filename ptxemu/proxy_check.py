"""Checks of bulk copies against the generic proxy (see proxy.py), and of where tensor maps lie.

A fence of the thread that wrote, before the barrier, is what the sources of the field recommend; one of the thread that
starts the copy, after the barrier, serves for reads that a load overwrites, and is called fragile for writes.
"""

from __future__ import annotations

import numpy as np

from . import shadow as sh
from .layout import LOCAL_WINDOW, WINDOW_SIZE
from .places import array_at
from .proxy import BY_ISSUER, DATA, FENCED
from .tensormap import NBYTES


class ProxyChecks:
    """The part of AsyncChecks about proxies and tensor maps."""

    def _proxy(self, copy, tid, site):
        """Generic accesses to a copy's shared memory that no proxy fence orders before it."""
        kinds = ("write", "read") if copy.load else ("write",)
        for kind in kinds:
            addr = copy.offsets()
            _, entries, level = self.observer.proxies.before(DATA, copy.slot, tid, addr, kind == "read")
            if len(level) and level.min() < FENCED:
                worst = level.argmin()
                self._tell_proxy(copy, site, kind, int(entries[worst]), int(level[worst]))

    def _tell_proxy(self, copy, site, kind, entry, fenced):
        other_site, other = entry >> sh.SITE_SHIFT, entry & sh.TID
        if fenced == BY_ISSUER and (kind == "read" or other == copy.lane % self.observer.lanes_per_cta):
            return
        verb = "copies to" if copy.load else "copies from"
        who = self.who(copy.slot * self.observer.lanes_per_cta + other)
        past = "wrote" if kind == "write" else "read"
        words = f"{verb} {self.place((copy.slot, copy.at))}, which {who} {past} at {self.line(other_site)}"
        words += (
            " without a fence.proxy.async after it"
            if not fenced
            else "; the fence.proxy.async stands here and not with the thread that wrote"
        )
        severity = "warning" if kind == "read" or fenced else "error"
        self.say("missing-proxy-fence", site, copy.lane, words, other_site, severity)

    def _global_proxy(self, copy, site):
        """Writes of threads to the global memory of a copy, which no proxy fence makes known to it."""
        race, observer = self.observer.race, self.observer
        granules = (copy.span() - race.memory.global_base >> race.shift)[:, None] + np.arange(16 >> race.shift)
        if not (race.lines[granules >> 5] == sh.WRITTEN).any():
            return
        table = race.global_.reshape(-1, race.entries, sh.ENTRY)
        written = table[granules.ravel()][:, [0, -2, -1]].reshape(-1, sh.ENTRY)
        stamp, who, cta = written.T
        generic = (stamp != 0) & ~race.asynchronous[who >> sh.SITE_SHIFT]
        slot, tid = self._thread(copy.lane)
        bounds = observer.proxies.bounds(slot, tid)
        for block in np.unique(cta[generic]).tolist():
            mine = np.unique(written[generic & (cta == block)], axis=0)
            threads = mine[:, 1] & sh.TID
            bad = observer.proxies.everywhere.unseen(slot, tid, bounds, block, threads, mine[:, 0])
            if bad.any():
                entry = int(mine[np.flatnonzero(bad)[0], 1])
                name, other_site = observer.name.text(block, entry & sh.TID), entry >> sh.SITE_SHIFT
                verb = "copies" if copy.load else "copies to"
                words = f"{verb} global memory that {name} wrote at {self.line(other_site)}"
                words += ", and no fence.proxy.async (of all memory, or .global) stands between"
                self.say("missing-proxy-fence", site, copy.lane, words, other_site)
                return

    def bad_map(self, site, lane, address, view, rank):
        if view is None:
            words = f"copies through a tensor map at {address:#x}, where there is none"
        else:
            words = f"copies {rank} dimensions through a tensor map of rank {view.rank}"
        self.say("bad-tensor-map", site, lane, words)

    def map_touched(self, site, addr, lanes):
        """A generic store to a tensor map through which copies are under way."""
        info = self.sites[site]
        if info.op == "ld":
            return
        for serial, address in self.maps.items():
            hit = np.flatnonzero((addr < address + NBYTES) & (addr + info.width * info.vec > address))
            if len(hit):
                copy = self.live[serial]
                lane = int(lanes.slot[hit[0]]) * self.observer.lanes_per_cta + int(lanes.tid[hit[0]])
                words = f"changes the tensor map through which the copy of {self.line(copy.site)} is still under way"
                self.say("tensor-map-overwritten", site, lane, words, copy.site)
                return

    def map_address(self, site, lane, address):
        """A map must lie in a parameter, in constant memory, or in global memory behind a fence of some thread of the
        block (CUDA C++ Programming Guide, "Using TMA to transfer multi-dimensional arrays").
        """
        memory = self.observer.memory
        if memory.param_address <= address < memory.param_address + memory.param_size:
            return
        if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_SIZE:
            self.say(
                "tensor-map-passing",
                site,
                lane,
                "copies through a tensor map in its local memory, a copy of the parameter",
            )
            return
        array = array_at(memory, address)
        if array is not None and array.role == "module" and array.name in self.observer.entry.constants:
            return
        if self._thread(lane)[0] not in self.map_fences:
            name = array.name if array is not None else f"{address:#x}"
            words = (
                f"copies through the tensor map {name} in global memory without a fence.proxy.tensormap acquire before"
            )
            self.say("tensor-map-passing", site, lane, words)
