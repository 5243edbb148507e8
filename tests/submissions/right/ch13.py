"""Right answers of chapter 13 that differ from the model solutions."""

RIGHT = {
    "13.1": {
        "on the bits of the float": {
            "source": """import numpy as np


def rounded(x, bits):
    d = 23 - bits
    u = int(np.float32(x).view(np.uint32)) + (1 << (d - 1)) & ~((1 << d) - 1) & 0xffffffff
    return float(np.uint32(u).view(np.float32))"""
        },
        "by spacing": {
            "source": """import math
def rounded(x, bits):
    spacing = 2.0 ** (math.floor(math.log2(abs(x))) - bits)
    return math.copysign(math.floor(abs(x) / spacing + 0.5) * spacing, x)
""",
        },
        "by bits of a double": {
            "source": """import struct
def rounded(x, bits):
    (word,) = struct.unpack("<q", struct.pack("<d", x))
    drop = 52 - bits
    word = (word + (1 << (drop - 1))) >> drop << drop
    (value,) = struct.unpack("<d", struct.pack("<q", word))
    return value
""",
        },
    },
    "13.2": {
        "written out": {"source": "with_tf32 = {'10.89258', '10.89516', '10.88227'}"},
        "a list": {"source": "with_tf32 = ['10.88227', '10.89258', '10.89516']"},
    },
    "13.3": {
        "rounded by cvt": {
            "replace": [
                (
                    "    high = (x + 0x1000) & 0xffffe000;\n",
                    '    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high) : "f"(__uint_as_float(x)));\n',
                )
            ]
        },
        "the large product first": {
            "replace": [
                (
                    "        mma_m16n8k8_f32_tf32(sum, a_low, b);\n        mma_m16n8k8_f32_tf32(sum, a, b_low);\n"
                    "        mma_m16n8k8_f32_tf32(sum, a, b);\n",
                    "        mma_m16n8k8_f32_tf32(sum, a, b);\n        mma_m16n8k8_f32_tf32(sum, a, b_low);\n"
                    "        mma_m16n8k8_f32_tf32(sum, a_low, b);\n",
                ),
            ],
        },
        "the rest is cut": {"replace": [("__uint_as_float(high)) + 0x1000;", "__uint_as_float(high));")]},
        "the high part is cut": {"replace": [("high = (x + 0x1000) & 0xffffe000;", "high = x & 0xffffe000;")]},
    },
    "13.4": {
        "the tail by a rounded K": {
            "replace": [("k < K; k += 16", "k < (K + 15) / 16 * 16; k += 16")],
        },
        "packed by intrinsics": {
            "replace": [
                (
                    "element(B, K, N, at, n) | element(B, K, N, at + 1, n) << 16",
                    "__byte_perm(element(B, K, N, at, n), element(B, K, N, at + 1, n), 0x5410)",
                ),
            ],
        },
    },
}
