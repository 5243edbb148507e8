"""Wrong answers of chapter 07, each with what the check must say. Most are mutations of the model solutions."""

PRODUCT = "acc[i, j] += a * smem_b[k, col + j]"
SPREAD = "acc[i, j] += a * smem_b[k, tx + 16 * j]"
GUARD = "if m0 + row + i < C.shape[0] and n0 + col + j < C.shape[1]:"
LOOPS = """        for k in range(BK):
            for i in range(TM):
                a = smem_a[k, row + i]
                for j in range(TN):
                    acc[i, j] += a * smem_b[k, col + j]
"""
SUMS = """        for i in range(TM):
            for j in range(TN):
                for k in range(BK):
                    acc[i, j] += smem_a[k, row + i] * smem_b[k, col + j]
                    cuda.syncwarp()
"""


def body(expression):
    return f"def flop_per_byte(TM, TN, BK, itemsize):\n    return {expression}"


WRONG = {
    "07.1": {
        "unfinished": {"source": body("..."), "says": r"07\.1 is not finished"},
        "the guide's figure": {"source": body("TM * TN * BK / (TM + TN)"), "says": "BK cancels"},
        "loads of one step": {"source": body("2 * TM * TN * BK / ((TM + TN) * itemsize)"), "says": "BK cancels"},
        "multiply-adds": {"source": body("TM * TN / ((TM + TN) * itemsize)"), "says": "two FLOP"},
        "per element": {"source": body("2 * TM * TN / (TM + TN)"), "says": "divide by its bytes"},
        "no reuse": {"source": body("2 / itemsize"), "says": "TM \\+ TN values"},
        "float32 only": {"source": body("TM * TN / (2 * (TM + TN))"), "says": "itemsize varies"},
        "raises": {"source": body("2 * TM * TN / (TM - TN) / itemsize"), "says": "ZeroDivisionError"},
    },
    "07.2": {
        "unfinished": {"replace": [(PRODUCT, "pass")], "says": "C is zero (everywhere|in everything)"},
        "a sum at a time": {"replace": [(LOOPS, SUMS)], "says": r"reads 2 shared words, .*target is 0\.5"},
        "no second barrier": {
            "replace": [("        ### END SOLUTION\n        cuda.syncthreads()", "        ### END SOLUTION")],
            "says": "race on shared",
        },
        "no first barrier": {
            "replace": [("else float32(0)\n        cuda.syncthreads()", "else float32(0)")],
            "says": "race on shared",
        },
        "A of another row": {
            "replace": [("smem_a[k, row + i]", "smem_a[k, col + i]")],
            "says": r"C is wrong in 38\d\d of",
        },
        "rows and columns swapped": {
            "replace": [(PRODUCT, PRODUCT.replace("acc[i, j]", "acc[j, i]"))],
            "says": r"C is wrong in 30\d\d of",
        },
        "last step forgotten": {
            "replace": [("for k in range(BK):", "for k in range(BK - 1):")],
            "says": "wrong (everywhere|in everything but)",
        },
        "out of global memory": {
            "replace": [
                ("a = smem_a[k, row + i]", "m = min(m0 + row + i, A.shape[0] - 1)"),
                (
                    PRODUCT,
                    "if k0 + k < A.shape[1] and n0 + col + j < B.shape[1]:\n"
                    "                        acc[i, j] += A[m, k0 + k] * B[k0 + k, n0 + col + j]",
                ),
            ],
            "says": "reads nothing from shared memory",
        },
        "no guard": {"replace": [(GUARD, "if True:")], "says": "out-of-bounds"},
        "double accumulator": {
            "replace": [("acc = cuda.local.array((TM, TN), float32)", "acc = cuda.local.array((TM, TN), np.float64)")],
            "says": "float64",
        },
    },
    "07.3": {
        "as printed": {
            "replace": [("smem_a[ty * T + i, k]", "smem_a[k, ty * T + i]")],
            "says": "wrong (everywhere|in everything but)",
        },
        "B turned as well": {
            "replace": [
                ("smem_a[ty * T + i, k]", "smem_a[k, ty * T + i]"),
                ("smem_b[k, tx * T + j]", "smem_b[tx * T + j, k]"),
            ],
            "says": "wrong (everywhere|in everything but)",
        },
        "C turned instead": {
            "replace": [
                ("smem_a[ty * T + i, k]", "smem_a[k, ty * T + i]"),
                ("C[m0 + ty * T + i, n0 + tx * T + j] =", "C[m0 + tx * T + j, n0 + ty * T + i] ="),
            ],
            "says": "wrong (everywhere|in everything but)",
        },
        "turned twice": {"replace": [("smem_a[r, c] = A[", "smem_a[c, r] = A[")], "says": "C is wrong (in|everywhere)"},
        "rows of another thread": {
            "replace": [("smem_a[ty * T + i, k]", "smem_a[tx * T + i, k]")],
            "says": r"C is wrong in 38\d\d of",
        },
        "tail of K not zero": {
            "replace": [("if m0 + r < A.shape[0] and k0 + c < A.shape[1] else float32(0)", "")],
            "says": "out-of-bounds",
        },
        "loads after the barrier": {
            "replace": [("cuda.syncthreads()\n        for k", "for k")],
            "says": "race on shared",
        },
    },
    "07.4": {
        "as given": {
            "replace": [("tx + 16 * j", "4 * tx + j")],
            "says": r"line \d+: 2-way bank conflict: the loads take",
        },
        "loads only": {
            "replace": [(SPREAD, SPREAD.replace("tx + 16 * j", "4 * tx + j"))],
            "says": "column 1 holds column 4 of",
        },
        "stores only": {
            "replace": [("n0 + tx + 16 * j", "n0 + 4 * tx + j")],
            "says": "column 1 holds column 16 of",
        },
        "spread rows too far": {
            "replace": [("4 * ty + i", "ty + 32 * i")],
            "says": "rows 16–31, 48–63 of 64 never written",
        },
        "columns 8 apart": {"replace": [("tx + 16 * j", "tx + 8 * j")], "says": "columns 40–63 of 64 never written"},
        "no padding": {
            "replace": [("PITCH = BM + 4", "PITCH = BM")],
            "says": "8-way bank conflict: the stores",
        },
        "pairs of columns": {
            "replace": [("tx + 16 * j", "2 * tx + j % 2 + 32 * (j // 2)")],
            "says": "C takes 8 sectors",
        },
        "out of registers' reach": {
            "replace": [(SPREAD, SPREAD + "\n                    cuda.syncwarp()")],
            "says": "reads 1.25 shared words",
        },
    },
}
