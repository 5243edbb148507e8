"""Right answers of chapter 10 that differ from the model solutions."""

RIGHT = {
    "10.1": {
        "per element of C": {
            "source": """def per_register(m, n, k, bits):
    per_sum = 1 + bits / 32 * k * (1 / n + 1 / m)
    return k / per_sum
""",
        },
        "with packed counts": {
            "source": """def per_register(m, n, k, bits):
    packed = 32 / bits
    a, b, c = m * k / packed, k * n / packed, m * n
    return m * n * k / sum((a, b, c))
""",
        },
    },
    "10.2": {
        "warps below C leave at once": {
            "replace": [
                (
                    "    wmma::fill_fragment(acc, 0.0f);",
                    "    if (blockIdx.y * 64 + threadIdx.y * 16 >= M) return;\n    wmma::fill_fragment(acc, 0.0f);",
                )
            ]
        },
        "a linear thread index": {
            "replace": [
                (
                    "int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * 16;",
                    "int tid = threadIdx.y * blockDim.x + threadIdx.x, m0 = blockIdx.y * 64 + tid / 32 * 16;",
                )
            ],
        },
        "whole tiles of k": {
            "replace": [("k0 < K; k0 += 16", "k0 < (K + 15) / 16 * 16; k0 += 16")],
        },
        "a fragment of its own for each step": {
            "replace": [
                ("    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> frag_b;\n", ""),
                (
                    "        load_tile(frag_a,",
                    "        wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> frag_b;\n"
                    "        load_tile(frag_a,",
                ),
            ],
        },
    },
    "10.3": {
        "one fragment of B at a time": {
            "replace": [
                ("            load_tile(frag_b[i], patch, B, K, N, k0, n0 + 16 * i);\n", ""),
                (
                    "        for (int i = 0; i < 2; ++i)\n"
                    "            for (int j = 0; j < 2; ++j)\n"
                    "                wmma::mma_sync(acc[i][j], frag_a[i], frag_b[j], acc[i][j]);",
                    "        for (int j = 0; j < 2; ++j) {\n"
                    "            load_tile(frag_b[0], patch, B, K, N, k0, n0 + 16 * j);\n"
                    "            for (int i = 0; i < 2; ++i)\n"
                    "                wmma::mma_sync(acc[i][j], frag_a[i], frag_b[0], acc[i][j]);\n"
                    "        }",
                ),
            ]
        },
        "one fragment of A at a time": {
            "replace": [
                ("            load_tile(frag_a[i], patch, A, M, K, m0 + 16 * i, k0);\n", ""),
                (
                    "        for (int i = 0; i < 2; ++i)\n            for (int j = 0; j < 2; ++j)\n"
                    "                wmma::mma_sync(",
                    "        for (int i = 0; i < 2; ++i)\n            for (int j = 0; j < 2; ++j) {\n"
                    "                if (j == 0) load_tile(frag_a[i], patch, A, M, K, m0 + 16 * i, k0);\n"
                    "                wmma::mma_sync(",
                ),
                ("frag_b[j], acc[i][j]);\n    }", "frag_b[j], acc[i][j]);\n            }\n    }"),
            ],
        },
        "columns first": {
            "replace": [
                (
                    "        for (int i = 0; i < 2; ++i)\n            for (int j = 0; j < 2; ++j)\n"
                    "                wmma::mma_sync",
                    "        for (int j = 0; j < 2; ++j)\n            for (int i = 0; i < 2; ++i) wmma::mma_sync",
                ),
            ],
        },
    },
    "10.4": {
        "a list": {"source": 'relies = ["chain", "row", "mask", "bias", "round"]'},
        "a frozen set": {"source": 'relies = frozenset("round bias mask row chain".split())'},
    },
}
