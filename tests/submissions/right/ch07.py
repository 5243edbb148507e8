"""Right answers of chapter 07 that differ from the model solutions."""

INNER = """        for k in range(BK):
            for i in range(TM):
                a = smem_a[k, row + i]
                for j in range(TN):
                    acc[i, j] += a * smem_b[k, col + j]
"""

RIGHT = {
    "07.1": {
        "counting a whole tile": {
            "source": """def flop_per_byte(TM, TN, BK, itemsize):
    flop = loads = 0
    for k in range(BK):
        loads += TM + TN
        flop += 2 * TM * TN
    return flop / (loads * itemsize)
""",
        },
        "harmonic mean": {
            "source": """def flop_per_byte(TM, TN, BK, itemsize):
    return np.float64(2 / itemsize / (1 / TM + 1 / TN))
""",
        },
    },
    "07.2": {
        "fragments in local arrays": {
            "replace": [
                (
                    INNER,
                    """        frag_a = cuda.local.array(TM, float32)
        frag_b = cuda.local.array(TN, float32)
        for k in range(BK):
            for i in range(TM):
                frag_a[i] = smem_a[k, row + i]
            for j in range(TN):
                frag_b[j] = smem_b[k, col + j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += frag_a[i] * frag_b[j]
""",
                )
            ]
        },
        "columns outside rows": {
            "replace": [
                (
                    INNER,
                    """        for k in range(BK):
            for j in range(TN):
                b = smem_b[k, col + j]
                for i in range(TM):
                    acc[i, j] += smem_a[k, row + i] * b
""",
                )
            ]
        },
    },
    "07.3": {
        "stored transposed": {
            "replace": [
                ("smem_a[r, c] = A[", "smem_a[c, r] = A["),
                ("a = smem_a[ty * T + i, k]", "a = smem_a[k, ty * T + i]"),
            ]
        },
        "A loaded by columns": {
            "replace": [
                (
                    "smem_a[r, c] = A[m0 + r, k0 + c] if m0 + r < A.shape[0] and k0 + c < A.shape[1] else float32(0)",
                    "smem_a[r, c] = A[m0 + c, k0 + r] if m0 + c < A.shape[0] and k0 + r < A.shape[1] else float32(0)",
                ),
                ("a = smem_a[ty * T + i, k]", "a = smem_a[k, ty * T + i]"),
            ]
        },
    },
    "07.4": {
        "a compact warp of 8 x 4 lanes": {
            "replace": [
                ("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y\n", "tx, ty = cuda.threadIdx.x, cuda.threadIdx.y\n"
                 "    lane, warp = (16 * ty + tx) % 32, (16 * ty + tx) // 32\n"
                 "    u, v = warp // 2 * 4 + lane // 8, warp % 2 * 8 + lane % 8\n"),
                ("smem_a[k, 4 * ty + i]", "smem_a[k, u + 16 * i]"),
                ("smem_b[k, tx + 16 * j]", "smem_b[k, v + 16 * j]"),
                ("m0 + 4 * ty + i, n0 + tx + 16 * j", "m0 + u + 16 * i, n0 + v + 16 * j"),
            ]
        },
        "rows spread as well": {
            "replace": [
                ("smem_a[k, 4 * ty + i]", "smem_a[k, ty + 16 * i]"),
                ("m0 + 4 * ty + i", "m0 + ty + 16 * i"),
            ]
        },
    },
}
