"""What a program is cut into: segments of instructions, and the description of each instruction."""

from __future__ import annotations

from dataclasses import dataclass, field

from .fragments import wmma_width
from .ir import BITS, Int

TERMINATORS = {"bra", "brx", "ret", "exit", "trap"}
MEMORY_OPS = {"ld", "ldu", "st", "atom", "red"}
_SPACES = {"global", "shared", "local", "const", "param"}
STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio"}
SCOPES = {"cta", "cluster", "gpu", "sys"}


@dataclass(slots=True, eq=False)
class Site:
    """One instruction as the observer sees it; see ptxemu/observe.py."""

    index: int
    opcode: str
    file: str
    line: int
    ptx_line: int
    block: int
    space: str = ""
    op: str = ""
    width: int = 0
    vec: int = 1
    sem: str = ""
    scope: str = ""


@dataclass(slots=True, eq=False)
class Segment:
    """Straight code with one exit. ``kind``: "native" (compiled) or "collective" (run by the machine)."""

    index: int
    instrs: list = field(default_factory=list)  # (Instr, site index)
    kind: str = "native"
    target: int | None = None  # of a branch
    targets: list | None = None  # of brx.idx
    next: int | None = None  # fall-through, None after an unconditional branch or exit
    end: tuple | None = None  # (terminator Instr, site index)
    live_in: int = 0
    live_out: int = 0
    stores: bool = False
    spins: bool = False  # has an access through which it may wait for another thread
    waits: bool = False  # ... of another CTA
    plan: object = None  # what a collective instruction's planner made of it


def space_named(mods):
    """State space that the modifiers name, "generic" where they name none."""
    return next((m.split("::")[0] for m in mods if m.split("::")[0] in _SPACES), "generic")


def collective_facts(ins):
    """(space, op, bytes of one lane's access) of an instruction that a group runs together; empty where it accesses
    no memory.
    """
    if ins.op == "cp" and "bulk" in ins.mods:
        return bulk_facts(ins.mods)
    if ins.op == "cp" and len(ins.operands) > 2 and isinstance(ins.operands[2], Int):
        return "global", "ld", ins.operands[2].value
    if ins.op in ("ldmatrix", "stmatrix"):
        return space_named(ins.mods), ins.op[:2], 16
    if ins.op == "wgmma" and ins.mods[0] == "mma_async":
        return "shared", "ld", 16
    if ins.op == "wmma" and ins.mods[0] in ("load", "store"):
        return space_named(ins.mods), {"load": "ld", "store": "st"}[ins.mods[0]], wmma_width(ins)
    return "", "", 0


def bulk_facts(mods):
    """The same for a bulk copy's first half, the read: in pieces of 16 bytes."""
    spaces = [m.split("::")[0] for m in mods if m in ("shared::cluster", "shared::cta", "global")]
    return (spaces[1], "ld", 16) if len(spaces) == 2 and "prefetch" not in mods else ("", "", 0)


def memory_facts(ins):
    """(space, op, element bytes, elements, sem, scope) of a memory instruction."""
    mods = ins.mods
    space = space_named(mods)
    sem = next((m for m in mods if m in STRONG), "")
    if ins.op in ("atom", "red") and not sem:
        sem = "relaxed"
    scope = next((m for m in mods if m in SCOPES), "")
    kind = next((m for m in reversed(mods) if m in BITS), "b32")
    vec = next((int(m[1:]) for m in mods if m in ("v2", "v4", "v8")), 1)
    return space, {"ldu": "ld"}.get(ins.op, ins.op), BITS[kind] // 8, vec, sem, scope
