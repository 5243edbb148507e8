"""The table of instruction forms that the emulator is compared on, bit for bit, with a recording from hardware.

``CASES`` drives both tools/record_goldens.py and test_golden.py. Sources: PTX ISA, chapter "Instruction Set";
approximate functions carry the error bound that their section states (plus one unit for the emulator's own rounding
of the exact value).
"""

import dataclasses
import re

from golden_integer import INTEGER_CASES
from golden_ptx import Case
from golden_warp import WARP_CASES

ROUND = ("rn", "rz", "rm", "rp")
COMPARE_INT = ("eq", "ne", "lt", "le", "gt", "ge")
COMPARE_FLOAT = (*COMPARE_INT, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
PREDICATE = "selp.u32 {d}, 1, 0, %q;"


def simple(op, kinds, out, **keywords):
    """A case of one instruction whose operands are {a}, {b}, {c}."""
    operands = ", ".join("{" + n + "}" for n in "abc"[: len(kinds)])
    return Case(op, tuple(kinds), out, f"{op} {{d}}, {operands};", **keywords)


def float_arithmetic():
    for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        for rounding in ROUND:
            for modifiers in ("", ".ftz", ".sat", ".ftz.sat"):
                yield simple(f"{op}.{rounding}{modifiers}.f32", ["f32"] * n, "f32")
            yield simple(f"{op}.{rounding}.f64", ["f64"] * n, "f64", nan="any")
    for rounding in ROUND:
        for ftz in ("", ".ftz"):
            yield simple(f"div.{rounding}{ftz}.f32", ["f32"] * 2, "f32")
            yield simple(f"rcp.{rounding}{ftz}.f32", ["f32"], "f32")
            yield simple(f"sqrt.{rounding}{ftz}.f32", ["f32"], "f32")
        yield simple(f"div.{rounding}.f64", ["f64"] * 2, "f64", nan="any")
        yield simple(f"rcp.{rounding}.f64", ["f64"], "f64", nan="any")
        yield simple(f"sqrt.{rounding}.f64", ["f64"], "f64", nan="any")
    for op in ("min", "max"):
        for modifiers in ("", ".ftz", ".NaN", ".ftz.NaN", ".xorsign.abs", ".NaN.xorsign.abs"):
            yield simple(f"{op}{modifiers}.f32", ["f32"] * 2, "f32")
        yield simple(f"{op}.f64", ["f64"] * 2, "f64", nan="any")
    for op in ("abs", "neg"):
        yield simple(f"{op}.f32", ["f32"], "f32", nan="any")
        yield simple(f"{op}.ftz.f32", ["f32"], "f32", nan="any")
        yield simple(f"{op}.f64", ["f64"], "f64", nan="any")
    for t in ("f32", "f64"):
        yield simple(f"copysign.{t}", [t] * 2, t)
        for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield Case(f"testp.{what}.{t}", (t,), "u32", f"testp.{what}.{t} %q, {{a}}; {PREDICATE}")


def approximate():
    for ftz in ("", ".ftz"):
        yield simple(f"div.approx{ftz}.f32", ["f32"] * 2, "f32", ulp=3, limit=(0.01, 100.0))
        yield simple(f"div.full{ftz}.f32", ["f32"] * 2, "f32", ulp=3, limit=(0.01, 100.0))
        yield simple(f"rcp.approx{ftz}.f32", ["f32"], "f32", ulp=2)
        yield simple(f"sqrt.approx{ftz}.f32", ["f32"], "f32", ulp=3)
        yield simple(f"rsqrt.approx{ftz}.f32", ["f32"], "f32", ulp=3)
        yield simple(f"sin.approx{ftz}.f32", ["f32"], "f32", absolute=2.0**-20, limit=(-3.14159, 3.14159))
        yield simple(f"cos.approx{ftz}.f32", ["f32"], "f32", absolute=2.0**-20, limit=(-3.14159, 3.14159))
        yield simple(f"lg2.approx{ftz}.f32", ["f32"], "f32", ulp=4, absolute=2.0**-21, limit=(0.01, 1000.0))
        yield simple(f"ex2.approx{ftz}.f32", ["f32"], "f32", ulp=4, limit=(-100.0, 100.0))
    yield simple("tanh.approx.f32", ["f32"], "f32", absolute=2.0**-10, limit=(-6.0, 6.0))


def half_arithmetic():
    for t in ("f16", "f16x2"):
        for op, n in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            for modifiers in (".rn", ".rn.ftz", ".rn.sat", ".rn.ftz.sat"):
                yield simple(f"{op}{modifiers}.{t}", [t] * n, t)
        yield simple(f"fma.rn.relu.{t}", [t] * 3, t)
        for op in ("min", "max"):
            for modifiers in ("", ".ftz", ".NaN"):
                yield simple(f"{op}{modifiers}.{t}", [t] * 2, t)
        for op in ("abs", "neg"):
            yield simple(f"{op}.{t}", [t], t, nan="any")
    for t in ("bf16", "bf16x2"):
        for op in ("add.rn", "sub.rn", "mul.rn"):
            yield simple(f"{op}.{t}", [t] * 2, t)
        yield simple(f"fma.rn.{t}", [t] * 3, t)
        yield simple(f"fma.rn.relu.{t}", [t] * 3, t)
        for op in ("min", "max"):
            for modifiers in ("", ".NaN"):
                yield simple(f"{op}{modifiers}.{t}", [t] * 2, t)
        for op in ("abs", "neg"):
            yield simple(f"{op}.{t}", [t], t, nan="any")


def compare_case(op, t):
    """A case that turns the predicate of one ``setp`` into 0 or 1."""
    return Case(op, (t, t), "u32", f"{op} %q, {{a}}, {{b}}; {PREDICATE}")


def comparisons():
    for t in ("f32", "f64", "f16", "bf16"):
        for compare in COMPARE_FLOAT:
            yield compare_case(f"setp.{compare}.{t}", t)
            if t == "f32":
                yield compare_case(f"setp.{compare}.ftz.f32", t)
    for t in ("s16", "u16", "s32", "u32", "s64", "u64"):
        for compare in COMPARE_INT:
            yield compare_case(f"setp.{compare}.{t}", t)
    for compare in ("lo", "ls", "hi", "hs"):
        yield compare_case(f"setp.{compare}.u32", "u32")
    for logic in ("and", "or", "xor"):
        body = f".reg .pred %z; setp.lt.s32 %z, {{b}}, {{a}}; setp.gt.{logic}.u32 %q, {{a}}, {{b}}, %z; {PREDICATE}"
        yield Case(f"setp.gt.{logic}.u32", ("u32", "u32"), "u32", body)
        both = f"setp.ge.{logic}.f32 %y|%q, {{a}}, {{b}}, !%z;"
        body = f".reg .pred %z, %y; setp.lt.s32 %z, {{b}}, {{a}}; {both} {PREDICATE}"
        yield Case(f"setp.ge.{logic}.f32 p|q", ("f32", "f32"), "u32", body)
    for compare in ("lt", "geu", "nan"):
        for out in ("u32", "s32", "f32"):
            yield simple(f"set.{compare}.{out}.f32", ["f32"] * 2, out)
    for t in ("b16", "b32", "b64", "f32", "f64"):
        kind = "u" + t[1:]
        body = f"setp.lt.u{t[1:]} %q, {{a}}, {{b}}; selp.{t} {{d}}, {{a}}, {{b}}, %q;"
        yield Case(f"selp.{t}", (kind, kind), kind, body)
    for t in ("b32", "f32", "u32"):
        yield simple(f"slct.{t}.s32", ["u32", "u32", "s32"], "u32")
        yield simple(f"slct.{t}.f32", ["u32", "u32", "f32"], "u32")
    yield simple("slct.ftz.b32.f32", ["u32", "u32", "f32"], "u32")


def conversions():
    ints = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
    for source in ints:
        for target in ints:
            if source != target:
                yield _cvt(f"cvt.{target}.{source}", source, target)
                if not _contains(target, source):
                    yield _cvt(f"cvt.sat.{target}.{source}", source, target)
    for source in ("f16", "f32", "f64"):
        for target in ints:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                yield _cvt(f"cvt.{rounding}.{target}.{source}", source, target)
    for target in ("s32", "u32", "s64", "u64"):
        yield _cvt(f"cvt.rzi.ftz.{target}.f32", "f32", target)
        yield _cvt(f"cvt.rzi.{target}.bf16", "bf16", target)
        yield _cvt(f"cvt.rni.{target}.bf16", "bf16", target)
    for source in ints:
        for rounding in ROUND:
            for target in ("f16", "f32", "f64"):
                yield _cvt(f"cvt.{rounding}.{target}.{source}", source, target)
        if not source.endswith("8"):
            yield _cvt(f"cvt.rn.bf16.{source}", source, "bf16")
    for rounding in ROUND:
        for modifiers in ("", ".ftz", ".sat"):
            yield _cvt(f"cvt.{rounding}{modifiers}.f32.f64", "f64", "f32")
        yield _cvt(f"cvt.{rounding}.f16.f32", "f32", "f16")
        yield _cvt(f"cvt.{rounding}.f16.f64", "f64", "f16")
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        for t in ("f32", "f64", "f16"):
            yield _cvt(f"cvt.{rounding}.{t}.{t}", t, t)
        yield _cvt(f"cvt.{rounding}.ftz.f32.f32", "f32", "f32")
        yield _cvt(f"cvt.{rounding}.sat.f32.f32", "f32", "f32")
    for name in (
        "f64.f32", "ftz.f64.f32", "f32.f16", "f64.f16", "f32.bf16", "sat.f32.f32", "rn.sat.f16.f32", "rn.relu.f16.f32",
        "rz.relu.f16.f32", "rn.bf16.f32", "rz.bf16.f32", "rn.relu.bf16.f32",
    ):  # fmt: skip
        *_, target, source = name.split(".")
        yield _cvt(f"cvt.{name}", source, target)
    for modifiers in ("rna", "rn", "rz", "rn.relu"):
        yield _cvt(f"cvt.{modifiers}.tf32.f32", "f32", "b32")
    for modifiers in ("rn", "rz", "rn.relu", "rz.relu"):
        yield simple(f"cvt.{modifiers}.f16x2.f32", ["f32"] * 2, "f16x2")
        yield simple(f"cvt.{modifiers}.bf16x2.f32", ["f32"] * 2, "bf16x2")
    for t in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield simple(f"cvt.rn.satfinite{relu}.{t}.f32", ["f32"] * 2, "b16")
            yield simple(f"cvt.rn.satfinite{relu}.{t}.f16x2", ["f16x2"], "b16")
        yield simple(f"cvt.rn.f16x2.{t}", ["b16"], "f16x2")


def _contains(target, source):
    """Whether the integer type ``target`` holds every value of ``source``; ptxas then rejects .sat."""
    wider = int(target[1:]) - int(source[1:])
    return wider > 0 and (source[0] == "u" or target[0] == "s") or (wider == 0 and source[0] == target[0])


def _cvt(name, source, target):
    """8-bit values sit in 16-bit registers on both sides; what the instruction leaves in the upper half is compared
    too.
    """
    return simple(name, [source], target)


# The emulator leaves the NaN that the CPU's own arithmetic makes; hardware makes 0x7fffffff. Which NaN it is, is not
# compared here.
ANY_NAN = re.compile(
    r"(add|sub|mul|fma|div|rcp|sqrt)\.rn(\.ftz)?\.f32"
    r"|(min|max)\.NaN\.xorsign\.abs\.f32"
    r"|(atom|red)\..*\.add\.f(32|64)( new)?"
    r"|cvt\.r[nzmp](\.ftz)?\.(f32|f16)\.f64"
    r"|cvt\.r.i(\.ftz)?\.f32\.f32"
    r"|cvt\.(ftz\.f64\.f32|f32\.f16)"
)
# ptxas expands these into 32-bit steps, which differ from the ISA's text for positions and lengths above 255.
BELOW_256 = {"bfe.u64", "bfe.s64", "bfi.b64"}


def _with_rules(case):
    """The case with what the two tables above say about it."""
    if case.name in BELOW_256:
        return dataclasses.replace(case, below=256)
    return dataclasses.replace(case, nan="any") if ANY_NAN.fullmatch(case.name) else case


CASES = [
    _with_rules(case)
    for case in (
        *INTEGER_CASES,
        *float_arithmetic(),
        *approximate(),
        *half_arithmetic(),
        *comparisons(),
        *conversions(),
        *WARP_CASES,
    )
]
