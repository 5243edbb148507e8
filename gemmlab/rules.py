"""Launch rules of GEMM kernels: where one comes from, and what it gives for a problem of M × N × K."""

import re

from gemmlab.args import dims
from gemmlab.compile import Compiled
from gemmlab.errors import GemmlabError
from gemmlab.source import resolve
from gemmlab.tensormap import tensor_map
from kernels import Spec
from kernels.rule import RuleError, evaluate, triple
from kernels.spec import H200_SMS

_MAP = re.compile(r"map\((\w+),([^()]+)\)")
_OPTIONS = {"l2": "l2_promotion", "dtype": "dtype", "fill": "fill"}


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


def names_of(rule: dict, M: int, N: int, K: int, sms: int) -> dict[str, int]:
    """Return the values of the names that a rule's expressions may use."""
    return {"M": M, "N": N, "K": K, "SMS": sms, **rule.get("tile", {})}


def depends_on_sms(rule: dict) -> bool:
    """Say whether a launch changes with the number of SMs: a persistent kernel."""
    return any(isinstance(part, str) and re.search(r"\bSMS\b", part) for part in rule["grid"])


def evaluate_rule(rule: dict, M: int, N: int, K: int, sms: int = H200_SMS) -> tuple[tuple, tuple, int]:
    """Return (grid, block, dynamic shared bytes) of a launch rule for one problem. Raises GemmlabError."""
    try:
        names = names_of(rule, M, N, K, sms)
        grid, block = triple(rule["grid"], names, "grid"), triple(rule["block"], names, "block")
        shared = evaluate(rule.get("shared", 0), names)
    except RuleError as error:
        raise GemmlabError(str(error)) from None
    dims(block, "block")
    return grid, block, shared


def dynamic_shared(rule: dict) -> int:
    """Return the dynamic shared memory of a CTA in bytes, at the smallest problem. Raises GemmlabError."""
    return evaluate_size(rule.get("shared", 0), names_of(rule, 1, 1, 1, H200_SMS))


def evaluate_size(expression: int | str, names: dict[str, int]) -> int:
    """Return a number of bytes given as an expression. Raises GemmlabError."""
    try:
        return evaluate(expression, names)
    except RuleError as error:
        raise GemmlabError(str(error)) from None


def mapped(argument: str) -> str | None:
    """Return the array of an argument such as "map(A, BM, BK, 128)", or None for one that is no tensor map."""
    found = _MAP.fullmatch(argument)
    return found and found[1]


def rule_args(rule: dict, shapes: dict | None = None, **values) -> tuple:
    """Return the arguments of a launch: the rule's "args" looked up in `values` (A, B, C, M, N, K, W, alpha, beta …).

    An argument "map(A, BM, BK, 128)" is a tensor map of A whose box has BM rows and BK columns, with a swizzle of 128
    bytes (0: none); its numbers are expressions over M, N, K and the tile. After them may stand l2=256 (bytes that L2
    fetches at once; 128 if absent), dtype=tfloat32 and fill=nan (see gemmlab.tensor_map). `shapes`: extents of arrays
    whose rows are padded, by name.
    """
    return tuple(_argument(name, rule, values, shapes or {}) for name in rule["args"])


def _argument(name: str, rule: dict, values: dict, shapes: dict):
    array = mapped(name) or name
    if array not in values:
        raise GemmlabError(f"launch rule: unknown argument {array!r}; known are {', '.join(values)}")
    if array == name:
        return values[name]
    numbers = {size: values[size] for size in "MNK" if size in values} | rule.get("tile", {})
    plain, options = [], {}
    for part in _MAP.fullmatch(name)[2].split(","):
        key, equals, value = map(str.strip, part.partition("="))
        if equals and key not in _OPTIONS:
            raise GemmlabError(f"launch rule: {name} has no option {key!r}; known are {', '.join(_OPTIONS)}")
        if equals:
            options[_OPTIONS[key]] = evaluate_size(value, numbers) if key == "l2" else value
        else:
            plain.append(evaluate_size(key, numbers))
    return tensor_map(values[array], tuple(plain[:-1]), swizzle=plain[-1], shape=shapes.get(array), **options)
