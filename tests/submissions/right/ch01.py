"""Right answers of chapter 01 that differ from the model solutions."""

RIGHT = {
    "01.1": {
        "a for loop over a stride": {
            "source": """@cuda.jit
def axpy(alpha, x, y, out):
    start = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for i in range(start, x.shape[0], cuda.gridDim.x * cuda.blockDim.x):
        out[i] = y[i] + x[i] * alpha
""",
        },
        "a chunk per block, lanes side by side": {
            "source": """@cuda.jit
def axpy(alpha, x, y, out):
    chunk = (out.size // cuda.gridDim.x + 32) // 32 * 32
    first = cuda.blockIdx.x * chunk
    i = first + cuda.threadIdx.x
    while i < min(first + chunk, out.size):
        out[i] = alpha * x[i] + y[i]
        i += cuda.blockDim.x
""",
        },
        "lanes in reverse": {"replace": [("i = cuda.grid(1)\n", "i = cuda.gridsize(1) - 1 - cuda.grid(1)\n")]},
    },
    "01.2": {
        "by a loop": {
            "source": """def blocks(threads, registers, shared):
    warps, held = (threads + 31) // 32, 0
    while held < 32:
        total = (held + 1) * warps
        quarter = (total + 3) // 4
        too_many = total > 64 or quarter * 32 * registers > 16384 or (held + 1) * (shared + 1024) > 228 * 1024
        if too_many:
            break
        held += 1
    return held
""",
        },
        "whole numbers of NumPy": {"replace": [("    return min(", "    return np.int64(1) * min(")]},
    },
    "01.3": {
        "in seconds": {"source": "warps = 600 / 1.5e9 * 2400e9 / 100 / 512"},
        "bytes per cycle": {"source": "warps = np.float32(600 * (2400 / 1.5 / 100) / 512)"},
    },
}
