"""Products whose reads of shared memory a profiler counts: {kernel name: golden_wgmma.WgmmaCase}.

Widths, swizzles, both orders, distances that no dense tile has, A from registers, all sizes of elements. Recorded by
tools/record_patterns.py --wgmma, compared by test_patterns_wgmma.py.
"""

from golden_wgmma import HALF, ROWS, WgmmaCase, descriptor, module

F16 = ("f32", "f16", "f16")
TYPES = [("f32", "bf16", "bf16"), ("f32", "tf32", "tf32"), ("f32", "e4m3", "e4m3"), ("s32", "s8", "s8"),
         ("f16", "f16", "f16")]  # fmt: skip
DISTANCES = ((128, 256), (1024, 2048), (512, 16), (0, 512))  # LBO, SBO


def dense(swizzle, at):
    """Descriptor of a dense K-major tile."""
    return descriptor(at, *ROWS[swizzle], swizzle)


def _cases():
    for n in (8, 16, 32, 64, 128):
        yield WgmmaCase(f"dense128 n{n}", n, F16, dense(128, 0), dense(128, HALF))
        yield WgmmaCase(f"registers n{n}", n, F16, None, dense(128, HALF))
    for swizzle in (0, 32, 64):
        for n in (8, 64, 256):
            yield WgmmaCase(f"dense{swizzle} n{n}", n, F16, dense(swizzle, 0), dense(swizzle, HALF))
    plain = descriptor(HALF, 128, 256, 0)
    for swizzle in (0, 32, 64, 128):
        for lbo, sbo in DISTANCES:
            word = descriptor(0, lbo, sbo, swizzle)
            for major in (0, 1):
                name = f"A {('K', 'MN')[major]} swizzle {swizzle} {lbo} {sbo}"
                yield WgmmaCase(name, 64, F16, word, plain, trans=(major, 0))
        yield WgmmaCase(f"B K swizzle {swizzle}", 64, F16, plain, descriptor(0, 0, 512, swizzle))
        yield WgmmaCase(f"B MN swizzle {swizzle}", 64, F16, plain, descriptor(0, 1024, 2048, swizzle), trans=(0, 1))
    for kinds in TYPES:
        yield WgmmaCase(".".join(kinds), 64, kinds, dense(128, 0), dense(128, HALF))


PATTERNS = {f"p{800 + number}": case for number, case in enumerate(_cases())}


def text(name):
    """PTX of one pattern, whose entry has its name."""
    return module(PATTERNS[name]).replace("entry golden(", f"entry {name}(")
