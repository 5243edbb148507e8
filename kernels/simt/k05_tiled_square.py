"""Chapter 05: the textbook tile, BM = BN = BK, with one element of A and one of B loaded by each thread.

Change: one tile edge for all three sizes, so that the loading loop disappears.
Limit:  as k05_tiled; the tile edge cannot exceed 32, because a block has at most 1,024 threads.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (TILE, TILE),
        grid (cdiv(N, TILE), cdiv(M, TILE)).
"""

from numba import cuda, float32

TILE = 32


# region: kernel
@cuda.jit
def tiled_square(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)
    smem_b = cuda.shared.array((TILE, TILE), float32)
    n, m = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    acc = float32(0)

    for k0 in range(0, K, TILE):
        smem_a[ty, tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += smem_a[ty, k] * smem_b[k, tx]
        cuda.syncthreads()

    if m < M and n < N:
        C[m, n] = acc
# endregion
