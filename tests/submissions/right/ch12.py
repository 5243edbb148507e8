"""Right answers of chapter 12 that differ from the model solutions."""

LOOP_COPY = "        copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);\n"
BARRIER = "        __syncthreads();\n"
MULTIPLY = "        frag.multiply(acc);\n"
COMMIT_AFTER = LOOP_COPY + "        cp_async_commit_group();\n"

QUEUE = {
    "copies behind the products": {
        "replace": [
            ("        copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);\n        cp_async_commit_group();\n", ""),
            (
                "        frag.multiply(acc);\n",
                "        frag.multiply(acc);\n"
                "        copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);\n"
                "        cp_async_commit_group();\n",
            ),
        ]
    },
    "five stages": {"replace": [("constexpr int STAGES = 4;", "constexpr int STAGES = 5;")]},
    "the copy after the multiply": {
        "replace": [(COMMIT_AFTER, ""), (MULTIPLY, MULTIPLY + COMMIT_AFTER)],
    },
    "an empty group at the end": {
        "replace": [(BARRIER + LOOP_COPY, BARRIER + "        if (tile + STAGES - 1 < tiles)\n    " + LOOP_COPY)],
    },
    "waits for everything in the last turns": {
        "replace": [
            (
                COMMIT_AFTER,
                "        if (tile + STAGES - 1 < tiles) {\n    "
                + LOOP_COPY
                + "            cp_async_commit_group();\n        }\n",
            ),
            (
                "        cp_async_wait_group<STAGES - 2>();\n",
                "        if (tile + STAGES - 2 < tiles)\n            cp_async_wait_group<STAGES - 2>();\n"
                "        else\n            cp_async_wait_group<0>();\n",
            ),
        ],
    },
}

RIGHT = {
    "12.1": QUEUE,
    "12.2": {
        "counting up": {
            "source": """import math


def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    S = 2
    while (S - 1) * compute - compute / steps < latency and (S + 1) * tile_bytes <= shared_bytes: S += 1
    return S"""
        },
        "by search": {
            "source": """def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    most = shared_bytes // tile_bytes
    for stages in range(2, most + 1):
        if (stages - 2) * compute + compute * (steps - 1) / steps >= latency:
            return stages
    return most
""",
        },
        "whole numbers": {
            "source": """def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    time = latency * steps + compute
    ahead = -(-time // (compute * steps))
    return min(max(2, ahead + 1), shared_bytes // tile_bytes)
""",
        },
    },
    "12.3": QUEUE,
    "12.4": {
        "groups of eleven rows": {
            "source": """def tile_of(i, tiles_m, tiles_n):
    rows = 11
    first, inside = i // (rows * tiles_n) * rows, i % (rows * tiles_n)
    height = min(rows, tiles_m - first)
    return first + inside % height, inside // height"""
        },
        "groups of 16 rows": {"replace": [("rows = 8", "rows = 16")]},
        "widths of columns, the last one narrower": {
            "source": """def tile_of(i, tiles_m, tiles_n):
    width = 8
    first, inside = i // (width * tiles_m) * width, i % (width * tiles_m)
    width = min(width, tiles_n - first)
    return inside // width, first + inside % width
""",
        },
        "there and back": {
            "replace": [
                (
                    "    return first + inside % height, inside // height",
                    "    column = inside // height\n"
                    "    row = inside % height\n"
                    "    return first + (row if column % 2 == 0 else height - 1 - row), column",
                )
            ],
        },
    },
}
