"""Wrong answers of chapter 01, each with what the check must say."""

LOOP = "while i < out.size:"
STEP = "i += cuda.gridsize(1)"
BODY = "out[i] = alpha * x[i] + y[i]"

WRONG = {
    "01.1": {
        "one element per thread": {"replace": [(LOOP, "if i < out.size:"), (STEP, "pass")], "says": "must walk on"},
        "no guard": {"replace": [(LOOP, "for _ in range(40):")], "says": "out-of-bounds"},
        "one too far": {"replace": [(LOOP, "while i <= out.size:")], "says": "out-of-bounds"},
        "step of one block": {"replace": [(STEP, "i += cuda.blockDim.x")], "says": "race|two threads|stored"},
        "a contiguous piece per thread": {
            "source": """@cuda.jit
def axpy(alpha, x, y, out):
    piece = (out.size + cuda.gridsize(1) - 1) // cuda.gridsize(1)
    for i in range(cuda.grid(1) * piece, min((cuda.grid(1) + 1) * piece, out.size)):
        out[i] = alpha * x[i] + y[i]
""",
            "says": "sectors per request, the target is 5",
        },
        "double arithmetic": {"replace": [(BODY, "out[i] = 1.0 * alpha * x[i] + y[i]")], "says": "float64"},
        "y forgotten": {"replace": [(BODY, "out[i] = alpha * x[i]")], "says": r"out\[\d+\] is wrong"},
        "everything by both blocks": {
            "source": """@cuda.jit
def axpy(alpha, x, y, out):
    i = cuda.threadIdx.x
    while i < out.size:
        out[i] = alpha * x[i] + y[i]
        i += cuda.blockDim.x
""",
            "says": "race|stored 2 times",
        },
        "no kernel": {"source": "def axpy(alpha, x, y, out):\n    ...", "says": "01.1"},
    },
    "01.2": {
        "unfinished": {"source": "def blocks(threads, registers, shared):\n    ...", "says": "not finished"},
        "registers forgotten": {"replace": [("warps_by_registers // warps", "64")], "says": "registers are missing"},
        "shared memory forgotten": {
            "replace": [("(228 * 1024) // (shared + 1024)", "32")],
            "says": "shared memory is missing",
        },
        "no limit of blocks": {"replace": [("        32,\n", "")], "says": "at most 32 blocks"},
        "no limit of threads": {"replace": [("2048 // (32 * warps)", "32")], "says": "2,048 threads"},
        "the system's share forgotten": {
            "source": """def blocks(threads, registers, shared):
    return min(65536 // (registers * threads), 2048 // threads, 32, (228 << 10) // shared if shared else 32)
""",
            "says": "1 KB of shared memory for every block",
        },
        "threads not in warps of four schedulers": {
            "replace": [("16384 // (32 * registers) * 4", "65536 // (32 * registers)")],
            "says": "returned .* expected",
        },
        "64 KB of registers": {"replace": [("16384 //", "4096 //")], "says": "returned .* expected"},
        "a fraction": {"replace": [("warps_by_registers // warps", "warps_by_registers / warps")], "says": "expected"},
        "raises": {"replace": [("(shared + 1024)", "shared")], "says": "ZeroDivisionError"},
    },
    "01.3": {
        "unfinished": {"source": "warps = ...", "says": "not finished"},
        "four bytes per lane": {"replace": [("(32 * 16)", "(32 * 4)")], "says": "4-byte loads"},
        "the whole GPU": {"replace": [("* 2400 / 100", "* 2400")], "says": "whole GPU"},
        "lanes": {"replace": [("(32 * 16)", "16")], "says": "counts lanes"},
        "cycles for nanoseconds": {"replace": [("600 / 1.5", "600")], "says": "400 ns"},
        "clock multiplied": {"replace": [("600 / 1.5", "600 * 1.5")], "says": "400 ns"},
        "bytes": {"replace": [(" / (32 * 16)", "")], "says": "that is bytes"},
        "text": {"source": "warps = '19'", "says": "give one number"},
    },
}
