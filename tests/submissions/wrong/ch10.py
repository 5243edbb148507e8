"""Wrong answers of chapter 10, each with what the check must say. Most are mutations of the model solutions."""

WRONG_VALUES = r"C is wrong|bound|transposed|products are missing"
COLUMNS = ("wmma::matrix_b, 16, 16, 16, T, wmma::row_major", "wmma::matrix_b, 16, 16, 16, T, wmma::col_major")
ROWS = "int m0 = (blockIdx.y * blockDim.y + threadIdx.y)"
MULTIPLY = "wmma::mma_sync(acc[i][j], frag_a[i], frag_b[j], acc[i][j])"
FORMULA = "def per_register(m, n, k, bits):\n    return "
RELIES = 'relies = {"round", "bias", "mask", "row", "chain"'

NO_WMMA = """%%cuda repaired F16=1
#include "tile/element.cuh"
extern "C" __global__ void repaired(const T* A, const T* B, T* C, int M, int N, int K) {
    for (int e = threadIdx.x; e < 256; e += 32) {
        int m = blockIdx.y * 64 + threadIdx.y * 16 + e / 16, n = blockIdx.x * 16 + e % 16;
        if (m >= M || n >= N) continue;
        float sum = 0;
        for (int k = 0; k < K; ++k) sum += float(A[m * K + k]) * float(B[k * N + n]);
        C[m * N + n] = narrow(sum);
    }
}
"""

