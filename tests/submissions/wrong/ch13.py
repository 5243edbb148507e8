"""Wrong answers of chapter 13, each with what the check must say. Most are mutations of the model solutions."""

VALUES = "C is wrong|bound|error|out-of-bounds"
COARSE = "less exact than float32 sums allow|off by"
HALF = "every element of C is a float16 number"
MODEL = "import math\ndef rounded(x, bits):\n    "
SUM = "        for (int r = 0; r < 4; ++r) acc[r] += sum[r];\n"
LOW_HIGH = "        mma_m16n8k8_f32_tf32(sum, a_low, b);\n"
HIGH_LOW = "        mma_m16n8k8_f32_tf32(sum, a, b_low);\n"
HIGH = "        mma_m16n8k8_f32_tf32(sum, a, b);\n"
B_PAIR = "element(B, K, N, at, n) | element(B, K, N, at + 1, n) << 16"

WRONG = {
    "13.1": {
        "the sign lost": {
            "source": """import math


def rounded(x, bits):
    m, e = math.frexp(abs(x))
    s = 2 ** (bits + 1)
    return math.floor(m * s + 0.5) / s * 2.0 ** e""",
            "says": "returned 1025, expected -1025",
        },
        "half up, negative numbers too": {
            "source": """import math


def rounded(x, bits):
    m, e = math.frexp(x)
    s = 2 ** (bits + 1)
    return math.floor(m * s + 0.5) / s * 2.0 ** e""",
            "says": "returned -1024, expected -1025",
        },
        "as FP16 rounds": {
            "source": """import numpy as np


def rounded(x, bits):
    return float(np.float16(x))""",
            "says": "returned 1024, expected 1025",
        },
        "unfinished": {"source": MODEL + "...", "says": "not finished"},
        "cut": {"replace": [("mantissa * scale + 0.5", "mantissa * scale")], "says": "that cuts"},
        "always up": {
            "replace": [("math.floor(mantissa * scale + 0.5)", "math.ceil(mantissa * scale)")],
            "says": "goes up always",
        },
        "ties to even": {
            "replace": [("math.floor(mantissa * scale + 0.5)", "round(mantissa * scale)")],
            "says": "ties go to",
        },
        "one bit short": {"replace": [("bits + 1", "bits")], "says": "one bit short"},
        "one bit too many": {"replace": [("bits + 1", "bits + 2")], "says": "one bit too many"},
        "a fixed spacing": {
            "source": MODEL + "return math.floor(x * 2**bits + 0.5) / 2**bits",
            "says": "between 1 and 2",
        },
        "the sign forgotten": {
            "replace": [
                (
                    "math.copysign(math.floor(mantissa * scale + 0.5) / scale * 2.0**exponent, x)",
                    "math.floor(mantissa * scale + 0.5) / scale * 2.0**exponent",
                )
            ],
            "says": "expected -",
        },
        "always TF32": {"replace": [("2 ** (bits + 1)", "2 ** 11")], "says": "expected"},
        "ties up": {
            "source": MODEL + "m, e = math.frexp(x)\n    s = 2 ** (bits + 1)\n    "
            "return math.floor(m * s + 0.5) / s * 2.0**e",
            "says": "x=-1024.5",
        },
        "ndarray": {
            "source": "import numpy as np\ndef rounded(x, bits):\n    return np.array([x])",
            "says": "not a number",
        },
    },
    "13.2": {
        "unfinished": {"source": "with_tf32 = {...}", "says": "not finished"},
        "empty": {"source": "with_tf32 = set()", "says": "empty"},
        "FP32 too": {
            "source": "with_tf32 = {'10.89000', '10.89258', '10.89516', '10.88227'}",
            "says": "as FP32 has it",
        },
        "BF16 too": {
            "source": "with_tf32 = {'10.86938', '10.89258', '10.89516', '10.88227'}",
            "says": "seven mantissa",
        },
        "both only": {"source": "with_tf32 = {'10.89516'}", "says": "2 more belong"},
        "no cut": {"source": "with_tf32 = {'10.89516', '10.89258'}", "says": "1 more belongs"},
        "numbers": {"source": "with_tf32 = {10.89516}", "says": "set of names"},
        "an unknown name": {"source": "with_tf32 = {'10.9'}", "says": "there is no '10.9'"},
    },
    "13.3": {
        "the low bits as they are": {
            "replace": [
                ("low = __float_as_uint(__uint_as_float(x) - __uint_as_float(high)) + 0x1000;", "low = x & 0x1fff;")
            ],
            "says": "TF32|NaN|wrong",
        },
        "the last step alone": {
            "replace": [("acc[r] += sum[r];", "acc[r] = sum[r];")],
            "says": "first .* products are missing",
        },
        "as given": {
            "replace": [(LOW_HIGH, ""), (HIGH_LOW, ""), ("(x + 0x1000) & 0xffffe000", "x")],
            "says": VALUES,
        },
        "plain TF32": {"replace": [(LOW_HIGH, ""), (HIGH_LOW, "")], "says": VALUES},
        "one cross product missing": {"replace": [(LOW_HIGH, "")], "says": COARSE},
        "the other one missing": {"replace": [(HIGH_LOW, "")], "says": COARSE},
        "low times low": {"replace": [(HIGH_LOW, HIGH_LOW.replace("a, b_low", "a_low, b_low"))], "says": COARSE},
        "four products": {
            "replace": [(LOW_HIGH, HIGH_LOW.replace("a, b_low", "a_low, b_low") + LOW_HIGH)],
            "says": "4 mma per 8 k, the target is 3: which product is too small",
        },
        "summed inside": {"replace": [("(sum, ", "(acc, "), (SUM, "")], "says": "a tensor core cuts its sums"},
        "one bit too many in the high part": {"replace": [("0xffffe000", "0xfffff000")], "says": COARSE},
        "eleven bits in the high part": {"replace": [("0xffffe000", "0xffff0000")], "says": COARSE},
        "the rest of a cut number": {
            "replace": [("__uint_as_float(high)) + 0x1000", "__uint_as_float(x & 0xffffe000)) + 0x1000")],
            "says": COARSE,
        },
        "the sum forgotten": {
            "replace": [(SUM, "        for (int r = 0; r < 4; ++r) acc[r] = sum[r];\n")],
            "says": VALUES + "|missing",
        },
        "FP64 instead": {
            "replace": [("float acc[4] = {};", "double acc[4] = {};")],
            "says": "float64",
        },
        "no tensor core": {
            "replace": [
                (
                    LOW_HIGH + HIGH_LOW + HIGH,
                    "        for (int r = 0; r < 4; ++r)\n            for (int i = 0; i < 8; ++i) {\n"
                    "                unsigned p = element(A, M, K, m0 + g + r / 2 * 8, k + i);\n"
                    "                unsigned q = element(B, K, N, k + i, n0 + 2 * t + r % 2);\n"
                    "                sum[r] += __uint_as_float(p) * __uint_as_float(q);\n            }\n",
                ),
            ],
            "says": "no mma",
        },
    },
    "13.4": {
        "taken for bf16": {
            "replace": [("mma_m16n8k16_f32_f16(acc", "mma_m16n8k16_f32_bf16(acc")],
            "says": "C is wrong",
        },
        "rounded at the end": {
            "replace": [("float sum = acc[r];", "float sum = __half2float(__float2half(acc[r]));")],
            "says": "float16",
        },
        "cleared in every step": {
            "replace": [
                (
                    "    float acc[4] = {};\n    for (int k = 0; k < K; k += 16) {\n",
                    "    float acc[4];\n    for (int k = 0; k < K; k += 16) {\n        for (float& x : acc) x = 0;\n",
                )
            ],
            "says": "first .* products are missing",
        },
        "FP16 sums": {
            "replace": [
                ("float acc[4] = {};", "unsigned acc[2] = {};"),
                ("mma_m16n8k16_f32_f16", "mma_m16n8k16_f16_f16"),
                (
                    "float sum = acc[r];",
                    "float sum = __half2float(__ushort_as_half(acc[r / 2] >> r % 2 * 16 & 0xffff));",
                ),
            ],
            "says": HALF,
        },
        "FP16 sums per step": {
            "replace": [
                (
                    "        mma_m16n8k16_f32_f16(acc, a, b);\n",
                    "        unsigned part[2] = {};\n        mma_m16n8k16_f16_f16(part, a, b);\n"
                    "        for (int r = 0; r < 4; ++r)\n"
                    "            acc[r] += __half2float(__ushort_as_half(part[r / 2] >> r % 2 * 16 & 0xffff));\n",
                ),
            ],
            "says": COARSE,
        },
        "rounded to FP16 at the end": {
            "replace": [("float sum = acc[r];", "float sum = __half2float(__float2half(acc[r]));")],
            "says": HALF,
        },
        "no tail": {"replace": [("k < K; k += 16", "k + 16 <= K; k += 16")], "says": VALUES + "|missing"},
        "halves of B swapped": {
            "replace": [(B_PAIR, "element(B, K, N, at, n) << 16 | element(B, K, N, at + 1, n)")],
            "says": "neighbours along k change places",
        },
        "halves of A swapped": {
            "replace": [
                (
                    "element(A, M, K, m, at) | element(A, M, K, m, at + 1) << 16",
                    "element(A, M, K, m, at) << 16 | element(A, M, K, m, at + 1)",
                ),
            ],
            "says": "neighbours along k change places",
        },
        "zeros forgotten": {
            "replace": [
                (
                    "row < rows && col < cols ? __half_as_ushort(X[row * cols + col]) : 0",
                    "__half_as_ushort(X[row * cols + col])",
                )
            ],
            "says": "out-of-bounds|" + VALUES,
        },
        "columns of B": {"replace": [("n = n0 + g;", "n = n0 + t;")], "says": VALUES},
        "rows of C": {
            "replace": [("m0 + g + r / 2 * 8, n", "m0 + g + r % 2 * 8, n")],
            "says": VALUES + "|never written|race",
        },
    },
}
