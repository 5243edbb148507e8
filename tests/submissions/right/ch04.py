"""Right answers of chapter 04 that differ from the model solutions."""

RIGHT = {
    "04.1": {
        "rows and columns from the linear thread index": {
            "source": """@cuda.jit
def gemm(A, B, C):
    lane = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    column = cuda.blockIdx.x * 32 + lane % 32
    row = cuda.blockIdx.y * 8 + lane // 32
    if row < A.shape[0] and column < B.shape[1]:
        acc = float32(0)
        for k in range(B.shape[0]):
            acc += A[row, k] * B[k, column]
        C[row, column] = acc
""",
        },
        "a warp mirrored": {"replace": [("n, m = cuda.grid(2)", "n, m = cuda.grid(2)\n    n ^= 31")]},
    },
    "04.2": {
        "closed form": {"source": "def sectors(stride, width):\n    return max(1, min(32, stride * width))"},
        "counting every byte": {
            "source": """def sectors(stride, width):
    touched = set()
    for lane in range(32):
        for byte in range(width):
            touched.add((lane * stride * width + byte) // 32)
    return np.int64(len(touched))
""",
        },
    },
    "04.3": {
        "a wide block remapped in the kernel": {
            "source": """@cuda.jit
def gemm_nt(A, B, C):
    t = cuda.threadIdx.x + 32 * cuda.threadIdx.y
    lane, warp = t % 32, t // 32
    n = cuda.blockIdx.x * 32 + 8 * (warp % 4) + lane % 8
    m = cuda.blockIdx.y * 8 + 4 * (warp // 4) + lane // 8
    if m < C.shape[0] and n < C.shape[1]:
        acc = float32(0.0)
        for k in range(A.shape[1]):
            acc += A[m, k] * B[n, k]
        C[m, n] = acc


answer = gemm_nt, (32, 8)
""",
        },
    },
}
