"""Chapter 07: a warp owns a compact WM x WN patch of C, its lanes take turns of four.

Change: 8 x 4 lanes over a 64 x 32 patch; each lane owns 2 x 2 groups of 4 x 4, and A is stored transposed, so that the
        words a warp reads at once lie in different banks or are the same word.
Limit:  sixteen scalar shared loads for 64 multiply-adds.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

BM, BN, BK = 128, 128, 8
WM, WN = 64, 32
TM, TN = 8, 8
THREADS = 32 * (BM // WM) * (BN // WN)
PITCH = BM + 4  # NOTE: four words of padding spread the transposed stores over the banks


# region: kernel
@cuda.jit
def warp_tile(A, B, C):
    smem_a = cuda.shared.array((BK, PITCH), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    frag_a = cuda.local.array(TM, float32)
    frag_b = cuda.local.array(TN, float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    warp, lane = tid // uint32(32), tid % uint32(32)
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    row = warp % uint32(BM // WM) * uint32(WM) + lane // uint32(4) * uint32(4)
    col = warp // uint32(BM // WM) * uint32(WN) + lane % uint32(4) * uint32(4)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        for i in range(BM * BK // THREADS):
            e = tid + uint32(i * THREADS)
            m, k = e // uint32(BK), e % uint32(BK)
            smem_a[k, m] = A[m0 + m, k0 + k] if m0 + m < M and k0 + k < K else float32(0)
        for i in range(BK * BN // THREADS):
            e = tid + uint32(i * THREADS)
            k, n = e // uint32(BN), e % uint32(BN)
            smem_b[k, n] = B[k0 + k, n0 + n] if k0 + k < K and n0 + n < N else float32(0)
        cuda.syncthreads()

        for k in range(uint32(BK)):
            # Groups of four: rows from row and row + 32, columns from col and col + 16.
            for i in range(4):
                frag_a[i] = smem_a[k, row + uint32(i)]
                frag_a[4 + i] = smem_a[k, row + uint32(32 + i)]
                frag_b[i] = smem_b[k, col + uint32(i)]
                frag_b[4 + i] = smem_b[k, col + uint32(16 + i)]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += frag_a[i] * frag_b[j]
        cuda.syncthreads()

    for i in range(TM):
        for j in range(TN):
            m = m0 + row + uint32(i // 4 * 32 + i % 4)
            n = n0 + col + uint32(j // 4 * 16 + j % 4)
            if m < M and n < N:
                C[m, n] = acc[i, j]
# endregion
