"""Wrong answers of chapter 17, each with what the check must say. Most are mutations of the model solutions."""

SIZE = "def bytes_per_step(BM, BN, BK, rows, columns):\n    return "
ARRIVE = "if (k > 0 && lane < CTAS) mbarrier_arrive_relaxed_cluster(&s.empty[before], lane);"
MEET = "  barrier_cluster_arrive();\n  barrier_cluster_wait();\n"
ADD = "  sum[0] += other.x, sum[1] += other.y, sum[2] += other.z, sum[3] += other.w;\n"
SEND = "  if (rank == 1) st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);\n"
EARLY = "race|under way|still read|arrival"

WRONG = {
    "17.1": {
        "nothing shared": {
            "replace": [
                ("tma_load_2d_multicast(stage.b + row * 64, &B, n, k + row, full, (1 << CTAS) - 1);",
                 "tma_load_2d(stage.b, &B, n, k, full);\n        tma_load_2d(stage.b + 32 * 64, &B, n, k + 32, full);"),
            ],
            "says": "once per pair",
        },
        "released here twice": {
            "replace": [
                ("mbarrier_arrive_relaxed_cluster(&s.empty[before], lane)", "mbarrier_arrive(&s.empty[before])"),
            ],
            "says": "race",
        },
        "only its own bytes": {
            "replace": [("sizeof(stage.a) + sizeof(stage.b))", "sizeof(stage.a) + sizeof(stage.b) / CTAS)")],
            "says": "bytes|expect|under way",
        },
        "four arrivals": {
            "replace": [("mbarrier_init(&s.empty[i], 4 * CTAS)", "mbarrier_init(&s.empty[i], 4)")],
            "says": EARLY,
        },
        "released for itself only": {
            "replace": [("mbarrier_init(&s.empty[i], 4 * CTAS)", "mbarrier_init(&s.empty[i], 4)"),
                        (ARRIVE, "if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);")],
            "says": EARLY,
        },
        "eight arrivals, four come": {
            "replace": [(ARRIVE, "if (k > 0 && lane == 0) mbarrier_arrive(&s.empty[before]);")],
            "says": "deadlock",
        },
        "the other's producer never hears": {
            "replace": [(ARRIVE, "if (k > 0 && lane < CTAS) mbarrier_arrive(&s.empty[before]);")],
            "says": EARLY,
        },
        "a barrier of the block at the start": {
            "replace": [(MEET + "  // ### END", "  __syncthreads();\n  // ### END")],
            "says": "cluster-not-started",
        },
        "leaves early": {
            "replace": [("  barrier_cluster_arrive_relaxed();\n  barrier_cluster_wait();\n", "")],
            "says": "cluster-exit",
        },
        "arrives and leaves": {
            "replace": [("  barrier_cluster_arrive_relaxed();\n  barrier_cluster_wait();\n",
                         "  barrier_cluster_arrive_relaxed();\n")],
            "says": "cluster-exit",
        },
        "arrives at the end, does not wait": {
            "replace": [("  barrier_cluster_arrive_relaxed();\n  barrier_cluster_wait();\n",
                         "  barrier_cluster_arrive_relaxed();\n")],
            "says": "cluster-exit",
        },
        "A by multicast too": {
            "replace": [("tma_load_2d(stage.a, &A, k, m, full);",
                         "tma_load_2d_multicast(stage.a, &A, k, m, full, (1 << CTAS) - 1);")],
            "says": EARLY,
        },
        "both halves the same": {
            "replace": [("int row = rank * OWN_ROWS;", "int row = 0;")],
            "says": "17.1 at",
        },
        "copied to one CTA": {
            "replace": [("(1 << CTAS) - 1", "1 << rank")],
            "says": "deadlock",
        },
        "each fetches all of B": {
            "replace": [
                ("int row = rank * OWN_ROWS;", ""),
                ("        tma_load_2d_multicast(stage.b + row * 64, &B, n, k + row, full, (1 << CTAS) - 1);\n",
                 "        for (int row = 0; row < BK; row += OWN_ROWS)\n"
                 "          tma_load_2d(stage.b + row * 64, &B, n, k + row, full);\n"),
            ],
            "says": "times what 128 × 64 tiles need",
        },
        "released one turn early": {
            "replace": [("(ring.stage + STAGES - 1) % STAGES", "ring.stage"), ("k > 0 && lane", "lane")],
            "says": EARLY,
        },
    },
    "17.2": {
        "unfinished": {"source": SIZE.replace("return ", "..."), "says": "not finished"},
        "turned round": {"source": SIZE + "2 * BK * (BM // rows + BN // columns)", "says": "one above the other"},
        "elements": {"source": SIZE + "BK * (BM // columns + BN // rows)", "says": "2 bytes"},
        "all by all": {"source": SIZE + "2 * BK * (BM + BN) // (rows * columns)", "says": "nobody shares both"},
        "nothing shared": {"source": SIZE + "2 * BK * (BM + BN)", "says": "nothing is shared"},
        "the whole cluster": {"source": SIZE + "2 * BK * (BM * rows + BN * columns)", "says": "whole cluster"},
        "only B": {"source": SIZE + "2 * BK * (BM + BN // rows)", "says": "A can be shared"},
        "floats": {"source": SIZE + "4 * BK * (BM // columns + BN // rows)", "says": "expected"},
        "raises": {"source": SIZE + "1 // 0", "says": "ZeroDivisionError"},
    },
    "17.3": {
        "no first meeting": {"replace": [(MEET + "  float4 ours", "  float4 ours")], "says": "not-started|race"},
        "no second meeting": {"replace": [(SEND + MEET, SEND)], "says": "race|uninitialised|never written"},
        "a barrier of the block": {"replace": [(SEND + MEET, SEND + "  __syncthreads();\n")], "says": "race|uninit"},
        "arrives and goes on": {
            "replace": [(MEET + "  float4 ours", "  barrier_cluster_arrive();\n  float4 ours")],
            "says": "cluster-not-started",
        },
        "a relaxed arrival": {
            "replace": [(SEND + MEET, SEND + MEET.replace("arrive()", "arrive_relaxed()"))],
            "says": "race",
        },
        "to itself": {"replace": [("&received[t], 0)", "&received[t], 1)")], "says": "uninitialised|17.3 at|race"},
        "one box for all": {"replace": [("&received[t], 0)", "&received[0], 0)")], "says": "race|17.3 at"},
        "fetched, and left early": {
            "replace": [
                ("st_shared_cluster_v4(mapa_shared_cluster(&received[t], 0), ours);", "received[t] = ours;"),
                ("received[t];\n", "ld_shared_cluster_v4(mapa_shared_cluster(&received[t], 1));\n"),
            ],
            "says": "cluster-exit",
        },
        "both store": {"replace": [("  if (rank == 1) return;\n", "")], "says": "race|17.3 at|uninitialised"},
        "sends and leaves": {
            "replace": [(SEND, SEND.replace("(rank == 1) ", "(rank == 1) { ").replace("ours);", "ours); return; }"))],
            "says": "race|cluster",
        },
        "everybody adds everything": {
            "replace": [("k = rank; k < K; k += 2", "k = 0; k < K; ++k"),
                        (ADD, "  if (sum[0] == other.x) sum[1] = other.y;\n")],
            "says": "computed 2 times",
        },
        "not added": {"replace": [(ADD, "")], "says": "17.3 at"},
        "through global memory": {
            "replace": [
                (MEET + "  float4 ours = make_float4(sum[0], sum[1], sum[2], sum[3]);\n" + SEND + MEET,
                 "  if (rank == 1)\n    for (int j = 0; j < 4; ++j)\n"
                 "      if (m < M && n + j < N) C[m * N + n + j] = sum[j];\n" + MEET),
                ("  float4 other = received[t];\n", ""),
                (ADD,
                 "  for (int j = 0; j < 4; ++j)\n    if (m < M && n + j < N) sum[j] += C[m * N + n + j];\n"),
            ],
            "says": "stored 2 times|touches the other's",
        },
        "twice its own": {"replace": [("float4 other = received[t];", "float4 other = ours;")], "says": "17.3 at"},
    },
}  # fmt: skip
