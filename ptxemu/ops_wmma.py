"""wmma.load, wmma.mma, wmma.store (PTX ISA 9.7.14.4). How a compiler turns a load or store into accesses is not
specified: here a register is one access where its elements lie together, else each element is one.
"""

from __future__ import annotations

import numpy as np

from .checked import addresses, allowed, byte_index, flat, space_of
from .fragments import BITS, WMMA_SHAPES, shape_of, wmma_layout, wmma_memory
from .ir import Int
from .ops_copy import need, refuse
from .ops_mma import Product, check_operands, form_of
from .registry import collective, plan
from .warps import check_registers, gather_warps, items, lanes_of_warps

_NEED = {"f16": (7, 5), "s8": (7, 5), "u8": (7, 5), "bf16": (8, 0), "tf32": (8, 0)}
_RESULTS = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "s8": ("s32",), "u8": ("s32",)}
_ADVICE = "use f16, bf16, tf32, s8 or u8 in a shape that wmma has for it, or run on a GPU"


@plan("wmma")
def plan_wmma(program, ins):
    """A Product, or the layout, order and elements per access of a load or store."""
    mods, shape = ins.mods, shape_of(ins.mods)
    if shape not in WMMA_SHAPES or "sync" not in mods or "aligned" not in mods:
        refuse(program, ins, "not supported by ptxemu", _ADVICE)
    if mods[0] != "mma":
        return _plan_memory(program, ins, shape)
    types = [m for m in mods[mods.index("m{}n{}k{}".format(*shape)) + 1 :] if m != "satfinite"]
    d, a, b, c = (types[0], "f16", "f16", types[1]) if len(types) == 2 else types
    if a not in WMMA_SHAPES[shape] or a != b or any(t not in _RESULTS[a] for t in (c, d)):
        refuse(program, ins, "not supported by ptxemu", _ADVICE)
    need(program, ins, _NEED[a])
    layouts = [wmma_layout(o, t, *shape) for o, t in (("c", d), ("a", a), ("b", b), ("c", c))]
    check_operands(program, ins, layouts)
    d, a, b, c = layouts
    return Product(a, b, c, d, form_of(d.kind, "satfinite" in mods))


def _plan_memory(program, ins, shape):
    kind, factor = ins.mods[-1], ins.mods[1] in ("a", "b")
    kinds = WMMA_SHAPES[shape] if factor else [r for k in WMMA_SHAPES[shape] for r in _RESULTS[k]]
    if kind not in kinds:
        refuse(program, ins, "not supported by ptxemu", _ADVICE)
    need(program, ins, _NEED.get(kind, (7, 5)))
    layout, order, elements = wmma_memory(ins)
    check_registers(program, ins, ins.operands[1 if ins.mods[0] == "store" else 0], layout.registers, "the fragment")
    return layout, order, elements


@collective("wmma")
def wmma(machine, segment, ins, site, group):
    group, first = gather_warps(machine, segment, site, group)
    if group is None:
        return False
    if ins.mods[0] == "mma":
        segment.plan.run(machine, ins.operands, first)
    elif len(first):
        _memory(machine, segment, ins, site, first)
    machine.push(segment.next, group, segment.index)
    return True


def _stride(machine, ins, layout, order, lanes):
    """Elements between rows (or columns, in column order), one number per lane."""
    if len(ins.operands) < 3:
        return np.full(len(lanes), layout.cols if order == "row" else layout.rows, np.int64)
    operand = ins.operands[2]
    if isinstance(operand, Int):
        return np.full(len(lanes), operand.value, np.int64)
    return machine.row(operand)[lanes].view(f"i{operand.bits // 8}").astype(np.int64)


def _memory(machine, segment, ins, site, first):
    layout, order, elements = segment.plan
    load = ins.mods[0] == "load"
    fragment, address = (ins.operands[0], ins.operands[1]) if load else (ins.operands[1], ins.operands[0])
    lanes = lanes_of_warps(first)
    space, base = space_of(machine.program.sites[site].space, addresses(machine, address, lanes))
    pitch = _stride(machine, ins, layout, order, lanes)
    _check_uniform(machine, site, lanes, base, pitch)
    size = BITS[layout.kind] // 8
    major, minor = (layout.row, layout.col) if order == "row" else (layout.col, layout.row)
    memory = flat(machine, space).view(f"u{size * elements}")
    start, step = base.reshape(-1, 32), size * pitch.reshape(-1, 32)  # a row per warp
    seen = {}
    for r, reg in enumerate(items(fragment)):
        key = layout.index[:, r].tobytes()
        if load and key in seen:  # a copy of another register
            machine.row(reg)[lanes] = machine.row(seen[key])[lanes]
            continue
        seen[key] = reg
        word = np.zeros(len(lanes), np.uint32) if load else machine.row(reg)[lanes]
        for s in range(0, layout.packed, elements):
            place = (start + major[:, r, s] * step + size * minor[:, r, s]).ravel()
            shift = np.uint32(8 * size * s)
            values = _access(machine, site, space, memory, lanes, place, None if load else word >> shift)
            if load:
                word |= values.astype(np.uint32) << shift
        if load:
            machine.row(reg)[lanes] = word


def _check_uniform(machine, site, lanes, base, pitch):
    """Report warps whose lanes name different matrices (PTX ISA: the operands must be the same in all threads)."""
    if machine.observer is None:
        return
    for values, what in ((base, "address"), (pitch, "stride")):
        by_warp = values.reshape(-1, 32)
        odd = (by_warp != by_warp[:, :1]).ravel()
        if odd.any():
            machine.observer.finding("non-uniform-operand", site, lanes=machine.lanes_of(lanes[odd]), detail=what)


def _access(machine, site, space, memory, lanes, addr, store):
    """Load, or store the low part of ``store``, at ``addr`` of every lane; refused lanes load ones."""
    width = memory.itemsize
    good = allowed(machine, site, space, lanes, addr, width)
    kept = slice(None) if good is True else good
    at = byte_index(machine, space, lanes[kept], addr[kept]) // width
    same = None
    if store is not None:
        mask = memory.dtype.type((1 << 8 * width) - 1)
        new = (store & mask).astype(memory.dtype)[kept]
        same = memory[at] == new
        memory[at] = new
    if machine.observer is not None:
        machine.observer.access(site, space, addr[kept], machine.lanes_of(lanes[kept]), same)
    if store is not None:
        return None
    values = np.full(len(lanes), (1 << 8 * width) - 1, memory.dtype)
    values[kept] = memory[at]
    return values
