"""Wrong answers of chapter 06, each with what the check must say."""

TOTAL = "total += max(banks.count(bank) for bank in banks)"
COLUMN = r"way bank conflict down a column: the request that begins at \(0, 0\)"

WRONG = {
    "06.1": {
        "unfinished": {"source": "def wavefronts(stride, width, period):\n    ...", "says": r"06\.1 is not finished"},
        "excess": {"replace": [("return total", "return total - 32 // group")], "says": "excess"},
        "width ignored": {
            "replace": [("total, group", "width = 4\n    total, group")],
            "says": "half-warp is served at a time",
        },
        "period ignored": {"replace": [("lane % period", "lane")], "says": "period is missing"},
        "no sharing of words": {"replace": [("words = {", "words = ["), ("width)}", "width)]")], "says": "expected"},
        "no sharing of words, whole words": {
            "source": """def wavefronts(stride, width, period):
    starts = [lane % period * stride * width for lane in range(32)]
    banks = [(start + byte) // 4 % 32 for start in starts for byte in range(0, width, 4)]
    return max(banks.count(bank) for bank in banks)
""",
            "says": "share one read",
        },
        "all lanes at once": {
            "replace": [("total, group = 0, 32 * 4 // max(4, width)", "total, group = 0, 32")],
            "says": "count each group by itself",
        },
        "words": {
            "replace": [(TOTAL, "total = len({lane % period * stride * width // 4 for lane in range(32)})")],
            "says": "expected",
        },
        "16 banks": {"replace": [("% 32 for", "% 16 for")], "says": "expected"},
        "banks of one byte": {"replace": [("byte // 4 for", "byte for")], "says": "expected"},
        "last group only": {"replace": [(TOTAL, TOTAL.replace("total +=", "total ="))], "says": "expected"},
        "greatest common divisor": {
            "source": "def wavefronts(stride, width, period):\n    return int(np.gcd(stride * width // 4, 32))",
            "says": "expected|returned",
        },
        "raises": {
            "source": "def wavefronts(stride, width, period):\n    return 32 // (width - 2)",
            "says": "ZeroDivisionError",
        },
        "small strides only": {
            "replace": [("    return total", "    return total if stride < 66 else 1")],
            "says": "hidden one",
            "hidden": True,
        },
    },
    "06.2": {
        "plain": {"source": "def idx(row, column):\n    return row * 32 + column", "says": f"32-{COLUMN}"},
        "padded": {
            "source": "def idx(row, column):\n    return row * 33 + column",
            "says": "the tile has words 0 to 1023",
        },
        "the swizzle in circulation": {"replace": [("column ^ row", "column ^ row % 8")], "says": f"4-{COLUMN}"},
        "rows by sixteen": {"replace": [("column ^ row", "column ^ row % 16")], "says": f"2-{COLUMN}"},
        "only even rows": {"replace": [("column ^ row", "column ^ row // 2 * 2")], "says": f"2-{COLUMN}"},
        "chunks": {"replace": [("column ^ row", "column ^ 4 * (row % 8)")], "says": f"4-{COLUMN}"},
        "no bijection": {"replace": [("column ^ row", "column & row")], "says": "both lie at word"},
        "rotated by even numbers": {"replace": [("column ^ row", "(column + 2 * row) % 32")], "says": f"2-{COLUMN}"},
        "transposed": {"source": "def idx(row, column):\n    return column * 32 + row", "says": "conflict along a row"},
        "xor of the row": {
            "source": "def idx(row, column):\n    return (row ^ column) * 32 + column",
            "says": f"32-{COLUMN}|along a row",
        },
        "bytes": {
            "replace": [("row * 32 + (column ^ row)", "4 * (row * 32 + (column ^ row))")],
            "says": "words 0 to 1023",
        },
        "a fraction": {"replace": [("row * 32", "row * 32 + 0.5")], "says": "no whole number"},
        "unfinished": {"source": "def idx(row, column):\n    ...", "says": r"06\.2 is not finished"},
        "a number": {"source": "idx = 5", "says": "the function itself"},
        "raises": {
            "source": "def idx(row, column):\n    return row * 32 + column // (row % 7)",
            "says": "ZeroDivisionError",
        },
    },
    "06.3": {
        "plain": {
            "source": "def idx(row, column):\n    return row * 32 + column",
            "says": "8-way bank conflict in 128-bit loads down",
        },
        "words": {
            "source": "def idx(row, column):\n    return row * 32 + (column ^ row)",
            "says": "128-bit load needs neighbours",
        },
        "half of the rows": {"replace": [("row % 8", "row % 4")], "says": "2-way bank conflict in 128-bit loads down"},
        "rows in pairs": {
            "replace": [("row % 8", "row // 2 % 4")],
            "says": "2-way bank conflict in 128-bit loads down",
        },
        "place reversed": {"replace": [("+ place", "+ 3 - place")], "says": "128-bit load needs neighbours"},
        "shifted by a word": {
            "replace": [
                ("row * 32 + 4 * (chunk ^ row % 8) + place", "(row * 32 + 4 * (chunk ^ row % 8) + place + 1) % 1024")
            ],
            "says": "128-bit load needs neighbours",
        },
        "padded by a chunk": {
            "source": "def idx(row, column):\n    return row * 36 + column",
            "says": "words 0 to 1023",
        },
        "chunk out of the row": {"replace": [("row % 8", "row")], "says": "both lie at word|words 0 to 1023"},
        "unfinished": {"source": "def idx(row, column):\n    ...", "says": r"06\.3 is not finished"},
    },
    "06.4": {
        "one word": {"replace": [("TILE + 2", "TILE + 1")], "says": "2-way bank conflict: the stores"},
        "no padding": {"replace": [("TILE + 2", "TILE")], "says": "8-way bank conflict: the stores"},
        "three words": {"replace": [("TILE + 2", "TILE + 3")], "says": "2-way bank conflict: the stores"},
        "sixteen words": {"replace": [("TILE + 2", "TILE + 16")], "says": "way bank conflict"},
        "a whole row of padding": {
            "replace": [("TILE + 2", "4 * TILE + 2")],
            "says": "bytes of shared memory; 2,304 are enough",
        },
        "padded where it does not matter": {
            "replace": [
                ("PITCH = TILE + 2", "PITCH = TILE"),
                ("smem_b = cuda.shared.array((TILE, TILE)", "smem_b = cuda.shared.array((TILE, 18)"),
            ],
            "says": "8-way bank conflict: the stores",
        },
        "written and read in different places": {
            "replace": [("smem_a[k, ty]", "smem_a[k, ty + 1]")],
            "says": "wrong|uninitialised|NaN",
        },
        "out of shared memory": {
            "replace": [("acc += smem_a[k, ty]", "acc += (A[m, k0 + k] if m < M and k0 + k < K else float32(0))")],
            "says": r"times what 16 × 16 tiles need",
        },
        "a barrier lost": {
            "replace": [("smem_b[k, tx]\n        cuda.syncthreads()", "smem_b[k, tx]")],
            "says": "only by luck",
        },
        "double accumulator": {"replace": [("acc = float32(0)", "acc = 0.0")], "says": "float64"},
    },
}
