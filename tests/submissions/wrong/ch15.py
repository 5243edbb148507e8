"""Wrong answers of chapter 15, each with what the check must say. Most are mutations of the model solutions."""

VALUES = "C is wrong|C is NaN|wrong in|wrong everywhere|missing|is zero|repeated|beyond|outside"
WAIT = "    wgmma_wait_group<0>(acc);\n"
MODEL = "def address(start, sbo, row, chunk):\n    "
SUBMITTED = {
    "a step of 16 units": {"replace": [("a + 2 * k", "a + 16 * k")], "says": VALUES},
    "a step in bytes": {"replace": [("a + 2 * k", "a + 32 * k")], "says": VALUES},
    "B stepped as if K-major": {"replace": [("b + 128 * k", "b + 2 * k")], "says": VALUES},
    "B declared K-major": {"replace": [("<BN, 0, 1>", "<BN, 0, 0>")], "says": VALUES},
    "A's groups 128 bytes apart": {"replace": [("(s.a, 16, 1024, 1)", "(s.a, 16, 128, 1)")], "says": VALUES},
    "B's second box forgotten": {"replace": [("(s.b, sizeof(s.b[0]), 1024, 1)", "(s.b, 16, 1024, 1)")], "says": VALUES},
    "offsets in units of 16 bytes": {"replace": [("(s.a, 16, 1024, 1)", "(s.a, 1, 64, 1)")], "says": VALUES},
    "LBO and SBO of B exchanged": {
        "replace": [("(s.b, sizeof(s.b[0]), 1024, 1)", "(s.b, 1024, sizeof(s.b[0]), 1)")],
        "says": VALUES,
    },
    "a box of B per step": {"replace": [("b + 128 * k", "b + 512 * k")], "says": "beyond the 24640 bytes"},
    "one warp multiplies": {
        "replace": [("      wgmma_m64k16<BN", "      if (threadIdx.x < 32) wgmma_m64k16<BN")],
        "says": "for the other warps of its warpgroup",
    },
    "commits before it multiplies": {
        "replace": [
            ("    wgmma_commit_group();\n", ""),
            ("    wgmma_fence();\n", "    wgmma_fence();\n    wgmma_commit_group();\n"),
        ],
        "says": "no wgmma.commit_group has followed",
    },
    "a width that the header has not": {
        "replace": [("wgmma_m64k16<BN, 0, 1>(acc", "wgmma_m64k16<96, 0, 1>(reinterpret_cast<float(&)[48]>(acc)")],
        "says": "N is 64, 128, 200 or 256",
    },
    "no swizzle in the descriptor": {"replace": [("(s.a, 16, 1024, 1)", "(s.a, 16, 1024, 0)")], "says": VALUES},
    "the swizzle of 64 bytes": {"replace": [("(s.a, 16, 1024, 1)", "(s.a, 16, 1024, 2)")], "says": VALUES},
    "clears at every tile": {"replace": [("k0 + k > 0", "k > 0")], "says": "missing|wrong"},
    "adds to what was there": {"replace": [("k0 + k > 0", "1")], "says": "uninitialised|NaN|nothing has set"},
    "three steps of four": {"replace": [("k < BK / 16", "k < BK / 16 - 1")], "says": VALUES},
    "no wait": {"replace": [(WAIT, "")], "says": "wait"},
    "no commit": {"replace": [("    wgmma_commit_group();\n", "")], "says": "commit|wait"},
    "no fence": {"replace": [("    wgmma_fence();\n", "")], "says": "wgmma.fence"},
    "the fence behind them": {
        "replace": [("    wgmma_fence();\n", ""), ("    wgmma_commit", "    wgmma_fence();\n    wgmma_commit")],
        "says": "wgmma.fence",
    },
    "one group may go on": {"replace": [("wgmma_wait_group<0>(acc)", "wgmma_wait_group<1>(acc)")], "says": "under way"},
    "A and B exchanged": {"replace": [("acc, a + 2 * k, b + 128 * k", "acc, b + 128 * k, a + 2 * k")], "says": VALUES},
    "one thread awaits the copy": {
        "replace": [("    mbarrier_wait_parity(&s.full", "    if (threadIdx.x == 0) mbarrier_wait_parity(&s.full")],
        "says": "race|under way",
    },
    "waits behind the barrier": {
        "replace": [(WAIT, ""), ("    __syncthreads();\n", "    __syncthreads();\n" + WAIT)],
        "says": "race|wgmma|reads",
    },
}

WRONG = {
    "15.1": {
        "unfinished": {"source": MODEL + "...", "says": "not finished"},
        "no swizzle": {
            "source": MODEL + "return start + row // 8 * sbo + row % 8 * 128 + 16 * chunk",
            "says": "without the swizzle",
        },
        "the row's swizzle only": {
            "source": MODEL + "return start + row // 8 * sbo + row % 8 * 128 + 16 * (chunk ^ row % 8)",
            "says": "step along K",
        },
        "the start added behind the swizzle": {
            "source": MODEL
            + "place = row // 8 * sbo + row % 8 * 128 + 16 * chunk\n    return start + (place ^ (place >> 7 & 7) << 4)",
            "says": "step along K",
        },
        "precedence": {"replace": [("(place >> 7 & 7) << 4", "(place >> 7) & 7 << 4")], "says": "expected"},
        "no groups": {
            "source": MODEL + "place = start + row * 128 + 16 * chunk\n    return place ^ (place >> 7 & 7) << 4",
            "says": "sbo bytes apart",
        },
        "64-byte swizzle": {"replace": [("place >> 7 & 7", "place >> 7 & 3")], "says": "expected"},
        "units of 16": {"replace": [("return place", "return place // 16")], "says": "expected"},
        "a group per row": {"replace": [("row // 8 * sbo", "row * sbo")], "says": "expected"},
        "chunks of 8 bytes": {"replace": [("16 * chunk", "8 * chunk")], "says": "expected"},
        "start forgotten": {"replace": [("start + row", "row")], "says": "expected"},
        "fails": {"source": MODEL + "return start.bytes", "says": "AttributeError"},
    },
    "15.2": SUBMITTED,
    "15.3": SUBMITTED,
    "15.4": {
        "unfinished": {"source": "accepted = {...}", "says": "not finished"},
        "nothing": {"source": "accepted = set()", "says": "the set is empty"},
        "integers as FP16": {
            "source": 'accepted = {"n40", "int40", "int48", "fp8", "tf32"}',
            "says": "multiples of 16",
        },
        "multiples of 4": {"source": 'accepted = {"n36"}', "says": "multiple of 8"},
        "M of 128": {"source": 'accepted = {"m128"}', "says": "M is 64"},
        "mixed 16-bit types": {"source": 'accepted = {"mixed"}', "says": "both factors"},
        "FP8 turned": {"source": 'accepted = {"fp8_turned"}', "says": "only 16-bit"},
        "beyond 256": {"source": 'accepted = {"n264"}', "says": "at most 256"},
        "a string": {"source": 'accepted = "n40 int48 fp8 tf32"', "says": "there is no 'n40 int48"},
        "one missing": {"source": 'accepted = {"n40", "int48", "tf32"}', "says": "1 more belongs"},
    },
}
