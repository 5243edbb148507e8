"""Chapter 09: the copy of the next tile goes straight to shared memory, with cp.async.

Change: no register waits for a load; the threads of a block issue copies and wait for them one tile later.
Limit:  A is turned by 90 degrees on its way, so its copies are 4 bytes wide: four times as many as 128-bit loads.
Needs:  sm_80. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

from kernels.simt.async_copy import commit, copy_async4, copy_async16, wait_all
from kernels.simt.edge import edge_store4
from kernels.simt.outer import BK, outer_products
from kernels.simt.vector import store4

BM, BN = 128, 128
WM, WN = 64, 32
PITCH = BM + 4
TILE_A, TILE_B = BK * PITCH, BK * BN
SIZE_A, SIZE_B = 2 * TILE_A, 2 * TILE_B
multiply = outer_products(8, 8, PITCH, BN, 32, 16)


# region: copy
@cuda.jit(device=True, forceinline=True)
def copy_tiles(A, B, smem_a, smem_b, am, ak, bk, bn, put_a, put_b, interior):
    """Start the copies of A[am, ak … ak + 3] and B[bk, bn … bn + 3]; zeros come from beyond the edges."""
    M, N, K = uint32(A.shape[0]), uint32(B.shape[1]), uint32(A.shape[1])
    for i in range(4):
        k = ak + uint32(i)
        inside = am < M and k < K
        at = am * K + k if inside else uint32(0)
        copy_async4(smem_a, put_a + uint32(i * PITCH), A, at, uint32(1) if inside else uint32(0))
    if interior:
        copy_async16(smem_b, put_b, B, bk * N + bn, uint32(4))
    else:
        for j in range(4):
            n = bn + uint32(j)
            inside = bk < K and n < N
            at = bk * N + n if inside else uint32(0)
            copy_async4(smem_b, put_b + uint32(j), B, at, uint32(1) if inside else uint32(0))
    commit()
# endregion


# region: kernel
@cuda.jit(launch_bounds=(256, 2))
def cp_async(A, B, C):
    smem_a = cuda.shared.array(SIZE_A, float32, alignment=16)
    smem_b = cuda.shared.array(SIZE_B, float32, alignment=16)
    acc = cuda.local.array((8, 8), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    warp, lane = tid // uint32(32), tid % uint32(32)
    m0, n0 = uint32(cuda.blockIdx.y) * uint32(BM), uint32(cuda.blockIdx.x) * uint32(BN)
    row = warp % uint32(BM // WM) * uint32(WM) + lane // uint32(4) * uint32(4)
    col = warp // uint32(BM // WM) * uint32(WN) + lane % uint32(4) * uint32(4)
    am, ak = tid // uint32(2), tid % uint32(2) * uint32(4)  # its four elements of A
    bk, bn = tid // uint32(32), lane * uint32(4)  # and of B
    put_a, put_b = ak * uint32(PITCH) + am, bk * uint32(BN) + bn
    aligned = N % uint32(4) == uint32(0) and K % uint32(BK) == uint32(0)
    interior = aligned and m0 + uint32(BM) <= M and n0 + uint32(BN) <= N
    for i in range(8):
        for j in range(8):
            acc[i, j] = float32(0)

    # Prologue: start the copy of the first tile to buffer 0.
    copy_tiles(A, B, smem_a, smem_b, m0 + am, ak, bk, n0 + bn, put_a, put_b, interior)

    # Main loop: wait for this tile, start the copy of the next one, multiply.
    buffer = uint32(0)
    for k0 in range(uint32(0), K, uint32(BK)):
        wait_all()
        cuda.syncthreads()  # NOTE: every thread's copies have landed, and nobody reads the other buffer any more
        other = buffer ^ uint32(1)
        k1 = k0 + uint32(BK)
        if k1 < K:
            to_a, to_b = other * uint32(TILE_A) + put_a, other * uint32(TILE_B) + put_b
            copy_tiles(A, B, smem_a, smem_b, m0 + am, k1 + ak, k1 + bk, n0 + bn, to_a, to_b, interior)
        multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
        buffer = other

    # Epilogue: 128-bit stores, row by row.
    for i in range(8):
        m = m0 + row + uint32(i // 4 * 32 + i % 4)
        for j in range(0, 8, 4):
            n = n0 + col + uint32(j * 4)
            if interior:
                store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
            else:
                edge_store4(C, m, n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
# endregion
