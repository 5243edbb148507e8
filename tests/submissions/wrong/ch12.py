"""Wrong answers of chapter 12, each with what the check must say. Most are mutations of the model solutions."""

LOOP_COPY = "        copy((tile + STAGES - 1) % STAGES, tile + STAGES - 1);\n"
COMMIT = "        cp_async_commit_group();\n"
WAIT = "        cp_async_wait_group<STAGES - 2>();\n"
BARRIER = "        __syncthreads();\n"
TURN = WAIT + BARRIER + LOOP_COPY + COMMIT
SKIPPED = "        if (tile + STAGES - 1 < tiles) {\n    " + LOOP_COPY + "    " + COMMIT + "        }\n"
MODEL = "def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):\n    "
ORDER = "def tile_of(i, tiles_m, tiles_n):\n    "

QUEUE = {
    "one group for all first tiles": {
        "replace": [
            (
                "        copy(stage, stage);\n        cp_async_commit_group();\n    }\n",
                "        copy(stage, stage);\n    }\n    cp_async_commit_group();\n",
            )
        ],
        "says": "newest 2",
    },
    "every stage filled at once": {
        "replace": [
            ("for (int stage = 0; stage < STAGES - 1; ++stage)", "for (int stage = 0; stage < STAGES; ++stage)")
        ],
        "says": "copy-overwritten",
    },
    "no wait before C": {
        "replace": [("    cp_async_wait_group<0>();\n    __syncthreads();\n", "")],
        "says": "under way",
    },
    "turns beyond the last tile": {
        "replace": [("tile < tiles; ++tile", "tile < tiles + STAGES; ++tile")],
        "says": "one can say both",
    },
    "wait too weak": {"replace": [(WAIT, WAIT.replace("STAGES - 2", "STAGES - 1"))], "says": "newest 3"},
    "no wait": {"replace": [(WAIT, "")], "says": "under way"},
    "wait too strong": {
        "replace": [(WAIT, WAIT.replace("STAGES - 2", "0"))],
        "says": "at most 0 groups may be open, the target is 2",
    },
    "three stages": {
        "replace": [("constexpr int STAGES = 4;", "constexpr int STAGES = 3;")],
        "says": "at most 1 group may be open, the target is 2",
    },
    "no commit in the last turns": {"replace": [(LOOP_COPY + COMMIT, SKIPPED)], "says": "under way|newest"},
    "copy before the barrier": {"replace": [(TURN, WAIT + LOOP_COPY + COMMIT + BARRIER)], "says": "race|copy"},
    "no barrier": {"replace": [(TURN, WAIT + LOOP_COPY + COMMIT)], "says": "race"},
    "barrier before the wait": {"replace": [(TURN, BARRIER + WAIT + LOOP_COPY + COMMIT)], "says": "race|copy"},
    "two barriers": {"replace": [(TURN, TURN + BARRIER)], "says": "20 barriers|21 barriers|22 barriers"},
    "fills the stage that is read": {
        "replace": [(LOOP_COPY, LOOP_COPY.replace("(tile + STAGES - 1) % STAGES", "tile % STAGES"))],
        "says": "race|copy|wrong",
    },
    "the tile after next": {
        "replace": [(LOOP_COPY, LOOP_COPY.replace(", tile + STAGES - 1)", ", tile + STAGES)"))],
        "says": "wrong|missing|bound",
    },
    "no commit in the loop": {"replace": [(LOOP_COPY + COMMIT, LOOP_COPY)], "says": "not committed|under way"},
    "ordinary loads": {
        "replace": [("stages[stage].copy<WIDE, THREADS>", "stages[stage].copy<false, THREADS>")],
        "says": "ordinary load",
    },
}

