"""Chapter 09, a study: an 8 x 16 patch per thread, multiplied row by row.

Change: 128 accumulators per thread, so that six 128-bit shared loads feed 128 multiply-adds; one block per SM. Blocks
        inside the matrix run a main loop without any test.
Limit:  waiting for shared loads, and register banks: a fifth of the issue slots stays empty.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

from kernels.simt.edge import edge_load4
from kernels.simt.outer import BK, outer_products
from kernels.simt.vector import load4, store4

BM, BN = 128, 256
WM, WN = 32, 128
PITCH = BM + 4
TILE_A, TILE_B = BK * PITCH, BK * BN
SIZE_A, SIZE_B = 2 * TILE_A, 2 * TILE_B
multiply = outer_products(8, 16, PITCH, BN, 16, 32)


# region: loop
@cuda.jit(device=True, forceinline=True)
def inside_load4(src, row, col):
    return load4(src, row * uint32(src.shape[1]) + col)


def main_loop(load):
    """Return the device function that adds a block's products to acc, its tiles fetched by `load`."""

    @cuda.jit(device=True, forceinline=True)
    def place(smem_a, smem_b, put_a, put_b, a, b, d):
        for i in range(4):
            smem_a[put_a + uint32(i * PITCH)] = a[i]
        store4(smem_b, put_b, b[0], b[1], b[2], b[3])
        store4(smem_b, put_b + uint32(4 * BN), d[0], d[1], d[2], d[3])

    @cuda.jit(device=True, forceinline=True)
    def run(acc, smem_a, smem_b, A, B, m, n, ak, bk, put_a, put_b, row, col):
        K = uint32(A.shape[1])
        a, b, d = load(A, m, ak), load(B, bk, n), load(B, bk + uint32(4), n)
        place(smem_a, smem_b, put_a, put_b, a, b, d)
        cuda.syncthreads()
        buffer = uint32(0)
        for k0 in range(uint32(BK), K, uint32(BK)):
            k0 = uint32(k0)
            a, b, d = load(A, m, k0 + ak), load(B, k0 + bk, n), load(B, k0 + bk + uint32(4), n)
            multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
            buffer ^= uint32(1)
            place(smem_a, smem_b, buffer * uint32(TILE_A) + put_a, buffer * uint32(TILE_B) + put_b, a, b, d)
            cuda.syncthreads()
        multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)

    return run


run_inside, run_edge = main_loop(inside_load4), main_loop(edge_load4)
# endregion


# region: kernel
@cuda.jit(launch_bounds=(256, 1))
def wide_patch(A, B, C):
    smem_a = cuda.shared.array(SIZE_A, float32, alignment=16)
    smem_b = cuda.shared.array(SIZE_B, float32, alignment=16)
    acc = cuda.local.array((8, 16), float32)
    M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
    tid = uint32(cuda.threadIdx.x)
    warp, lane = tid // uint32(32), tid % uint32(32)
    m0, n0 = uint32(cuda.blockIdx.y) * uint32(BM), uint32(cuda.blockIdx.x) * uint32(BN)
    row = warp % uint32(BM // WM) * uint32(WM) + lane // uint32(8) * uint32(4)
    col = warp // uint32(BM // WM) * uint32(WN) + lane % uint32(8) * uint32(4)
    am, ak = tid // uint32(2), tid % uint32(2) * uint32(4)  # its four elements of A
    bk, bn = tid // uint32(64), tid % uint32(64) * uint32(4)  # and four, twice, of B
    put_a, put_b = ak * uint32(PITCH) + am, bk * uint32(BN) + bn
    for i in range(8):
        for j in range(16):
            acc[i, j] = float32(0)

    # Main loop: the same code twice, without and with a look at the edges.
    aligned = N % uint32(4) == uint32(0) and K % uint32(BK) == uint32(0)
    inside = aligned and m0 + uint32(BM) <= M and n0 + uint32(BN) <= N
    if inside:
        run_inside(acc, smem_a, smem_b, A, B, m0 + am, n0 + bn, ak, bk, put_a, put_b, row, col)
    else:
        run_edge(acc, smem_a, smem_b, A, B, m0 + am, n0 + bn, ak, bk, put_a, put_b, row, col)

    # Epilogue: 128-bit stores, row by row.
    for i in range(8):
        m = m0 + row + uint32(i // 4 * 16 + i % 4)
        for j in range(0, 16, 4):
            n = n0 + col + uint32(j * 8)
            if inside:
                store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
            elif m < M:
                for q in range(4):
                    if n + uint32(q) < N:
                        C[m, n + uint32(q)] = acc[i, j + q]
# endregion
