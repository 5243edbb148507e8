"""mapa, getctarank and barrier.cluster (PTX ISA 9.7.9.23, 9.7.9.24, 9.7.13.4): see ptxemu/cluster.py."""

from __future__ import annotations

from .cluster import RANK_SHIFT
from .ir import BITS, Symbol
from .layout import SHARED_WINDOW, WINDOW_SIZE
from .registry import native


def _address(e, operand, kind):
    if isinstance(operand, Symbol):
        return str(e.symbol(operand)), BITS[kind]
    return e.src(operand, kind), BITS[kind]


@native("mapa")
def mapa(e, ins, site):
    """The address that a variable has in the CTA of a rank."""
    e.allow("shared::cluster")
    kind = ins.mods[-1]
    value, bits = _address(e, ins.operands[1], kind)
    width = f"i{bits}"
    rank = e.fit(e.src(ins.operands[2], "u32"), 32, bits, False)
    place = e.op(f"shl {width} {e.op(f'add {width} {rank}, 1')}, {RANK_SHIFT}")
    offset = e.op(f"and {width} {value}, {WINDOW_SIZE - 1}")
    out = e.op(f"or {width} {offset}, {place}")
    if "shared::cluster" not in ins.mods:
        out = e.op(f"add {width} {out}, {SHARED_WINDOW}")
    e.dst(ins.operands[0], kind, out)


@native("getctarank")
def getctarank(e, ins, site):
    """Rank of the CTA whose shared memory an address lies in."""
    e.allow("shared::cluster")
    kind = ins.mods[-1]
    value, bits = _address(e, ins.operands[1], kind)
    width = f"i{bits}"
    if "shared::cluster" not in ins.mods:
        value = e.op(f"sub {width} {value}, {SHARED_WINDOW}")
    place = e.fit(e.op(f"lshr {width} {value}, {RANK_SHIFT}"), bits, 32, False)
    own = e.special("cluster_ctarank")[0]
    other = e.op(f"sub i32 {place}, 1")
    e.dst(ins.operands[0], "u32", e.op(f"select i1 {e.op(f'icmp eq i32 {place}, 0')}, i32 {own}, i32 {other}"))


def cluster_barrier(machine, segment, ins, site, group):
    """barrier.cluster.arrive and .wait; reached from ops_barrier.py."""
    if "arrive" in ins.mods:
        machine.clusters.arrive(site, group, "relaxed" not in ins.mods)
        machine.push(segment.next, group, segment.index)
        return True
    ready = machine.clusters.ready(group)
    if not ready.all():
        group, waiting = machine.split(group, ready)
        machine.parked[segment.index] = waiting
        if not group.n:
            return False
    if machine.observer is not None:
        machine.observer.cluster_wait(site, machine.lanes(group))
    machine.push(segment.next, group, segment.index)
    return True
