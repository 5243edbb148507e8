"""Chapter 06: the transposed tile of A, swizzled word by word.

Change: element (k, m) lies in column m ^ k, so that a column of the tile meets every bank once.
Limit:  as k05_tiled_square; four neighbours in m are no longer four neighbours in memory.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (TILE, TILE),
        grid (cdiv(N, TILE), cdiv(M, TILE)).
"""

from numba import cuda, float32, uint32

TILE = 32  # NOTE: rows of exactly 32 words: the XOR permutes each row within itself


# region: kernel
@cuda.jit(launch_bounds=(1024, 2))  # NOTE: two blocks per SM: at most 32 registers
def xor_word(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)  # NOTE: [k, m ^ k]
    smem_b = cuda.shared.array((TILE, TILE), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    m, n = uint32(cuda.blockIdx.y * TILE) + ty, uint32(cuda.blockIdx.x * TILE) + tx
    acc = float32(0)

    for k0 in range(uint32(0), K, uint32(TILE)):
        smem_a[tx, ty ^ tx] = A[m, k0 + tx] if m < M and k0 + tx < K else float32(0)
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(uint32(TILE)):
            acc += smem_a[k, ty ^ k] * smem_b[k, tx]
        cuda.syncthreads()

    if m < M and n < N:
        C[m, n] = acc
# endregion
