"""Launch rules of GEMM kernels: where one comes from, and what it gives for a problem of M × N × K."""

from gemmlab.args import dims
from gemmlab.compile import Compiled
from gemmlab.errors import GemmlabError
from gemmlab.source import resolve
from kernels import Spec
from kernels.rule import RuleError, evaluate, triple


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
    """Return the arguments of a launch: the rule's "args" looked up in `values` (A, B, C, M, N, K, alpha, beta)."""
    missing = [name for name in rule["args"] if name not in values]
    if missing:
        raise GemmlabError(f"launch rule: unknown argument {missing[0]!r}; known are {', '.join(values)}")
    return tuple(values[name] for name in rule["args"])
