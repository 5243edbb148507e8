"""Memory access patterns whose sectors and wavefronts the emulator must count as the profiler does.

Each pattern is a kernel with one memory instruction per thread. ``PATTERNS`` drives tools/record_patterns.py
(hardware) and test_patterns.py. ``expression`` gives the element that thread ``t`` accesses, in C; ``active`` says
which threads do.
"""

from dataclasses import dataclass

TYPES = {  # PTX type, registers, asm constraint, bytes
    "8": ("u8", 1, "h", 1),
    "16": ("b16", 1, "h", 2),
    "32": ("b32", 1, "r", 4),
    "64": ("b64", 1, "l", 8),
    "2x32": ("v2.b32", 2, "r", 8),
    "128": ("v4.b32", 4, "r", 16),
    "2x64": ("v2.b64", 2, "l", 16),
}
HASH = "((unsigned)(t * 2654435761u) >> 20)"


@dataclass(frozen=True)
class Pattern:
    """``space`` "global" | "shared", ``op`` "ld" | "st", ``bits`` a key of TYPES, ``block`` threads."""

    name: str
    space: str
    op: str
    bits: str
    expression: str
    active: str = "1"
    block: tuple = (32, 1, 1)


def _patterns():
    for stride in (1, 2, 4, 8, 16, 32):
        yield f"stride{stride}", "global", "ld", "32", f"t * {stride}"
    for offset in (1, 2, 4, 7, 8):
        yield f"offset{offset}", "global", "ld", "32", f"t + {offset}"
    yield "broadcast", "global", "ld", "32", "3"
    yield "reversed", "global", "ld", "32", "31 - t"
    yield "random", "global", "ld", "32", HASH
    yield "two_rows", "global", "ld", "32", "(t & 15) + (t >> 4) * 100"
    yield "two_words", "global", "ld", "32", "t >> 4"
    yield "half_warp", "global", "ld", "32", "t", "t < 16"
    yield "even_lanes", "global", "ld", "32", "t", "(t & 1) == 0"
    yield "one_lane", "global", "ld", "32", "t", "t == 17"
    yield "naive_a", "global", "ld", "32", "(t >> 4) * 256", "1", (16, 16, 1)
    yield "naive_b", "global", "ld", "32", "t & 15", "1", (16, 16, 1)
    yield "three_warps", "global", "ld", "32", "t * 3", "1", (96, 1, 1)
    for bits in ("8", "16", "64", "2x32", "128", "2x64"):
        yield "contiguous", "global", "ld", bits, "t"
        yield "stride2", "global", "ld", bits, "t * 2"
    for bits in ("64", "128"):
        yield "broadcast", "global", "ld", bits, "5"
        yield "offset1", "global", "ld", bits, "t + 1"
        yield "eighths", "global", "ld", bits, "t & 7"
        yield "same_eighth", "global", "ld", bits, "t >> 3"
        yield "stride8", "global", "ld", bits, "t * 8"
        yield "column8", "global", "ld", bits, "(t & 7) * 32 + (t >> 3)"
        yield "random", "global", "ld", bits, HASH
    for bits in ("8", "16", "32", "64", "128"):
        yield "contiguous", "global", "st", bits, "t"
        yield "offset1", "global", "st", bits, "t + 1"
        yield "stride8", "global", "st", bits, "t * 8"
    yield "stride2", "global", "st", "32", "t * 2"
    yield "stride32", "global", "st", "32", "t * 32"
    yield "same", "global", "st", "32", "9"
    yield "random", "global", "st", "32", HASH
    yield "random", "global", "st", "128", HASH
    for op in ("ld", "st"):
        for stride in (1, 2, 3, 4, 8, 16, 32, 33):
            yield f"stride{stride}", "shared", op, "32", f"t * {stride}"
        yield "same", "shared", op, "32", "7"
        yield "pairs", "shared", op, "32", "t >> 1"
        yield "pitch36", "shared", op, "32", "t * 36"
        yield "two_words_a_bank", "shared", op, "32", "(t & 15) + (t >> 4) * 32"
        yield "three_words_a_bank", "shared", op, "32", "(t % 3) * 32"
        yield "random", "shared", op, "32", HASH
        yield "xor_words", "shared", op, "32", "t * 32 + (t ^ 5)"
        yield "half_warp", "shared", op, "32", "t * 2", "t < 16"
        yield "even_lanes", "shared", op, "32", "t * 4", "(t & 1) == 0"
        yield "tile16_row", "shared", op, "32", "t", "1", (16, 16, 1)
        yield "tile16_column", "shared", op, "32", "(t & 15) * 16 + (t >> 4)", "1", (16, 16, 1)
        yield "tile16_column_padded", "shared", op, "32", "(t & 15) * 17 + (t >> 4)", "1", (16, 16, 1)
        for bits in ("64", "128"):
            for stride in (1, 2, 3, 4, 8, 16, 17):
                yield f"stride{stride}", "shared", op, bits, f"t * {stride}"
            yield "same", "shared", op, bits, "3"
            yield "low", "shared", op, bits, "t & 1"
            yield "pairs", "shared", op, bits, "t >> 1"
            yield "fours", "shared", op, bits, "t >> 2"
            yield "eights", "shared", op, bits, "t >> 3"
            yield "halves", "shared", op, bits, "t >> 4"
            yield "mod4", "shared", op, bits, "t & 3"
            yield "mod8", "shared", op, bits, "t & 7"
            yield "mod16", "shared", op, bits, "t & 15"
            yield "mod8_far", "shared", op, bits, "(t & 7) * 8"
            yield "mod16_far", "shared", op, bits, "(t & 15) * 16"
            yield "swap_pairs", "shared", op, bits, "t ^ 1"
            yield "lanes_interleaved", "shared", op, bits, "(t >> 1) + (t & 1) * 16"
            yield "half_warp", "shared", op, bits, "t", "t < 16"
            yield "even_lanes", "shared", op, bits, "t", "(t & 1) == 0"
            yield "every_fourth_lane", "shared", op, bits, "t", "(t & 3) == 0"
            yield "one_lane", "shared", op, bits, "t", "t == 5"
            yield "random", "shared", op, bits, f"{HASH} & 255"
            yield "xor_chunks", "shared", op, bits, "(t & 7) * 8 + ((t >> 3) ^ (t & 7))"
            yield "xor_chunks_row", "shared", op, bits, "(t >> 3) * 8 + ((t & 7) ^ (t >> 3))"
            yield "column_pitch8", "shared", op, bits, "(t & 7) * 8 + (t >> 3)"
            yield "column_pitch9", "shared", op, bits, "(t & 7) * 9 + (t >> 3)"
        for bits in ("8", "16"):
            for stride in (1, 2, 4, 32, 64, 66):
                yield f"stride{stride}", "shared", op, bits, f"t * {stride}"
            yield "same", "shared", op, bits, "5"
            yield "random", "shared", op, bits, HASH
        yield "contiguous", "shared", op, "2x32", "t"
        yield "contiguous", "shared", op, "2x64", "t"


