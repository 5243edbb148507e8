"""Right answers of chapter 03 that differ from the model solutions."""

EARLY_RETURN = """@cuda.jit
def {name}(A, B, C):
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    column = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row >= C.shape[0] or column >= C.shape[1]:
        return
    total = float32(0)
    k = 0
    while k < B.shape[0]:
        total += B[k, column] * A[row, k]
        k += 1
    C[row, column] = total
"""
STRIDED = """@cuda.jit
def gemm(A, B, C):
    first, n = cuda.grid(2)
    for m in range(first, C.shape[0], cuda.gridDim.x * cuda.blockDim.x):
        if n < C.shape[1]:
            acc = np.float32(0)
            for k in range(A.shape[1] - 1, -1, -1):
                acc += A[m, k] * B[k, n]
            C[m, n] = acc
"""
POINTERS = """%%cuda twin
typedef unsigned int u32;
extern "C" __global__ void twin(const float* __restrict__ a, const float* __restrict__ b, float* c,
                                int M, int N, int K) {
    u32 col = threadIdx.y + blockIdx.y * blockDim.y, row = threadIdx.x + blockIdx.x * blockDim.x;
    if (row < M && col < N) {
        const float *p = a + (size_t)row * K, *end = p + K, *q = b + col;
        float sum = 0;
        for (; p != end; ++p, q += N) sum = fmaf(*p, *q, sum);
        c[(size_t)row * N + col] = sum;
    }
}
"""

RIGHT = {
    "03.1": {
        "early return and while": {"source": EARLY_RETURN.format(name="gemm")},
        "grid-stride loop backwards over k": {"source": STRIDED},
    },
    "03.2": {"written as a number": {"source": "requested_intensity = 0.5"}},
    "03.3": {"pointers and unsigned indices": {"source": POINTERS}},
    "03.4": {"early return and while": {"source": EARLY_RETURN.format(name="repaired")}},
}
