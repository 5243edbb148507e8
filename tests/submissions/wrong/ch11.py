"""Wrong answers of chapter 11, each with what the check must say. Most are mutations of the model solutions."""

VALUES = r"C is wrong|transposed|products are missing|bound|repeated|another order"
OWNER = "def owner(row, col):\n    "
LANE = "row % 8 * 4 + col % 8 // 2"
LOAD_A = "ldmatrix_x4(a, shared_address(&smem_a[lane % 16 * 2 + lane / 16]))"
LOAD_B = "ldmatrix_x4_trans(b, shared_address(&smem_b[lane % 16 * 2 + lane / 16]))"
PLACE_A, PLACE_B = "row * 2 + (chunk ^ row / 4 % 2)", "row * 8 + (chunk ^ row % 8)"
LAST_BARRIER = "        __syncwarp();\n        // ### END"

WRONG = {
    "11.1": {
        "unfinished": {"source": OWNER + "...", "says": "not finished"},
        "A[1, 0] in lane 16": {
            "replace": [(LANE, "row * 2 % 32 + col % 8 // 2")],
            "says": "four lanes share a row",
        },
        "second register to the right": {
            "replace": [("col // 8 * 4 + row // 8 * 2", "row // 8 * 4 + col // 8 * 2")],
            "says": "second register holds the rows below",
        },
        "the lane alone": {"source": OWNER + "return " + LANE, "says": "that is the lane"},
        "registers": {
            "source": OWNER + f"return 4 * ({LANE}) + col // 8 * 2 + row // 8",
            "says": "counts registers",
        },
        "halves swapped": {"replace": [("+ col % 2", "+ 1 - col % 2")], "says": "lower half"},
        "transposed": {"replace": [("def owner(row, col)", "def owner(col, row)")], "says": "changed places"},
        "the layout of C": {"replace": [("col // 8 * 4 + ", "")], "says": "expected"},
        "groups of eight": {"replace": [(LANE, "row % 8 + col % 8 // 2 * 8")], "says": "expected"},
        "a pair": {"source": OWNER + f"return {LANE}, 0", "says": "returned tuple"},
    },
    "11.2": {
        "an address in elements": {
            "replace": [
                (
                    "shared_address(&smem_a[lane % 16 * 2 + lane / 16])",
                    "shared_address(smem_a) + lane % 16 * 2 + lane / 16",
                )
            ],
            "says": "misaligned",
        },
        "trans at the wrong factor": {
            "replace": [("ldmatrix_x4_trans(b, ", "ldmatrix_x4(b, "), ("ldmatrix_x4(a, ", "ldmatrix_x4_trans(a, ")],
            "says": "A is transposed .* and B is transposed",
        },
        "halves of B changed round": {
            "replace": [("smem_b[lane % 16 * 2 + lane / 16]", "smem_b[lane % 16 * 2 + 1 - lane / 16]")],
            "says": "columns of C are in another order",
        },
        "B not transposed": {
            "replace": [("ldmatrix_x4_trans(b", "ldmatrix_x4(b")],
            "says": "B is transposed inside its tiles of 8",
        },
        "A transposed": {"replace": [("ldmatrix_x4(a", "ldmatrix_x4_trans(a")], "says": VALUES},
        "neighbours point at neighbours": {
            "replace": [(LOAD_A, "ldmatrix_x4(a, shared_address(&smem_a[lane]))")],
            "says": VALUES,
        },
        "only eight rows of A": {
            "replace": [("smem_a[lane % 16 * 2 + lane / 16]", "smem_a[lane % 8 * 2 + lane / 16]")],
            "says": VALUES,
        },
        "halves before rows": {
            "replace": [("smem_a[lane % 16 * 2 + lane / 16]", "smem_a[(lane % 8 + lane / 16 * 8) * 2 + lane / 8 % 2]")],
            "says": VALUES,
        },
        "rows of C mixed with columns": {
            "replace": [("g + i / 2 * 8", "g + i % 2 * 8"), ("2 * t + i % 2", "2 * t + i / 2")],
            "says": VALUES,
        },
        "columns a group apart": {"replace": [("8 * j + 2 * t + i % 2", "8 * j + t + i % 2 * 4")], "says": VALUES},
        "the same B twice": {"replace": [("d[j], a, b[j]", "d[j], a, b[0]")], "says": VALUES},
        "no barrier before the loads": {
            "replace": [("        __syncwarp();\n        unsigned a[4]", "        unsigned a[4]")],
            "says": "race",
        },
        "no barrier after them": {"replace": [("        __syncwarp();\n    }\n", "    }\n")], "says": "race"},
        "an odd pitch in elements": {
            "replace": [
                (LOAD_B, "ldmatrix_x4_trans(b, shared_address(&smem_b[0]) + (lane % 16 * 2 + lane / 16) * 16 + 2)")
            ],
            "says": "misaligned|aligned",
        },
        "no tensor core": {
            "replace": [
                (
                    "mma_m16n8k16_f32_T(d[j], a, b[j]);",
                    "for (int i = 0; i < 4; ++i)\n                for (int k = 0; k < 16; ++k)\n"
                    "                    d[j][i] += float(reinterpret_cast<T*>(smem_a)[(g + i / 2 * 8) * 16 + k]) *\n"
                    "                        float(reinterpret_cast<T*>(smem_b)[k * 16 + 8 * j + 2 * t + i % 2]);",
                )
            ],
            "says": "nothing is multiplied by a tensor core",
        },
        "over the edge": {"replace": [("if (m < M && n < N)", "if (m < M)")], "says": "11.2"},
    },
    "11.3": {
        "XOR with the whole row": {
            "replace": [("(chunk ^ row % 8)", "(chunk ^ row)")],
            "says": "outside the block's shared memory",
        },
        "column after column": {"replace": [("row * 8 + (chunk ^ row % 8)", "chunk * 16 + row")], "says": "8-way"},
        "turned row by row": {
            "replace": [("(chunk ^ row % 8)", "(chunk + row) % 8 * 1"), ("(chunk ^ row / 4 % 2)", "(chunk + row) % 2")],
            "says": "2-way",
        },
        "no swizzle": {"replace": [(PLACE_A, "row * 2 + chunk"), (PLACE_B, "row * 8 + chunk")], "says": "8-way"},
        "only A": {"replace": [(PLACE_B, "row * 8 + chunk")], "says": "8-way"},
        "only B": {"replace": [(PLACE_A, "row * 2 + chunk")], "says": "2-way"},
        "every second row": {"replace": [("row / 4 % 2", "row % 2")], "says": "2-way"},
        "every second pair": {"replace": [("row / 4 % 2", "row / 2 % 2")], "says": "2-way"},
        "four rows of B": {"replace": [("chunk ^ row % 8", "chunk ^ row % 4")], "says": "2-way"},
        "pairs of rows of B": {"replace": [("chunk ^ row % 8", "chunk ^ row / 2 % 8")], "says": "2-way"},
        "padding": {
            "replace": [
                ("smem_a[64 * 2], smem_b[16 * 8]", "smem_a[64 * 3], smem_b[16 * 9]"),
                (PLACE_A, "row * 3 + chunk"),
                (PLACE_B, "row * 9 + chunk"),
            ],
            "says": "bytes of shared memory",
        },
        "outside the tile": {"replace": [("chunk ^ row / 4 % 2", "chunk ^ row / 4 % 4")], "says": "11.3"},
        "two chunks in one place": {
            "replace": [("chunk ^ row / 4 % 2", "chunk & row / 4 % 2")],
            "says": "race|wrong|uninit",
        },
    },
    "11.4": {
        "waits for the newest, too": {
            "replace": [("        cp_async_wait_group<1>();\n", "        cp_async_wait_all();\n")],
            "says": "at most 0 groups may be open",
        },
        "two commits for a tile": {
            "replace": [
                (
                    "        cp_async_commit_group();\n",
                    "        cp_async_commit_group();\n        cp_async_commit_group();\n",
                )
            ],
            "says": "at most 0 groups may be open",
        },
        "B by the rows of A": {"replace": [("if (N % 8 == 0)", "if (K % 8 == 0)")], "says": "past the end|misaligned"},
        "always by cp.async": {
            "replace": [("if (K % 8 == 0)", "if (true)"), ("if (N % 8 == 0)", "if (true)")],
            "says": "misaligned|aligned",
        },
        "the other matrix's row": {"replace": [("if (K % 8 == 0)", "if (N % 8 == 0)")], "says": "misaligned|aligned"},
        "never by cp.async": {"replace": [("copy_chunk<true>", "copy_chunk<false>")], "says": "keep the copies"},
        "no commit": {"replace": [("        cp_async_commit_group();\n", "")], "says": "not committed|under way"},
        "commits before B": {
            "replace": [
                ("        cp_async_commit_group();\n", ""),
                ("        if (N % 8 == 0)", "        cp_async_commit_group();\n        if (N % 8 == 0)"),
            ],
            "says": "not committed|under way|newest 1",
        },
        "no wait": {"replace": [("        cp_async_wait_group<1>();\n", "")], "says": "under way"},
        "waits for two": {"replace": [("wait_group<1>", "wait_group<2>")], "says": "newest 2|under way"},
        "no barrier after the wait": {
            "replace": [("        __syncwarp();\n        unsigned a[4]", "        unsigned a[4]")],
            "says": "race|copy",
        },
        "no barrier at the end": {"replace": [(LAST_BARRIER, "        // ### END")], "says": "race|copy"},
        "one stage": {"replace": [("copy(now ^ 1, k0 + 16)", "copy(now, k0 + 16)")], "says": "11.4"},
        "never turned": {"replace": [("k0 += 16, now ^= 1", "k0 += 16")], "says": "11.4"},
    },
}