def _named():
    for i, (label, space, op, bits, *rest) in enumerate(_patterns()):
        yield Pattern(f"p{i:03d}_{space}_{op}_{bits}_{label}", space, op, bits, *rest)


PATTERNS = list(_named())
GLOBAL_BYTES = 1 << 17
SHARED_BYTES = 48 * 1024


def source(pattern):
    """CUDA C++ of one pattern's kernel. The instruction is inline PTX, so that exactly this one is compiled; the store
    that uses a load's result never happens, but keeps the load alive.
    """
    ptx, registers, constraint, width = TYPES[pattern.bits]
    c_type = {"h": "unsigned short", "r": "unsigned", "l": "unsigned long long"}[constraint]
    names = [f"v{k}" for k in range(registers)]
    load = pattern.op == "ld"
    refs = [f"%{k + (not load)}" for k in range(registers)]
    value = "{" + ", ".join(refs) + "}" if registers > 1 else refs[0]
    address = f'"l"(data + i * {width})' if pattern.space == "global" else f'"r"(base + (unsigned)i * {width})'
    if load:
        instruction = f"ld.{pattern.space}.{ptx} {value}, [%{registers}];"
        operands = ", ".join(f'"={constraint}"({n})' for n in names) + f" : {address}"
        use = f"if (({' ^ '.join(names)}) == 0x5a) data[0] = 1;"
    else:
        instruction = f"st.{pattern.space}.{ptx} [%0], {value};"
        operands = f": {address}, " + ", ".join(f'"{constraint}"({n})' for n in names)
        use = ""
    tile = ""
    if pattern.space == "shared":
        tile = f"__shared__ __align__(16) char tile[{SHARED_BYTES}]; unsigned base = __cvta_generic_to_shared(tile);"
    return f"""extern "C" __global__ void {pattern.name}(char* data) {{
  int t = threadIdx.x + threadIdx.y * blockDim.x;
  {tile}
  long long i = {pattern.expression};
  {c_type} {", ".join(n + " = 0" for n in names)};
  if ({pattern.active}) asm volatile("{instruction}" : {operands} : "memory");
  {use}
}}
"""


def module_source():
    """CUDA C++ of all patterns."""
    return "\n".join(source(p) for p in PATTERNS)