WRONG = {
    "10.1": {
        "unfinished": {"source": FORMULA + "None", "says": "not finished"},
        "one lane's registers": {
            "source": FORMULA + "32 * m * n * k / ((m * k + k * n) * bits / 32 + m * n)",
            "says": "registers of one lane",
        },
        "not packed": {"source": FORMULA + "m * n * k / (m * k + k * n + m * n)", "says": "32 / bits elements"},
        "no sums": {"source": FORMULA + "m * n * k / ((m * k + k * n) * bits / 32)", "says": "sums lie in registers"},
        "packed sums": {
            "source": FORMULA + "m * n * k / ((m * k + k * n + m * n) * bits / 32)",
            "says": "sums are FP32",
        },
        "FLOP": {
            "source": FORMULA + "2 * m * n * k / ((m * k + k * n) * bits / 32 + m * n)",
            "says": "two per multiply-add",
        },
        "sums twice": {
            "source": FORMULA + "m * n * k / ((m * k + k * n) * bits / 32 + 2 * m * n)",
            "says": "count the sums once",
        },
        "right for 16 bits": {
            "source": FORMULA + "m * n * k / ((m * k + k * n) / 2 + m * n)",
            "says": "bits=8",
        },
        "whole numbers": {
            "source": FORMULA + "m * n * k // ((m * k + k * n) * bits // 32 + m * n)",
            "says": "expected 6.4",
        },
        "divides by zero": {"source": FORMULA + "m * n * k / (bits // 32)", "says": "ZeroDivisionError"},
    },
    "10.2": {
        "an if that splits the warp": {
            "replace": [
                ("        load_tile(frag_a, patch[warp]", "        if (threadIdx.x < 16) load_tile(frag_a, patch[warp]")
            ],
            "says": "deadlock",
        },
        "B loaded without a detour": {
            "replace": [
                (
                    "load_tile(frag_b, patch[warp], B, K, N, k0, n0);",
                    "wmma::load_matrix_sync(frag_b, B + k0 * N + n0, N);",
                )
            ],
            "says": "past the end|race",
        },
        "the same rows for every warp": {
            "replace": [("int m0 = (blockIdx.y * blockDim.y + threadIdx.y) * 16;", "int m0 = blockIdx.y * 64;")],
            "says": "never written",
        },
        "B column by column": {"replace": [COLUMNS], "says": "B is transposed inside its tiles of 16"},
        "A column by column": {
            "replace": [
                ("wmma::matrix_a, 16, 16, 16, T, wmma::row_major", "wmma::matrix_a, 16, 16, 16, T, wmma::col_major")
            ],
            "says": WRONG_VALUES,
        },
        "divided by 32": {"replace": [(ROWS + " * 16", ROWS + " / 32 * 16")], "says": "never|wrong|race|written"},
        "the linear index times 16": {
            "replace": [(ROWS + " * 16", "int m0 = (blockIdx.y * 4 + threadIdx.x / 32) * 16")],
            "says": "never|wrong|race|written",
        },
        "no tag": {
            "replace": [("wmma::matrix_b, 16, 16, 16, T, wmma::row_major", "wmma::matrix_b, 16, 16, 16, T")],
            "says": "incomplete type",
        },
        "the last tile dropped": {"replace": [("k0 < K;", "k0 + 16 <= K;")], "says": WRONG_VALUES},
        "one patch for all warps": {"replace": [("patch[warp], A", "patch[0], A")], "says": "race|wrong"},
        "sums of nothing": {
            "replace": [("    wmma::fill_fragment(acc, 0.0f);\n", "")],
            "says": "uninitialised|wrong|NaN",
        },
        "the sum forgotten": {
            "replace": [
                (
                    "        wmma::mma_sync(acc, frag_a, frag_b, acc);\n",
                    "        wmma::fill_fragment(acc, 0.0f);\n        wmma::mma_sync(acc, frag_a, frag_b, acc);\n",
                )
            ],
            "says": WRONG_VALUES,
        },
        "stored over the edge": {
            "replace": [
                (
                    "    store_tile(C, M, N, m0, n0, acc, patch_c[warp]);",
                    "    store_tile(C, M + 16, N, m0, n0, acc, patch_c[warp]);",
                )
            ],
            "says": "out-of-bounds|outside",
        },
        "no tensor core": {"source": NO_WMMA, "says": "nothing is multiplied by a tensor core"},
        "a text": {"source": "repaired = 'B is transposed'", "says": "in the answer cell, not str"},
        "half of the rows": {
            "replace": [(ROWS, "int m0 = (blockIdx.y * blockDim.y + threadIdx.y / 2)")],
            "says": "10.2",
        },
    },
    "10.3": {
        "cleared in every step": {
            "replace": [
                (
                    "        for (int i = 0; i < 2; ++i) {\n            load_tile(frag_a[i]",
                    "        for (int i = 0; i < 2; ++i)\n"
                    "            for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);\n"
                    "        for (int i = 0; i < 2; ++i) {\n"
                    "            load_tile(frag_a[i]",
                )
            ],
            "says": "C is wrong",
        },
        "stored in every step": {
            "replace": [
                (
                    "                wmma::mma_sync(acc[i][j], frag_a[i], frag_b[j], acc[i][j]);\n"
                    "    }\n"
                    "    for (int i = 0; i < 2; ++i)\n"
                    "        for (int j = 0; j < 2; ++j)\n"
                    "            store_tile(C, M, N, m0 + 16 * i, n0 + 16 * j, acc[i][j], patch_c);",
                    "                wmma::mma_sync(acc[i][j], frag_a[i], frag_b[j], acc[i][j]);\n"
                    "    for (int i = 0; i < 2; ++i)\n"
                    "        for (int j = 0; j < 2; ++j)\n"
                    "            store_tile(C, M, N, m0 + 16 * i, n0 + 16 * j, acc[i][j], patch_c);\n"
                    "    }",
                )
            ],
            "says": "stored 4 times",
        },
        "half of the products": {
            "replace": [
                (
                    "            for (int j = 0; j < 2; ++j)\n                wmma::mma",
                    "            for (int j = i; j < 2; ++j)\n                wmma::mma",
                )
            ],
            "says": "nothing is added up",
        },
        "every tile anew": {
            "replace": [
                (
                    "        for (int i = 0; i < 2; ++i) {\n"
                    "            load_tile(frag_a[i], patch, A, M, K, m0 + 16 * i, k0);\n"
                    "            load_tile(frag_b[i], patch, B, K, N, k0, n0 + 16 * i);\n        }\n",
                    "",
                ),
                (
                    "for (int j = 0; j < 2; ++j)\n                " + MULTIPLY + ";",
                    "for (int j = 0; j < 2; ++j) {\n"
                    "                load_tile(frag_a[i], patch, A, M, K, m0 + 16 * i, k0);\n"
                    "                load_tile(frag_b[j], patch, B, K, N, k0, n0 + 16 * j);\n                "
                    + MULTIPLY
                    + ";\n            }",
                ),
            ],
            "says": "2 times what 32 × 32",
        },
        "B twice": {
            "replace": [
                ("            load_tile(frag_b[i], patch, B, K, N, k0, n0 + 16 * i);\n", ""),
                (
                    "for (int j = 0; j < 2; ++j)\n                " + MULTIPLY + ";",
                    "for (int j = 0; j < 2; ++j) {\n"
                    "                load_tile(frag_b[j], patch, B, K, N, k0, n0 + 16 * j);\n"
                    "                " + MULTIPLY + ";\n            }",
                ),
            ],
            "says": "1.5 times|1.4|1.6",
        },
        "rows and columns mixed": {
            "replace": [("frag_a[i], frag_b[j], acc", "frag_a[j], frag_b[i], acc")],
            "says": WRONG_VALUES,
        },
        "one tile only": {"replace": [("n0 + 16 * j, acc[i][j], patch_c", "n0, acc[i][j], patch_c")], "says": "10.3"},
        "one sum for a row": {
            "replace": [(MULTIPLY, "wmma::mma_sync(acc[i][0], frag_a[i], frag_b[j], acc[i][0])")],
            "says": WRONG_VALUES,
        },
        "sums of nothing": {
            "replace": [
                (
                    "    for (int i = 0; i < 2; ++i)\n"
                    "        for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);\n",
                    "",
                ),
            ],
            "says": "uninitialised|wrong|NaN",
        },
        "steps of 32": {"replace": [("k0 += 16", "k0 += 32")], "says": WRONG_VALUES},
        "B column by column": {"replace": [COLUMNS], "says": WRONG_VALUES},
        "tiles too close": {"replace": [("blockIdx.x * 32;", "blockIdx.x * 16;")], "says": "10.3"},
        "stored twice": {
            "replace": [
                (
                    "store_tile(C, M, N, m0 + 16 * i, n0 + 16 * j, acc[i][j], patch_c);",
                    "for (int twice = 0; twice < 2; ++twice) store_tile(C, M, N, m0 + 16 * i, n0 + 16 * j, "
                    "acc[i][j], patch_c);",
                )
            ],
            "says": "stored 2 times",
        },
    },
    "10.4": {
        "unfinished": {"source": "relies = ...", "says": "not finished"},
        "nothing": {"source": "relies = set()", "says": "empty"},
        "one missing": {"source": 'relies = {"round", "bias", "mask", "row"}', "says": "1 more"},
        "rounding is safe": {"source": 'relies = {"bias", "mask", "row", "chain"}', "says": "1 more"},
        "clip": {"source": RELIES + ', "clip"}', "says": "'clip' does not belong: every element is treated alike"},
        "scale": {"source": RELIES + ', "scale"}', "says": "'scale' does not belong"},
        "blend": {"source": RELIES + ', "blend"}', "says": "same type, and so the same layout"},
        "largest": {"source": RELIES + ', "largest"}', "says": "stays the largest"},
        "memory": {"source": RELIES + ', "memory"}', "says": "in memory the places are known"},
        "a misspelt name": {"source": 'relies = {"rounding"}', "says": "there is no 'rounding'"},
    },
}
