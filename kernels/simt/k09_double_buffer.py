"""Chapter 09: the loads of the next tile are in flight while this tile is multiplied.

Change: two buffers in shared memory; the next tile waits in registers, so that one barrier per tile suffices.
Limit:  four shared loads for 64 multiply-adds, and at most 128 registers where two blocks share an SM.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

from kernels.simt.edge import edge_load4, edge_store4
from kernels.simt.outer import BK, outer_products
from kernels.simt.vector import load4, store4

BM, BN = 128, 128
WM, WN = 64, 32
PITCH = BM + 4
TILE_A, TILE_B = BK * PITCH, BK * BN
SIZE_A, SIZE_B = 2 * TILE_A, 2 * TILE_B
multiply = outer_products(8, 8, PITCH, BN, 32, 16)


# region: kernel
@cuda.jit(launch_bounds=(256, 2))
def double_buffer(A, B, C):
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

    # Prologue: the first tile goes to buffer 0.
    if interior:
        a = load4(A, (m0 + am) * K + ak)
        b = load4(B, bk * N + n0 + bn)
    else:
        a = edge_load4(A, m0 + am, ak)
        b = edge_load4(B, bk, n0 + bn)
    for i in range(4):
        smem_a[put_a + uint32(i * PITCH)] = a[i]
    store4(smem_b, put_b, b[0], b[1], b[2], b[3])
    cuda.syncthreads()

    # Main loop: load tile k0, multiply the tile before it, store what has arrived.
    buffer = uint32(0)
    for k0 in range(uint32(BK), K, uint32(BK)):
        if interior:
            a = load4(A, (m0 + am) * K + k0 + ak)
            b = load4(B, (k0 + bk) * N + n0 + bn)
        else:
            a = edge_load4(A, m0 + am, k0 + ak)
            b = edge_load4(B, k0 + bk, n0 + bn)
        cuda.syncwarp()  # NOTE: keeps ptxas from moving the loads down to their first use
        multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
        buffer ^= uint32(1)
        for i in range(4):
            smem_a[buffer * uint32(TILE_A) + put_a + uint32(i * PITCH)] = a[i]
        store4(smem_b, buffer * uint32(TILE_B) + put_b, b[0], b[1], b[2], b[3])
        cuda.syncthreads()
    multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)

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
