"""Chapter 07: each thread computes a TM x TN patch of C as a sum of outer products.

Change: TM values of A and TN of B, once in registers, serve TM * TN multiply-adds.
Limit:  scalar shared loads, and neighbouring lanes read B at a stride of TN words: 4-way bank conflicts.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

BM, BN, BK = 128, 128, 8
TM, TN = 8, 8
THREADS = (BM // TM) * (BN // TN)


# region: kernel
@cuda.jit
def register_2d(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    frag_a = cuda.local.array(TM, float32)
    frag_b = cuda.local.array(TN, float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)  # NOTE: signed indices would be 64 bits wide
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    row, col = tid // uint32(BN // TN) * uint32(TM), tid % uint32(BN // TN) * uint32(TN)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        for i in range(BM * BK // THREADS):
            e = tid + uint32(i * THREADS)
            m, k = e // uint32(BK), e % uint32(BK)
            smem_a[m, k] = A[m0 + m, k0 + k] if m0 + m < M and k0 + k < K else float32(0)
        for i in range(BK * BN // THREADS):
            e = tid + uint32(i * THREADS)
            k, n = e // uint32(BN), e % uint32(BN)
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < K and n0 + n < N else float32(0)
        cuda.syncthreads()

        # Multiply: the outer product of a column of the A patch and a row of the B patch.
        for k in range(uint32(BK)):
            for i in range(TM):
                frag_a[i] = smem_a[row + uint32(i), k]
            for j in range(TN):
                frag_b[j] = smem_b[k, col + uint32(j)]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += frag_a[i] * frag_b[j]
        cuda.syncthreads()

    for i in range(TM):
        for j in range(TN):
            m, n = m0 + row + uint32(i), n0 + col + uint32(j)
            if m < M and n < N:
                C[m, n] = acc[i, j]
# endregion
