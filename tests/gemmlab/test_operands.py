"""Which multiply-adds read two operands from one register bank, and how soon they use what a shared load brings."""

import pytest

from gemmlab.operands import bank_conflicts, load_uses


def listing(*instructions):
    return "\n".join(f"        /*{16 * i:04x}*/                   {text} ;" for i, text in enumerate(instructions))


@pytest.mark.parametrize(
    "instructions, expected",
    [
        (["FFMA R7, R7, R6, R6"], (1, 0)),  # two registers in two banks
        (["FFMA R8, R8, R6, R6"], (1, 1)),  # two registers in one
        (["FFMA R8, R8, R6, R7"], (1, 1)),  # three registers: two banks cannot serve them at once
        (["FFMA R8, R8, R4.reuse, R5.reuse", "FFMA R10, R10, R4, R5"], (2, 1)),  # both are kept for the second
        (["FFMA R8, R8, R4.reuse, R5", "FFMA R10, R4, R10, R5"], (2, 2)),  # kept, but for another place
        (["FFMA R8, R8, R4.reuse, R5.reuse", "LDS.128 R12, [R3]", "FFMA R10, R10, R4, R5"], (2, 2)),
        (["FFMA R7, -R7, |R6|, RZ", "MOV R1, R2"], (1, 0)),
    ],
)
def test_bank_conflicts(instructions, expected):
    assert bank_conflicts(listing(*instructions)) == expected


def test_load_uses():
    code = ["LDS.128 R12, [R3]", "@!P0 LDS R20, [R4]", "FFMA R12, R8, R9, R10", "MOV R1, R2", "FFMA R8, R7, R14, R8"]
    assert load_uses(listing(*code)) == [4]  # R12 is written by the first FFMA, R14 is read by the second
    assert load_uses(listing("LDS.128 R12, [R3]", "STS [R4], R12")) == []
