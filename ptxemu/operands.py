"""Which registers and variables an instruction reads and writes."""

from __future__ import annotations

from .ir import Address, Not, Pair, Reg, Symbol, Vector

CARRY_READERS = {"addc", "subc", "madc"}
_NO_RESULT = {
    "st",
    "red",
    "bra",
    "brx",
    "ret",
    "exit",
    "trap",
    "bar",
    "barrier",
    "membar",
    "fence",
    "prefetch",
    "prefetchu",
    "nanosleep",
    "discard",
    "applypriority",
    "griddepcontrol",
    "brkpt",
    "pmevent",
    "setmaxnreg",
    "cp",
    "stmatrix",
}


def _has_result(ins):
    if ins.op in ("bar", "barrier"):
        return "red" in ins.mods
    if ins.op == "mbarrier":
        return not isinstance(ins.operands[0], Address)
    if ins.op == "wgmma":
        return ins.mods[0] == "mma_async"
    return ins.op not in _NO_RESULT and not (ins.op == "wmma" and ins.mods[0] == "store")


def destinations(ins):
    """Registers that an instruction writes."""
    if not _has_result(ins):
        return []
    out = list(_registers(ins.operands[0])) if ins.operands else []
    if "cc" in ins.mods:
        out.append(ins.operands[-1])
    return out


def sources(ins, sums=True):
    """Registers that an instruction reads (its guard is not among them). A wgmma also reads its accumulators, unless
    ``sums`` is false: scale-d may say that they do not count.
    """
    first = 1 if _has_result(ins) and not (sums and ins.op == "wgmma") else 0
    out = []
    reads_carry = ins.op in CARRY_READERS or "cc" not in ins.mods
    for operand in ins.operands[first:] if reads_carry else ins.operands[first:-1]:
        out.extend(_registers(operand))
    if first and ins.operands and isinstance(ins.operands[0], Address):
        out.extend(_registers(ins.operands[0]))
    return out


def _registers(operand):
    if isinstance(operand, Reg):
        yield operand
    elif isinstance(operand, Vector):
        for item in operand.items:
            yield from _registers(item)
    elif isinstance(operand, Pair):
        yield from _registers(operand.first)
        yield from _registers(operand.second)
    elif isinstance(operand, Not):
        yield from _registers(operand.reg)
    elif isinstance(operand, Address):
        yield from _registers(operand.base)
        for item in operand.rest:
            yield from _registers(item)


def symbols(operand):
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address):
        yield from symbols(operand.base)
    elif isinstance(operand, Vector):
        for item in operand.items:
            yield from symbols(item)
