"""Right answers of chapter 16 that differ from the model solutions."""

RIGHT = {
    "16.1": {
        "counted by tile": {
            "replace": [
                ("for (int k = 0; k < K; k += BK, ring.advance()) {\n        mbarrier_wait_parity(&s.empty[ring.stage]"
                 ", ring.parity ^ 1);",
                 "for (int i = 0; i < (K + BK - 1) / BK; ++i, ring.advance()) {\n        int k = i * BK;\n"
                 "        if (i >= STAGES) mbarrier_wait_parity(&s.empty[i % STAGES], (i / STAGES - 1) % 2);"),
            ]
        },
        "announced in two steps": {
            "replace": [
                ("mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));",
                 "mbarrier_expect_tx(&s.full[ring.stage], 8192);\n"
                 "        mbarrier_arrive_expect_tx(&s.full[ring.stage], 8192);"),
            ]
        },
        "one thread by number": {"replace": [("if (elect_sync())", "if (lane == 7)")]},
        "announced after the copies": {
            "replace": [
                ("        mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));\n", ""),
                ("&B, n, k, &s.full[ring.stage]);\n",
                 "&B, n, k, &s.full[ring.stage]);\n"
                 "        mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));\n"),
            ]
        },
    },
    "16.2": {
        "the stage before in a ring of its own": {
            "replace": [
                ("  float acc[1][32];\n", "  float acc[1][32];\n  Ring<STAGES> done;\n"),
                ("    int before = (ring.stage + STAGES - 1) % STAGES;\n"
                 "    if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);",
                 "    if (k > 0) {\n      if (lane == 0) mbarrier_arrive(&s.empty[done.stage]);\n"
                 "      done.advance();\n    }"),
            ]
        },
        "no synchronisation within the warp": {"replace": [("    __syncwarp();\n", "")]},
        "released two turns late": {
            "replace": [("(ring.stage + STAGES - 1) % STAGES", "(ring.stage + STAGES - 2) % STAGES"),
                        ("k > 0 && lane", "k > BK && lane")],
        },
        "one arrival after a barrier of the warpgroup": {
            "replace": [
                ("mbarrier_init(&s.empty[i], 4)", "mbarrier_init(&s.empty[i], 1)"),
                ("    __syncwarp();\n", "    bar_sync(1, 128);\n"),
                ("k > 0 && lane == 0", "k > 0 && threadIdx.x == 0"),
            ]
        },
        "every thread arrives": {
            "replace": [
                ("mbarrier_init(&s.empty[i], 4)", "mbarrier_init(&s.empty[i], 128)"),
                ("k > 0 && lane == 0", "k > 0"),
            ]
        },
    },
    "16.3": {
        "by search": {
            "source": """def consumer_registers(consumers, producer, ctas):
    threads = 128 * (1 + consumers)
    share = min((65536 // (threads * ctas)) & ~7, 248)
    if producer % 8 or producer < 24 or producer > share:
        return 0
    fits = [r for r in range(24, 257, 8) if 128 * (producer + consumers * r) <= share * threads]
    return max(fits, default=0)
""",
        },
        "per warpgroup": {
            "source": """def consumer_registers(consumers, producer, ctas):
    share = min(512 // ((1 + consumers) * ctas) // 8 * 8, 248)
    lawful = producer in range(24, share + 1, 8)
    return min((share * (1 + consumers) - producer) // consumers // 8 * 8, 256) if lawful else 0
""",
        },
    },
    "16.4": {
        "the stage awaited by a counter": {
            "replace": [("i / STAGES % 2);", "(i / STAGES) & 1);")],
        },
        "refilled by another warp": {"replace": [("threadIdx.x == 0 && i +", "threadIdx.x == 96 && i +")]},
        "the group awaited after the next tile": {
            "replace": [
                ("    multiply_stage<64>(acc, s.stage[i % STAGES].a, s.stage[i % STAGES].b, i == 0);\n"
                 "    wgmma_wait_group<1>();\n", "    wgmma_wait_group<0>();\n"),
                (" < tiles) copy_tile(s, &A, &B, m, n, i + STAGES - 1);\n",
                 " < tiles) copy_tile(s, &A, &B, m, n, i + STAGES - 1);\n"
                 "    multiply_stage<64>(acc, s.stage[i % STAGES].a, s.stage[i % STAGES].b, i == 0);\n"),
            ]
        },
    },
}  # fmt: skip
