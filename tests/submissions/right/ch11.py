"""Right answers of chapter 11 that differ from the model solutions."""

ROWS = "smem_a[lane % 16 * 2 + lane / 16]"
WHOLE_A = "        if (K % 8 == 0)\n            copy_chunk<true>(smem_a[at]"
ELEMENTS_A = "        else\n            copy_chunk<false>(smem_a[at], A, M, K, m0 + row, k0 + c * 8);\n"

RIGHT = {
    "11.1": {
        "from lane to element, searched": {
            "source": """def owner(row, col):
    for lane in range(32):
        for i in range(8):
            if (row, col) == (lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8):
                return 8 * lane + i"""
        },
        "by a table": {
            "source": """def owner(row, col):
    table = {}
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for i in range(8):
            table[g + i // 2 % 2 * 8, 2 * t + i % 2 + i // 4 * 8] = 8 * lane + i
    return table[row, col]
""",
        },
        "bit by bit": {
            "source": """def owner(row, col):
    return (row & 7) << 5 | (col & 6) << 2 | (col & 8) >> 1 | (row & 8) >> 2 | col & 1
""",
        },
    },
    "11.2": {
        "two loads of two matrices": {
            "replace": [
                (
                    "        ldmatrix_x4_trans(b, shared_address(&smem_b[lane % 16 * 2 + lane / 16]));\n",
                    "        for (int j = 0; j < 2; ++j) ldmatrix_x2_trans(b[j], "
                    "shared_address(&smem_b[lane % 16 * 2 + j]));\n",
                )
            ]
        },
        "rows by group and matrix": {
            "replace": [(ROWS, "smem_a[(lane % 8 + lane / 8 % 2 * 8) * 2 + lane / 16]")],
        },
        "matrices in another order": {
            "replace": [
                (
                    "        ldmatrix_x4(a, shared_address(&" + ROWS + "));\n",
                    "        unsigned x[4];\n"
                    "        ldmatrix_x4(x, shared_address(&smem_a[(lane % 8 + lane / 16 * 8) * 2 + lane / 8 % 2]));\n"
                    "        a[0] = x[0], a[1] = x[2], a[2] = x[1], a[3] = x[3];\n",
                )
            ]
        },
        "elements of C by bits": {
            "replace": [("g + i / 2 * 8", "g + (i & 2) * 4"), ("2 * t + i % 2", "2 * t + (i & 1)")]
        },
    },
    "11.3": {
        "with bits": {
            "replace": [
                ("chunk ^ row / 4 % 2", "chunk ^ (row >> 2 & 1)"),
                ("chunk ^ row % 8", "chunk ^ (row & 7)"),
            ]
        },
        "the other way round": {"replace": [("chunk ^ row / 4 % 2", "chunk ^ 1 - row / 4 % 2")]},
        "turned instead of XORed": {"replace": [("chunk ^ row % 8", "(chunk + row) % 8")]},
        "columns of chunks": {
            "replace": [("row * 2 + (chunk ^ row / 4 % 2)", "chunk * 64 + (row ^ chunk * 4)")],
        },
    },
    "11.4": {
        "waits for everything in the last turn": {
            "replace": [
                (
                    "        cp_async_wait_group<1>();\n",
                    "        if (k0 + 16 < K) cp_async_wait_group<1>(); else cp_async_wait_group<0>();\n",
                )
            ]
        },
        "one test for both": {
            "replace": [
                ("if (K % 8 == 0)", "if (K % 8 == 0 && N % 8 == 0)"),
                ("if (N % 8 == 0)", "if (K % 8 == 0 && N % 8 == 0)"),
            ]
        },
        "a block-wide barrier": {
            "replace": [("        __syncwarp();\n        // ### END", "        __syncthreads();\n        // ### END")]
        },
        "A and B in groups of their own": {
            "replace": [("        if (N % 8 == 0)", "        cp_async_commit_group();\n        if (N % 8 == 0)")],
        },
        "wait for everything at the end of a turn": {
            "replace": [
                (
                    "        // ### BEGIN SOLUTION\n        // ### SKELETON: // the end",
                    "        cp_async_wait_all();\n        // ### BEGIN SOLUTION\n        // ### SKELETON: // the end",
                ),
            ]
        },
    },
}
