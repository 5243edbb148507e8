"""Chapter 04: one thread per element of C, with neighbouring lanes on neighbouring columns.

Change: m and n change places, so that a warp runs along a row of C; the grid follows.
Limit:  each multiply-add still needs two loads: the load/store units are busy long before the arithmetic is.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (32, 8), grid (cdiv(N, 32), cdiv(M, 8)).
"""

from numba import cuda, float32, uint32


# region: kernel
@cuda.jit
def coalesced(A, B, C):
    n, m = cuda.grid(2)  # NOTE: x counts columns: a warp runs along a row of C
    if m < C.shape[0] and n < C.shape[1]:
        m, n, K = uint32(m), uint32(n), uint32(A.shape[1])
        acc = float32(0)
        k = uint32(0)
        while k < K:
            acc += A[m, k] * B[k, n]
            k += uint32(1)
        C[m, n] = acc
# endregion
