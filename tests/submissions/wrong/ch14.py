"""Wrong answers of chapter 14, each with what the check must say. Most are mutations of the model solutions."""

WAIT = "        mbarrier_wait_parity(&s.empty[i], step / STAGES % 2 ^ 1);\n"
FENCE = "        fence_proxy_async_shared();\n"
EXPECT = "mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i]));"
BYTES = "(BM * BK + BK * BN) * sizeof(T)"
LOAD_A = "tma_load_2d(s.stage[i].a, &A, step * BK, m0, &s.full[i]);"
LOAD_B = "tma_load_2d(s.stage[i].b[j], &B, n0 + 64 * j, step * BK, &s.full[i]);"
RELEASE = "        if (lane == 0) mbarrier_arrive(&s.empty[i]);\n"
FULL = "        mbarrier_wait_parity(&s.full[i], step / STAGES % 2);\n"
FENCED = "    fence_proxy_async_shared();\n    __syncwarp();\n"
READ = "        cp_async_bulk_wait_group_read<0>();\n"
VALUES = "C is wrong|C is NaN|wrong in|infinite"
RIGHT = '{"narrow", "wide", "tall", "bytes", "turned"'

WRONG = {
    "14.1": {
        "unfinished": {"source": "refused = {...}", "says": "not finished"},
        "nothing": {"source": "refused = set()", "says": "the set is empty"},
        "one missing": {"source": 'refused = {"narrow", "wide", "tall", "bytes"}', "says": "1 more belongs"},
        "a box must not exceed its array": {"source": f'refused = {RIGHT}, "larger"}}', "says": "may exceed the array"},
        "exactly 128 bytes": {"source": f'refused = {RIGHT}, "half"}}', "says": "fewer than the swizzle"},
        "128 bytes even without a swizzle": {"source": f'refused = {RIGHT}, "plain"}}', "says": "may have 256"},
        "at most 64 rows": {"source": f'refused = {RIGHT}, "square"}}', "says": "256 rows"},
        "a name of its own": {"source": 'refused = {"narrow", "tiny"}', "says": "no 'tiny'"},
        "a number": {"source": "refused = 5", "says": "set of names"},
    },
    "14.2": {
        "a copy of the map": {
            "replace": [("tma_load_2d(s.stage[i].a, &A,", "CUtensorMap copy = A; tma_load_2d(s.stage[i].a, &copy,")],
            "says": "in its local memory",
        },
        "the wrong barrier": {
            "replace": [("step * BK, m0, &s.full[i]);", "step * BK, m0, &s.empty[i]);")],
            "says": "expected bytes have not come",
        },
        "A over B": {
            "replace": [("tma_load_2d(s.stage[i].a, &A", "tma_load_2d(s.stage[i].b, &A")],
            "says": "under way|NaN",
        },
        "too few bytes": {
            "replace": [(EXPECT, "mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage[i].b));")],
            "says": "no wait has seen|more than expect_tx",
        },
        "too many bytes": {
            "replace": [(EXPECT, "mbarrier_arrive_expect_tx(&s.full[i], sizeof(s.stage));")],
            "says": "expected bytes have not come",
        },
        "nothing announced": {"replace": [(EXPECT, "mbarrier_arrive(&s.full[i]);")], "says": "full|copy|deadlock"},
        "announced but not arrived": {
            "replace": [("mbarrier_arrive_expect_tx", "mbarrier_expect_tx")],
            "says": "1 of 1 arrivals are missing",
        },
        "one box of B": {
            "replace": [("j < BN / 64; ++j)\n            tma", "j < 1; ++j)\n            tma")],
            "says": "have not come",
        },
        "the same box twice": {"replace": [("n0 + 64 * j, step", "n0, step")], "says": "partly repeated"},
        "coordinates turned round": {
            "replace": [("&A, step * BK, m0,", "&A, m0, step * BK,")],
            "says": VALUES + "|missing",
        },
        "boxes counted, not elements": {"replace": [("&A, step * BK, m0,", "&A, step, m0,")], "says": VALUES},
        "does not wait for the stage": {"replace": [(WAIT, "")], "says": "race|copy|still"},
        "reads and copies not ordered": {"replace": [(FENCE, "")], "says": "fence.proxy.async"},
        "the consumer's parity": {"replace": [("% 2 ^ 1)", "% 2)")], "says": "deadlock|race|still"},
        "no fence": {"replace": [(FENCE, "")], "says": "fence.proxy.async"},
        "the fence behind the copies": {
            "replace": [
                (FENCE, ""),
                ("        // ### END SOLUTION\n    };", FENCE + "        // ### END SOLUTION\n    };"),
            ],
            "says": "fence.proxy.async",
        },
        "all threads ask": {
            "replace": [
                ("if (threadIdx.x == 0) ask(0)", "ask(0)"),
                ("if (threadIdx.x == 0 && step + 1", "if (step + 1"),
            ],
            "says": "arrive|over-arrival|copies|race",
        },
    },
    "14.3": {
        "thread 0 speaks for both warps": {
            "replace": [
                ("if (lane == 0) mbarrier_arrive(&s.empty[i]);", "if (threadIdx.x == 0) mbarrier_arrive(&s.empty[i]);")
            ],
            "says": "1 of 2 arrivals are missing",
        },
        "bits announced": {
            "replace": [("(BM * BK + BK * BN) * sizeof(T)", "(BM * BK + BK * BN) * 16")],
            "says": "expected bytes have not come",
        },
        "released in every step of k": {
            "replace": [
                (
                    "            work.multiply(0);\n        }\n",
                    "            work.multiply(0);\n"
                    "            if (lane == 0) mbarrier_arrive(&s.empty[i]);\n"
                    "        }\n",
                ),
                ("        if (lane == 0) mbarrier_arrive(&s.empty[i]);\n        // ### END", "        // ### END"),
            ],
            "says": "expects 2 arrivals",
        },
        "elements announced": {"replace": [(BYTES, "BM * BK + BK * BN")], "says": "more than expect_tx announced"},
        "parity of the step": {
            "replace": [("step / STAGES % 2);\n", "step % 2);\n")],
            "says": "under way|deadlock|NaN",
        },
        "released before it is read": {
            "replace": [(RELEASE, ""), (FULL, FULL + RELEASE)],
            "says": "race|reads",
        },
        "released before the warp has met": {
            "replace": [("        __syncwarp();\n" + RELEASE, RELEASE)],
            "says": "race",
        },
        "never released": {"replace": [(RELEASE, "")], "says": "2 of 2 arrivals are missing"},
        "does not wait for the copy": {"replace": [(FULL, "")], "says": "under way|NaN|copy"},
        "one warp released": {
            "replace": [("mbarrier_init(&s.empty[i], 2);", "mbarrier_init(&s.empty[i], 1);")],
            "says": "arriv|race",
        },
        "every lane arrives": {
            "replace": [("        __syncwarp();\n        if (lane == 0) mbarrier_arrive", "        mbarrier_arrive")],
            "says": "arriv",
        },
        "one stage for both": {
            "replace": [
                (
                    "const int i = step % STAGES;\n        mbarrier_wait_parity(&s.empty",
                    "const int i = 0;\n        mbarrier_wait_parity(&s.empty",
                )
            ],
            "says": "deadlock|wait|NaN",
        },
    },
    "14.4": {
        "another lane waits": {
            "replace": [
                (
                    "        cp_async_bulk_wait_group_read<0>();\n    }",
                    "    }\n    if (lane == 1) cp_async_bulk_wait_group_read<0>();",
                )
            ],
            "says": "without waiting",
        },
        "waits for all but one": {"replace": [("wait_group_read<0>", "wait_group_read<1>")], "says": "without waiting"},
        "no copy": {
            "replace": [("        tma_store_2d(&C, n0 + 64 * warp, m0, box);\n", "")],
            "says": "writes nothing to C",
        },
        "no swizzle": {"replace": [("swizzled<8>(row, j)", "plain<8>(row, j)")], "says": VALUES},
        "the swizzle of 64 bytes": {
            "replace": [("swizzled<8>(row, j)", "8 * row + (j ^ row / 2 % 4)")],
            "says": VALUES,
        },
        "no fence": {"replace": [(FENCED, "    __syncwarp();\n")], "says": "fence.proxy.async"},
        "the warp does not meet": {"replace": [(FENCED, "    fence_proxy_async_shared();\n")], "says": "race"},
        "does not wait": {"replace": [(READ, "")], "says": "wait"},
        "does not commit": {"replace": [("        cp_async_bulk_commit_group();\n", "")], "says": "wait|commit"},
        "every lane stores": {
            "replace": [("    if (lane == 0) {\n        tma_store", "    {\n        tma_store")],
            "says": "stored 32|race",
        },
        "both warps to one box": {
            "replace": [("n0 + 64 * warp, m0, box", "n0, m0, box")],
            "says": "race|never|NaN|wrong",
        },
        "coordinates turned round": {
            "replace": [("n0 + 64 * warp, m0, box", "m0, n0 + 64 * warp, box")],
            "says": "wrong|never|NaN|written",
        },
    },
}
