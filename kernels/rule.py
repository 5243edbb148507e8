"""Evaluate launch rules: integer expressions over the problem sizes and tile constants.

A launch rule says as data how a kernel is launched, so that it can be stored and read without running anyone's code:

    {"grid": ["cdiv(N,32)", "cdiv(M,8)", "1"], "block": [32, 8, 1], "shared": 0, "args": ["A", "B", "C"]}

Expressions may use the names M, N, K, SMS (the GPU's SMs) and those of the tile, integers, + - * // %, and the
functions cdiv, min, max.
"""

import ast
import operator
from collections.abc import Mapping

MAX_LENGTH = 200  # characters of one expression; a launch rule is short
MAX_VALUE = 2**63  # results beyond this cannot be launch parameters

_BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class RuleError(ValueError):
    """A launch rule that cannot be evaluated; the message is one line and quotes the expression."""


def cdiv(a: int, b: int) -> int:
    """Return a / b rounded up."""
    return -(-a // b)


_FUNCTIONS = {"cdiv": cdiv, "min": min, "max": max}


def evaluate(expression: int | str, names: Mapping[str, int]) -> int:
    """Return the integer value of `expression`, given the values of `names`.

    Raises RuleError for anything but the small language of this module.
    """
    if isinstance(expression, int) and not isinstance(expression, bool):
        return expression
    if not isinstance(expression, str):
        raise RuleError(f"launch rule: {expression!r} is neither an integer nor an expression")
    if len(expression) > MAX_LENGTH:
        raise RuleError(f"launch rule: an expression of {len(expression)} characters is too long (limit {MAX_LENGTH})")
    try:
        tree = ast.parse(expression, mode="eval")
        return _value(tree.body, names)
    except RuleError as error:
        raise RuleError(f"launch rule {expression!r}: {error}") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise RuleError(f"launch rule {expression!r}: not a valid expression") from None
    except ZeroDivisionError:
        raise RuleError(f"launch rule {expression!r}: division by zero") from None


def _value(node: ast.expr, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            result = value
        case ast.Name(id=name):
            if name not in names:
                raise RuleError(f"unknown name {name!r}; known are {', '.join(sorted(names))}")
            result = int(names[name])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            result = _BINARY[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            if len(args) < 2 or (name == "cdiv" and len(args) != 2):
                raise RuleError(f"{name} takes two arguments")
            result = _FUNCTIONS[name](*(_value(arg, names) for arg in args))
        case _:
            raise RuleError("only integers, names, + - * // %, cdiv, min and max are allowed")
    if abs(result) >= MAX_VALUE:
        raise RuleError("value out of range")
    return result


def triple(expressions, names: Mapping[str, int], what: str) -> tuple[int, int, int]:
    """Return one to three expressions as a launch dimension (x, y, z); each must be at least 1.

    Raises RuleError naming `what` ("grid" or "block").
    """
    if isinstance(expressions, (int, str)):
        expressions = [expressions]
    if not isinstance(expressions, (list, tuple)) or not 1 <= len(expressions) <= 3:
        raise RuleError(f"launch rule: {what} needs one to three entries, got {expressions!r}")
    values = [evaluate(expression, names) for expression in expressions]
    if min(values) < 1:
        raise RuleError(f"launch rule: {what} {tuple(values)} has an entry below 1")
    return tuple(values + [1] * (3 - len(values)))
