"""Chapter 09, a study: the 8 x 8 register tile in plain Python integers.

Change: as k07_register_2d, without uint32: indices are signed and 64 bits wide, and each may be negative.
Limit:  integer instructions: every access tests the sign of its indices and computes in 64 bits.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32

BM, BN, BK = 128, 128, 8
TM, TN = 8, 8
THREADS = (BM // TM) * (BN // TN)


# region: kernel
@cuda.jit
def plain_ints(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    frag_a = cuda.local.array(TM, float32)
    frag_b = cuda.local.array(TN, float32)
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    tid = cuda.threadIdx.x
    m0, n0 = (cuda.blockIdx.y * BM), (cuda.blockIdx.x * BN)
    row, col = tid // (BN // TN) * TM, tid % (BN // TN) * TN
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)

    for k0 in range(0, K, BK):
        for i in range(BM * BK // THREADS):
            e = tid + (i * THREADS)
            m, k = e // BK, e % BK
            smem_a[m, k] = A[m0 + m, k0 + k] if m0 + m < M and k0 + k < K else float32(0)
        for i in range(BK * BN // THREADS):
            e = tid + (i * THREADS)
            k, n = e // BN, e % BN
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < K and n0 + n < N else float32(0)
        cuda.syncthreads()

        # Multiply: the outer product of a column of the A patch and a row of the B patch.
        for k in range(BK):
            for i in range(TM):
                frag_a[i] = smem_a[row + i, k]
            for j in range(TN):
                frag_b[j] = smem_b[k, col + j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += frag_a[i] * frag_b[j]
        cuda.syncthreads()

    for i in range(TM):
        for j in range(TN):
            m, n = m0 + row + i, n0 + col + j
            if m < M and n < N:
                C[m, n] = acc[i, j]
# endregion
