"""Golden cases of wgmma: every form, every field of the descriptors, every width.

One warpgroup runs each case. Shared memory, aligned to 1024 bytes, holds an ``image`` of numbers of the factors' type;
descriptors may point anywhere into it, so each of them gives some product. Where the numbers are small integers the
sums are exact in any order, and every bit must agree; other cases are compared by the bound of ptxemu/wgmma.py.
``CASES`` drives tools/record_goldens.py and test_golden_wgmma.py.
"""

import itertools
import zlib
from dataclasses import dataclass

import numpy as np
from golden_products import BITS, _large, _special, _values, encode

from ptxemu import encode_wgmma_descriptor as descriptor

IMAGE = 32768  # bytes
TARGET, VERSION = "sm_90a", "8.6"
THREADS = 128
INTEGER_N = (8, 16, 24, *range(32, 257, 16))


@dataclass(frozen=True)
class WgmmaCase:
    """``kinds``: types of D, A, B; ``a``, ``b``: descriptors relative to the image (``a`` None: from registers);
    ``data``: "integers", "values", "large", "special" or "tiny"; ``tail``: the immediates.
    """

    name: str
    n: int
    kinds: tuple
    a: int | None
    b: int
    scale: int = 1
    signs: tuple = (1, 1)
    trans: tuple = (0, 0)
    saturate: bool = False
    data: str = "integers"
    times: int = 1

    @property
    def k(self):
        return 256 // BITS[self.kinds[1]]

    @property
    def sums(self):
        """Registers of D per thread."""
        return self.n // 4 if self.kinds[0] == "f16" else self.n // 2

    @property
    def inputs(self):
        return self.sums + (4 if self.a is None else 0)

    def make(self):
        """(words uint32[registers, 128]: D's and A's, image uint32[IMAGE / 4]): the same ones anywhere."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        d, a, b = self.kinds
        draw = {"integers": _small, "values": _values, "large": _large, "special": _special, "tiny": _tiny}[self.data]
        image = encode(draw(rng, 1, b, IMAGE * 8 // BITS[b]), b)
        if a != b:  # A's part of the image holds A's type
            image[: IMAGE // 8] = encode(draw(rng, 0, a, IMAGE // 2 * 8 // BITS[a]), a)
        parts = [encode(draw(rng, 2, d, self.sums * THREADS * 32 // BITS[d]), d)]
        if self.a is None:
            parts.append(encode(draw(rng, 0, a, 4 * THREADS * 32 // BITS[a]), a))
        return np.concatenate(parts).reshape(-1, THREADS), image

    @property
    def instruction(self):
        """The PTX; %w0 … are D, then A's registers; %a, %b the descriptors, %p is scale-d."""
        d, a, b = self.kinds
        form = f"wgmma.mma_async.sync.aligned.m64n{self.n}k{self.k}" + (".satfinite" if self.saturate else "")
        regs = ", ".join(f"%w{i}" for i in range(self.sums))
        first = "%a" if self.a is not None else _braces(self.sums)
        tail = [] if d == "s32" else [str(s) for s in self.signs]
        if BITS[a] == 16:
            tail += [str(t) for t in (self.trans if self.a is not None else self.trans[1:])]
        return f"{form}.{d}.{a}.{b} {{{regs}}}, {', '.join([first, '%b', '%p', *tail])};"


def _braces(first):
    return f"{{%w{first}, %w{first + 1}, %w{first + 2}, %w{first + 3}}}"


def _small(rng, which, kind, n):
    """Integers that every type holds, small enough for exact FP16 sums of 32 products."""
    return rng.integers(0 if kind == "u8" else -4, 5, n) if which < 2 else rng.integers(-100, 101, n)


def _tiny(rng, which, kind, n):
    """Numbers around the smallest normal one, whose exponents the adders of tensor cores treat in their own way."""
    lowest = {"f16": 2.0**-14, "e4m3": 2.0**-6, "e5m2": 2.0**-14, "f32": 2.0**-40}.get(kind, 2.0**-60)
    return lowest * rng.standard_normal(n) * 2.0 ** rng.integers(-3, 3, n)


