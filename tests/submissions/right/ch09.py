"""Right answers of chapter 09 that differ from the model solutions."""

def early_barrier(multiply):
    return [
        ("    cuda.syncthreads()\n    buffer = 0\n", "    buffer = 0\n"),
        ("    for k0 in range(8, K, 8):\n", "    for k0 in range(8, K, 8):\n        cuda.syncthreads()\n"),
        (f"        cuda.syncthreads()\n    {multiply}(", f"    cuda.syncthreads()\n    {multiply}("),
    ]


RIGHT = {
    "09.1": {
        "the barrier at the top": {"replace": early_barrier("multiply")},
        "buffers by parity": {
            "replace": [
                (
                    "        multiply(acc, smem_a, smem_b, buffer,",
                    "        multiply(acc, smem_a, smem_b, (k0 // 8 - 1) % 2,",
                ),
                ("        buffer ^= 1\n", "        buffer = k0 // 8 % 2\n"),
            ]
        },
        "three buffers": {
            "replace": [
                ("(2, 8, 33)", "(3, 8, 33)"),
                ("(2, 8, 32)", "(3, 8, 32)"),
                ("buffer ^= 1", "buffer = (buffer + 1) % 3"),
            ]
        },
    },
    "09.2": {
        "by cases": {
            "source": """def time_per_tile(load, compute, stages, transfer):
    ahead = stages - 1
    hidden = load / ahead if ahead else max(load, transfer) + compute
    return max(hidden, compute, transfer)
""",
        },
        "as a simulation": {
            "source": """def time_per_tile(load, compute, stages, transfer):
    start, memory, tiles = [], 0.0, 400
    ends = []
    for tile in range(tiles):
        issued = 0.0 if tile < max(1, stages - 1) else (start[tile - stages + 1] if stages > 1 else ends[-1])
        memory = max(memory, issued) + transfer
        arrived = max(issued + load, memory)
        start.append(max(arrived, ends[-1] if ends else 0.0))
        ends.append(start[-1] + compute)
    return (ends[-1] - ends[-1 - 5 * 42]) / (5 * 42)
""",
        },
    },
    "09.3": {
        "the barrier at the top": {"replace": early_barrier("product")},
        "a barrier more": {
            "replace": [("        buffer ^= 1\n", "        other = 1 - buffer\n        buffer = other\n")],
        },
    },
    "09.4": {
        "no copies after the last tile": {
            "replace": [("range(4):\n            put", "range(4 if k0 < K else 0):\n            put")],
        },
        "two groups, all waited for": {
            "replace": [("            copy_element(smem_b", "            commit()\n            copy_element(smem_b")],
        },
        "three buffers, one group open": {
            "replace": [
                ("2 * 8 * 33", "3 * 8 * 33"),
                ("2 * 8 * 32", "3 * 8 * 32"),
                ("for turn in range(-1,", "for turn in range(-2,"),
                ("(turn + 1) * 8, (turn + 1) % 2, turn % 2", "(turn + 2) * 8, (turn + 2) % 3, turn % 3"),
                ("            wait_all()\n", "            wait_all_but_one()\n"),
            ]
        },
    },
}
