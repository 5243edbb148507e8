"""Operands of multiply-adds in machine code: how many meet in one bank of the register file, how soon loads are used.

The registers of a Hopper SM's quarter lie in two banks, even and odd numbers; each delivers one operand per cycle. An
operand marked `.reuse` is kept for the next instruction, which then need not read it in the same place. This model is
inferred, not documented: chains of FFMAs with three registers run at half the rate of those with two
(gemmlab.measuring.machine), and over five kernels the count below rises with the profiler's dispatch stalls.
"""

import itertools
import re

_FFMA = re.compile(r"\bFFMA \S+, (\S+), (\S+), (\S+) ;")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\S+)\s*([^;]*);")


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


def load_uses(sass: str) -> list[int]:
    """Return, for each 128-bit shared load, after how many instructions the first FFMA reads what it brings.

    Instructions are counted as they stand in nvdisasm's listing; a load that no later FFMA reads is left out.
    """
    code, uses = _INSTRUCTION.findall(sass), []
    for at, (opcode, operands) in enumerate(code):
        if opcode == "LDS.128":
            first = int(re.match(r"R(\d+)", operands)[1])
            brought = {f"R{first + i}" for i in range(4)}
            later = (n for n, (op, text) in enumerate(code[at + 1 :], 1) if op == "FFMA" and brought & _read(text))
            uses += list(itertools.islice(later, 1))
    return uses


def _read(operands: str) -> set[str]:
    """Return the registers that an FFMA reads: all but the first, which it writes."""
    return set(re.findall(r"\bR\d+", operands.partition(",")[2]))


def name(operand: str) -> str:
    """Return the register of an operand: "-R4.reuse" -> "R4"."""
    return operand.removesuffix(".reuse").strip("-|")
