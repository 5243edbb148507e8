"""Right answers of chapter 18 that differ from the model solutions."""

RELEASE = "    __syncwarp();\n    if (lane == 0) mbarrier_arrive(&s.empty[before]);\n"

RIGHT = {
    "18.1": {
        "down the columns of C": {
            "replace": [
                ("m = t / columns * 64, n = t % columns * 64", "m = t % rows * 64, n = t / rows * 64"),
                ("C, t / columns * 64, t % columns * 64, M", "C, t % rows * 64, t / rows * 64, M"),
                ("  Ring<STAGES> ring;\n", "  Ring<STAGES> ring;\n  int rows = tiles / columns;\n"),
            ]
        },
        "released by a flag": {
            "replace": [("if (lane == 0) mbarrier_arrive(&s.empty[before]);\n  store",
                         "if (!lane) mbarrier_arrive(s.empty + before);\n  store")],
        },
        "from the last tile on": {
            "replace": [("int t = blockIdx.x; t < tiles; t += gridDim.x",
                         "int t = tiles - 1 - blockIdx.x; t >= 0; t -= gridDim.x")],
        },
    },
    "18.2": {
        "while": {
            "replace": [
                ("  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {\n    int before",
                 "  int t = blockIdx.x - gridDim.x;\n  while ((t += gridDim.x) < tiles) {\n    int before"),
            ]
        },
        "by comparison": {"replace": [("bool first = k == 0;", "bool first = !(k > 0);")]},
        "released in the next tile's first step": {
            "replace": [
                ("    int before = 0;\n", ""),
                ("  float acc[1][32];\n", "  float acc[1][32];\n  int before = 0;\n"),
                ("if (k > 0 && lane == 0)", "if ((k > 0 || t != blockIdx.x) && lane == 0)"),
                (RELEASE + "    // ### END", "    // ### END"),
            ]
        },
        "released after the store": {
            "replace": [
                (RELEASE + "    // ### END", "    // ### END"),
                ("% columns * 64, M, N);\n  }", "% columns * 64, M, N);\n" + RELEASE + "  }"),
            ]
        },
    },
    "18.3": {
        "by rounds": {
            "source": """def efficiency(M, N, BM, BN, sms):
    tiles = ((M + BM - 1) // BM) * ((N + BN - 1) // BN)
    rounds = (tiles + sms - 1) // sms
    return tiles / sms / rounds
""",
        },
        "as a simulation": {
            "source": """def efficiency(M, N, BM, BN, sms):
    tiles = len(range(0, M, BM)) * len(range(0, N, BN))
    busy = [0] * sms
    for t in range(tiles):
        busy[t % sms] += 1
    return sum(busy) / (max(busy) * sms)
""",
        },
    },
}  # fmt: skip
