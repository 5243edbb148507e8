"""Chapter 06: the transposed tile of A, swizzled in chunks of 16 bytes.

Change: chunk m // 4 of row k lies in place (m // 4) ^ (k % 8); a warp loads 4 rows of A, 8 elements of each.
Limit:  as k05_tiled_square; four neighbours in m stay together, ready for 128-bit access.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (TILE, TILE),
        grid (cdiv(N, TILE), cdiv(M, TILE)).
"""

from numba import cuda, float32, uint32

TILE = 32  # NOTE: a row is 8 chunks of 4 words, which is what the numbers 8 and 4 below are


# region: kernel
@cuda.jit(launch_bounds=(1024, 2))  # NOTE: two blocks per SM: at most 32 registers
def xor_chunk(A, B, C):
    smem_a = cuda.shared.array((TILE, TILE), float32)  # NOTE: [k, m], swizzled
    smem_b = cuda.shared.array((TILE, TILE), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    m, n = uint32(cuda.blockIdx.y * TILE) + ty, uint32(cuda.blockIdx.x * TILE) + tx
    acc = float32(0)

    # Place the lanes on A so that a warp stores all 4 words of all 8 chunks.
    ak = tx % uint32(8) + ty % uint32(4) * uint32(8)
    am = tx // uint32(8) + ty // uint32(4) * uint32(4)
    am_global = m - ty + am

    for k0 in range(uint32(0), K, uint32(TILE)):
        a = A[am_global, k0 + ak] if am_global < M and k0 + ak < K else float32(0)
        smem_a[ak, am ^ ak % uint32(8) * uint32(4)] = a
        smem_b[ty, tx] = B[k0 + ty, n] if k0 + ty < K and n < N else float32(0)
        cuda.syncthreads()
        for k in range(uint32(TILE)):
            acc += smem_a[k, ty ^ k % uint32(8) * uint32(4)] * smem_b[k, tx]
        cuda.syncthreads()

    if m < M and n < N:
        C[m, n] = acc
# endregion
