"""Chapter 08: every access to global and shared memory is 128 bits wide.

Change: load4 and store4 replace four scalar accesses each: two global loads per tile instead of eight.
Limit:  the block waits for the loads of each tile before it multiplies.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, BN), cdiv(M, BM)).
"""

from numba import cuda, float32, uint32

from kernels.simt.edge import edge_load4, edge_store4
from kernels.simt.vector import load4, store4

BM, BN, BK = 128, 128, 8
WM, WN = 64, 32
PITCH = BM + 4
SIZE_A, SIZE_B = BK * PITCH, BK * BN


# region: kernel
@cuda.jit
def vectorised(A, B, C):
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
    aligned = N % uint32(4) == uint32(0) and K % uint32(BK) == uint32(0)
    interior = aligned and m0 + uint32(BM) <= M and n0 + uint32(BN) <= N
    for i in range(8):
        for j in range(8):
            acc[i, j] = float32(0)

    for k0 in range(uint32(0), K, uint32(BK)):
        # Load four neighbours of A, turned by 90 degrees, and four of B.
        if interior:
            a = load4(A, (m0 + am) * K + k0 + ak)
            b = load4(B, (k0 + bk) * N + n0 + bn)
        else:
            a = edge_load4(A, m0 + am, k0 + ak)
            b = edge_load4(B, k0 + bk, n0 + bn)
        put = ak * uint32(PITCH) + am
        smem_a[put] = a[0]
        smem_a[put + uint32(PITCH)] = a[1]
        smem_a[put + uint32(2 * PITCH)] = a[2]
        smem_a[put + uint32(3 * PITCH)] = a[3]
        store4(smem_b, bk * uint32(BN) + bn, b[0], b[1], b[2], b[3])
        cuda.syncthreads()

        # Multiply: four 128-bit shared loads feed 64 multiply-adds.
        for k in range(uint32(0), uint32(BK)):
            at, bt = k * uint32(PITCH) + row, k * uint32(BN) + col
            a_low, a_high = load4(smem_a, at), load4(smem_a, at + uint32(32))
            b_low, b_high = load4(smem_b, bt), load4(smem_b, bt + uint32(16))
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a_low[i] * b_low[j]
                    acc[i, j + 4] += a_low[i] * b_high[j]
                    acc[i + 4, j] += a_high[i] * b_low[j]
                    acc[i + 4, j + 4] += a_high[i] * b_high[j]
        cuda.syncthreads()

    for i in range(8):
        m = m0 + row + uint32(i // 4 * 32 + i % 4)
        for j in range(0, 8, 4):
            n = n0 + col + uint32(j * 4)
            if interior:
                store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
            else:
                edge_store4(C, m, n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
# endregion
