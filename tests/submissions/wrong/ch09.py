"""Wrong answers of chapter 09, each with what the check must say. Most are mutations of the model solutions."""

RACE = "race|barrier"
ARGUMENTS = "(acc, smem_a, smem_b, buffer, ty, tx)"
OTHER = "(acc, smem_a, smem_b, buffer ^ 1, ty, tx)"
SECOND_LOOP = "        commit()\n        for i in range(4):\n"
MODEL = "def time_per_tile(load, compute, stages, transfer):\n    "
LOOP_BARRIER = "] = b[i]\n        cuda.syncthreads()\n"


def pipeline(multiply, element):
    """Return what goes wrong in a double buffer; the device functions' names are the exercise's."""
    return {
        "no barrier in the loop": {"replace": [(LOOP_BARRIER, "] = b[i]\n")], "says": RACE},
        "no barrier after the prologue": {
            "replace": [("    cuda.syncthreads()\n    buffer = 0", "    buffer = 0")],
            "says": RACE,
        },
        "buffer switched after the stores": {
            "replace": [
                ("        buffer ^= 1\n", ""),
                (LOOP_BARRIER, "] = b[i]\n        buffer ^= 1\n        cuda.syncthreads()\n"),
            ],
            "says": RACE,
        },
        "the last tile forgotten": {
            "replace": [(f"    {multiply}(acc, smem_a, smem_b, buffer, ty, tx)\n    ### END", "    ### END")],
            "says": "products are missing|wrong|bound",
        },
        "two barriers": {
            "replace": [("        buffer ^= 1\n", "        cuda.syncthreads()\n        buffer ^= 1\n")],
            "says": "9 barriers for 5 tiles",
        },
        "stored before the multiply": {
            "replace": [
                (f"        {multiply}{ARGUMENTS}\n        buffer ^= 1\n", "        buffer ^= 1\n"),
                (LOOP_BARRIER, f"] = b[i]\n        {multiply}{OTHER}\n        cuda.syncthreads()\n"),
            ],
            "says": "0 of a warp's shared loads .* the target is 64",
        },
        "only A waits in registers": {
            "replace": [
                (f"            b[i] = {element}(B, k0 + t // 32 + 2 * i, n0 + t % 32)\n", ""),
                ("] = b[i]", f"] = {element}(B, k0 + t // 32 + 2 * i, n0 + t % 32)"),
            ],
            "says": "of a warp's shared loads .* the target is 64",
        },
        "double accumulator": {
            "replace": [("acc = cuda.local.array((4, 4), float32)", "acc = cuda.local.array((4, 4), 'float64')")],
            "says": "float64",
        },
        "the tile's tail": {"replace": [("range(8, K, 8)", "range(8, K - 7, 8)")], "says": "09"},
    }


WRONG = {
    "09.1": pipeline("multiply", "element"),
    "09.2": {
        "unfinished": {"source": MODEL + "...", "says": "not finished"},
        "a producer's order": {
            "replace": [("load / (stages - 1), transfer)", "(load + compute) / stages, transfer)")],
            "says": "a producer's order",
        },
        "a guide's formula": {
            "source": MODEL + "return compute + load / stages",
            "says": "nothing adds up",
        },
        "memory forgotten": {
            "replace": [(", transfer)\n    ### END", ")\n    ### END"), ("max(load, transfer)", "load")],
            "says": "transfer, is missing",
        },
        "S loads ahead": {
            "source": MODEL + "return max(compute, load / stages, transfer)",
            "says": "S - 1 loads",
        },
        "one buffer and a slow memory": {
            "replace": [("max(load, transfer) + compute", "max(load + compute, transfer)")],
            "says": "whichever takes longer",
        },
        "divides by zero": {
            "source": MODEL + "return max(compute, load / (stages - 1), transfer)",
            "says": "ZeroDivisionError",
        },
        "the sum": {
            "source": MODEL + "return load + compute",
            "says": "expected|larger",
        },
    },
    "09.3": pipeline("product", "fetch"),
    "09.4": {
        "two groups per tile": {
            "replace": [
                ("wait_all()", "wait_all_but_one()"),
                ("            copy_element(smem_b", SECOND_LOOP + "            copy_element(smem_b"),
            ],
            "says": "lets the newest 1 go on",
        },
        "all but the youngest": {"replace": [("   wait_all()", "   wait_all_but_one()")], "says": "newest 1"},
        "no wait": {"replace": [("            wait_all()\n", "")], "says": "under way"},
        "no commit": {"replace": [("n0 + t % 32)\n        commit()\n", "n0 + t % 32)\n")], "says": "not committed"},
        "no barrier": {"replace": [("wait_all()\n            cuda.syncthreads()", "wait_all()")], "says": "race"},
        "the barrier before the wait": {
            "replace": [("wait_all()\n            cuda.syncthreads()", "cuda.syncthreads()\n            wait_all()")],
            "says": "race|copy",
        },
        "one buffer": {"replace": [("(turn + 1) % 2, turn % 2", "0, 0")], "says": "race|copy"},
        "no overlap": {
            "replace": [
                ("        commit()\n", "        commit()\n        wait_all()\n        cuda.syncthreads()\n"),
            ],
            "says": "barriers for 5 tiles",
        },
        "no zero fill": {
            "replace": [("row * X.shape[1] + col if inside else 0, 1 if inside else 0", "row * X.shape[1] + col, 1")],
            "says": "out-of-bounds",
        },
        "ordinary loads": {
            "replace": [
                ("copy_async4(smem, put, X, row * X.shape[1] + col if inside else 0, 1 if inside else 0)",
                 "smem[put] = X[row, col] if inside else float32(0)"),
            ],
            "says": "keep the copies",
        },
    },
}
