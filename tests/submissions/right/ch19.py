"""Right answers of chapter 19 that differ from the model solutions."""

RIGHT = {
    "19.1": {
        "with math": {
            "source": """import math

def share(tiles, sms, parts, steps):
    longest = math.ceil(steps / parts)
    time = math.ceil(tiles * parts / sms) * longest
    return tiles * steps / (sms * time)
""",
        },
        "by simulation": {
            "source": """def share(tiles, sms, parts, steps):
    jobs, time = tiles * parts, 0
    while jobs > 0:
        jobs -= sms
        time += (steps + parts - 1) // parts
    return tiles * steps / (sms * time)
""",
        },
    },
    "19.2": {
        "by the edges": {
            "source": """def helpers(tile, tiles, steps, workers):
    total = tiles * steps
    found = -1
    for w in range(workers):
        begin, end = total * w // workers, total * (w + 1) // workers
        if begin < (tile + 1) * steps and end > tile * steps and end > begin:
            found += 1
    return found
""",
        },
        "counting edges inside": {
            "source": """def helpers(tile, tiles, steps, workers):
    total = tiles * steps
    edges = {total * w // workers for w in range(1, workers)}
    return len([e for e in edges if tile * steps < e < (tile + 1) * steps])
""",
        },
    },
    "19.3": {
        "with atomics and fences": {
            "replace": [
                ("    __syncthreads();\n    if (t == 0) st_release_gpu(flag + rank, 1);",
                 "    __threadfence();\n    __syncthreads();\n    if (t == 0) atomicExch(flag + rank, 1);"),
                ("      while (ld_acquire_gpu(flag + from) == 0) {\n      }\n",
                 "      while (atomicAdd(flag + from, 0) == 0) {\n      }\n      __threadfence();\n"),
            ]
        },
        "every thread waits": {
            "replace": [
                (
                    "    if (t == 0) {\n      while (ld_acquire_gpu(flag + from) == 0) {\n      }\n"
                    "      st_release_gpu(flag + from, 0);\n    }\n    __syncthreads();\n",
                    "    while (ld_acquire_gpu(flag + from) == 0) {\n    }\n    __syncthreads();\n"
                    "    if (t == 0) st_release_gpu(flag + from, 0);\n",
                )
            ]
        },
        "the last part first": {
            "replace": [
                ("for (int from = 1; from < SPLIT; ++from) {", "for (int from = SPLIT - 1; from > 0; --from) {")
            ],
        },
        "fences and a counter": {
            "replace": [
                (
                    "    __syncthreads();\n    if (t == 0) st_release_gpu(flag + rank, 1);",
                    "    __threadfence();\n    __syncthreads();\n    if (t == 0) atomicAdd(flag + rank, 1);",
                ),
            ]
        },
        "flags put back at the end": {
            "replace": [
                ("      st_release_gpu(flag + from, 0);\n", ""),
                (
                    "  // ### END SOLUTION\n",
                    "  __syncthreads();\n  if (t > 0 && t < SPLIT) st_release_gpu(flag + t, 0);\n"
                    "  // ### END SOLUTION\n",
                ),
            ]
        },
    },
}
