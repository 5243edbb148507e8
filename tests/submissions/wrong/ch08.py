"""Wrong answers of chapter 08, each with what the check must say. Most are mutations of the model solutions."""

LOAD = "b = load4(B, k * N + n) if N % 4 == 0 else edge_load4(B, k, n)"
FETCH = "if (cols % 4 == 0 && row < rows && col < cols) return"
PLACES = "lane // 8 * 2 + lane // 2 % 2, lane // 4 % 2 * 2 + lane % 2"
PUT = "if (cols % 4 == 0 && row < rows && col < cols) {"


def body(expression):
    return f"def widest(offset, pitch, itemsize):\n    return {expression}"


WRONG = {
    "08.1": {
        "unfinished": {"source": body("..."), "says": r"08\.1 is not finished"},
        "always 128 bits": {"source": body("16"), "says": "expected"},
        "pitch alone": {"source": body("int(np.gcd(pitch * itemsize, 16))"), "says": "need not begin at element 0"},
        "row 0 alone": {"source": body("int(np.gcd(offset * itemsize, 16))"), "says": "where does row 1 begin"},
        "row 1 alone": {"source": body("int(np.gcd((offset + pitch) * itemsize, 16))"), "says": "row 1 alone"},
        "floats only": {"source": body("4 * int(np.gcd(np.gcd(offset, pitch), 4))"), "says": "itemsize varies"},
        "elements": {
            "source": body("int(np.gcd(np.gcd(offset, pitch) * itemsize, 16)) // itemsize"),
            "says": "answer is in bytes",
        },
        "all or nothing": {
            "source": body("itemsize if (offset * itemsize) % 16 or (pitch * itemsize) % 16 else 16"),
            "says": "there are 4 and 8",
        },
        "unbounded": {"source": body("int(np.gcd(offset * itemsize, pitch * itemsize))"), "says": "expected"},
    },
    "08.2": {
        "unfinished": {
            "replace": [("c0 += A[m, k] * b[0]", "pass")],
            "says": "zero in every 4th column from 0",
        },
        "load4 at every shape": {"replace": [(LOAD, "b = load4(B, k * N + n)")], "says": "misaligned"},
        "store4 at every shape": {
            "replace": [("        if N % 4 == 0:\n            store4", "        if True:\n            store4")],
            "says": "misaligned",
        },
        "guard on the last columns only": {
            "replace": [(LOAD, "b = load4(B, k * N + n) if n + 3 < N else edge_load4(B, k, n)")],
            "says": "misaligned",
        },
        "scalar loads": {"replace": [(LOAD, "b = edge_load4(B, k, n)")], "says": "B is read 4 bytes per lane"},
        "scalar stores": {
            "replace": [("        if N % 4 == 0:\n            store4", "        if False:\n            store4")],
            "says": "C is stored 4 bytes per lane",
        },
        "pitch of A": {
            "replace": [("load4(B, k * N + n)", "load4(B, k * K + n)")],
            "says": "B is read with K as its leading dimension",
        },
        "one column": {"replace": [("n, N, K = 4 * x,", "n, N, K = x,")], "says": "columns 32–63 of 64 never written"},
        "parts in the wrong order": {
            "replace": [("A[m, k] * b[0]", "A[m, k] * b[3]")],
            "says": "column 0 holds column 3 of",
        },
        "double sums": {"replace": [("= float32(0)", "= 0.0")], "says": "float64"},
    },
    "08.3": {
        "const cast away": {
            "replace": [("reinterpret_cast<const float4*>(src", "reinterpret_cast<float4*>(src")],
            "says": "cast away const",
        },
        "padded by one": {"replace": [("PITCH = 32 + 4", "PITCH = 32 + 1")], "says": "misaligned"},
        "not padded": {"replace": [("PITCH = 32 + 4", "PITCH = 32")], "says": "bank conflict"},
        "no ragged loads": {"replace": [(FETCH, "return")], "says": "out-of-bounds"},
        "ragged width forgotten": {
            "replace": [(FETCH, "if (row < rows && col + 3 < cols) return")],
            "says": "misaligned",
        },
        "edge forgotten in the wide path": {"replace": [(FETCH, "if (cols % 4 == 0) return")], "says": "out-of-bounds"},
        "edge forgotten in stores": {"replace": [(PUT, "if (cols % 4 == 0) {")], "says": "out-of-bounds"},
        "scalar everywhere": {"replace": [("cols % 4 == 0 && row", "cols < 0 && row")], "says": "4 bytes per lane"},
        "pointer arithmetic in float4s": {
            "replace": [
                (
                    "*reinterpret_cast<const float4*>(src + row * cols + col)",
                    "reinterpret_cast<const float4*>(src)[row * cols + col]",
                )
            ],
            "says": "out-of-bounds",
        },
    },
    "08.4": {
        "as given": {"replace": [(PLACES, "lane // 4, lane % 4")], "says": r"0\.375 wavefronts, .*target is 0\.25"},
        "rows on the low bits": {"replace": [(PLACES, "lane % 8, lane // 8")], "says": r"0\.375 wavefronts"},
        "both on bit 0": {
            "replace": [(PLACES, "lane // 8 * 2 + lane % 2, lane // 4 % 2 * 2 + lane % 2")],
            "says": "never written",
        },
        "one lane, one patch": {"replace": [(PLACES, "lane % 8, 0")], "says": "never written"},
        "5 columns": {"replace": [(PLACES, "lane // 5, lane % 5")], "says": "never written"},
        "neighbours two rows apart": {"replace": [("4 * lane_row", "2 * lane_row")], "says": "misaligned"},
        "no second barrier": {
            "replace": [("a[i] * b[j]\n        cuda.syncthreads()", "a[i] * b[j]")],
            "says": "race on shared",
        },
    },
}
