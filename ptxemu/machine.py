"""The executor: groups of lanes that share a program counter, run segment by segment, lowest segment first.

A lane is a thread in a slot: lane = slot * (threads of a CTA, rounded up to whole warps) + linear thread id. Groups at the same segment merge, so
that lanes of a warp that diverged come together again where their paths meet. Everything that may wait parks its lanes; when nothing can
run and somebody waits, that is a deadlock.

With an integer schedule the group and the warps of it that run next are drawn at random.
"""

from __future__ import annotations

import time

import numpy as np

from .barriers import Barriers
from .codegen import CTX, LANE_SPECIAL, LAUNCH_SPECIAL, MAX_FAULTS, SEEN_LANES
from .faults import report_faults
from .observe import Lanes
from .ops import COLLECTIVE
from .ops_warp import value
from .windows import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE

SPIN_PATIENCE = 8  # back edges of a waiting loop before others get a turn
LOOP_PATIENCE = 20_000  # the same for a loop that does not look like a waiting one
NO_PROGRESS = 300_000  # segments run since a CTA last finished: a livelock


class Group:
    """Lanes at one segment: ``idx`` int32[n], ascending. ``parent``: the group that it was split from."""

    __slots__ = ("idx", "n", "address", "parent", "_lanes", "pieces", "back_edges")

    def __init__(self, idx, parent=None):
        self.idx = np.ascontiguousarray(idx, np.int32)
        self.n = len(self.idx)
        self.address = self.idx.ctypes.data
        self.parent = parent
        self._lanes = self.pieces = None
        self.back_edges = 0


class Stop(Exception):
    """Ends a launch early (deadlock, livelock, trap)."""


