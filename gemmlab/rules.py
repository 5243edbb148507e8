"""Launch rules of GEMM kernels: where one comes from, and what it gives for a problem of M × N × K."""

import re

from gemmlab.args import dims
from gemmlab.compile import Compiled
from gemmlab.errors import GemmlabError
from gemmlab.source import resolve
from gemmlab.tensormap import tensor_map
from kernels import Spec
from kernels.rule import RuleError, evaluate, triple

_MAP = re.compile(r"map\((\w+),([^()]+)\)")


def launch_rule(kernel, rule: dict | None = None, grid=None, block=None, shared=None) -> dict:
    """Return the launch rule of a kernel: its Spec's, changed by `rule` and by grid=, block=, shared= where given.

    Raises GemmlabError when nothing says how the kernel is launched.
    """
    spec = kernel.spec if isinstance(kernel, Compiled) else resolve(kernel)[1]
    merged = spec.rule() if spec else {"shared": 0, "tile": {}}
    merged.update(rule or {})
    given = {"grid": grid, "block": block, "shared": shared}
    merged.update({name: value for name, value in given.items() if value is not None})
    if "grid" not in merged or "block" not in merged:
        raise GemmlabError(
            'how is this kernel launched? pass rule={"grid": ["cdiv(N,32)", "cdiv(M,8)"], "block": [32, 8]} '
            "(expressions over M, N, K)"
        )
    if "args" not in merged:
        merged["args"] = ["A", "B", "C"] + (["M", "N", "K"] if _takes_sizes(kernel) else [])
    return merged


def _takes_sizes(kernel) -> bool:
    code = kernel if isinstance(kernel, (Compiled, Spec)) else resolve(kernel)[0]
    return getattr(code, "language", "cuda" if hasattr(code, "text") else "numba") == "cuda"


def evaluate_rule(rule: dict, M: int, N: int, K: int) -> tuple[tuple, tuple, int]:
    """Return (grid, block, dynamic shared bytes) of a launch rule for one problem. Raises GemmlabError."""
    try:
        names = {"M": M, "N": N, "K": K, **rule.get("tile", {})}
        grid, block = triple(rule["grid"], names, "grid"), triple(rule["block"], names, "block")
        shared = evaluate(rule.get("shared", 0), names)
    except RuleError as error:
        raise GemmlabError(str(error)) from None
    dims(block, "block")
    return grid, block, shared


def rule_args(rule: dict, **values) -> tuple:
    """Return the arguments of a launch: the rule's "args" looked up in `values` (A, B, C, M, N, K, alpha, beta).

    An argument "map(A, BM, BK, 128)" is a tensor map of A whose box has BM rows and BK columns, with a swizzle of 128
    bytes (0: none); its numbers are expressions over M, N, K and the tile.
    """
    return tuple(_argument(name, rule, values) for name in rule["args"])


def _argument(name: str, rule: dict, values: dict):
    described = _MAP.fullmatch(name)
    array = described[1] if described else name
    if array not in values:
        raise GemmlabError(f"launch rule: unknown argument {array!r}; known are {', '.join(values)}")
    if not described:
        return values[name]
    numbers = {size: values[size] for size in "MNK" if size in values} | rule.get("tile", {})
    try:
        *box, swizzle = (evaluate(part.strip(), numbers) for part in described[2].split(","))
    except RuleError as error:
        raise GemmlabError(str(error)) from None
    return tensor_map(values[array], tuple(box), swizzle=swizzle)
