"""Launch rules: the small language, and that nothing else gets through."""

import pytest

from kernels.rule import RuleError, cdiv, evaluate, triple

NAMES = {"M": 33, "N": 17, "K": 40, "BM": 16}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1", 1),
        (7, 7),
        ("cdiv(M,32)", 2),
        ("cdiv(N, BM) * cdiv(M, BM)", 6),
        ("M // 32", 1),
        ("M % 32 - 2", -1),
        ("max(M, N, K) + min(M, N)", 57),
        ("-M + 34", 1),
    ],
)
def test_values(expression, value):
    assert evaluate(expression, NAMES) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("Q", "unknown name 'Q'"),
        ("M /  2", "only integers"),
        ("M ** 100000", "only integers"),
        ("__import__('os')", "only integers"),
        ("M.real", "only integers"),
        ("(lambda: 1)()", "only integers"),
        ("[1][0]", "only integers"),
        ("M if M else 1", "only integers"),
        ("True", "only integers"),
        ("1.5", "only integers"),
        ("cdiv(M)", "two arguments"),
        ("cdiv(M,0)", "division by zero"),
        ("M //", "not a valid expression"),
        ("", "not a valid expression"),
        ("9999999999 * 9999999999", "out of range"),
        ("1+" * 200 + "1", "too long"),
        (None, "neither an integer nor an expression"),
        (True, "neither an integer nor an expression"),
    ],
)
def test_refusals_are_one_line(expression, message):
    with pytest.raises(RuleError) as caught:
        evaluate(expression, NAMES)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_triple():
    assert triple(["cdiv(M,32)", 2], NAMES, "grid") == (2, 2, 1)
    assert triple(5, NAMES, "grid") == (5, 1, 1)
    with pytest.raises(RuleError, match="below 1"):
        triple(["M // 64"], NAMES, "grid")
    with pytest.raises(RuleError, match="one to three"):
        triple([1, 1, 1, 1], NAMES, "block")


def test_cdiv():
    assert [cdiv(n, 32) for n in (0, 1, 32, 33)] == [0, 1, 1, 2]
