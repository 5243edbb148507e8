"""Checks of bulk copies against the generic proxy, and of where tensor maps lie.

What a thread did through the generic proxy is ordered before a bulk copy only by a ``fence.proxy.async`` (PTX ISA 8.6,
"Proxies"): the writer's after the store and before the barrier, or, fragile, the issuer's after the barrier.
"""

from __future__ import annotations

import numpy as np

from . import shadow as sh
from .layout import LOCAL_WINDOW, WINDOW_SIZE
from .places import array_at
from .tensormap import NBYTES

FENCES = 4  # latest fences remembered per thread
DATA, INIT = 0, 1  # kinds of proxy fence


class ProxyChecks:
    """The part of AsyncChecks about proxies and tensor maps."""

    def fence(self, site, lanes):
        """fence.proxy.* and fence.mbarrier_init. Returns whether it was one."""
        opcode = self.sites[site].opcode
        if "proxy.tensormap" in opcode:
            if "acquire" in opcode:
                self.map_fences.update(lanes.slot.tolist())
            return True
        if "mbarrier_init" not in opcode and "proxy.async" not in opcode:
            return "proxy" in opcode
        clocks = self.clocks
        kinds = (INIT,) if "mbarrier_init" in opcode else (DATA, INIT)
        for slot in np.unique(lanes.slot).tolist():
            tids = lanes.tid[lanes.slot == slot]
            c = clocks._tick(slot)
            clocks.clock[slot, tids] = c
            for kind in kinds:
                self.fences[kind, slot, tids, 1:] = self.fences[kind, slot, tids, :-1]
                self.fences[kind, slot, tids, 0] = c
                self.fence_base[kind, slot, tids] = clocks.base[slot]
        return True

    def _fenced(self, kind, slot, tid, others, stamps):
        """2 where a writer's own fence stands between, 1 where only ``tid``'s after the barrier does, else 0."""
        bounds = self.bounds(slot, tid)
        fences = self.fences[kind, slot, others]
        good = ((fences > stamps[:, None]) & (fences < bounds[others][:, None])).any(axis=1)
        issuer = stamps < self.fence_base[kind, slot, tid]
        own = others == tid
        issuer |= own & (self.fences[kind, slot, tid, 0] > stamps)
        return np.where(good, 2, np.where(issuer, 1, 0))

    def _proxy(self, copy, chunks, tid, site):
        """Generic accesses to a copy's shared memory that no proxy fence orders before it."""
        race = self.observer.race
        slot = copy.slot
        width = race.entries
        view = race.shared.reshape(-1, width, sh.ENTRY)
        first = (slot * race.granules) + (copy.offsets() >> race.shift)
        granules = (first[:, None] + np.arange(max(1, 16 >> race.shift))).ravel()
        entries = view[granules]
        cta = int(self.observer.slot_cta[slot])
        bounds = self.bounds(slot, tid)
        columns = [("write", [0, width - 2, width - 1])]
        if copy.load:
            columns.append(("read", list(range(1, race.readers + 1))))
        for kind, which in columns:
            rows = entries[:, which].reshape(-1, sh.ENTRY)
            stamp, who, owner = rows.T
            others = who & sh.TID
            keep = (stamp != 0) & (owner == cta) & ~self.asynchronous[who >> sh.SITE_SHIFT]
            keep &= stamp < bounds[np.where(keep, others, 0)]
            if not keep.any():
                continue
            latest = np.zeros(self.n_threads, np.int32)
            np.maximum.at(latest, others[keep], stamp[keep])
            threads = np.flatnonzero(latest)
            fenced = self._fenced(DATA, slot, tid, threads, latest[threads])
            if fenced.min() < 2:
                worst = threads[fenced.argmin()]
                entry = who[keep][(others[keep] == worst) & (stamp[keep] == latest[worst])][0]
                self._tell_proxy(copy, site, kind, int(entry), int(fenced.min()))

    def _tell_proxy(self, copy, site, kind, entry, fenced):
        other_site, other = entry >> sh.SITE_SHIFT, entry & sh.TID
        if fenced == 1 and (kind == "read" or other == copy.lane % self.observer.lanes_per_cta):
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
