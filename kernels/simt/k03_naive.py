"""Chapter 03: the obvious kernel, one thread per element of C.

Change: the first rung; each thread reads one row of A and one column of B and stores one element of C.
Limit:  the 32 lanes of a warp hold 32 different rows, so that each load of A touches 32 memory sectors.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (32, 8), grid (cdiv(M, 32), cdiv(N, 8)).
"""

from numba import cuda, float32, uint32


# region: kernel
@cuda.jit
def naive(A, B, C):
    m, n = cuda.grid(2)  # NOTE: x counts rows: a warp runs down a column of C
    if m < C.shape[0] and n < C.shape[1]:
        m, n, K = uint32(m), uint32(n), uint32(A.shape[1])  # NOTE: unsigned, see below
        acc = float32(0)  # NOTE: 0.0 would make the sum a float64
        k = uint32(0)
        while k < K:
            acc += A[m, k] * B[k, n]
            k += uint32(1)
        C[m, n] = acc
# endregion
