"""Right answers of chapter 17 that differ from the model solutions."""

RIGHT = {
    "17.1": {
        "every lane of a warp": {
            "replace": [
                ("mbarrier_init(&s.empty[i], 4 * CTAS)", "mbarrier_init(&s.empty[i], 128 * CTAS)"),
                ("if (k > 0 && lane < CTAS) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);",
                 "if (k > 0) for (int c = 0; c < CTAS; ++c) mbarrier_arrive_relaxed_cluster(&s.empty[before], c);"),
            ]
        },
        "released with a fence": {
            "replace": [("mbarrier_arrive_relaxed_cluster", "mbarrier_arrive_release_cluster"),
                        ("  barrier_cluster_arrive_relaxed();", "  barrier_cluster_arrive();")],
        },
        "announced in two steps": {
            "replace": [("mbarrier_arrive_expect_tx(full, sizeof(stage.a) + sizeof(stage.b));",
                         "mbarrier_expect_tx(full, sizeof(stage.a));\n"
                         "        mbarrier_arrive_expect_tx(full, sizeof(stage.b));")],
        },
        "one lane tells both": {
            "replace": [
                ("if (k > 0 && lane < CTAS) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);",
                 "if (k > 0 && lane == 0) {\n        mbarrier_arrive(&s.empty[before]);\n"
                 "        mbarrier_arrive_relaxed_cluster(&s.empty[before], 1 - rank);\n      }"),
            ]
        },
        "each fetches the other half": {
            "replace": [("int row = rank * OWN_ROWS;", "int row = (1 - rank) * OWN_ROWS;")],
        },
    },
    "17.2": {
        "by the cluster": {
            "source": """def bytes_per_step(BM, BN, BK, rows, columns):
    whole = 2 * BK * (rows * BM + columns * BN)
    return whole // (rows * columns)
""",
        },
        "elements first": {
            "source": """def bytes_per_step(BM, BN, BK, rows, columns):
    a, b = BM * BK / columns, BK * BN / rows
    return 2 * (a + b)
""",
        },
    },
    "17.3": {
        "CTA 0 sends, too": {
            "replace": [
                ("if (rank == 1) st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);",
                 "st_shared_cluster_v4(mapa_shared_cluster(&received[t], 1 - rank), ours);"),
            ]
        },
        "CTA 0 fetches": {
            "replace": [
                ("st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);", "received[t] = ours;"),
                ("  if (rank == 1) return;\n  float4 other = received[t];\n",
                 "  float4 other = ld_shared_cluster_v4(mapa_shared_cluster(&received[t], 1));\n"
                 "  barrier_cluster_arrive();\n  barrier_cluster_wait();\n  if (rank == 1) return;\n"),
            ]
        },
        "with cooperative groups": {
            "replace": [
                ("#include", "#include <cooperative_groups.h>\n#include"),
                ("st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);",
                 "*cooperative_groups::this_cluster().map_shared_rank(&received[t], 0) = ours;"),
            ]
        },
        "the other half": {
            "replace": [
                ("if (rank == 1) st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);",
                 "if (rank == 0) st_shared_cluster_v4(mapa_shared_cluster(&received[t], 1), ours);"),
                ("if (rank == 1) return;", "if (rank == 0) return;"),
            ]
        },
    },
}  # fmt: skip