WRONG = {
    "12.1": QUEUE,
    "12.2": {
        "late when just in time": {
            "source": """import math


def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    S = 2
    while (S - 1 - 1 / steps) * compute <= latency: S += 1
    return min(S, shared_bytes // tile_bytes)""",
            "says": "returned 4, expected 3",
        },
        "a step too many": {
            "source": """import math


def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    return min(max(2, math.ceil(latency / compute + 1 - 1 / steps)), shared_bytes // tile_bytes)""",
            "says": "S - 1 tiles ahead",
        },
        "bytes for kilobytes": {
            "source": """import math


def stages_needed(latency, compute, steps, tile_bytes, shared_bytes):
    return min(max(2, math.ceil(latency / compute + 1 + 1 / steps)), shared_bytes // 1024 // tile_bytes)""",
            "says": "returned 0, expected 3",
        },
        "unfinished": {"source": MODEL + "...", "says": "not finished"},
        "a step forgotten": {
            "replace": [("latency / compute + 1 + 1 / steps", "latency / compute + 1")],
            "says": "one step",
        },
        "more than fits": {
            "replace": [("return min(stages, shared_bytes // tile_bytes)", "return stages")],
            "says": "do not always fit",
        },
        "one stage": {
            "replace": [
                ("max(2, math.ceil(latency / compute + 1 + 1 / steps))", "math.ceil(latency / compute + 1 / steps)")
            ],
            "says": "expected|least|starts",
        },
        "a stage too few": {
            "replace": [("latency / compute + 1 + 1 / steps", "latency / compute + 1 / steps")],
            "says": "S - 1 tiles ahead",
        },
        "rounded down": {"replace": [("math.ceil", "math.floor")], "says": "round up"},
        "a guide's formula": {
            "source": MODEL + "return min(latency // compute, shared_bytes // tile_bytes)",
            "says": "expected",
        },
        "228 KB": {
            "replace": [("shared_bytes // tile_bytes", "228 * 1024 // tile_bytes")],
            "says": "expected 3",
        },
        "steps of the wrong kind": {
            "replace": [("1 / steps", "steps")],
            "says": "expected",
        },
        "one more where it is just in time": {
            "replace": [("math.ceil(latency / compute + 1 + 1 / steps)", "int(latency / compute + 2 + 1 / steps)")],
            "says": "returned 4, expected 3",
        },
        "a string": {"source": MODEL + "return 'four'", "says": "returned str"},
    },
    "12.3": QUEUE,
    "12.4": {
        "m and n changed round": {
            "source": """def tile_of(i, tiles_m, tiles_n):
    rows = 8
    first, inside = i // (rows * tiles_n) * rows, i % (rows * tiles_n)
    height = min(rows, tiles_m - first)
    return inside // height, first + inside % height""",
            "says": "are m and n in this order",
        },
        "a Z curve": {
            "source": """def tile_of(i, tiles_m, tiles_n):
    m = n = 0
    for b in range(8):
        m |= (i >> (2 * b) & 1) << b; n |= (i >> (2 * b + 1) & 1) << b
    return m, n""",
            "says": "outside of the 9 × 9 tiles",
        },
        "a quotient": {
            "source": """def tile_of(i, tiles_m, tiles_n):
    rows = 8
    first, inside = i // (rows * tiles_n) * rows, i % (rows * tiles_n)
    height = min(rows, tiles_m - first)
    return first + inside % height, inside / height""",
            "says": "whole numbers",
        },
        "unfinished": {"source": ORDER + "...", "says": "not finished"},
        "as one guide has it": {
            "source": ORDER + "return i // 8 % tiles_m, i % 8 + i // (8 * tiles_m) * 8",
            "says": "outside of the 1 × 1 tiles|the last group is smaller",
        },
        "along the rows": {"source": ORDER + "return i // tiles_n, i % tiles_n", "says": "touch 2095 strips"},
        "down the columns": {"source": ORDER + "return i % tiles_m, i // tiles_m", "says": "touch 2050 strips"},
        "groups of four": {"replace": [("rows = 8", "rows = 4")], "says": "touch 1116 strips"},
        "the last group as high": {
            "replace": [("min(rows, tiles_m - first)", "rows")],
            "says": "the last group is smaller",
        },
        "m and n changed": {
            "replace": [
                ("return first + inside % height, inside // height", "return inside // height, first + inside % height")
            ],
            "says": "outside of",
        },
        "twice": {"replace": [("inside // height", "inside // rows")], "says": "already|outside"},
        "one number": {"source": ORDER + "return i", "says": "not a pair"},
        "no number": {"source": ORDER + "return float('nan'), 0", "says": "not a pair"},
        "negative": {"source": ORDER + "return -(i // tiles_n), i % tiles_n", "says": "outside of the 16 × 16 tiles$"},
        "raises": {"source": ORDER + "return i // (tiles_m - 1), 0", "says": "ZeroDivisionError"},
    },
}
