"""Golden cases of integer, logic and bit-field instructions."""

from golden_ptx import Case

SIGNED = ("s16", "s32", "s64")
UNSIGNED = ("u16", "u32", "u64")


def _simple(op, kinds, out):
    operands = ", ".join("{" + n + "}" for n in "abc"[: len(kinds)])
    return Case(op, tuple(kinds), out, f"{op} {{d}}, {operands};")


def _arithmetic():
    for t in (*SIGNED, *UNSIGNED):
        for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            yield _simple(f"{op}.{t}", [t] * 2, t)
        yield _simple(f"sad.{t}", [t] * 3, t)
        yield _simple(f"mad.lo.{t}", [t] * 3, t)
        yield _simple(f"mad.hi.{t}", [t] * 3, t)
        if not t.endswith("64"):
            wide = t[0] + str(2 * int(t[1:]))
            yield _simple(f"mul.wide.{t}", [t] * 2, wide)
            yield _simple(f"mad.wide.{t}", [t, t, wide], wide)
    for t in SIGNED:
        yield _simple(f"abs.{t}", [t], t)
        yield _simple(f"neg.{t}", [t], t)
    for op in ("add.sat.s32", "sub.sat.s32"):
        yield _simple(op, ["s32"] * 2, "s32")
    yield _simple("mad.hi.sat.s32", ["s32"] * 3, "s32")
    for t in ("u32", "s32"):
        for half in ("lo", "hi"):
            yield _simple(f"mul24.{half}.{t}", [t] * 2, t)
            yield _simple(f"mad24.{half}.{t}", [t] * 3, t)
    for t in ("u16x2", "s16x2"):
        for op in ("add", "min", "max"):
            yield _simple(f"{op}.{t}", [t] * 2, t)
    yield _simple("min.relu.s32", ["s32"] * 2, "s32")
    yield _simple("max.relu.s32", ["s32"] * 2, "s32")


def _carry():
    for bits in (32, 64):
        t = f"u{bits}"
        for op in ("add", "sub"):
            first, second = f"{op}.cc.{t}", f"{op}c.{t}"
            body = (
                f".reg .b{bits} %x, %y; {first} %x, {{a}}, {{b}}; {second} %y, {{a}}, {{b}}; xor.b{bits} {{d}}, %x, %y;"
            )
            yield Case(f"{first} {second}", (t, t), t, body)
    for half in ("lo", "hi"):
        body = (
            ".reg .b32 %x, %y; mad.lo.cc.u32 %x, {a}, {b}, {c}; "
            f"madc.{half}.u32 %y, {{a}}, {{b}}, {{c}}; xor.b32 {{d}}, %x, %y;"
        )
        yield Case(f"mad.lo.cc.u32 madc.{half}.u32", ("u32",) * 3, "u32", body)
    body = (
        ".reg .b32 %x, %y, %z; add.cc.u32 %x, {a}, {b}; addc.cc.u32 %y, {b}, {c}; addc.u32 %z, 0, 0; "
        "xor.b32 %x, %x, %y; xor.b32 {d}, %x, %z;"
    )
    yield Case("add.cc.u32 addc.cc.u32 addc.u32", ("u32",) * 3, "u32", body)


def _logic():
    for t in ("b16", "b32", "b64"):
        for op in ("and", "or", "xor"):
            yield _simple(f"{op}.{t}", [t] * 2, t)
        yield _simple(f"not.{t}", [t], t)
        yield _simple(f"cnot.{t}", [t], t)
        yield _simple(f"shl.{t}", [t, "b32"], t)
        for kind in "bus":
            yield _simple(f"shr.{kind}{t[1:]}", [t, "b32"], t)
    for direction in "lr":
        for mode in ("clamp", "wrap"):
            yield _simple(f"shf.{direction}.{mode}.b32", ["b32"] * 3, "b32")
    for table in (0x96, 0xE8, 0x1B, 0xCA, 0x80, 0xFE, 0x3C, 0x01):
        yield Case(f"lop3.b32 0x{table:02x}", ("b32",) * 3, "b32", f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield _simple(f"prmt.b32{mode}", ["b32"] * 3, "b32")


def _bit_fields():
    for bits in (32, 64):
        b = f"b{bits}"
        yield _simple(f"popc.{b}", [b], "u32")
        yield _simple(f"clz.{b}", [b], "u32")
        yield _simple(f"brev.{b}", [b], b)
        for sign in "us":
            t = f"{sign}{bits}"
            yield _simple(f"bfind.{t}", [t], "u32")
            yield _simple(f"bfind.shiftamt.{t}", [t], "u32")
            yield _simple(f"bfe.{t}", [t, "b32", "b32"], t)
        body = f".reg .b32 %w; and.b32 %w, {{c}}, 63; bfi.{b} {{d}}, {{a}}, {{b}}, {{c}}, %w;"
        yield Case(f"bfi.{b}", (b, b, "b32"), b, body)
    for mode in ("clamp", "wrap"):
        yield _simple(f"bmsk.{mode}.b32", ["b32"] * 2, "b32")
        for t in ("u32", "s32"):
            yield _simple(f"szext.{mode}.{t}", [t, "u32"], t)


def _dot_products():
    for a in "us":
        for b in "us":
            c = "u32" if a + b == "uu" else "s32"
            yield _simple(f"dp4a.{a}32.{b}32", ["b32", "b32", c], c)
            for half in ("lo", "hi"):
                yield _simple(f"dp2a.{half}.{a}32.{b}32", ["b32", "b32", c], c)


INTEGER_CASES = [*_arithmetic(), *_carry(), *_logic(), *_bit_fields(), *_dot_products()]
