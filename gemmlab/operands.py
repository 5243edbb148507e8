"""Operands of multiply-adds in machine code: how many meet in one bank of the register file.

The registers of a Hopper SM's quarter lie in two banks, even and odd numbers; each delivers one operand per cycle. An
operand marked `.reuse` is kept for the next instruction, which then need not read it in the same place. This model is
inferred, not documented: chains of FFMAs with three registers run at half the rate of those with two
(gemmlab.measuring.machine), and over five kernels the count below rises with the profiler's dispatch stalls.
"""

import re

_FFMA = re.compile(r"\bFFMA \S+, (\S+), (\S+), (\S+) ;")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/")


def bank_conflicts(sass: str) -> tuple[int, int]:
    """Return (FFMAs, those of them that read two operands from one bank) in a listing by nvdisasm."""
    total = conflicts = 0
    kept: dict[int, str] = {}
    for line in sass.splitlines():
        found = _FFMA.search(line)
        if found:
            read = {name(text) for place, text in enumerate(found.groups()) if kept.get(place) != name(text)}
            odd = [int(register[1:]) % 2 for register in read if re.fullmatch(r"R\d+", register)]
            conflicts += len(odd) - len(set(odd)) > 0
            total += 1
            kept = {place: name(text) for place, text in enumerate(found.groups()) if text.endswith(".reuse")}
        elif _INSTRUCTION.search(line):
            kept = {}
    return total, conflicts


def name(operand: str) -> str:
    """Return the register of an operand: "-R4.reuse" -> "R4"."""
    return operand.removesuffix(".reuse").strip("-|")
