"""Chapter 05: a block loads tiles of A and B into shared memory and reads them from there.

Change: each element of a tile comes from global memory once per block; BM, BN and BK are chosen independently.
Limit:  each multiply-add still needs two loads, now from shared memory.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (BN, BM), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

BM, BN, BK = 16, 64, 32
THREADS = BM * BN


# region: kernel
@cuda.jit(launch_bounds=(1024, 2))  # NOTE: two blocks per SM: at most 32 registers
def tiled(A, B, C):
    smem_a = cuda.shared.array((BM, BK), float32)
    smem_b = cuda.shared.array((BK, BN), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    tid = ty * uint32(BN) + tx
    m0, n0 = uint32(cuda.blockIdx.y * BM), uint32(cuda.blockIdx.x * BN)
    acc = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        # Copy both tiles, THREADS elements at a time; beyond the edges, zeros.
        for i in range(uint32(0), uint32(BM * BK), uint32(THREADS)):
            m, k = (tid + i) // uint32(BK), (tid + i) % uint32(BK)
            if m < uint32(BM):
                inside = m0 + m < M and k0 + k < K
                smem_a[m, k] = A[m0 + m, k0 + k] if inside else float32(0)
        for i in range(uint32(0), uint32(BK * BN), uint32(THREADS)):
            k, n = (tid + i) // uint32(BN), (tid + i) % uint32(BN)
            if k < uint32(BK):
                inside = k0 + k < K and n0 + n < N
                smem_b[k, n] = B[k0 + k, n0 + n] if inside else float32(0)
        cuda.syncthreads()  # NOTE: nobody reads before all have written

        # Multiply out of shared memory.
        for k in range(uint32(BK)):
            acc += smem_a[ty, k] * smem_b[k, tx]
        cuda.syncthreads()  # NOTE: nobody overwrites before all have read

    if m0 + ty < M and n0 + tx < N:
        C[m0 + ty, n0 + tx] = acc
# endregion
