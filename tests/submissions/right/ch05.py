"""Right answers of chapter 05 that differ from the model solutions."""

RIGHT = {
    "05.1": {
        "a copy loop over any tile": {
            "source": """@cuda.jit
def gemm(A, B, C):
    a = cuda.shared.array((32, 32), float32)
    b = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    m0, n0 = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    acc = float32(0)
    for k0 in range(0, A.shape[1], 32):
        for i in range(ty * 32 + tx, 1024, 1024):
            r, c = i // 32, i % 32
            a[r, c] = A[m0 + r, k0 + c] if m0 + r < A.shape[0] and k0 + c < A.shape[1] else float32(0)
            b[r, c] = B[k0 + r, n0 + c] if k0 + r < B.shape[0] and n0 + c < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(32):
            acc += a[ty, k] * b[k, tx]
        cuda.syncthreads()
    if m0 + ty < C.shape[0] and n0 + tx < C.shape[1]:
        C[m0 + ty, n0 + tx] = acc
""",
        },
        "the tile of A stored transposed": {
            "replace": [("smem_a[ty, tx] =", "smem_a[tx, ty] ="), ("smem_a[ty, k]", "smem_a[k, ty]")]
        },
        "two buffers in turn, one barrier": {
            "source": """TILE = 32


@cuda.jit
def gemm(A, B, C):
    smem_a = cuda.shared.array((2, TILE, TILE), float32)
    smem_b = cuda.shared.array((2, TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc, turn = float32(0), 0
    for k0 in range(0, K, TILE):
        smem_a[turn, ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[turn, ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += smem_a[turn, ty, k] * smem_b[turn, k, tx]
        turn = 1 - turn
    if m < M and n < N:
        C[m, n] = acc
""",
        },
    },
    "05.2": {
        "block by block": {
            "source": """def requested_bytes(M, N, K, BM, BN):
    total = M * N
    for m in range(0, M, BM):
        for n in range(0, N, BN):
            total += min(BM, M - m) * K + K * min(BN, N - n)
    return 4 * total
""",
        },
        "with NumPy": {
            "source": """def requested_bytes(M, N, K, BM, BN):
    return 4.0 * (M * K * np.ceil(N / BN) + K * N * np.ceil(M / BM) + M * N)
""",
        },
    },
    "05.3": {
        "steps counted, threads outside kept": {
            "replace": [
                ("for k0 in range(0, K, TILE):", "for step in range((K + TILE - 1) // TILE):\n        k0 = step * TILE")
            ]
        },
        "the sum in one expression": {"replace": [("acc += smem_a", "acc = acc + smem_a")]},
    },
    "05.4": {
        "from the data sheet": {"source": "edge = int(np.ceil(4 * 66.9 / 4.8 / 8)) * 8"},
        "a NumPy number": {"source": "edge = np.float64(56)"},
    },
}
