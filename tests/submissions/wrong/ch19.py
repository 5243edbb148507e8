"""Wrong answers of chapter 19, each with what the check must say. Most are mutations of the model solutions."""

SHARE = "def share(tiles, sms, parts, steps):\n    "
HELPERS = "def helpers(tile, tiles, steps, workers):\n    "
DATA = "    for (int i = 0; i < 4; ++i) part[(rank * 4 + i) * THREADS] = acc[i];\n"
SIGNAL = "    __syncthreads();\n    if (t == 0) st_release_gpu(flag + rank, 1);\n"
WAIT = "      while (ld_acquire_gpu(flag + from) == 0) {\n      }\n"

WRONG = {
    "19.1": {
        "unfinished": {"source": SHARE + "...", "says": "not finished"},
        "parts of equal length": {
            "source": SHARE + "return tiles * parts / (sms * -(-tiles * parts // sms))",
            "says": "longest part",
        },
        "no rounds": {"source": SHARE + "return min(1, tiles * parts / sms)", "says": "further rounds"},
        "whole tiles": {
            "source": SHARE + "return tiles * steps / (sms * -(-tiles // sms) * steps)",
            "says": "makes more parts",
        },
        "rounds down": {"replace": [("-(-tiles * parts // sms)", "max(1, tiles * parts // sms)")], "says": "returned"},
        "steps cut short": {"replace": [("-(-steps // parts)", "max(1, steps // parts)")], "says": "returned"},
        "percent": {"replace": [("return tiles", "return 100 * tiles")], "says": "returned 1"},
        "the busy share of one SM": {"replace": [("(sms * rounds", "(rounds")], "says": "returned"},
        "fails": {"source": SHARE + "return tiles / 0", "says": "ZeroDivisionError"},
    },
    "19.2": {
        "unfinished": {"source": HELPERS + "...", "says": "not finished"},
        "as many for each tile": {"source": HELPERS + "return -(-workers // tiles) - 1", "says": "do not begin where"},
        "with the owner": {
            "replace": [("worker_of(tile * steps)", "worker_of(tile * steps) + 1")],
            "says": "own helper",
        },
        "the edge counts": {
            "source": HELPERS
            + "total = tiles * steps\n"
            + "    return (tile + 1) * steps * workers // total - tile * steps * workers // total",
            "says": "has no steps of the next one",
        },
        "a share begins where it is rounded down": {
            "source": HELPERS
            + "total = tiles * steps\n"
            + "    return ((tile + 1) * steps - 1) * workers // total - tile * steps * workers // total",
            "says": "not always the worker of step p",
        },
        "the next tile's first step": {
            "replace": [("(tile + 1) * steps - 1)", "(tile + 1) * steps)")],
            "says": "has no steps of the next one|returned 1",
        },
        "one too few": {
            "replace": [("- worker_of(tile * steps)", "- worker_of(tile * steps) - 1")],
            "says": "returned -1",
        },
        "tiles as workers": {"replace": [("* workers - 1", "* tiles - 1")], "says": "returned"},
        "none": {"source": HELPERS + "return 0", "says": "returned 0"},
        "counts steps": {"source": HELPERS + "return steps", "says": "returned"},
    },
    "19.3": {
        "does not wait": {"replace": [(WAIT, "")], "says": r"race on W\["},
        "looks once": {"replace": [(WAIT, "      ld_acquire_gpu(flag + from);\n")], "says": r"race on W\["},
        "one flag for all parts": {
            "replace": [
                ("flag + rank, 1)", "flag + 1, 1)"),
                ("ld_acquire_gpu(flag + from)", "ld_acquire_gpu(flag + 1)"),
                ("st_release_gpu(flag + from, 0);", "if (from == SPLIT - 1) st_release_gpu(flag + 1, 0);"),
            ],
            "says": "race",
        },
        "the flag first": {"replace": [(DATA + SIGNAL, SIGNAL + DATA)], "says": "race"},
        "no barrier before the flag": {"replace": [(SIGNAL, SIGNAL.split("\n", 1)[1])], "says": "race"},
        "an ordinary store": {"replace": [("st_release_gpu(flag + rank, 1)", "flag[rank] = 1")], "says": "race"},
        "no barrier after the wait": {
            "replace": [("    }\n    __syncthreads();\n    for", "    }\n    for")],
            "says": "race",
        },
        "flags stay": {"replace": [("      st_release_gpu(flag + from, 0);\n", "")], "says": "left as it was found"},
        "one part forgotten": {
            "replace": [("from = 1; from < SPLIT;", "from = 1; from < SPLIT - 1;")],
            "says": "missing|wrong",
        },
        "waits for itself": {
            "replace": [("for (int from = 1;", "for (int from = 0;")],
            "says": "livelock|deadlock|spin",
        },
        "all to one place": {"replace": [("part[(rank * 4 + i)", "part[i")], "says": "race|wrong"},
        "atomics on C": {
            "replace": [
                ("  if (rank > 0) {\n", "  if (false) {\n"),
                ("  for (int from = 1; from < SPLIT; ++from) {", "  for (int from = 1; from < 1; ++from) {"),
                ("C[(m + 8 * i) * N + n] = acc[i];", "atomicAdd(C + (m + 8 * i) * N + n, acc[i]);"),
            ],
            "says": "what C held before|NaN",
        },
        "one CTA does it all": {
            "replace": [
                ("int k = K * rank / SPLIT; k < K * (rank + 1) / SPLIT; ++k", "int k = 0; k < (rank ? 0 : K); ++k"),
            ],
            "says": "no part of a sum is left in W",
        },
        "each thread sets the flag back": {
            "replace": [("    if (t == 0) {\n      while", "    {\n      while")],
            "says": "livelock",
        },
        "set back before all have seen it": {
            "replace": [
                ("    if (t == 0) {\n" + WAIT + "      st_release_gpu(flag + from, 0);\n    }\n",
                 WAIT + "    if (t == 0) st_release_gpu(flag + from, 0);\n"),
            ],
            "says": "livelock",
        },
        "volatile flags": {
            "replace": [
                ("st_release_gpu(flag + rank, 1)", "*(volatile unsigned*)(flag + rank) = 1"),
                ("ld_acquire_gpu(flag + from)", "*(volatile unsigned*)(flag + from)"),
            ],
            "says": "race",
        },
        "the last part's CTA adds": {"replace": [("if (rank > 0) {", "if (rank < SPLIT - 1) {")], "says": "livelock"},
        "everybody stores": {
            "replace": [("    return;\n  }\n  for (int from", "  } else for (int from")],
            "says": "race|wrong|missing",
        },
    },
}
