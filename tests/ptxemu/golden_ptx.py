"""The PTX around one golden case: load the operands of thread i, run the case's body, store its results."""

import zlib
from dataclasses import dataclass

from golden_values import bits_of

VERSION, TARGET = "8.6", "sm_90a"


@dataclass(frozen=True)
class Case:
    """One instruction form. ``body`` uses {a} {b} {c} for operands, {d} for the result, {s} for the address of the
    thread's 16-byte scratch slot in global memory, {t} for one in shared memory, and %lane. ``kinds``: operand
    kinds; ``out``: result kind. ``ulp``: 0 means bit for bit; otherwise at most this many units in the last place,
    or ``absolute`` error. ``limit``: operand range. ``below``: compare only
    where every operand after the first is below this. ``nan``: "exact" compares NaN bits, "any" takes every NaN as
    equal.
    """

    name: str
    kinds: tuple
    out: str
    body: str
    ulp: int = 0
    absolute: float = 0.0
    limit: tuple | None = None
    nan: str = "exact"
    below: int = 0
    below: int = 0

    @property
    def seed(self):
        """Seed of the case's operands: depends on the name alone, so that adding cases leaves the others' operands
        as they are.
        """
        return zlib.crc32(self.name.encode())


def register(kind):
    """PTX register type that holds an operand kind (8-bit values travel in 16 bits)."""
    return f".b{max(16, bits_of(kind))}"


def module(case):
    """PTX text of the case, entry "golden": parameters are the operand arrays, the result array, the scratch array;
    32 threads per block.
    """
    names = ["a", "b", "c"][: len(case.kinds)]
    params = ", ".join(f".param .u64 p_{n}" for n in [*names, "d", "s"])
    lines = [
        f".version {VERSION}", f".target {TARGET}", ".address_size 64", f".visible .entry golden({params})", "{",
        ".reg .b32 %i, %lane, %t; .reg .b64 %off, %p, %s; .reg .pred %q;", ".shared .align 16 .b8 slot[512];",
        "mov.u32 %i, %ctaid.x; shl.b32 %i, %i, 5; mov.u32 %lane, %tid.x; add.u32 %i, %i, %lane;",
        "mov.u32 %t, slot; mad.lo.u32 %t, %lane, 16, %t;",
        "ld.param.u64 %s, [p_s]; mul.wide.u32 %off, %i, 16; add.u64 %s, %s, %off;",
    ]  # fmt: skip
    for n, kind in zip(names, case.kinds, strict=True):
        width = max(16, bits_of(kind))
        lines += [
            f".reg .b{width} %{n};",
            f"ld.param.u64 %p, [p_{n}]; mul.wide.u32 %off, %i, {width // 8}; add.u64 %p, %p, %off;",
            f"ld.global.b{width} %{n}, [%p];",
        ]
    width = max(16, bits_of(case.out))
    fields = {n: f"%{n}" for n in names} | {"d": "%d", "s": "%s", "t": "%t"}
    lines += [
        f".reg .b{width} %d;", "{ " + _fill(case.body, fields) + " }",
        f"ld.param.u64 %p, [p_d]; mul.wide.u32 %off, %i, {width // 8}; add.u64 %p, %p, %off;",
        f"st.global.b{width} [%p], %d;", "ret;", "}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _fill(body, fields):
    for key, value in fields.items():
        body = body.replace("{" + key + "}", value)
    return body
