"""Wrong answers of chapter 05, each with what the check must say. Most are mutations of the model solutions."""

FIRST = "        cuda.syncthreads()\n        for k in range(TILE)"
SECOND = "smem_b[k, tx]\n        cuda.syncthreads()"
ROWS = "if m < M and k0 + tx < K"
STORE = "    if m < M and n < N:\n"
LOOP = "for k0 in range(0, K, TILE):"
OUTSIDE = "out-of-bounds"

WRONG = {
    "05.1": {
        "no first barrier": {
            "replace": [(FIRST, "        for k in range(TILE)")],
            "says": r"barrier is missing between line \d+ \(writes\)",
        },
        "no second barrier": {"replace": [(SECOND, "smem_b[k, tx]")], "says": "right, but only by luck"},
        "a barrier for some threads": {
            "replace": [(SECOND, "smem_b[k, tx]\n        if m < M:\n            cuda.syncthreads()")],
            "says": "divergent-barrier|race",
        },
        "early return": {
            "replace": [("    for k0 in", "    if m >= M or n >= N:\n        return\n    for k0 in")],
            "says": "threads have returned early",
        },
        "K tail read past the row": {"replace": [(ROWS, "if m < M")], "says": f"{OUTSIDE}|K tail|next row"},
        "K tail dropped": {
            "replace": [(LOOP, "for k0 in range(0, K - TILE + 1, TILE):")],
            "says": "products are missing|zero",
        },
        "steps from the grid": {
            "replace": [(LOOP, "for k0 in range(0, cuda.gridDim.x * TILE, TILE):")],
            "says": "products are missing|K tail",
        },
        "no zeros beyond the edge": {
            "replace": [
                (
                    "smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)",
                    "if m < M and k0 + tx < K:\n            smem_a[ty, tx] = A[m, k0 + tx]",
                )
            ],
            "says": "uninitialised-shared|C is wrong|NaN",
        },
        "tiles copied and not used": {
            "replace": [
                (
                    "smem_a[ty, k] * smem_b[k, tx]",
                    "(A[m, k0 + k] * B[k0 + k, n] if m < M and n < N and k0 + k < K else float32(0))",
                )
            ],
            "says": r"\S+ times what 32 × 32 tiles need",
        },
        "lanes down a column of A": {
            "replace": [
                (
                    "smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K",
                    "smem_a[tx, ty] = A[m - ty + tx, k0 + ty] if m - ty + tx < M and k0 + ty < K",
                )
            ],
            "says": "A takes 32 sectors",
        },
        "tile of B transposed": {"replace": [("smem_b[k, tx]", "smem_b[tx, k]")], "says": "C is wrong|B"},
        "sum per tile": {
            "replace": [
                (
                    "        cuda.syncthreads()\n        for",
                    "        acc = float32(0)\n        cuda.syncthreads()\n        for",
                )
            ],
            "says": "wrong|missing",
        },
        "no guard at the store": {"replace": [(STORE, "    if True:\n")], "says": OUTSIDE},
        "double accumulator": {"replace": [("acc = float32(0)", "acc = 0.0")], "says": "float64"},
    },
    "05.2": {
        "unfinished": {"source": "def requested_bytes(M, N, K, BM, BN):\n    ...", "says": r"05\.2 is not finished"},
        "elements": {"replace": [("4 * (", "(")], "says": "elements; a float32 has 4 bytes"},
        "without C": {"replace": [(" + M * N)", ")")], "says": "store of C is missing"},
        "width and height changed over": {
            "replace": [("-(-N // BN), -(-M // BM)", "-(-M // BM), -(-N // BN)")],
            "says": "expected|served by the tile's width",
        },
        "tile edges changed over": {
            "replace": [("-(-N // BN), -(-M // BM)", "-(-N // BM), -(-M // BN)")],
            "says": "served by the tile's width",
        },
        "whole tiles only": {
            "replace": [("-(-N // BN), -(-M // BM)", "N / BN, M / BM")],
            "says": "number of blocks is rounded up",
        },
        "rounded down": {"replace": [("-(-N // BN), -(-M // BM)", "N // BN, M // BM")], "says": "expected"},
        "the formula in circulation": {
            "source": "def requested_bytes(M, N, K, BM, BN):\n    return 4 * (M * N * K / min(BM, BN) + M * N)",
            "says": "in circulation",
        },
        "no tiles": {"replace": [("M * K * columns + K * N * rows", "2 * M * N * K")], "says": "kernel without tiles"},
        "zeros requested": {
            "replace": [("    columns, rows", "    M, N = -(-M // BM) * BM, -(-N // BN) * BN\n    columns, rows")],
            "says": "beyond the edge zeros are stored",
        },
        "right up to 1024": {
            "replace": [("    columns, rows", "    M = min(M, 4096)\n    columns, rows")],
            "says": "on a hidden one",
            "hidden": True,
        },
    },
    "05.3": {
        "the second barrier still missing": {"replace": [(SECOND, "smem_b[k, tx]")], "says": "right, but only by luck"},
        "the early return kept": {
            "replace": [("    for k0 in", "    if m >= M or n >= N:\n        return\n    for k0 in")],
            "says": "threads have returned early",
        },
        "steps still from the grid": {
            "replace": [(LOOP, "for k0 in range(0, cuda.gridDim.x * TILE, TILE):")],
            "says": "products are missing|K tail",
        },
        "steps from the other grid": {
            "replace": [(LOOP, "for k0 in range(0, cuda.gridDim.y * TILE, TILE):")],
            "says": "products are missing|K tail",
        },
        "guard with and": {
            "replace": [("    for k0 in", "    if m >= M and n >= N:\n        return\n    for k0 in")],
            "says": "threads have returned early",
        },
        "rows of A unguarded": {"replace": [(ROWS, "if k0 + tx < K")], "says": OUTSIDE},
        "columns of B unguarded": {
            "replace": [("if k0 + ty < K and n < N", "if k0 + ty < K")],
            "says": f"{OUTSIDE}|row",
        },
        "store unguarded": {"replace": [(STORE, "    if m < M:\n")], "says": f"{OUTSIDE}|wrong|row"},
        "one element per thread copied twice": {
            "replace": [
                (
                    "        cuda.syncthreads()\n        for",
                    "        if m < M and k0 + tx < K:\n            smem_a[ty, tx] = A[m, k0 + tx]\n"
                    "        cuda.syncthreads()\n        for",
                )
            ],
            "says": r"\S+ times what 16 × 16 tiles need",
        },
    },
    "05.4": {
        "unfinished": {"source": "edge = ...", "says": r"05\.4 is not finished"},
        "not rounded": {"source": "edge = 4 * 66.9 / 4.8", "says": "next multiple of 8"},
        "a power of two": {"source": "edge = 64", "says": "smaller multiple of 8"},
        "below the ridge": {"source": "edge = 48", "says": "below the ridge"},
        "the lesson's tile": {"source": "edge = 32", "says": "lesson's tile"},
        "the ridge itself": {"source": "edge = 16", "says": "T/4"},
        "one FLOP per multiply-add": {"source": "edge = 112", "says": "2 FLOP"},
        "a text": {"source": "edge = '56'", "says": "one number"},
        "much too large": {"source": "edge = 1024", "says": "too large"},
    },
}
