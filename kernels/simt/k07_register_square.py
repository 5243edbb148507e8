"""Chapter 07: the square register tile, BM = BN = BK = TILE and TM = TN = T.

Change: one tile edge and one patch edge, so that A and B are loaded by the same loop.
Limit:  a deep tile (BK = TILE) costs shared memory, and with it resident blocks; it buys no reuse, since BK
        cancels in the intensity.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (TILE / T, TILE / T),
        grid (cdiv(N, TILE), cdiv(M, TILE)).
"""

from numba import cuda, float32, uint32

TILE, T = 64, 4
EDGE = TILE // T  # threads along one side


# region: kernel
@cuda.jit
def register_square(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    acc = cuda.local.array((T, T), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    m0, n0 = uint32(cuda.blockIdx.y * TILE), uint32(cuda.blockIdx.x * TILE)
    for i in range(T):
        for j in range(T):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(TILE)):
        # Load T * T elements of each tile; the lanes of a warp take neighbouring columns.
        for i in range(T):
            r = ty + uint32(i * EDGE)
            for j in range(T):
                c = tx + uint32(j * EDGE)
                smem_a[r, c] = A[m0 + r, k0 + c] if m0 + r < M and k0 + c < K else float32(0)
                smem_b[r, c] = B[k0 + r, n0 + c] if k0 + r < K and n0 + c < N else float32(0)
        cuda.syncthreads()

        # Multiply: the thread owns rows ty + i * EDGE and columns tx + j * EDGE.
        for k in range(uint32(TILE)):
            for i in range(T):
                a = smem_a[ty + uint32(i * EDGE), k]
                for j in range(T):
                    acc[i, j] += a * smem_b[k, tx + uint32(j * EDGE)]
        cuda.syncthreads()

    for i in range(T):
        for j in range(T):
            m, n = m0 + ty + uint32(i * EDGE), n0 + tx + uint32(j * EDGE)
            if m < M and n < N:
                C[m, n] = acc[i, j]
# endregion
