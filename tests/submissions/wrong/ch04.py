"""Wrong answers of chapter 04, each with what the check must say. Most are mutations of the model solutions."""

LOOP = "for k in range(A.shape[1]):"
OUTSIDE = "out-of-bounds"

WRONG = {
    "04.1": {
        "the naive mapping": {"replace": [("n, m = cuda.grid(2)", "m, n = cuda.grid(2)")], "says": "never written"},
        "the naive mapping on a turned grid": {
            "replace": [
                (
                    "n, m = cuda.grid(2)",
                    "t = cuda.threadIdx.x + 32 * cuda.threadIdx.y\n"
                    "    n, m = cuda.blockIdx.x * 32 + t // 8, cuda.blockIdx.y * 8 + t % 8",
                )
            ],
            "says": r"A takes \S+ sectors .*target is 1",
        },
        "two rows per warp": {
            "replace": [
                (
                    "n, m = cuda.grid(2)",
                    "t = cuda.threadIdx.x + 32 * cuda.threadIdx.y\n"
                    "    n = cuda.blockIdx.x * 32 + t // 32 * 4 + t % 4\n    m = cuda.blockIdx.y * 8 + t % 32 // 4",
                )
            ],
            "says": r"A takes \S+ sectors",
        },
        "double accumulator": {"replace": [("float32(0.0)", "0.0")], "says": "float64"},
        "no guard": {"replace": [("if m < C.shape[0] and n < C.shape[1]:", "if True:")], "says": OUTSIDE},
        "transposed store": {"replace": [("C[m, n] = acc", "C[n, m] = acc")], "says": f"transpose|{OUTSIDE}"},
        "sum kept in C": {
            "replace": [
                (LOOP, f"C[m, n] = 0\n        {LOOP}"),
                ("acc += A[m, k] * B[k, n]", "C[m, n] += A[m, k] * B[k, n]"),
                ("C[m, n] = acc", "pass"),
            ],
            "says": r"C is stored \S+ times per element",
        },
        "only the first block": {
            "replace": [("n, m = cuda.grid(2)", "n, m = cuda.threadIdx.x, cuda.threadIdx.y")],
            "says": "never written|race|two threads",
        },
    },
    "04.2": {
        "unfinished": {"source": "def sectors(stride, width):\n    ...", "says": r"04\.2 is not finished"},
        "one per lane": {"source": "def sectors(stride, width):\n    return 32", "says": "lanes, not sectors"},
        "no saturation": {
            "source": "def sectors(stride, width):\n    return max(1, stride * width)",
            "says": "at most 32",
        },
        "no broadcast": {
            "source": "def sectors(stride, width):\n    return min(32, stride * width)",
            "says": "stride=0",
        },
        "cache lines": {"replace": [("// 32 ", "// 128 ")], "says": "cache lines"},
        "elements instead of bytes": {
            "replace": [("lane * stride * width", "lane * stride")],
            "says": "width is missing",
        },
        "31 lanes": {"replace": [("range(32)", "range(31)")], "says": "32 lanes|expected"},
        "raises": {"source": "def sectors(stride, width):\n    return 32 // stride", "says": "ZeroDivisionError"},
    },
    "04.3": {
        "a row of 32 columns": {
            "replace": [("(8, 32)", "(32, 8)")],
            "says": r"A plus one for B takes 33 sectors.*target is 12",
        },
        "16 columns": {"replace": [("(8, 32)", "(16, 16)")], "says": r"takes 18 sectors"},
        "4 columns": {"replace": [("(8, 32)", "(4, 64)")], "says": r"C takes 8 sectors.*target is 4"},
        "a column": {"replace": [("(8, 32)", "(1, 256)")], "says": r"takes 33 sectors"},
        "too few threads": {"replace": [("(8, 32)", "(8, 4)")], "says": "has 32 threads; take 256"},
        "no block": {"replace": [("answer = gemm_nt, BLOCK", "answer = gemm_nt")], "says": "the kernel and its block"},
        "a block of text": {"replace": [("(8, 32)", "'8x32'")], "says": "one to three sizes"},
        "B not transposed": {"replace": [("B[n, k]", "B[k, n]")], "says": r"B is read as B\[k, n\] instead"},
        "unfinished": {
            "source": "@cuda.jit\ndef gemm_nt(A, B, C):\n    n, m = cuda.grid(2)\n\n\nanswer = gemm_nt, (32, 8)",
            "says": r"04\.3 is not finished",
        },
        "indices swapped": {"replace": [("n, m = cuda.grid(2)", "m, n = cuda.grid(2)")], "says": "never written"},
    },
}