class Machine:
    """One launch. ``observer`` is None when nothing is checked or counted."""

    def __init__(self, program, unit, memory, grid, block, shared_bytes, slots, observer, schedule, max_steps, total_ctas, spins, progress, profile):
        self.program, self.unit, self.memory, self.observer = program, unit, memory, observer
        self.grid, self.block = grid, block
        self.threads = block[0] * block[1] * block[2]
        self.stride = -(-self.threads // 32) * 32
        self.slots, self.total, self.spins, self.progress = slots, total_ctas, spins, progress
        self.max_steps, self.profile = max_steps, profile
        self.random = np.random.default_rng(schedule) if isinstance(schedule, int) else None
        self.capacity = unit.capacity
        self.steps = self.last_progress = 0
        self.runnable, self.parked = {}, {}
        self.everyone, self.had_faults = None, False
        self.slot_cta = np.full(slots, -1, np.int64)
        self.live = np.zeros(slots, np.int32)
        self.alive = np.zeros(self.capacity, bool)
        self.last_store = np.full(self.capacity, -1, np.int32)
        self.last_group = None
        self.next_cta = 0
        self.functions = unit.functions
        self._allocate(shared_bytes)
        self.barriers = Barriers(self)
        memory.machine = self

    def _allocate(self, shared_bytes):
        unit, capacity = self.unit, self.capacity
        self.registers = np.full(unit.register_bytes + 64, 0xFF, np.uint8)
        self.shared = np.full((self.slots, -(-max(shared_bytes, 1) // 1024) * 1024), 0xFF, np.uint8)
        self.shared_bytes = shared_bytes
        local = self.program.local_size
        self.local = np.full(max(local * capacity, 1), 0xFF, np.uint8)
        self.taken = np.zeros(capacity, np.uint8)
        rows = max((len(s) for s in unit.seen.values()), default=0)
        self.seen = np.zeros((max(rows, 1), SEEN_LANES), np.int64)
        self.same = np.zeros((max(rows, 1), SEEN_LANES), np.uint8)
        self.cache = np.zeros((len(self.program.sites), 2), np.int64)
        self.cache[:, 0] = -1
        self.faults = np.zeros((MAX_FAULTS, 3), np.int64)
        self.pad = np.zeros(64, np.int64)
        self.special = np.zeros((len(LANE_SPECIAL) + 1, capacity), np.int32)
        lane = np.arange(capacity)
        tid = lane % self.stride
        self.slot_of = (lane // self.stride).astype(np.int32)
        self.tid_of = tid.astype(np.int32)
        x, y, _ = self.block
        for row, values in zip(range(3), (tid % x, tid // x % y, tid // (x * y)), strict=True):
            self.special[row] = values
        self.special[-1] = tid
        self.launch_words = np.zeros(len(LAUNCH_SPECIAL), np.int32)
        dynamic = shared_bytes - self.program.dynamic_offset if shared_bytes else 0
        values = (*self.block, *self.grid, self.profile.sms, dynamic, shared_bytes, self.stride // 32)
        self.launch_words[:] = values
        self.guards = np.zeros(len(self.program.sites), np.int64)
        self.clock = np.zeros(1, np.int64)
        self.index = np.zeros(capacity, np.int32)
        pad = -(-self.pad.ctypes.data // 64) * 64
        self.lane_shared = np.zeros(capacity, np.int64)
        self.lane_shared[:] = self.shared.ctypes.data + np.minimum(self.slot_of, self.slots - 1).astype(np.int64) * self.shared.shape[1]
        self.ctx = np.zeros(len(CTX), np.int64)
        fields = {
            "registers": self.registers.ctypes.data, "global_delta": self.memory.delta, "lane_shared": self.lane_shared.ctypes.data,
            "shared_size": shared_bytes, "local": self.local.ctypes.data, "taken": self.taken.ctypes.data, "seen": self.seen.ctypes.data,
            "same": self.same.ctypes.data, "cache": self.cache.ctypes.data, "params": self.memory.param_address + self.memory.delta,
            "allocations": self.memory.ranges.ctypes.data, "n_allocations": len(self.memory.ranges), "faults": self.faults.ctypes.data,
            "pad": pad, "lane_special": self.special.ctypes.data, "launch": self.launch_words.ctypes.data, "clock": self.clock.ctypes.data,
            "index": self.index.ctypes.data, "guards": self.guards.ctypes.data,
        }
        for name, value in fields.items():
            self.ctx[CTX[name]] = value
        self.ctx_address = self.ctx.ctypes.data

    def release(self):
        """Break reference cycles, so that the arrays go at once."""
        self.barriers = self.memory.machine = None
        self.runnable, self.parked = {}, {}

    # registers as arrays, for collective instructions

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

    # scheduling

    def push(self, segment, group, source=None):
        """Make a group runnable at a segment; merge with what waits there."""
        if not group.n:
            return
        if source is not None and segment <= source:
            group.back_edges += 1
        other = self.runnable.get(segment)
        self.runnable[segment] = group if other is None else self.merge(group, other)

    @staticmethod
    def merge(a, b):
        """Union of two disjoint groups."""
        parent = a.parent
        if parent is not None and parent is b.parent and a.n + b.n == parent.n:
            parent.back_edges = max(a.back_edges, b.back_edges)
            return parent
        idx = np.concatenate((a.idx, b.idx))
        idx.sort()
        merged = Group(idx)
        merged.back_edges = max(a.back_edges, b.back_edges)
        return merged

    @staticmethod
    def split(group, mask):
        """(lanes where mask holds, the others)."""
        inside, outside = Group(group.idx[mask], group), Group(group.idx[~mask], group)
        inside.back_edges = outside.back_edges = group.back_edges
        return inside, outside

    def reuse(self, idx):
        """A group for these lanes: the whole batch keeps one object, so that what is known about it stays known."""
        if self.everyone is not None and len(idx) == self.everyone.n:
            return self.everyone
        return Group(idx)

    def converge(self, segment, mask_operand, group):
        """Lanes of ``group`` whose whole mask (of threads that have not exited) is there; the others are parked at the segment.

        Returns None when nobody can go on.
        """
        mask = value(self, mask_operand, group)
        lane_bit = np.uint32(1) << (group.idx & 31).astype(np.uint32)
        present = np.zeros(self.capacity // 32, np.uint32)
        np.bitwise_or.at(present, group.idx >> 5, lane_bit)
        warp = group.idx >> 5
        alive = np.packbits(self.alive.reshape(-1, 32), axis=1, bitorder="little").view("<u4").ravel()
        missing = mask & alive[warp] & ~present[warp]
        if not missing.any():
            return group
        ready, waiting = self.split(group, missing == 0)
        self.parked[segment.index] = waiting
        return ready if ready.n else None

    def pick(self):
        """Take the next group: lowest segment first, a loop that spins too long lets others go before it."""
        if len(self.runnable) == 1:
            segment, group = self.runnable.popitem()
        elif self.random is not None:
            segment = list(self.runnable)[self.random.integers(len(self.runnable))]
            group = self.runnable.pop(segment)
        else:
            segment = min(self.runnable)
            group = self.runnable[segment]
            if group.back_edges > (SPIN_PATIENCE if self.program.segments[segment].spins else LOOP_PATIENCE):
                group.back_edges = 0
                segment = self._next_after(segment)
            group = self.runnable.pop(segment)
        if self.random is not None and group.n > 32 and self.random.random() < 0.5:
            warps = group.idx >> 5
            keep = self.random.random(self.capacity // 32) < 0.5
            chosen, rest = self.split(group, keep[warps])
            if chosen.n and rest.n:
                self.runnable[segment] = rest
                group = chosen
        return segment, group

    def _next_after(self, segment):
        """The waiting group that ran longest ago: round robin over segments."""
        later = [s for s in self.runnable if s > segment]
        if self.last_group is not None:
            beyond = [s for s in later if s > self.last_group]
            later = beyond or later
        self.last_group = min(later) if later else segment
        return self.last_group

    def run(self):
        """Run every CTA. Returns True when the grid completed."""
        try:
            while self.next_cta < self.total:
                self.start(np.arange(min(self.slots, self.total - self.next_cta)))
                self._drain()
            return True
        except Stop:
            return False

    def start(self, slots):
        """Start the next CTAs of the grid in these slots."""
        slots = slots[: self.total - self.next_cta]
        ctas = self.next_cta + np.arange(len(slots))
        self.next_cta += len(slots)
        self.slot_cta[slots] = ctas
        self.live[slots] = self.threads
        gx, gy, _ = self.grid
        position = ctas % gx, ctas // gx % gy, ctas // (gx * gy)
        lanes = (slots[:, None] * self.stride + np.arange(self.stride)).astype(np.int32)
        for row, values in zip((3, 4, 5), position, strict=True):
            self.special[row, lanes] = values[:, None]
        self.special[LANE_SPECIAL.index("smid"), lanes] = (ctas % self.profile.sms)[:, None]
        self.shared[slots] = 0xFF
        self.barriers.reset(slots)
        real = np.ascontiguousarray(lanes[:, : self.threads]).ravel()
        self.alive[real] = True
        self.last_store[real] = -1
        if self.observer is not None:
            self.observer.begin(slots.astype(np.int64), ctas.astype(np.int64))
        group = Group(real)
        self.everyone = group if len(slots) == self.slots or not self.spins else None
        self.push(0, group)

    def _drain(self):
        """Run until every started CTA has ended; in a grid whose CTAs wait for each other, refill slots as they fall free."""
        segments, limit = self.program.segments, self.max_steps
        while True:
            if not self.runnable:
                if not self.live.any():
                    return
                self.wake_parked()
                if not self.runnable:
                    self.deadlock()
            number, group = self.pick()
            segment = segments[number]
            self.steps += 1
            if self.steps - self.last_progress > NO_PROGRESS or (limit is not None and self.steps > limit):
                self.livelock(number, group)
            if segment.kind == "native":
                self.native(segment, group)
            else:
                self.collective(segment, group)

    def wake_parked(self):
        """Try parked lanes again: exits may have made them complete."""
        for number, group in list(self.parked.items()):
            del self.parked[number]
            if not self.collective(self.program.segments[number], group, retry=True):
                self.parked[number] = group

    def collective(self, segment, group, retry=False):
        """Run a collective instruction; False if a retried group could not move."""
        ins, site = segment.instrs[0]
        waiting = self.parked.pop(segment.index, None)
        if waiting is not None:
            group = self.merge(group, waiting)
        if not retry and self.observer is not None:
            self.observer.execute(segment.index, self.lanes(group))
        if ins.guard is not None:
            reg, negated = ins.guard
            mask = self.row(reg)[group.idx].astype(bool) ^ negated
            if not mask.all():
                group, skip = self.split(group, mask)
                self.push(segment.next, skip, segment.index)
                if not group.n:
                    return True
        return COLLECTIVE[ins.op](self, segment, ins, site, group)

    # native segments

    def native(self, segment, group):
        """Run a compiled segment for a group and send its lanes on."""
        function = self.functions[segment.index]
        if self.observer is None:
            count = function(self.ctx_address, group.address, group.n)
            if self.ctx[CTX["n_faults"]]:
                report_faults(self, segment)
        else:
            count = self._observed(segment, function, group)
        if segment.stores and self.barriers.used:
            self.last_store[group.idx] = segment.index
        if segment.end is not None:
            self._leave(segment, group, count)
        else:
            self.push(segment.next, group, segment.index)

    def _leave(self, segment, group, count):
        op = segment.end[0].op
        conditional = segment.end[0].guard is not None
        if op == "brx":
            index = np.minimum(self.index[: group.n].view(np.uint32), len(segment.targets) - 1)
            for value in np.unique(index):
                self.push(segment.targets[value], self.split(group, index == value)[0], segment.index)
            return
        if not conditional or count == group.n:
            taken, rest = group, None
        elif count == 0:
            taken, rest = None, group
        else:
            taken, rest = self.split(group, self.taken[: group.n].view(bool))
        if rest is not None:
            self.push(segment.next, rest, segment.index)
        if taken is None:
            return
        if op == "bra":
            self.push(segment.target, taken, segment.index)
        elif op in ("exit", "ret"):
            self.exit(taken)
        else:
            self.trap(segment, taken)

    def _observed(self, segment, function, group):
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
        shared = (addr >= SHARED_WINDOW) & (addr < SHARED_WINDOW + WINDOW_SIZE)
        local = (addr >= LOCAL_WINDOW) & (addr < LOCAL_WINDOW + WINDOW_SIZE)
        for mask, space, base in ((shared, "shared", SHARED_WINDOW), (local, "local", LOCAL_WINDOW), (~(shared | local), "global", 0)):
            if mask.all():
                self.observer.access(site, space, addr - base, lanes, same)
                return
            if mask.any():
                part = Lanes(lanes.slot[mask], lanes.tid[mask])
                self.observer.access(site, space, addr[mask] - base, part, None if same is None else same[mask])

    # ends

    def exit(self, group):
        """Lanes leave the kernel."""
        self.alive[group.idx] = False
        slots = self.slot_of[group.idx]
        gone = np.bincount(slots, minlength=self.slots)[: self.slots]
        self.live -= gone.astype(np.int32)
        touched = np.flatnonzero(gone)
        ended = touched[self.live[touched] == 0]
        if self.barriers.used:
            self.barriers.after_exit(touched)
        if len(ended):
            self.last_progress = self.steps
            self.slot_cta[ended] = -1
            if self.progress is not None:
                self.progress(len(ended))
            if self.spins and self.next_cta < self.total:
                self.start(ended)

    def trap(self, segment, group):
        """``trap`` and failed device assertions end the launch."""
        if self.observer is not None:
            self.observer.finding("trap", segment.end[1], lanes=self.lanes_of(group.idx))
        raise Stop

    def lanes_of(self, idx):
        """Observer lanes of any lane numbers."""
        return Lanes(self.slot_of[idx], self.tid_of[idx])

    def site_of(self, number):
        """First site of a segment that has a source line."""
        for _, site in self.program.segments[number].instrs:
            if self.program.sites[site].line:
                return site
        return self.program.segments[number].instrs[0][1]

    def line(self, site):
        """"k.cu:12" or the PTX line."""
        info = self.program.sites[site]
        return f"{info.file.rsplit('/', 1)[-1]}:{info.line}" if info.line else f"PTX line {info.ptx_line}"

    def _waiting(self):
        """(site, idx, what) of every group that waits."""
        out = list(self.barriers.waiting())
        for number, group in self.parked.items():
            ins, site = self.program.segments[number].instrs[0]
            out.append((site, group.idx, f"{ins.opcode} for the other threads of its mask"))
        return out

    def deadlock(self):
        """Nothing can run: report who waits where and stop."""
        waiting = self._waiting()
        lines = []
        for site, idx, what in waiting:
            slots = np.unique(self.slot_of[idx])
            lines.append(f"{len(idx)} threads of {len(slots)} CTAs wait at {self.line(site)}: {what}")
        if self.observer is not None and waiting:
            self.observer.finding("deadlock", waiting[0][0], lanes=self.lanes_of(waiting[0][1]), detail="\n".join(lines))
        raise Stop

    def livelock(self, number, group):
        """Too many steps without a CTA finishing: report the loops and stop."""
        lines = [f"{group.n} threads loop at {self.line(self.site_of(number))}"]
        lines += [f"{g.n} threads are ready at {self.line(self.site_of(s))}" for s, g in sorted(self.runnable.items())]
        lines += [f"{len(idx)} threads wait at {self.line(site)}: {what}" for site, idx, what in self._waiting()]
        if self.observer is not None:
            self.observer.finding("livelock", self.site_of(number), lanes=self.lanes_of(group.idx), detail="\n".join(lines))
        raise Stop


def timed(machine):
    """Run a machine; return (completed, CPU seconds)."""
    start = time.process_time()
    machine.guarded = [False] * len(machine.program.sites)
    for segment in machine.program.segments:
        for ins, site in segment.instrs:
            machine.guarded[site] = ins.guard is not None
    completed = machine.run()
    return completed, time.process_time() - start