ROWS = {0: (128, 256), 32: (16, 256), 64: (16, 512), 128: (16, 1024)}  # swizzle -> LBO, SBO of dense tiles, K-major
HALF = IMAGE // 2
_FLOATS = [("f32", "f16"), ("f16", "f16"), ("f32", "bf16"), ("f32", "tf32")]
_EIGHT = [(d, a, b) for d in ("f32", "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
_INTEGERS = [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
FORMS = [(d, a, a) for d, a in _FLOATS] + _EIGHT + _INTEGERS


def _dense(swizzle, at):
    lbo, sbo = ROWS[swizzle]
    return descriptor(at, lbo, sbo, swizzle)


def _types(kinds):
    return ".".join(kinds)


def _forms():
    for kinds in FORMS:
        for n in (8, 64):
            for source in ("SS", "RS"):
                a = _dense(128, 0) if source == "SS" else None
                base = f"{_types(kinds)} n{n} {source}"
                yield WgmmaCase(base, n, kinds, a, _dense(128, HALF))
                yield WgmmaCase(f"{base} values", n, kinds, a, _dense(128, HALF), data="values")
                if n > 8:
                    continue
                yield WgmmaCase(f"{base} without D", n, kinds, a, _dense(128, HALF), scale=0)
                yield WgmmaCase(f"{base} twice", n, kinds, a, _dense(128, HALF), times=2)
                if kinds[0] != "s32":
                    for signs in ((-1, 1), (1, -1), (-1, -1)):
                        yield WgmmaCase(f"{base} signs {signs}", n, kinds, a, _dense(128, HALF), signs=signs)
                for data in ("large",) if kinds[0] == "s32" else ("large", "special", "tiny"):
                    yield WgmmaCase(f"{base} {data}", n, kinds, a, _dense(128, HALF), data=data)
                if kinds[0] == "s32":
                    yield WgmmaCase(f"{base} satfinite", n, kinds, a, _dense(128, HALF), saturate=True, data="large")


def _widths():
    for kinds, widths in ((FORMS[0], range(8, 257, 8)), (FORMS[1], (24, 40, 256)), (FORMS[3], (24, 40, 256)),
                          (_EIGHT[0], (24, 40, 256)), (_INTEGERS[0], INTEGER_N)):  # fmt: skip
        for n in widths:
            if n not in (8, 64):
                yield WgmmaCase(f"{_types(kinds)} width {n}", n, kinds, _dense(64, 0), _dense(32, HALF))


def _descriptors():
    """Every field, of A and of B in turn, of tiles of FP16: distances that no dense tile has, and moved starts."""
    kinds, n = ("f32", "f16", "f16"), 32
    fixed = descriptor(HALF, 128, 256, 0)
    for swizzle, major in itertools.product((0, 32, 64, 128), ("K", "MN")):
        fields = [(16, 256), (128, 256), (256, 128), (1024, 2048), (2048, 1024), (512, 16), (0, 512), (640, 0)]
        variants = [(0, lbo, sbo, 0) for lbo, sbo in fields]
        variants += [(at, 1024, 2048, 0) for at in (16, 32, 64, 96, 128, 144, 512, 1040)]
        variants += [(at, 1024, 2048, base) for at in (128, 384) for base in (1, 3, 7)]
        for at, lbo, sbo, base in variants:
            word = descriptor(at, lbo, sbo, swizzle, base)
            trans = int(major == "MN")
            name = f"{major}-major swizzle {swizzle} at {at} LBO {lbo} SBO {sbo} base {base}"
            yield WgmmaCase(f"A {name}", n, kinds, word, fixed, trans=(trans, 0))
            yield WgmmaCase(f"B {name}", n, kinds, fixed, word, trans=(0, trans))
    for kinds in (("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("s32", "s8", "s8")):
        for swizzle in (0, 32, 64, 128):
            for at in (0, 32, 96):
                word = descriptor(at, 1024, 2048, swizzle)
                yield WgmmaCase(f"{_types(kinds)} swizzle {swizzle} at {at}", 32, kinds, word, fixed)
    for a, b in itertools.product((0, 1), repeat=2):
        for kinds in FORMS[:3]:
            words = [descriptor(at, 2048, 1024, 128) for at in (0, HALF)]
            yield WgmmaCase(f"{_types(kinds)} transposed {a}{b}", 32, kinds, *words, trans=(a, b))
            yield WgmmaCase(f"{_types(kinds)} RS transposed {b}", 32, kinds, None, words[1], trans=(0, b))


CASES = list({c.name: c for c in itertools.chain(_forms(), _widths(), _descriptors())}.values())


def module(case):
    """PTX text of a case, entry "golden": parameters image, words, out."""
    lines = [
        f".version {VERSION}", f".target {TARGET}", ".address_size 64",
        ".visible .entry golden(.param .u64 image, .param .u64 words, .param .u64 out)", "{",
        ".reg .b32 %i, %t, %s, %x, %v; .reg .b64 %g, %q, %o, %a, %b, %base; .reg .pred %p, %more;",
        f".shared .align 1024 .b8 tile[{IMAGE}];", f".reg .b32 %w<{case.inputs}>;",
        "ld.param.u64 %g, [image]; mov.u32 %s, tile; mov.u32 %t, %tid.x; mov.u32 %i, %t;",
        "FILL: mul.wide.u32 %o, %i, 4; add.u64 %o, %g, %o; ld.global.b32 %v, [%o]; shl.b32 %x, %i, 2;",
        f"add.u32 %x, %s, %x; st.shared.b32 [%x], %v; add.u32 %i, %i, {THREADS};",
        f"setp.lt.u32 %more, %i, {IMAGE // 4}; @%more bra FILL; fence.proxy.async; bar.sync 0;",
        "ld.param.u64 %q, [words]; mul.wide.u32 %o, %t, 4; add.u64 %q, %q, %o;",
        *(f"ld.global.b32 %w{i}, [%q+{4 * THREADS * i}];" for i in range(case.inputs)),
        "shr.u32 %x, %s, 4; cvt.u64.u32 %base, %x;",
        f"mov.b64 %a, {case.a or 0}; add.u64 %a, %a, %base; mov.b64 %b, {case.b}; add.u64 %b, %b, %base;",
        f"mov.u32 %x, {case.scale}; setp.ne.u32 %p, %x, 0; wgmma.fence.sync.aligned;",
        *[case.instruction] * case.times,
        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
        "ld.param.u64 %q, [out]; mul.wide.u32 %o, %t, 4; add.u64 %q, %q, %o;",
        *(f"st.global.b32 [%q+{4 * THREADS * i}], %w{i};" for i in range(case.sums)),
        "ret;", "}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
