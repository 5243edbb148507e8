"""wgmma: matrix instructions of a warpgroup, four warps, that run asynchronously (PTX ISA 9.7.15).

What is under way is kept in ptxemu/wgmma.py; here are the forms and how a warpgroup comes together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .adding import FP8_FRACTION, FP8_KEPT, FRACTION, KEPT
from .fragments import BITS, Layout, mma_layout, shape_of
from .ir import Int, Reg, Vector
from .ops_copy import refuse
from .profile import target_cc
from .registry import collective, plan
from .tensor import NO_TABLE, decode_table
from .warps import check_registers, gather_warps
from .wgmma_loops import F32, S32, TABLE8, TABLE16, TF32

_TYPES = {  # (A, B) -> types of D
    ("f16", "f16"): ("f16", "f32"),
    ("bf16", "bf16"): ("f32",),
    ("tf32", "tf32"): ("f32",),
    **{(a, b): ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")},
    **{(a, b): ("s32",) for a in ("s8", "u8") for b in ("s8", "u8")},
}
LOWEST = {"f16": 2.0**-14, "e4m3": 2.0**-6, "e5m2": 2.0**-14}
_INTEGER_N = {8, 16, 24, *range(32, 257, 16)}
WARPGROUP = 128


@dataclass(frozen=True, eq=False)
class Multiply:
    """A wgmma.mma_async. ``d``, ``a``: layouts of one warp's registers (``a`` None: A comes from shared memory);
    ``a_major``, ``b_major`` "K" or "MN"; ``signs`` of A and B; ``saturate``; the registers ``d_regs``, ``a_regs``.
    """

    n: int
    k: int
    kinds: tuple  # of D, A, B
    d: Layout
    a: Layout | None
    a_major: str
    b_major: str
    signs: tuple
    saturate: bool
    d_regs: tuple
    a_regs: tuple
    d_mask: int
    a_mask: int

    @property
    def sign(self):
        """Of the product."""
        return self.signs[0] * self.signs[1]

    def major(self, which):
        """ "K" or "MN" of operand "a" or "b"."""
        return self.a_major if which == "a" else self.b_major

    def rows(self, which):
        """Rows of chunks of operand "a" or "b": see ptxemu/wgmma_descriptor.py."""
        extent = 64 if which == "a" else self.n
        return extent if self.major(which) == "K" else extent // 8

    @property
    def lowest(self):
        """Smallest normal numbers of A, B and D."""
        return tuple(LOWEST.get(kind, 2.0**-126) for kind in (*self.kinds[1:], self.kinds[0]))

    @property
    def adding(self):
        """Bits after the leading one of a step's addition, and of an FP32 result (0: FP16). See adding.py."""
        eight = BITS[self.kinds[1]] == 8
        kept = FP8_KEPT if eight else KEPT
        return FP8_FRACTION if eight else FRACTION, kept if self.kinds[0] == "f32" else 0

    def code(self, which):
        """How D (0), A (1) or B (2) is encoded."""
        kind = self.kinds[which]
        special = {"f32": F32, "tf32": TF32, "s32": S32}
        return special[kind] if kind in special else TABLE16 if BITS[kind] == 16 else TABLE8

    def decode(self, which):
        """(code, value of every bit pattern) of D (0), A (1) or B (2)."""
        code = self.code(which)
        return code, NO_TABLE if code < TABLE16 else decode_table(self.kinds[which])


def _need_90a(program, ins):
    target = program.module.target
    if target_cc(target) != ((9, 0), "a"):
        refuse(program, ins, f"exists on sm_90a only, and this PTX is for {target}", "compile for sm_90a")


@plan("wgmma")
def plan_wgmma(program, ins):
    """("fence",) | ("commit",) | ("wait", N) | ("multiply", Multiply)."""
    _need_90a(program, ins)
    mods = ins.mods
    if mods[1:3] != ("sync", "aligned"):
        refuse(program, ins, "not supported by ptxemu", "write wgmma with .sync.aligned")
    if mods[0] == "fence":
        return ("fence",)
    if mods[0] == "commit_group":
        return ("commit",)
    if mods[0] == "wait_group":
        return "wait", ins.operands[0].value
    if mods[0] != "mma_async" or "sp" in mods:
        refuse(program, ins, "not supported by ptxemu", "use the dense wgmma.mma_async")
    return "multiply", _multiply(program, ins)


def _multiply(program, ins):
    shape = shape_of(ins.mods)
    rest = [m for m in ins.mods[3:] if m != "satfinite" and m != "m{}n{}k{}".format(*(shape or (0, 0, 0)))]
    if shape is None or len(rest) != 3 or rest[0] not in _TYPES.get(tuple(rest[1:]), ()):
        types = ".".join(rest)
        refuse(program, ins, f"no wgmma has the types .{types}", "use f16, bf16, tf32, e4m3, e5m2, s8 or u8 factors")
    d, a, b = rest
    m, n, k = shape
    if m != 64 or k != 256 // BITS[a]:
        refuse(program, ins, f"the shape of .{a} is m64nNk{256 // BITS[a]}", f"write m64n{n}k{256 // BITS[a]}")
    allowed = _INTEGER_N if d == "s32" else range(8, 257, 8)
    if n not in allowed:
        which = "8, 16, 24, 32, 48, 64, 80, ... 256" if d == "s32" else "the multiples of 8 up to 256"
        refuse(program, ins, f"N = {n} is no width of .{a}", f"use one of {which}")
    layout = mma_layout("c", d, 16, n, k)
    check_registers(program, ins, ins.operands[0], layout.registers, f"operand D ({d})")
    from_registers = isinstance(ins.operands[1], Vector)
    fragment = mma_layout("a", a, 16, 8, k) if from_registers else None
    if from_registers:
        check_registers(program, ins, ins.operands[1], 4, f"operand A ({a})")
    for operand in ins.operands[2:3] if from_registers else ins.operands[1:3]:
        if not (isinstance(operand, Reg) and operand.bits == 64):
            refuse(program, ins, "a matrix descriptor is a .b64 register", "pass the descriptor's 64 bits")
    signs, majors = _immediates(program, ins, a, d, from_registers)
    d_regs = tuple(ins.operands[0].items)
    a_regs = tuple(ins.operands[1].items) if from_registers else ()
    masks = [sum(1 << program.numbers[r] for r in set(regs)) for regs in (d_regs, a_regs)]
    return Multiply(n, k, (d, a, b), layout, fragment, *majors, signs, "satfinite" in ins.mods, d_regs, a_regs, *masks)


