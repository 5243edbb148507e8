"""Golden cases of mma.sync and wmma: every shape and type.

For each form: small integers, whose sums are exact in any order, so that every bit shows the layouts; random values
and sums at the end of the range, whose bits show how they are added; infinities, zeros and subnormals.
"""

import ml_dtypes
import numpy as np

TYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8, "u8": np.uint8, "tf32": np.float32, "f32": np.float32, "s32": np.int32,
}  # fmt: skip
_RESULTS = {"f16": ("f32", "f16"), "bf16": ("f32",), "tf32": ("f32",), "e4m3": ("f32", "f16"), "e5m2": ("f32", "f16")}
_MMA = {
    (16, 8, 4): ("tf32",),
    (16, 8, 8): ("f16", "bf16", "tf32"),
    (8, 8, 16): ("s8", "u8"),
    (16, 8, 16): ("f16", "bf16", "s8", "u8", "e4m3", "e5m2"),
    (16, 8, 32): ("s8", "u8", "e4m3", "e5m2"),
}
_WMMA = {
    (16, 16, 16): ("f16", "bf16", "s8", "u8"),
    (32, 8, 16): ("f16", "bf16", "s8", "u8"),
    (8, 32, 16): ("f16", "bf16", "s8", "u8"),
    (16, 16, 8): ("tf32",),
}
BITS = {"f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "tf32": 32, "f32": 32, "s32": 32}
_MIXED = (("s8", "u8"), ("u8", "s8"), ("e4m3", "e5m2"), ("e5m2", "e4m3"))


def registers(kind, elements):
    """32-bit registers per lane that hold a fragment of so many elements."""
    return elements * BITS[kind] // 1024


def encode(values, kind):
    """uint32 words, in order, of numbers in a type."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(np.asarray(values).astype(TYPES[kind])).view(np.uint32).ravel()


def _fill(kinds, counts, draw):
    """A words function: ``draw(rng, which, kind, n)`` gives the elements of A, B, C as they lie in the registers."""

    def words(rng):
        parts = []
        for which, (kind, count) in enumerate(zip(kinds, counts, strict=True)):
            per_lane = 32 // BITS[kind]
            values = np.asarray(draw(rng, which, kind, count * 32 * per_lane), np.float64)
            parts.append(encode(values.reshape(count, 32 * per_lane), kind).reshape(count, 32))
        return np.concatenate(parts)

    return words


def _integers(rng, which, kind, n):
    low = 0 if kind == "u8" else -6
    return rng.integers(low, 7, n)


def _values(rng, which, kind, n):
    if BITS[kind] == 8 and kind[0] in "su":
        return rng.integers(0, 256, n) if kind == "u8" else rng.integers(-128, 128, n)
    return rng.integers(-1000, 1000, n) if kind == "s32" else rng.standard_normal(n) * 2.0 ** rng.integers(-3, 4, n)


def _large(rng, which, kind, n):
    """Sums at the end of the range: overflow of FP16, wrap-around or saturation of integers."""
    top = {"s32": 2**31 - 1, "s8": 127, "u8": 255, "f16": 60000.0, "f32": 3e38, "e4m3": 448.0, "e5m2": 57344.0}
    return np.full(n, top.get(kind, 1e18)) * (1 if kind[0] in "su" else rng.choice([1, 1, 1, -1], n))


def _special(rng, which, kind, n):
    """Infinities, NaN, signed zeros and subnormals among small numbers."""
    tiny = {"f16": 2.0**-24, "bf16": 2.0**-133, "e4m3": 2.0**-9, "e5m2": 2.0**-16}.get(kind, 2.0**-140)
    choice = [0.0, -0.0, 1.0, -2.0, tiny, -tiny, 0.5]
    if kind != "e4m3":
        choice += [np.inf, -np.inf]
    values = rng.choice(np.array(choice), n)
    sparse = rng.random(n) < 0.7
    return np.where(sparse & ~np.isfinite(values), 1.0, values)


def _braces(letter, first, count):
    return "{" + ", ".join(f"%{letter}{first + i}" for i in range(count)) + "}"


def _mma_forms():
    for shape, kinds in _MMA.items():
        for a in kinds:
            for b in [a, *(y for x, y in _MIXED if x == a and y in kinds)]:
                for d in _RESULTS.get(a, ("s32",)):
                    yield shape, a, b, d


def _mma_case(shape, a, b, d, saturate=""):
    m, n, k = shape
    form = f"mma.sync.aligned.m{m}n{n}k{k}.row.col{saturate}.{d}.{a}.{b}.{d}"
    counts = registers(a, m * k), registers(b, k * n), registers(d, m * n)
    at = [0, counts[0], counts[0] + counts[1]]
    groups = [_braces("w", first, count) for first, count in zip(at, counts, strict=True)]
    out = _braces("d", 0, counts[2])
    newer = BITS[a] == 8 and a[0] == "e" and (d == "f16" or k == 16)
    return form, f"{form} {out}, {', '.join(groups)};", counts, "8.7" if newer else "8.6"


def _mma_cases():
    for shape, a, b, d in _mma_forms():
        form, body, counts, version = _mma_case(shape, a, b, d)
        kinds, total = (a, b, d), sum(counts)
        yield f"{form} integers", body, total, counts[2], _fill(kinds, counts, _integers), None, version
        integer = d == "s32"
        product = None if integer else (shape, (d, a, b, d))
        yield f"{form} values", body, total, counts[2], _fill(kinds, counts, _values), product, version
        yield f"{form} large", body, total, counts[2], _fill(kinds, counts, _large), product, version
        if integer:
            name, body, *_ = _mma_case(shape, a, b, d, ".satfinite")
            yield f"{name} large", body, total, counts[2], _fill(kinds, counts, _large), None, version
        else:
            yield f"{form} special", body, total, counts[2], _fill(kinds, counts, _special), product, version
    for shape in ((16, 8, 4), (16, 8, 8)):
        form, body, counts, version = _mma_case(shape, "tf32", "tf32", "f32")
        words = _fill(("tf32", "tf32", "f32"), counts, lambda rng, which, kind, n: 1024 + rng.random(n) * (which < 2))
        yield f"{form} low bits", body, sum(counts), counts[2], words, (shape, ("f32", "tf32", "tf32", "f32")), version


def _load(operand, shape, order, kind, count, to, pitch, space="shared", at="%s"):
    m, n, k = shape
    target = _braces(to, 0, count)
    return f"wmma.load.{operand}.sync.aligned.{order}.m{m}n{n}k{k}.{space}.{kind} {target}, [{at}], {pitch};"


def _wmma_counts(shape, a, d):
    m, n, k = shape
    if a == "f16":
        return 8, 8, registers(d, m * n)
    return registers(a, m * k), registers(a, k * n), registers(d, m * n)


def _wmma_memory():
    """Loads that show which element of the image each register gets, and stores of numbered registers."""
    for shape, kinds in _WMMA.items():
        for a in kinds:
            for d in _RESULTS.get(a, ("s32",)):
                counts = dict(zip("abc", _wmma_counts(shape, a, d), strict=True))
                for order in ("row", "col"):
                    for space, base in (("shared", "%s"), ("global", "%g")):
                        for operand in "abc":
                            if operand != "c" and d != _RESULTS.get(a, ("s32",))[0]:
                                continue
                            kind = d if operand == "c" else a
                            body = _load(operand, shape, order, kind, counts[operand], "d", _pitch(kind), space, base)
                            yield body.split(" ")[0], body, 0, counts[operand]
                        m, n, k = shape
                        form = f"wmma.store.d.sync.aligned.{order}.m{m}n{n}k{k}.{space}.{d}"
                        source = _braces("w", 0, counts["c"])
                        yield form, f"{form} [{base}], {source}, {_pitch(d)};", counts["c"], 0


def _pitch(kind):
    """Elements between rows: 4 KB must hold 32 of them, and a multiple of 16 bytes."""
    return {8: 48, 16: 40, 32: 32}[BITS[kind]]


def _wmma_cases():
    """Load, multiply and store in memory order; A at byte 0 of the image, B at 1024, C at 2048, D goes to 3072."""
    for shape, kinds in _WMMA.items():
        m, n, k = shape
        for a in kinds:
            for d in _RESULTS.get(a, ("s32",)):
                types = f"{d}.{d}" if a == "f16" else f"{d}.{a}.{a}.{d}"
                counts = _wmma_counts(shape, a, d)
                groups = [
                    "{" + ", ".join(f"%{x}{i}" for i in range(c)) + "}" for x, c in zip("abc", counts, strict=True)
                ]
                declare = " ".join(f".reg .b32 %{x}<{c}>;" for x, c in zip("abc", counts, strict=True))
                for order_a, order_b in (("row", "row"), ("row", "col"), ("col", "row"), ("col", "col")):
                    form = f"wmma.mma.sync.aligned.{order_a}.{order_b}.m{m}n{n}k{k}.{types}"
                    sides = ("a", order_a, a, m, k, 0), ("b", order_b, a, k, n, 1024), ("c", order_a, d, m, n, 2048)
                    loads = [
                        _load(x, shape, order, kind, count, x, _tight(order, kind, rows, cols), at=f"%s+{at}")
                        for (x, order, kind, rows, cols, at), count in zip(sides, counts, strict=True)
                    ]
                    out = f"wmma.store.d.sync.aligned.{order_b}.m{m}n{n}k{k}.shared.{d} [%s+3072], {groups[2]}, "
                    body = f"{declare} {' '.join(loads)} {form} {groups[2]}, {', '.join(groups)}; "
                    yield form, f"{body}{out}{_tight(order_b, d, m, n)};", _image(a, d)


def _tight(order, kind, rows, cols):
    """Elements between rows (columns) that follow each other, at least 16 bytes."""
    return max(cols if order == "row" else rows, 128 // BITS[kind])


def _image(a, d):
    def image(rng):
        factors = encode(_integers(rng, 0, a, 2048 * 8 // BITS[a]), a)
        return np.concatenate([factors, encode(_integers(rng, 2, d, 2048 * 8 // BITS[d]), d)])

    return image


MMA_CASES = list(_mma_cases())
WMMA_CASES = list(_wmma_cases())
WMMA_MEMORY_CASES = list(dict.fromkeys(_wmma_memory()))
