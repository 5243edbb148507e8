"""Right answers of chapter 15 that differ from the model solutions."""

LOOP = "#pragma unroll\n    for (int k = 0; k < BK / 16; ++k)\n"
MULTIPLY = "      wgmma_m64k16<BN, 0, 1>(acc, a + 2 * k, b + 128 * k, k0 + k > 0, T());\n"
SUBMITTED = {
    "written out": {
        "replace": [
            (
                LOOP + MULTIPLY,
                "".join(
                    f"    wgmma_m64k16<BN, 0, 1>(acc, a + {2 * k}, b + {128 * k}, k0 + {k} > 0, T());\n"
                    for k in range(4)
                ),
            )
        ]
    },
    "K-major's LBO is not read": {
        "replace": [("wgmma_descriptor(s.a, 16, 1024, 1)", "wgmma_descriptor(s.a, 64, 1024, 1)")]
    },
    "the last step first": {
        "replace": [
            ("int k = 0; k < BK / 16; ++k", "int k = BK / 16 - 1; k >= 0; --k"),
            ("k0 + k > 0, T()", "k0 > 0 || k < BK / 16 - 1, T()"),
        ]
    },
    "descriptors of the moved tile": {
        "replace": [
            (
                "(acc, a + 2 * k, b + 128 * k, k0",
                "(acc, wgmma_descriptor(s.a + 16 * k, 16, 1024, 1),\n"
                "                             wgmma_descriptor(s.b[0] + 16 * 64 * k, 8192, 1024, 1), k0",
            )
        ]
    },
    "a box at a time": {
        "replace": [
            (
                MULTIPLY,
                "      for (int j = 0; j < 2; ++j)\n"
                "        wgmma_m64k16<64, 0, 1>(reinterpret_cast<float(&)[32]>(acc[32 * j]), a + 2 * k,\n"
                "                               b + 512 * j + 128 * k, k0 + k > 0, T());\n",
            )
        ]
    },
    "a descriptor put together by hand": {
        "replace": [
            (
                "wgmma_descriptor(s.a, 16, 1024, 1)",
                "(wgmma_desc_t)1 << 62 | (wgmma_desc_t)64 << 32 | shared_address(s.a) >> 4",
            )
        ]
    },
    "cleared before the loop": {
        "replace": [("  float acc[BN / 2];", "  float acc[BN / 2] = {};"), ("k0 + k > 0, T()", "1, T()")],
    },
    "one group per step": {
        "replace": [
            ("++k)\n      wgmma_m64k16", "++k) {\n      wgmma_m64k16"),
            ("k0 + k > 0, T());\n    wgmma_commit_group();", "k0 + k > 0, T());\n      wgmma_commit_group();\n    }"),
        ]
    },
}

RIGHT = {
    "15.1": {
        "by rows": {
            "source": """def address(start, sbo, row, chunk):
    group, inside = divmod(row, 8)
    place = start + group * sbo + 128 * inside + 16 * chunk
    line, column = divmod(place, 128)
    return 128 * line + (column ^ 16 * (line % 8))
""",
        },
        "bit by bit": {
            "source": """def address(start, sbo, row, chunk):
    place = start + (row >> 3) * sbo + ((row & 7) << 7) + (chunk << 4)
    for bit in (4, 5, 6):
        place ^= (place >> (bit + 3) & 1) << bit
    return place
""",
        },
    },
    "15.2": SUBMITTED,
    "15.3": SUBMITTED,
    "15.4": {
        "a list": {"source": 'accepted = ["tf32", "fp8", "int48", "n40"]'},
        "by the rules": {
            "source": """shapes = {
    "n40": (64, 40, 8), "n36": (64, 36, 8), "n264": (64, 264, 8), "m128": (128, 128, 8), "int40": (64, 40, 16),
    "int48": (64, 48, 16), "fp8": (64, 32, 8), "tf32": (64, 8, 8),
}
accepted = {name for name, (m, n, step) in shapes.items() if m == 64 and n % step == 0 and n <= 256}
""",
        },
    },
}
