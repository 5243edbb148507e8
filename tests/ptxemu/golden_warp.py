"""Golden cases of warp-wide instructions and atomics."""

from golden_ptx import Case


def _shuffles():
    for mode in ("up", "down", "bfly", "idx"):
        for clamp in ("0", "0x1f", "0x181f", "0x100f", "0x1c07"):
            body = f"shfl.sync.{mode}.b32 {{d}}|%q, {{a}}, {{b}}, {clamp}, 0xffffffff; @!%q xor.b32 {{d}}, {{d}}, 0x55;"
            yield Case(f"shfl.sync.{mode}.b32 c={clamp}", ("b32", "u32"), "b32", body)


def _votes():
    for mode in ("all", "any", "uni"):
        compare = ".reg .pred %z; setp.lt.s32 %z, {a}, {b};"
        body = f"{compare} vote.sync.{mode}.pred %q, %z, 0xffffffff; selp.u32 {{d}}, 1, 0, %q;"
        yield Case(f"vote.sync.{mode}.pred", ("s32", "s32"), "u32", body)
    body = ".reg .pred %z; setp.lt.s32 %z, {a}, {b}; vote.sync.ballot.b32 {d}, %z, 0xffffffff;"
    yield Case("vote.sync.ballot.b32", ("s32", "s32"), "b32", body)
    for bits in (32, 64):
        pick = f".reg .b{bits} %x; and.b{bits} %x, {{a}}, 3; "
        yield Case(
            f"match.any.sync.b{bits}", (f"b{bits}",), "b32", pick + f"match.any.sync.b{bits} {{d}}, %x, 0xffffffff;"
        )
        body = pick + f"match.all.sync.b{bits} {{d}}|%q, %x, 0xffffffff; @%q add.u32 {{d}}, {{d}}, 1;"
        yield Case(f"match.all.sync.b{bits}", (f"b{bits}",), "b32", body)
    for op in ("add", "min", "max"):
        for t in ("u32", "s32"):
            yield Case(f"redux.sync.{op}.{t}", (t,), t, f"redux.sync.{op}.{t} {{d}}, {{a}}, 0xffffffff;")
    for op in ("and", "or", "xor"):
        yield Case(f"redux.sync.{op}.b32", ("b32",), "b32", f"redux.sync.{op}.b32 {{d}}, {{a}}, 0xffffffff;")
    yield Case("activemask.b32", ("b32",), "b32", "activemask.b32 {d};")


def _atomic(op, t, space, operands=2, sem=""):
    """Old value, or, for the second case of each form, the value left in memory."""
    kind = t
    width = 32 if t.endswith("x2") else int("".join(c for c in t if c.isdigit()))
    place = "{s}" if space == "global" else "{t}"
    values = "{b}" if operands == 2 else "{b}, {c}"
    kinds = (kind,) * operands
    put = f"st.{space}.b{width} [{place}], {{a}}; "
    noftz = ".noftz" if t in ("f16", "f16x2", "bf16", "bf16x2") else ""
    name = f"atom{sem}.{space}.{op}{noftz}.{t}"
    yield Case(name + " old", kinds, kind, put + f"{name} {{d}}, [{place}], {values};")
    load = f" ld.{space}.b{width} {{d}}, [{place}];"
    yield Case(name + " new", kinds, kind, put + f".reg .b{width} %o; {name} %o, [{place}], {values};" + load)


def _atomics():
    for space in ("global", "shared"):
        for t in ("u32", "s32", "u64", "f32", "f64", "f16", "f16x2", "bf16", "bf16x2"):
            yield from _atomic("add", t, space)
        for op in ("min", "max"):
            for t in ("u32", "s32", "u64", "s64"):
                yield from _atomic(op, t, space)
        for op in ("and", "or", "xor", "exch"):
            for t in ("b32", "b64"):
                yield from _atomic(op, t, space)
        for op in ("inc", "dec"):
            yield from _atomic(op, "u32", space)
        for t in ("b16", "b32", "b64"):
            yield from _atomic("cas", t, space, operands=3)
    for op, t in (("add", "u32"), ("add", "f32"), ("max", "s32"), ("xor", "b64")):
        width = t[1:]
        body = (
            f"st.global.b{width} [{{s}}], {{a}}; red.global.{op}.{t} [{{s}}], {{b}}; ld.global.b{width} {{d}}, [{{s}}];"
        )
        yield Case(f"red.global.{op}.{t}", (t, t), t, body)


WARP_CASES = [*_shuffles(), *_votes(), *_atomics()]
