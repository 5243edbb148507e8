"""Chapter 07: each thread computes a column of TM elements of C.

Change: a value of B, once in a register, serves TM multiply-adds.
Limit:  TM + 1 shared loads for TM multiply-adds.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (512), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

BM, BN, BK = 64, 64, 8
TM = 8
THREADS = BM * BN // TM


# region: kernel
@cuda.jit
def register_1d(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array(TM, float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    row, col = tid // uint32(BN) * uint32(TM), tid % uint32(BN)
    am, ak = tid // uint32(BK), tid % uint32(BK)  # NOTE: one element per tile and thread
    bk, bn = tid // uint32(BN), tid % uint32(BN)
    for i in range(TM):
        acc[i] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        smem_a[am, ak] = A[m0 + am, k0 + ak] if m0 + am < M and k0 + ak < K else float32(0)
        smem_b[bk, bn] = B[k0 + bk, n0 + bn] if k0 + bk < K and n0 + bn < N else float32(0)
        cuda.syncthreads()

        # Multiply: one value of B meets TM values of A.
        for k in range(uint32(BK)):
            b = smem_b[k, col]
            for i in range(TM):
                acc[i] += smem_a[row + uint32(i), k] * b
        cuda.syncthreads()

    for i in range(TM):
        m, n = m0 + row + uint32(i), n0 + col
        if m < M and n < N:
            C[m, n] = acc[i]
# endregion