def _immediates(program, ins, kind, d, from_registers):
    """(signs of A and B, majors of A and B) from the immediates after scale-d."""
    values = [o.value if isinstance(o, Int) else None for o in ins.operands[4:]]
    transposes = 0 if BITS[kind] != 16 else 1 if from_registers else 2
    expected = 0 if d == "s32" else 2 + transposes
    if len(values) != expected:
        refuse(program, ins, f"takes {expected} immediates after scale-d, got {len(values)}", "see PTX ISA 9.7.15.5.2")
    signs, trans = tuple(values[:2]) or (1, 1), values[2:]
    if any(s not in (1, -1) for s in signs) or any(t not in (0, 1) for t in trans):
        refuse(program, ins, f"immediates {values}", "the scales are 1 or -1, the transposes 0 or 1")
    trans = [0] * (2 - len(trans)) + trans
    return signs, ["MN" if t else "K" for t in trans]


def gather_warpgroups(machine, segment, site, group):
    """(group, int64[w]: first lane of every whole warpgroup) once its warps are together; the others are parked.
    (None, None) where no warpgroup is whole.
    """
    whole = _first_lanes(machine, group)
    if whole is not None:
        return group, whole
    wide = -(-machine.stride // WARPGROUP)
    key = machine.slot_of[group.idx].astype(np.int64) * wide + (machine.tid_of[group.idx] >> 7)
    everyone = np.arange(machine.capacity)
    of_lane = machine.slot_of.astype(np.int64) * wide + (machine.tid_of >> 7)
    size = int(of_lane.max()) + 1
    present = np.bincount(key, minlength=size)
    alive = np.bincount(of_lane[everyone[machine.alive]], minlength=size)
    waits = present[key] < alive[key]
    if waits.any():
        group, waiting = machine.split(group, ~waits)
        machine.parked[segment.index] = waiting
        key = key[~waits]
        if not group.n:
            return None, None
    broken = present[key] < WARPGROUP
    if broken.any():
        if machine.observer is not None:
            lanes = group.idx[broken]
            here = int(present[key[broken][0]])
            machine.observer.finding("partial-warpgroup", site, lanes=machine.lanes_of(lanes), detail=str(here))
        rest, group = machine.split(group, broken)
        machine.push(segment.next, rest, segment.index)
        if not group.n:
            return None, None
    return group, np.ascontiguousarray(group.idx[::WARPGROUP]).astype(np.int64)


def _first_lanes(machine, group):
    """First lanes where the group is whole warpgroups, else None."""
    if group.n % WARPGROUP:
        return None
    first, last = group.idx[::WARPGROUP], group.idx[WARPGROUP - 1 :: WARPGROUP]
    if (machine.tid_of[first] % WARPGROUP).any() or (last - first != WARPGROUP - 1).any():
        return None
    if (machine.slot_of[first] != machine.slot_of[last]).any():
        return None
    return first.astype(np.int64)


@collective("wgmma")
def wgmma(machine, segment, ins, site, group):
    what, *details = segment.plan
    if what == "multiply":
        group, first = gather_warpgroups(machine, segment, site, group)
        if group is None:
            return False
        _issue(machine, ins, site, first, details[0])
    else:
        group, warps = gather_warps(machine, segment, site, group)
        if group is None:
            return False
        if what == "fence":
            machine.wgmma.fence(site, warps)
        elif what == "commit":
            machine.wgmma.commit(warps)
        else:
            machine.wgmma.wait(site, warps, details[0])
    machine.push(segment.next, group, segment.index)
    return True


def _issue(machine, ins, site, first, form):
    """Read the operands that are the same in all threads, and start the multiplication."""
    values = []
    lanes = first[:, None] + np.arange(WARPGROUP)
    operands = [ins.operands[1], ins.operands[2], ins.operands[3]]
    for what, operand in zip(("descriptor of A", "descriptor of B", "scale-d"), operands, strict=True):
        if isinstance(operand, Vector):
            values.append(None)
            continue
        if isinstance(operand, Int):
            values.append(np.full(len(first), bool(operand.value)))
            continue
        reg = getattr(operand, "reg", operand)
        each = machine.row(reg)[lanes]
        other = each != each[:, :1]
        if other.any() and machine.observer is not None:
            machine.observer.finding("non-uniform-operand", site, lanes=machine.lanes_of(lanes[other]), detail=what)
        each = each[:, 0]
        values.append(each.astype(bool) ^ (reg is not operand) if what == "scale-d" else each.copy())
    machine.wgmma.issue(site, first, form, *values)
