"""Wrong answers of chapter 16, each with what the check must say. Most are mutations of the model solutions."""

BUDGET = "def consumer_registers(consumers, producer, ctas):\n"
COPY_B = "        tma_load_2d(s.stage[ring.stage].b, &B, n, k, &s.full[ring.stage]);\n"
RELEASE = "    if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);\n"
REFILL = "    if (threadIdx.x == 0 && i + STAGES - 1 < tiles) copy_tile(s, &A, &B, m, n, i + STAGES - 1);\n"
EARLY = "race|under way|overwrit|still read"

WRONG = {
    "16.1": {
        "the consumers' parity": {"replace": [("ring.parity ^ 1", "ring.parity")], "says": "deadlock"},
        "a constant parity": {
            "replace": [("s.empty[ring.stage], ring.parity ^ 1", "s.empty[ring.stage], 1")],
            "says": f"deadlock|{EARLY}",
        },
        "no wait": {
            "replace": [("        mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);\n", "")],
            "says": f"arrival|{EARLY}",
        },
        "half of the bytes": {
            "replace": [("sizeof(Shared::Stage));", "sizeof(Shared::Stage) / 2);")],
            "says": "bytes|expect|under way",
        },
        "too many bytes": {"replace": [("sizeof(Shared::Stage));", "2 * sizeof(Shared::Stage));")], "says": "deadlock"},
        "no B": {"replace": [(COPY_B, "")], "says": "deadlock"},
        "coordinates of A turned round": {"replace": [("&A, k, m,", "&A, m, k,")], "says": "16.1 at"},
        "B one tile late": {"replace": [("&B, n, k,", "&B, n, k + BK,")], "says": "16.1 at"},
        "always the first stage": {
            "replace": [("        tma_load_2d(s.stage[ring.stage].a", "        tma_load_2d(s.stage[0].a")],
            "says": "16.1 at",
        },
        "the tail of K": {
            "replace": [("k < K; k += BK, ring.advance()) {\n        mbarrier_wait_parity(&s.empty",
                         "k + BK <= K; k += BK, ring.advance()) {\n        mbarrier_wait_parity(&s.empty")],
            "says": "deadlock",
        },
        "the copies before the wait": {
            "replace": [("        mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);\n", ""),
                        (COPY_B, COPY_B + "        mbarrier_wait_parity(&s.empty[ring.stage], ring.parity ^ 1);\n")],
            "says": f"arrival|{EARLY}",
        },
        "all to the first barrier": {
            "replace": [("&B, n, k, &s.full[ring.stage]", "&B, n, k, &s.full[0]")], "says": "deadlock|bytes",
        },
        "no bytes announced": {
            "replace": [("mbarrier_arrive_expect_tx(&s.full[ring.stage], sizeof(Shared::Stage));",
                         "mbarrier_arrive(&s.full[ring.stage]);")],
            "says": "bytes|under way",
        },
        "every lane copies": {"replace": [("if (elect_sync())", "if (true)")], "says": "arrival"},
        "never advances": {
            "replace": [("k += BK, ring.advance()) {\n        mbarrier_wait_parity(&s.empty",
                         "k += BK) {\n        mbarrier_wait_parity(&s.empty")],
            "says": f"deadlock|arrival|{EARLY}",
        },
    },
    "16.2": {
        "one arrival is enough": {
            "replace": [("mbarrier_init(&s.empty[i], 4)", "mbarrier_init(&s.empty[i], 1)")],
            "says": f"arrival|{EARLY}",
        },
        "a constant parity": {
            "replace": [("s.full[ring.stage], ring.parity", "s.full[ring.stage], 0")],
            "says": f"copy|{EARLY}|deadlock",
        },
        "this turn's stage released": {
            "replace": [("(ring.stage + STAGES - 1) % STAGES", "ring.stage"), ("k > 0 && lane", "lane")],
            "says": EARLY,
        },
        "released before the wait": {
            "replace": [
                ("    wgmma_wait_group<1>();\n    __syncwarp();\n", ""),
                (RELEASE, RELEASE + "    wgmma_wait_group<1>();\n"),
            ],
            "says": EARLY,
        },
        "warp 0 speaks for all": {
            "replace": [
                ("mbarrier_init(&s.empty[i], 4)", "mbarrier_init(&s.empty[i], 1)"),
                ("k > 0 && lane == 0", "k > 0 && threadIdx.x == 0"),
            ],
            "says": EARLY,
        },
        "three of four arrive": {"replace": [("k > 0 && lane == 0", "k > 0 && threadIdx.x % 32 == 0 && threadIdx.x")],
                                 "says": "deadlock"},
        "two groups may go on": {"replace": [("wgmma_wait_group<1>();", "wgmma_wait_group<2>();")], "says": EARLY},
        "every second warp arrives": {
            "replace": [("mbarrier_init(&s.empty[i], 4)", "mbarrier_init(&s.empty[i], 2)"),
                        ("k > 0 && lane == 0", "k > 0 && threadIdx.x % 64 == 0")],
            "says": EARLY,
        },
        "nothing is released": {"replace": [(RELEASE, "")], "says": "deadlock"},
        "all groups awaited": {
            "replace": [("wgmma_wait_group<1>();", "wgmma_wait_group<0>();")],
            "says": "no wait lets a group go on",
        },
        "a stage released before it was filled": {"replace": [("k > 0 && lane == 0", "lane == 0")],
                                                  "says": f"arrival|{EARLY}|deadlock"},
        "no wait for the data": {
            "replace": [("    mbarrier_wait_parity(&s.full[ring.stage], ring.parity);\n", "")],
            "says": "copy|under way|deadlock",
        },
        "the last group not awaited": {"replace": [("  wgmma_wait_group<0>(acc[0]);\n", "")],
                                       "says": "wgmma|accumulator|registers"},
    },
    "16.3": {
        "unfinished": {"source": BUDGET + "    ...", "says": "not finished"},
        "one CTA only": {"replace": [("(threads * ctas)", "threads")], "says": "every CTA on the SM"},
        "any producer": {
            "replace": [("    if producer % 8 or not 24 <= producer <= share:\n        return 0\n", "")],
            "says": "must be lawful",
        },
        "the share not rounded": {"replace": [("(threads * ctas) // 8 * 8", "(threads * ctas)")],
                                  "says": "rounded down|multiple of 8"},
        "any number": {"replace": [("(128 * consumers) // 8 * 8", "(128 * consumers)")], "says": "multiples of 8"},
        "more than 256": {"source": BUDGET + """    threads = 128 * (1 + consumers)
    share = min(65536 // (threads * ctas) // 8 * 8, 248)
    if producer % 8 or not 24 <= producer <= share:
        return 0
    return (share * threads - 128 * producer) // (128 * consumers) // 8 * 8
""", "says": "more than 256"},
        "a share of 256": {"replace": [("// 8 * 8, 248)", "// 8 * 8, 256)")], "says": "expected 248"},
        "divided among all": {"replace": [("rest // (128 * consumers)", "rest // threads")], "says": "expected"},
        "24 for every producer": {"replace": [("128 * producer", "128 * 24")], "says": "not always 24"},
        "the launch value": {"source": BUDGET + "    return 65536 // (128 * (1 + consumers) * ctas) // 8 * 8",
                             "says": "expected|lawful"},
        "raises": {"source": BUDGET + "    raise ValueError('no')", "says": "ValueError"},
    },
    "16.4": {
        "copied before the multiply": {
            "replace": [
                (REFILL, ""),
                ("    mbarrier_wait_parity(&s.full[i", REFILL + "    mbarrier_wait_parity(&s.full[i"),
            ],
            "says": EARLY,
        },
        "a constant parity": {"replace": [("s.full[i % STAGES], i / STAGES % 2", "s.full[i % STAGES], 0")],
                              "says": f"copy|{EARLY}"},
        "copies beyond the end": {"replace": [(" && i + STAGES - 1 < tiles", "")], "says": "copy|block ends"},
        "a prologue beyond the end": {"replace": [("i < STAGES - 1 && i < tiles", "i < STAGES - 1")],
                                      "says": "copy|block ends"},
        "no barrier of the block": {
            "replace": [("    wgmma_wait_group<1>();\n    __syncthreads();\n", "    wgmma_wait_group<1>();\n")],
            "says": EARLY,
        },
        "the barrier before the wait": {
            "replace": [("    wgmma_wait_group<1>();\n    __syncthreads();\n",
                         "    __syncthreads();\n    wgmma_wait_group<1>();\n")],
            "says": EARLY,
        },
        "no wait for wgmma": {
            "replace": [("    wgmma_wait_group<1>();\n    __syncthreads();\n", "    __syncthreads();\n")],
            "says": EARLY,
        },
        "all groups awaited": {"replace": [("wgmma_wait_group<1>();", "wgmma_wait_group<0>();")],
                               "says": "no wait lets a group go on"},
        "a barrier of the warp": {
            "replace": [("    wgmma_wait_group<1>();\n    __syncthreads();\n",
                         "    wgmma_wait_group<1>();\n    __syncwarp();\n")],
            "says": EARLY,
        },
        "one stage too near": {"replace": [("i + STAGES - 1", "i + STAGES - 2")], "says": f"arrival|deadlock|{EARLY}"},
        "one stage too far": {
            "replace": [("i + STAGES - 1 < tiles) copy_tile(s, &A, &B, m, n, i + STAGES - 1)",
                         "i + STAGES < tiles) copy_tile(s, &A, &B, m, n, i + STAGES)")],
            "says": f"deadlock|{EARLY}",
        },
        "the guide never loads B": {
            "replace": [("  tma_load_2d(s.stage[stage].b, B, n, tile * BK, &s.full[stage]);\n", "")],
            "says": "deadlock",
        },
        "A twice": {"replace": [("(s.stage[stage].b, B, n,", "(s.stage[stage].b, A, n,")], "says": "16.4 at"},
    },
}  # fmt: skip
