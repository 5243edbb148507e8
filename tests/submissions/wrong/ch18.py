"""Wrong answers of chapter 18, each with what the check must say. Most are mutations of the model solutions."""

SHARE = "def efficiency(M, N, BM, BN, sms):\n    "
TILES = "tiles = -(-M // BM) * -(-N // BN)\n    return "
LAST = "if (lane == 0) mbarrier_arrive(&s.empty[before]);\n  store"
EARLY = "race|under way|overwrit|still read|arrival|deadlock"

WRONG = {
    "18.1": {
        "the consumers do not go on": {
            "replace": [("  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {\n",
                         "  for (int t = blockIdx.x; t == blockIdx.x; t += gridDim.x) {\n")],
            "says": "18.1 at",
        },
        "the producer does not go on": {
            "replace": [("      for (int t = blockIdx.x; t < tiles; t += gridDim.x)\n",
                         "      for (int t = blockIdx.x; t == blockIdx.x; t += gridDim.x)\n")],
            "says": "deadlock",
        },
        "one tile short": {"replace": [("t < tiles; t += gridDim.x", "t + 1 < tiles; t += gridDim.x")],
                           "says": "never written|nothing"},
        "shares rounded down": {
            "replace": [("int t = blockIdx.x; t < tiles; t += gridDim.x",
                         "int t = tiles / gridDim.x * blockIdx.x; t < tiles / gridDim.x * (blockIdx.x + 1); ++t")],
            "says": "never written",
        },
        "the producer's ring anew": {
            "replace": [("      for (int t = blockIdx.x; t < tiles; t += gridDim.x)\n",
                         "      for (int t = blockIdx.x; t < tiles; t += gridDim.x, ring = Ring<STAGES>())\n")],
            "says": f"arrival|deadlock|{EARLY}",
        },
        "neighbouring tiles": {"replace": [("t += gridDim.x", "t += 1")], "says": "race|stored|18.1"},
        "every CTA has all tiles": {
            "replace": [("int t = blockIdx.x; t < tiles; t += gridDim.x", "int t = 0; t < tiles; ++t")],
            "says": "each tile belongs to one CTA",
        },
        "threads for blocks": {"replace": [("t += gridDim.x", "t += blockDim.x")], "says": "never written"},
        "a fixed step": {"replace": [("t += gridDim.x", "t += 3")], "says": "18.1 at"},
        "the last stage is kept": {"replace": [("  " + LAST, "  store")], "says": "deadlock|18.1 at"},
        "the last stage given back too early": {
            "replace": [("  wgmma_wait_group<0>(acc[0]);\n", ""),
                        ("  store_direct<64>(", "  wgmma_wait_group<0>(acc[0]);\n  store_direct<64>(")],
            "says": EARLY,
        },
        "rows and columns changed in the store": {
            "replace": [("C, t / columns * 64, t % columns * 64", "C, t % columns * 64, t / columns * 64")],
            "says": "18.1 at",
        },
        "rows by columns": {"replace": [("t / columns * 64", "t / ((M + 63) / 64) * 64")], "says": "18.1"},
        "a new ring per tile": {
            "replace": [("  int before = 0;\n", "  ring = Ring<STAGES>();\n  int before = 0;\n")],
            "says": f"copy|{EARLY}|18.1 at",
        },
        "all groups awaited": {"replace": [("wgmma_wait_group<1>();", "wgmma_wait_group<0>();")],
                               "says": "no wait lets a group go on"},
    },
    "18.2": {
        "a new ring per tile": {
            "replace": [("    int before = 0;\n", "    int before = 0;\n    ring = Ring<STAGES>();\n")],
            "says": f"copy|{EARLY}|18.2 at",
        },
        "the sum goes on": {"replace": [("bool first = k == 0;", "bool first = t == blockIdx.x && k == 0;")],
                            "says": "18.2 at"},
        "the last stage is kept": {
            "replace": [("    __syncwarp();\n    if (lane == 0) mbarrier_arrive(&s.empty[before]);\n    // ### END",
                         "    // ### END")],
            "says": "deadlock|18.2 at",
        },
        "never cleared": {"replace": [("bool first = k == 0;", "bool first = false;")], "says": "18.2 at"},
        "cleared at every step": {"replace": [("bool first = k == 0;", "bool first = true;")], "says": "18.2 at"},
        "given back before the end": {
            "replace": [("    wgmma_wait_group<0>(acc[0]);\n", ""),
                        ("    // ### END SOLUTION\n    store", "    wgmma_wait_group<0>(acc[0]);\n    store")],
            "says": EARLY,
        },
        "given back twice": {
            "replace": [("if (k > 0 && lane == 0) mbarrier_arrive", "if (lane == 0) mbarrier_arrive")],
            "says": EARLY,
        },
        "one warp gives back": {
            "replace": [("    if (lane == 0) mbarrier_arrive(&s.empty[before]);\n    // ### END",
                         "    if (threadIdx.x == 0) mbarrier_arrive(&s.empty[before]);\n    // ### END")],
            "says": "deadlock|18.2 at",
        },
        "the parity alone starts anew": {
            "replace": [("    int before = 0;\n", "    int before = 0;\n    ring.parity = 0;\n")],
            "says": f"copy|{EARLY}|18.2 at",
        },
        "all stages given back": {
            "replace": [
                ("    if (lane == 0) mbarrier_arrive(&s.empty[before]);\n    // ### END",
                 "    if (lane == 0)\n      for (int i = 0; i < STAGES; ++i) mbarrier_arrive(&s.empty[i]);\n"
                 "    // ### END"),
            ],
            "says": EARLY,
        },
        "the first stage given back": {
            "replace": [("&s.empty[before]);\n    // ### END", "&s.empty[0]);\n    // ### END")],
            "says": f"{EARLY}|18.2 at",
        },
    },
    "18.3": {
        "unfinished": {"source": SHARE + "...", "says": "not finished"},
        "rounded down": {"source": SHARE + TILES + "tiles / sms / max(1, tiles // sms)", "says": "round up"},
        "parts of tiles": {
            "source": SHARE + TILES + "M * N / (BM * BN) / (-(-tiles // sms) * sms)",
            "says": "count whole tiles",
        },
        "one round": {"source": SHARE + TILES + "min(1.0, tiles / sms)", "says": "more than one round"},
        "the reciprocal": {"source": SHARE + TILES + "-(-tiles // sms) * sms / tiles", "says": "reciprocal"},
        "useful work": {
            "source": SHARE + TILES + "M * N / (-(-tiles // sms) * sms * BM * BN)",
            "says": "count whole tiles",
        },
        "the last wave": {"source": SHARE + TILES + "(tiles % sms) / sms or 1.0", "says": "expected"},
        "rounds": {"source": SHARE + TILES + "-(-tiles // sms)", "says": "expected"},
        "always 132": {"source": SHARE + TILES + "tiles / (-(-tiles // 132) * 132)", "says": "expected"},
        "M and N by the wrong edge": {"replace": [("-(-M // BM) * -(-N // BN)", "-(-M // BN) * -(-N // BM)")],
                                      "says": "expected"},
        "divides by zero": {"source": SHARE + TILES + "tiles / (tiles // sms * sms)", "says": "Zero|round up"},
    },
}  # fmt: skip
