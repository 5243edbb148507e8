"""mma.sync: D = A B + C for a warp, fragments in registers (PTX ISA 9.7.14.5). Which types and shapes: ``SHAPES``.
``.kind::f8f6f4`` (sm_120a) with FP8 operands has the plain form's layout; it is unverified on hardware.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from .fragments import mma_layout, shape_of
from .ops_copy import need, refuse
from .registry import collective, plan
from .tensor import F32, NO_TABLE, S32, S32_SATURATED, TF32_MASK, WIDE, decode_table, multiply, steps_of
from .warps import check_registers, gather_warps, rows, words

SHAPES = {  # (type of A and B) -> {shape: least compute capability}
    "f16": {(16, 8, 8): (7, 5), (16, 8, 16): (8, 0)},
    "bf16": {(16, 8, 8): (8, 0), (16, 8, 16): (8, 0)},
    "tf32": {(16, 8, 4): (8, 0), (16, 8, 8): (8, 0)},
    "s8": {(8, 8, 16): (7, 5), (16, 8, 16): (8, 0), (16, 8, 32): (8, 0)},
    "e4m3": {(16, 8, 16): (8, 9), (16, 8, 32): (8, 9)},
}
SHAPES["u8"], SHAPES["e5m2"] = SHAPES["s8"], SHAPES["e4m3"]
_FLOATS = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "e4m3": ("f16", "f32"), "e5m2": ("f16", "f32")}
_FP8 = "kind::f8f6f4"
_ADVICE = "use a shape of tensor cores that ptxemu knows (m16n8k8, m16n8k16, m16n8k32), or run on a GPU"


@dataclass(frozen=True, eq=False)
class Product:
    """What an mma or wmma.mma does: the layouts of A, B, C and D, and how C and D are encoded."""

    a: object
    b: object
    c: object
    d: object
    form: int

    def run(self, machine, operands, lanes):
        """Compute D for the warps that start at ``lanes``; ``operands`` D, A, B, C."""
        file, (d, a, b, c) = words(machine), (rows(machine, o) for o in operands)
        m, k, n = self.a.rows, self.a.cols, self.b.cols
        wide = np.empty((len(lanes), m * n) if self.form == WIDE else (1, 1))
        tables = (decode_table(layout.kind) if layout.packed > 1 else NO_TABLE for layout in (self.b, self.a, self.c))
        integer = self.c.kind == "s32"
        how = steps_of(k, self.b.kind, self.a.kind, self.c.kind)
        turned = self.turned
        multiply(file, lanes, b, a, c, d, *turned, *tables, TF32_MASK, integer, (n, m, k), self.form, wide, *how)
        if self.form == WIDE:
            self._write_halves(file, lanes, d, wide)

    @functools.cached_property
    def turned(self):
        """Places in the transposes of B, A, C and D: the transposed product has longer rows, which is faster."""
        layouts = self.b, self.a, self.c, self.d
        return tuple(layout.index % layout.cols * layout.rows + layout.index // layout.cols for layout in layouts)

    def _write_halves(self, file, lanes, d, wide):
        """Round to FP16, once, and pack pairs."""
        with np.errstate(over="ignore"):
            half = wide.astype(np.float16).view(np.uint16)
        half = np.where(np.isnan(wide), np.uint16(0x7FFF), half).astype(np.uint32)[:, self.turned[3]]
        packed = half[..., 0] | half[..., 1] << 16
        for r, row in enumerate(d):
            file[row + lanes[:, None] + np.arange(32)] = packed[:, :, r]


def form_of(kind, saturate):
    """How D of a type is written."""
    return {"f32": F32, "f16": WIDE, "s32": S32_SATURATED if saturate else S32}[kind]


@plan("mma")
def plan_mma(program, ins):
    mods, shape = ins.mods, shape_of(ins.mods)
    if mods[:2] != ("sync", "aligned") or shape is None or "sp" in mods:
        refuse(program, ins, "not supported by ptxemu", _ADVICE)
    rest = [m for m in mods[mods.index("m{}n{}k{}".format(*shape)) + 1 :] if m not in ("satfinite", _FP8)]
    if rest[:2] != ["row", "col"] or len(rest) != 6:
        refuse(program, ins, "not supported by ptxemu", "A must be .row and B .col; load B's tile accordingly")
    d, a, b, c = rest[2:]
    same = a == b or {a, b} in ({"s8", "u8"}, {"e4m3", "e5m2"})
    known = same and shape in SHAPES.get(a, ()) and (_FP8 not in mods or a in ("e4m3", "e5m2"))
    if not known or any(t not in _FLOATS.get(a, ("s32",)) for t in (c, d)):
        refuse(program, ins, "not supported by ptxemu", _ADVICE)
    need(program, ins, (12, 0) if _FP8 in mods else SHAPES[a][shape])
    layouts = [mma_layout(o, t, *shape) for o, t in (("c", d), ("a", a), ("b", b), ("c", c))]
    check_operands(program, ins, layouts)
    d, a, b, c = layouts
    return Product(a, b, c, d, form_of(d.kind, "satfinite" in mods))


def check_operands(program, ins, layouts):
    """Refuse operands D, A, B, C that are not the registers that ``layouts`` describe."""
    for name, operand, layout in zip("DABC", ins.operands, layouts, strict=True):
        holds = f"{layout.packed} {layout.kind} each" if layout.packed > 1 else layout.kind
        check_registers(program, ins, operand, layout.registers, f"operand {name} ({holds})")


@collective("mma")
def mma(machine, segment, ins, site, group):
    group, lanes = gather_warps(machine, segment, site, group)
    if group is None:
        return False
    segment.plan.run(machine, ins.operands, lanes)
    machine.push(segment.next, group, segment.index)
    return True
