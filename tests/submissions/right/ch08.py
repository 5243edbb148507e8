"""Right answers of chapter 08 that differ from the model solutions."""

LOAD = "b = load4(B, k * N + n) if N % 4 == 0 else edge_load4(B, k, n)"

RIGHT = {
    "08.1": {
        "largest common divisor": {
            "source": """def widest(offset, pitch, itemsize):
    return int(np.gcd(np.gcd(offset * itemsize, pitch * itemsize), 16))
""",
        },
        "lowest set bit": {
            "source": """def widest(offset, pitch, itemsize):
    address = (offset | pitch | 16 // itemsize) * itemsize
    return address & -address
""",
        },
    },
    "08.2": {
        "two loops": {
            "source": """from kernels.simt.vector import load4, store4


@cuda.jit
def four_columns(A, B, C):
    x, m = cuda.grid(2)
    n, N, K = 4 * x, C.shape[1], A.shape[1]
    if m >= C.shape[0] or n >= N:
        return
    if N % 4:
        for j in range(n, min(n + 4, N)):
            acc = float32(0)
            for k in range(K):
                acc += A[m, k] * B[k, j]
            C[m, j] = acc
    else:
        c0 = c1 = c2 = c3 = float32(0)
        for k in range(K):
            b = load4(B, k * N + n)
            a = A[m, k]
            c0 += a * b[0]
            c1 += a * b[1]
            c2 += a * b[2]
            c3 += a * b[3]
        store4(C, m * N + n, c0, c1, c2, c3)
""",
        },
        "A four at a time as well": {
            "replace": [
                (
                    "        for k in range(K):\n            " + LOAD,
                    "        for k in range(K):\n            if K % 4 == 0 and k % 4 == 0:\n"
                    "                four = load4(A, m * K + k)\n                c0 += float32(0) * four[0]\n"
                    "            " + LOAD,
                )
            ]
        },
    },
    "08.3": {
        "the last of the four tested": {
            "replace": [
                (
                    "cols % 4 == 0 && row < rows && col < cols) return",
                    "!(cols & 3) && row < rows && col + 3 < cols) return",
                ),
            ]
        },
        "C one by one through a pointer": {
            "replace": [
                (
                    "float y[4] = {x.x, x.y, x.z, x.w};",
                    "const float* y = reinterpret_cast<const float*>(&x);",
                )
            ]
        },
    },
    "08.4": {
        "the other way round": {
            "replace": [
                (
                    "lane // 8 * 2 + lane // 2 % 2, lane // 4 % 2 * 2 + lane % 2",
                    "lane // 8 * 2 + lane % 2, lane // 4 % 2 * 2 + lane // 2 % 2",
                )
            ]
        },
        "bits by shifts": {
            "replace": [
                (
                    "lane // 8 * 2 + lane // 2 % 2, lane // 4 % 2 * 2 + lane % 2",
                    "(lane >> 4 & 1) << 2 | (lane >> 2 & 1) << 1 | lane >> 1 & 1, (lane >> 3 & 1) << 1 | lane & 1",
                )
            ]
        },
    },
}
