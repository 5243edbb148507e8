"""Right answers of chapter 14 that differ from the model solutions."""

EXPECT = "mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i]));"
BYTES = "mbarrier_arrive_expect_tx(&s.full[i], (BM * BK + BK * BN) * sizeof(T));"
FENCED = "    fence_proxy_async_shared();\n    __syncwarp();\n"

RIGHT = {
    "14.1": {
        "a list": {"source": 'refused = ["bytes", "narrow", "tall", "turned", "wide"]'},
        "by the rules": {
            "source": """sizes = {"fp16": 2, "bf16": 2, "fp32": 4, "int8": 1}
maps = {
    "narrow": ("fp16", 100, 64, 64, 128, True), "square": ("bf16", 4096, 128, 64, 128, True),
    "wide": ("bf16", 4096, 64, 128, 128, True), "half": ("bf16", 4096, 64, 32, 128, True),
    "tall": ("fp32", 4096, 300, 32, 128, True), "bytes": ("int8", 4096, 64, 24, 0, True),
    "larger": ("fp16", 40, 64, 64, 128, True), "turned": ("bf16", 4096, 64, 64, 128, False),
    "plain": ("bf16", 4096, 64, 128, 0, True),
}
refused = {
    name for name, (kind, row, rows, columns, swizzle, row_major) in maps.items()
    if row * sizes[kind] % 16 or columns * sizes[kind] % 16 or rows > 256 or not row_major
    or (swizzle and columns * sizes[kind] > swizzle)
}""",
        },
    },
    "14.2": {
        "announced behind the copies": {
            "replace": [
                ("        mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i]));\n", ""),
                (
                    "        // ### END SOLUTION\n    };",
                    "        mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i]));\n"
                    "        // ### END SOLUTION\n"
                    "    };",
                ),
            ]
        },
        "announced in three parts": {
            "replace": [
                (
                    EXPECT,
                    "mbarrier_expect_tx(&s.full[i], sizeof(s.stage[i].a));\n"
                    "        mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i].b));",
                )
            ],
        },
        "B first": {
            "replace": [
                ("        tma_load_2d(s.stage[i].a, &A, step * BK, m0, &s.full[i]);\n", ""),
                (
                    "&s.full[i]);\n        // ### END",
                    "&s.full[i]);\n        tma_load_2d(s.stage[i].a, &A, step * BK, m0, &s.full[i]);\n"
                    "        // ### END",
                ),
            ],
        },
        "no wait in the first turn": {
            "replace": [
                (
                    "mbarrier_wait_parity(&s.empty[i], step / STAGES % 2 ^ 1);",
                    "if (step >= STAGES) mbarrier_wait_parity(&s.empty[i], (step / STAGES - 1) % 2);",
                )
            ],
        },
        "the parity by and": {
            "replace": [
                ("wait_parity(&s.empty[i], step / STAGES % 2 ^ 1)", "wait_parity(&s.empty[i], (step / 2 + 1) & 1)")
            ],
        },
    },
    "14.3": {
        "an elected lane releases": {
            "replace": [
                ('#include "ptx/fence.cuh"\n', '#include "ptx/barrier.cuh"\n#include "ptx/fence.cuh"\n'),
                (
                    "        if (lane == 0) mbarrier_arrive(&s.empty[i]);",
                    "        if (elect_sync()) mbarrier_arrive(&s.empty[i]);",
                ),
            ]
        },
        "a full proxy fence": {"replace": [("fence_mbarrier_init();", "fence_proxy_async();")]},
        "counts in one place": {
            "replace": [
                ("            mbarrier_init(&s.empty[i], 2);", "            mbarrier_init(&s.empty[i], BN / 64);")
            ],
        },
        "bytes of the stage": {"replace": [(BYTES, EXPECT)]},
        "released by lane 31": {"replace": [("if (lane == 0) mbarrier_arrive", "if (lane == 31) mbarrier_arrive")]},
        "every lane arrives": {
            "replace": [
                ("        __syncwarp();\n        if (lane == 0) mbarrier_arrive", "        mbarrier_arrive"),
                ("mbarrier_init(&s.empty[i], 2);", "mbarrier_init(&s.empty[i], 64);"),
            ],
        },
    },
    "14.4": {
        "lane 5 starts the copy": {
            "replace": [("    if (lane == 0) {\n        tma_store", "    if (lane == 5) {\n        tma_store")]
        },
        "a block-wide barrier": {
            "replace": [(FENCED, "    fence_proxy_async_shared();\n    __syncthreads();\n")],
        },
        "waits for the writes too": {"replace": [("wait_group_read<0>", "wait_group<0>")]},
        "the swizzle by hand": {"replace": [("swizzled<8>(row, j);", "8 * row + (j ^ row % 8);")]},
        "one thread stores both": {
            "replace": [
                (FENCED, "    fence_proxy_async_shared();\n    __syncthreads();\n"),
                ("    if (lane == 0) {\n        tma_store", "    if (threadIdx.x == 0) {\n        tma_store"),
                (
                    "tma_store_2d(&C, n0 + 64 * warp, m0, box);",
                    "for (int j = 0; j < 2; ++j) tma_store_2d(&C, n0 + 64 * j, m0, s.b[j]);",
                ),
            ],
        },
    },
}
