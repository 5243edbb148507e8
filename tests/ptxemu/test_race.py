"""The race check against an independent judge: full vector clocks over random programs, one word of memory per
name.
"""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from ptxemu.observe import Lanes, Observer

BASE = 1 << 32
CTAS, THREADS = 2, 64


class Judge:
    """Vector clocks of every thread over every thread; remembers all accesses and compares each new one with all of
    them.
    """

    def __init__(self, n):
        self.clock = np.eye(n, dtype=np.int64)
        self.accesses = []
        self.racy = set()

    def access(self, thread, place, kind):
        now = self.clock[thread].copy()
        for other, then, where, what in self.accesses:
            conflict = where == place and (kind, what) not in {("ld", "ld"), ("atom", "atom")}
            if conflict and other != thread and now[other] < then:
                self.racy.add(place)
        self.accesses.append((thread, now[thread], place, kind))

    def meet(self, threads, arrived=None):
        joined = self.clock[threads].max(axis=0)
        if arrived is not None:
            joined = np.maximum(joined, arrived)
        for t in threads:
            self.clock[t] = joined
            self.clock[t, t] += 1

    def leave(self, threads):
        """What a non-blocking arrival hands over."""
        joined = self.clock[threads].max(axis=0)
        for t in threads:
            self.clock[t, t] += 1
        return joined


def observer(atomics):
    """An Observer with one site per kind of access, over 64 words of global memory and 64 of shared memory per CTA."""
    sites = []
    for space in ("global", "shared"):
        for op in ("ld", "st", "atom") if atomics else ("ld", "st"):
            sem = "relaxed" if op == "atom" else ""
            place = {"file": "k.cu", "line": len(sites) + 1, "ptx_line": len(sites) + 1, "block": 0}
            what = {"opcode": f"{op}.{space}.b32", "space": space, "op": op, "width": 4, "vec": 1}
            sites.append(SimpleNamespace(**place, **what, sem=sem, scope="gpu"))
    array = SimpleNamespace(name="A", address=BASE, nbytes=256, role="inout", shape=(64,), strides=(4,), itemsize=4)
    memory = SimpleNamespace(global_base=BASE, global_size=4096, arrays=[array])
    seen = Observer(
        SimpleNamespace(sites=sites),
        (CTAS, 1, 1),
        (THREADS, 1, 1),
        memory,
        None,
        count=False,
        shared_bytes=256,
        slots=CTAS,
    )
    seen.begin(np.arange(CTAS), np.arange(CTAS))
    return seen


def random_program(seed, atomics, partial):
    """Run one random program through both; return (names that the judge calls racy, those that the observer does)."""
    rng = random.Random(seed)
    seen, judge = observer(atomics), Judge(CTAS * THREADS)
    ops = ("ld", "st", "atom") if atomics else ("ld", "st")
    threads = [rng.sample(range(THREADS), 6) for _ in range(CTAS)]
    arrived = {}
    reported = set()
    for _ in range(40):
        cta = rng.randrange(CTAS)
        everyone = list(range(THREADS))
        action = rng.random()
        if action < 0.72:
            tid, op, space = rng.choice(threads[cta]), rng.choice(ops), rng.choice(("global", "shared"))
            word = rng.randrange(3)
            place = (space, word) if space == "global" else (space, cta, word)
            judge.access(cta * THREADS + tid, place, op)
            site = next(i for i, s in enumerate(seen.entry.sites) if s.op == op and s.space == space)
            before = sum(p.count for p in seen.race.pairs.values())
            addr = np.array([4 * word + (BASE if space == "global" else 0)], np.int64)
            seen.access(site, space, addr, Lanes([cta], [tid]), np.zeros(1, bool) if op == "st" else None)
            if sum(p.count for p in seen.race.pairs.values()) > before:
                reported.add(place)
        elif action < 0.80:
            judge.meet([cta * THREADS + t for t in everyone])
            seen.barrier(0, cta, 0, np.arange(THREADS), full=True)
        elif action < 0.88 or not partial:
            warp = rng.randrange(2)
            lanes = np.arange(32 * warp, 32 * warp + (20 if partial and rng.random() < 0.3 else 32))
            judge.meet([cta * THREADS + int(t) for t in lanes])
            seen.syncwarp(0, cta, warp, lanes)
        elif action < 0.94:
            some = np.array(sorted(rng.sample(everyone, 40)))
            number = rng.choice((1, 2))
            judge.meet([cta * THREADS + int(t) for t in some], arrived.pop((cta, number), None))
            seen.barrier(0, cta, number, some, full=False)
        else:
            number = rng.choice((1, 2))
            some = np.arange(0, 32) if rng.random() < 0.5 else np.arange(32, 64)
            handed = judge.leave([cta * THREADS + int(t) for t in some])
            previous = arrived.get((cta, number))
            arrived[cta, number] = handed if previous is None else np.maximum(previous, handed)
            seen.arrive(0, cta, number, some)
    return judge.racy, reported


@pytest.mark.parametrize("atomics", [False, True])
def test_agrees_with_vector_clocks(atomics):
    """Full barriers and full warps: the same words are racy for both, over 200 random programs."""
    racy = 0
    for seed in range(200):
        expected, got = random_program(seed, atomics, partial=False)
        assert got == expected, f"seed {seed}: judge {sorted(expected)}, observer {sorted(got)}"
        racy += len(expected)
    assert racy > 100


@pytest.mark.parametrize("atomics", [False, True])
def test_agrees_with_vector_clocks_on_partial_barriers(atomics):
    """Partial masks, partial barriers and arrivals: never a false alarm, and hardly a race is missed (four readers
    are kept).
    """
    racy = found = 0
    for seed in range(200):
        expected, got = random_program(seed, atomics, partial=True)
        assert got <= expected, f"seed {seed}: false alarm on {sorted(got - expected)}"
        racy += len(expected)
        found += len(got)
    assert racy > 100 and found >= 0.99 * racy, f"{found} of {racy}"


def test_a_slot_forgets_its_previous_block():
    """A block that starts in a used slot knows nothing and finds its shared memory unwritten."""
    seen = observer(atomics=False)
    lane = Lanes([0], [0])
    load, store = 2, 3
    seen.access(store, "shared", np.zeros(1, np.int64), lane, np.zeros(1, bool))
    seen.access(load, "shared", np.zeros(1, np.int64), lane)
    assert not seen.race.uninitialised
    seen.begin(np.array([0]), np.array([5]))
    seen.access(load, "shared", np.zeros(1, np.int64), lane)
    assert seen.race.uninitialised
    assert not seen.race.pairs
