"""Access patterns of ldmatrix, stmatrix and cp.async, beside those of pattern_cases.py: one instruction per thread.

``address``: byte offset in shared memory that lane ``t`` names, in C; for cp.async also ``source``, the byte offset in
global memory. ``ways``: wavefronts per phase of eight rows, where a bank model worked out by hand says so.
"""

from dataclasses import dataclass

SHARED_BYTES = 48 * 1024
FIRST = 600  # the kernels' names go on from those of pattern_cases.py


@dataclass(frozen=True)
class TensorPattern:
    """``op`` "ldmatrix" | "stmatrix" | "cp"; ``form`` "x4", "x2.trans", "cg 16" …"""

    name: str
    op: str
    form: str
    address: str
    source: str = "0"
    active: str = "1"
    ways: int | None = None


_PITCHES = {32: 2, 48: 1, 64: 4, 80: 1, 96: 2, 128: 8, 144: 1, 160: 2, 256: 8, 272: 1}


def _patterns():
    for pitch, ways in _PITCHES.items():
        rows = f"(t & 7) * {pitch} + (t >> 3) * 16"
        yield f"pitch{pitch}", "ldmatrix", "x4", rows, ways
        yield f"pitch{pitch}", "stmatrix", "x4", rows, ways
    for mask, ways in ((1, 4), (3, 2), (7, 1)):
        swizzled = f"(t & 7) * 128 + (((t >> 3) ^ (t & {mask})) * 16)"
        for form in ("x1", "x2", "x4", "x4.trans"):
            yield f"xor{mask + 1}", "ldmatrix", form, swizzled, ways
        yield f"xor{mask + 1}", "stmatrix", "x4.trans", swizzled, ways
    for op in ("ldmatrix", "stmatrix"):
        for form in ("x1", "x2", "x4", "x1.trans", "x2.trans", "x4.trans"):
            yield "rows", op, form, "t * 16", 1
            yield "pitch128", op, form, "t * 128", 8
        yield "tile16", op, "x4", "(t & 15) * 80 + (t >> 4) * 16", 1
        yield "half", op, "x2", "(t & 15) * 64", 4
    for label, shift, ways in (("column_major", 31, 8), ("swizzle_3_3_4", 4, 1), ("swizzle_3_3_3", 3, 2)):
        element = "((t & 7) * 128 + (t >> 3) * 8)"  # m + 128 k of a 128 x 8 tile of 16-bit elements, by columns
        yield label, "ldmatrix", "x4.trans", f"({element} ^ (({element} >> {shift}) & 56)) * 2", ways
    yield "same_row", "ldmatrix", "x4", "(t >> 3) * 16", 1
    yield "pairs", "ldmatrix", "x4", "(t >> 1) * 16", 1


_COPIES = (
    ("contiguous", "t * {n}", "t * {n}"),
    ("shared_pitch2", "t * {n} * 2", "t * {n}"),
    ("shared_pitch128", "t * 128", "t * {n}"),
    ("global_pitch128", "t * {n}", "t * 128"),
    ("columns", "(t & 7) * 128 + (t >> 3) * {n}", "t * {n}"),
    ("xor_chunks", "(t >> 3) * 128 + (((t & 7) ^ (t >> 3)) * {n})", "t * {n}"),
    ("reversed", "(31 - t) * {n}", "t * {n}"),
    ("broadcast", "t * {n}", "64"),
)


def _named():
    number = FIRST
    for label, op, form, address, ways in _patterns():
        name = f"p{number}_shared_{op}_{form.replace('.', '_')}_{label}"
        yield TensorPattern(name, op, form, address, ways=ways)
        number += 1
    for form in ("ca 4", "ca 8", "ca 16", "cg 16"):
        for label, address, source in _COPIES:
            n = form.split()[1]
            name = f"p{number}_cp_{form.replace(' ', '_')}_{label}"
            yield TensorPattern(name, "cp", form, address.replace("{n}", n), source.replace("{n}", n))
            number += 1
        half = TensorPattern(
            f"p{number}_cp_{form.replace(' ', '_')}_half_warp", "cp", form, f"t * {n}", f"t * {n}", "t < 16"
        )
        yield half
        number += 1


PATTERNS = list(_named())


def source(pattern):
    """CUDA C++ of one pattern's kernel; the store that never happens keeps what was loaded alive."""
    before, after = "", ""
    if pattern.op == "cp":
        level, size = pattern.form.split()
        text = f"cp.async.{level}.shared.global [%0], [%1], {size};"
        instruction = f'asm volatile("{text}" :: "r"(base + at), "l"(data + {pattern.source}) : "memory");'
        after = 'asm volatile("cp.async.wait_all;" ::: "memory");'
    else:
        count = int(pattern.form[1])
        load = pattern.op == "ldmatrix"
        names = ", ".join(f"%{i + (not load)}" for i in range(count))
        where = f"[%{count if load else 0}]"
        order = f"{{{names}}}, {where}" if load else f"{where}, {{{names}}}"
        count_form, _, trans = pattern.form.partition(".")
        text = f"{pattern.op}.sync.aligned.m8n8.{count_form}{'.' + trans if trans else ''}.shared.b16 {order};"
        before = "unsigned " + ", ".join(f"v{i} = t" for i in range(count)) + ";"
        if load:
            results = ", ".join(f'"=r"(v{i})' for i in range(count))
            instruction = f'asm volatile("{text}" : {results} : "r"(base + at) : "memory");'
            after = f"if (({' ^ '.join(f'v{i}' for i in range(count))}) == 0x5a) data[0] = 1;"
        else:
            values = ", ".join(f'"r"(v{i})' for i in range(count))
            instruction = f'asm volatile("{text}" :: "r"(base + at), {values} : "memory");'
    return f"""extern "C" __global__ void {pattern.name}(char* data) {{
  int t = threadIdx.x;
  __shared__ __align__(128) char tile[{SHARED_BYTES}];
  unsigned base = __cvta_generic_to_shared(tile), at = {pattern.address};
  {before}
  if ({pattern.active}) {instruction}
  {after}
}}
"""


def module_source():
    """CUDA C++ of all patterns."""
    return "\n".join(source(p) for p in PATTERNS)
