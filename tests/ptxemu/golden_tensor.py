"""Golden cases of the instructions of whole warps and of cp.async: fragment layouts, copies, products.

One warp runs each case. Its inputs are ``words`` (uint32 per lane and register, %w0, %w1 …) and an ``image`` of 4 KB,
which stands in global memory ({g}) and in shared memory ({s}); its results are registers (%d0, %d1 …) and both images
afterwards. ``CASES`` drives tools/record_goldens.py and test_golden_tensor.py.
"""

import zlib
from dataclasses import dataclass

import numpy as np
from golden_products import MMA_CASES, WMMA_CASES, WMMA_MEMORY_CASES

IMAGE = 4096  # bytes
TARGET = "sm_90a"


@dataclass(frozen=True)
class TensorCase:
    """``inputs``, ``outputs``: registers per lane; ``words``: name of what fills them (``_WORDS``) or a function of a
    generator; ``product``: (shape, types of D, A, B, C) where D depends on how terms are added and rounded.
    ``image``: a function that fills it; default: distinct 16-bit values.
    """

    name: str
    body: str
    inputs: int = 0
    outputs: int = 0
    words: object = "random"
    product: tuple | None = None
    version: str = "8.6"
    image: object = None

    def make(self):
        """(words uint32[inputs, 32], image uint32[1024]): the same ones anywhere."""
        seed = np.random.default_rng(zlib.crc32(self.name.encode()))
        distinct = (np.arange(IMAGE // 2, dtype=np.uint16) * np.uint16(25173) + np.uint16(13849)).view(np.uint32)
        image = distinct.copy() if self.image is None else self.image(seed)
        words = self.words(seed) if callable(self.words) else _WORDS[self.words](seed, self.inputs)
        return np.ascontiguousarray(words, np.uint32).reshape(self.inputs, 32), image


_LANE = np.arange(32, dtype=np.uint32)
_WORDS = {
    "random": lambda rng, n: rng.integers(0, 1 << 32, (n, 32), dtype=np.uint64).astype(np.uint32),
    "rows": lambda rng, n: np.tile(_LANE * 16, (n, 1)),  # consecutive 16-byte rows
    "padded rows": lambda rng, n: np.tile(_LANE * 80 + 16, (n, 1)),
    "shuffled rows": lambda rng, n: rng.permutation(32)[None].astype(np.uint32) * 112,
    "chunks": lambda rng, n: np.tile(_LANE * 32, (n, 1)),
}


def _names(letter, count, first=0):
    return ", ".join(f"%{letter}{first + i}" for i in range(count))


def _matrices():
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            for rows in ("rows", "padded rows", "shuffled rows"):
                form = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
                fragment = _names("d", count)
                body = f"add.u32 %x, {{s}}, %w0; ldmatrix.{form} {{{fragment}}}, [%x];"
                yield TensorCase(f"ldmatrix.{form} {rows}", body, 1, count, rows)
                fragment = _names("w", count, 1)
                body = f"add.u32 %x, {{s}}, %w0; stmatrix.{form} [%x], {{{fragment}}};"
                yield TensorCase(f"stmatrix.{form} {rows}", body, 1 + count, 0, _stored(rows, count))
    yield TensorCase("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %w0;", 1, 1)


def _stored(rows, count):
    """Row addresses in register 0, 16-bit numbers that are all distinct in the others."""
    values = np.arange(64 * count, dtype=np.uint16).view(np.uint32).reshape(count, 32) + np.uint32(0x10001)
    return lambda rng: np.concatenate([_WORDS[rows](rng, 1), values])


def _copies():
    """cp.async of every size, with every number of source bytes, from ascending to scattered addresses."""
    finish = "cp.async.commit_group; cp.async.wait_group 0;"
    for form, sizes in (("ca", (4, 8, 16)), ("cg", (16,))):
        for size in sizes:
            start = "add.u32 %x, {s}, %w0; cvt.u64.u32 %y, %w0; add.u64 %y, {g}, %y; xor.b32 %x, %x, 64; "
            name = f"cp.async.{form}.shared.global"
            yield TensorCase(f"{name} {size}", f"{start}{name} [%x], [%y], {size}; {finish}", 1, 0, "chunks")
            for count in sorted({0, 1, 2, 3, 4, 7, 8, 12, 15, size}):
                if count <= size:
                    body = f"{start}{name} [%x], [%y], {size}, {count}; {finish}"
                    yield TensorCase(f"{name} {size} of which {count}", body, 1, 0, "chunks")
            per_lane = f"{start}and.b32 %w1, %w1, {size - 1}; {name} [%x], [%y], {size}, %w1; {finish}"
            yield TensorCase(f"{name} {size} per lane", per_lane, 2, 0, _copy_sizes)
            ignored = f"{start}setp.lt.u32 %p, %w1, 2147483648; {name} [%x], [%y], {size}, %p; {finish}"
            yield TensorCase(f"{name} {size} ignore-src", ignored, 2, 0, _copy_sizes)
            hint = f"{name}.L2::128B"
            yield TensorCase(f"{hint} {size}", f"{start}{hint} [%x], [%y], {size}; cp.async.wait_all;", 1, 0, "chunks")


def _copy_sizes(rng):
    return np.concatenate([_WORDS["chunks"](rng, 1), _WORDS["random"](rng, 1)])


def _products():
    for name, body, inputs, outputs, words, product, version in MMA_CASES:
        yield TensorCase(name, body, inputs, outputs, words, product, version)
    for name, body, image in WMMA_CASES:
        yield TensorCase(name, body, image=image)
    for name, body, inputs, outputs in WMMA_MEMORY_CASES:
        yield TensorCase(name, body, inputs, outputs)


CASES = [*_matrices(), *_copies(), *_products()]


def module(case):
    """PTX text of a case, entry "golden": parameters image, words, out, and where shared memory goes afterwards."""
    lines = [
        f".version {case.version}", f".target {TARGET}", ".address_size 64",
        ".visible .entry golden(.param .u64 image, .param .u64 words, .param .u64 out, .param .u64 after)", "{",
        ".reg .b32 %i, %lane, %s, %x, %v; .reg .b64 %y, %g, %q, %o; .reg .pred %p, %more;",
        f".shared .align 1024 .b8 tile[{IMAGE}];", f".reg .b32 %w<{max(case.inputs, 1)}>, %d<{max(case.outputs, 1)}>;",
        "ld.param.u64 %g, [image]; mov.u32 %s, tile; mov.u32 %lane, %tid.x; mov.u32 %i, %lane;",
        "FILL: mul.wide.u32 %o, %i, 4; add.u64 %o, %g, %o; ld.global.b32 %v, [%o]; shl.b32 %x, %i, 2;",
        f"add.u32 %x, %s, %x; st.shared.b32 [%x], %v; add.u32 %i, %i, 32; setp.lt.u32 %more, %i, {IMAGE // 4};",
        "@%more bra FILL; bar.sync 0; ld.param.u64 %q, [words]; mul.wide.u32 %o, %lane, 4; add.u64 %q, %q, %o;",
        *(f"ld.global.b32 %w{i}, [%q+{128 * i}];" for i in range(case.inputs)),
        case.body.replace("{s}", "%s").replace("{g}", "%g"),
        "bar.sync 0; ld.param.u64 %q, [out]; mul.wide.u32 %o, %lane, 4; add.u64 %q, %q, %o;",
        *(f"st.global.b32 [%q+{128 * i}], %d{i};" for i in range(case.outputs)),
        "ld.param.u64 %q, [after]; mov.u32 %i, %lane;",
        "DUMP: shl.b32 %x, %i, 2; add.u32 %x, %s, %x; ld.shared.b32 %v, [%x]; mul.wide.u32 %o, %i, 4;",
        "add.u64 %o, %q, %o; st.global.b32 [%o], %v; add.u32 %i, %i, 32;",
        f"setp.lt.u32 %more, %i, {IMAGE // 4}; @%more bra DUMP; ret;", "}",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
