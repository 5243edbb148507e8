"""The last kernels of the CUDA-core rungs, for any size of tiles and patches (chapter 09).

Multiply-adds go column by column through a thread's patch; pairs of lanes share what they load (chapter 08); blocks
inside the matrix run a main loop without any test; addresses are counted up.
"""

from numba import cuda, float32, uint32, uint64

from kernels.simt.edge import edge_load4
from kernels.simt.vector import load4, store4


# region: order
def outer_product(TM, TN, STEP_M, STEP_N):
    """Return step(acc, frag_a, frag_b, smem_a, smem_b, a, b), which adds one outer product, column by column."""

    @cuda.jit(device=True, forceinline=True)
    def step(acc, frag_a, frag_b, smem_a, smem_b, a, b):
        for g in range(TM // 4):
            x = load4(smem_a, a + uint32(STEP_M * g))
            for i in range(4):
                frag_a[4 * g + i] = x[i]
        for g in range(TN // 4):
            x = load4(smem_b, b + uint32(STEP_N * g))
            for j in range(4):
                frag_b[4 * g + j] = x[j]
        for j in range(TN):  # NOTE: j outside, so that frag_b[j] can stay in the operand cache
            for i in range(TM):
                acc[i, j] += frag_a[i] * frag_b[j]

    return step
# endregion


def tile_product(TM, TN, PITCH, BN, BK, STEP_M, STEP_N):
    """Return multiply(acc, smem_a, smem_b, a, b), which adds the BK (8 or 16) outer products of two tiles."""
    step = outer_product(TM, TN, STEP_M, STEP_N)

    @cuda.jit(device=True, forceinline=True)
    def eight(acc, smem_a, smem_b, a, b):
        frag_a, frag_b = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
        step(acc, frag_a, frag_b, smem_a, smem_b, a, b)
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(PITCH), b + uint32(BN))
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(2 * PITCH), b + uint32(2 * BN))
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(3 * PITCH), b + uint32(3 * BN))
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(4 * PITCH), b + uint32(4 * BN))
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(5 * PITCH), b + uint32(5 * BN))
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(6 * PITCH), b + uint32(6 * BN))
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(7 * PITCH), b + uint32(7 * BN))

    @cuda.jit(device=True, forceinline=True)
    def sixteen(acc, smem_a, smem_b, a, b):
        eight(acc, smem_a, smem_b, a, b)
        eight(acc, smem_a, smem_b, a + uint32(8 * PITCH), b + uint32(8 * BN))

    return eight if BK == 8 else sixteen


@cuda.jit(device=True, forceinline=True)
def load_inside(src, at, row, col):
    return load4(src, at)


@cuda.jit(device=True, forceinline=True)
def load_edge(src, at, row, col):
    return edge_load4(src, row, col)


def main_loop(load, multiply, BM, BN, BK, THREADS):
    """Return run(…), which adds a block's products to acc; load(src, at, row, col) brings four elements of a tile."""
    PITCH = BM + 4
    TILE_A, TILE_B = BK * PITCH, BK * BN
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS  # of four elements, per thread
    ROWS_A, ROWS_B = THREADS // 2, 4 * THREADS // BN  # between two loads of a thread

    @cuda.jit(device=True, forceinline=True)
    def fetch(A, B, at_a, at_b, m, n, ak, bk, next_a, next_b):
        K, N = uint64(A.shape[1]), uint64(B.shape[1])
        for r in range(LOADS_A):
            x = load(A, at_a + uint64(r * ROWS_A) * K, m + uint32(r * ROWS_A), ak)
            for i in range(4):
                next_a[r, i] = x[i]
        for r in range(LOADS_B):
            x = load(B, at_b + uint64(r * ROWS_B) * N, bk + uint32(r * ROWS_B), n)
            for i in range(4):
                next_b[r, i] = x[i]

    @cuda.jit(device=True, forceinline=True)
    def place(smem_a, smem_b, put_a, put_b, next_a, next_b):
        for r in range(LOADS_A):
            for i in range(4):
                smem_a[put_a + uint32(r * ROWS_A + i * PITCH)] = next_a[r, i]
        for r in range(LOADS_B):
            store4(smem_b, put_b + uint32(r * ROWS_B * BN), next_b[r, 0], next_b[r, 1], next_b[r, 2], next_b[r, 3])

    # region: loop
    @cuda.jit(device=True, forceinline=True)
    def run(acc, smem_a, smem_b, A, B, m, n, ak, bk, put_a, put_b, row, col):
        next_a, next_b = cuda.local.array((LOADS_A, 4), float32), cuda.local.array((LOADS_B, 4), float32)
        K, N = uint32(A.shape[1]), uint64(B.shape[1])
        at_a, at_b = uint64(m) * uint64(K) + uint64(ak), uint64(bk) * N + uint64(n)
        fetch(A, B, at_a, at_b, m, n, ak, bk, next_a, next_b)
        place(smem_a, smem_b, put_a, put_b, next_a, next_b)
        cuda.syncthreads()
        buffer = uint32(0)
        for k0 in range(uint32(BK), K, uint32(BK)):
            at_a, at_b = at_a + uint64(BK), at_b + uint64(BK) * N
            fetch(A, B, at_a, at_b, m, n, uint32(k0) + ak, uint32(k0) + bk, next_a, next_b)
            multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
            buffer ^= uint32(1)
            place(smem_a, smem_b, buffer * uint32(TILE_A) + put_a, buffer * uint32(TILE_B) + put_b, next_a, next_b)
            cuda.syncthreads()
        multiply(acc, smem_a, smem_b, buffer * uint32(TILE_A) + row, buffer * uint32(TILE_B) + col)
    # endregion

    return run


def patch_kernel(name, BM, BN, BK, WM, WN, TM, TN, blocks_per_sm):
    """Return the kernel for block tiles BM x BN, warp tiles WM x WN and thread patches TM x TN (8 rows of 4 lanes).

    BK is 8 or 16. Two threads load eight neighbours in a row of A, so that 2 BM threads cover 8 columns of the tile: a
    block has at most that many, or all of its threads load once.
    """
    THREADS = 32 * (BM // WM) * (BN // WN)
    PITCH = BM + 4
    SIZE_A, SIZE_B = 2 * BK * PITCH, 2 * BK * BN
    multiply = tile_product(TM, TN, PITCH, BN, BK, 32, 16)
    run_inside = main_loop(load_inside, multiply, BM, BN, BK, THREADS)
    run_edge = main_loop(load_edge, multiply, BM, BN, BK, THREADS)

    def kernel(A, B, C):
        smem_a = cuda.shared.array(SIZE_A, float32, alignment=16)
        smem_b = cuda.shared.array(SIZE_B, float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
        tid = uint32(cuda.threadIdx.x)
        warp, lane = tid // uint32(32), tid % uint32(32)
        m0, n0 = uint32(cuda.blockIdx.y) * uint32(BM), uint32(cuda.blockIdx.x) * uint32(BN)
        # NOTE: lanes i and i ^ 1 share their rows of A, lanes i and i ^ 2 their columns of B.
        lane_row = (lane >> uint32(1) & uint32(1)) | ((lane >> uint32(3) & uint32(3)) << uint32(1))
        lane_col = (lane & uint32(1)) | ((lane >> uint32(2) & uint32(1)) << uint32(1))
        row = warp % uint32(BM // WM) * uint32(WM) + lane_row * uint32(4)
        col = warp // uint32(BM // WM) * uint32(WN) + lane_col * uint32(4)
        am, ak = tid // uint32(2) % uint32(BM), tid % uint32(2) * uint32(4) + tid // uint32(2 * BM) * uint32(8)
        bk, bn = tid // uint32(BN // 4), tid % uint32(BN // 4) * uint32(4)  # and of B
        put_a, put_b = ak * uint32(PITCH) + am, bk * uint32(BN) + bn
        for i in range(TM):
            for j in range(TN):
                acc[i, j] = float32(0)

        # Main loop: the same code twice, without and with a look at the edges.
        aligned = N % uint32(4) == uint32(0) and K % uint32(BK) == uint32(0)
        inside = aligned and m0 + uint32(BM) <= M and n0 + uint32(BN) <= N
        if inside:
            run_inside(acc, smem_a, smem_b, A, B, m0 + am, n0 + bn, ak, bk, put_a, put_b, row, col)
        else:
            run_edge(acc, smem_a, smem_b, A, B, m0 + am, n0 + bn, ak, bk, put_a, put_b, row, col)

        # Epilogue: 128-bit stores, row by row.
        for i in range(TM):
            m = m0 + row + uint32(i // 4 * 32 + i % 4)
            for j in range(0, TN, 4):
                n = n0 + col + uint32(j * 4)
                if inside:
                    store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
                elif m < M:
                    for q in range(4):
                        if n + uint32(q) < N:
                            C[m, n + uint32(q)] = acc[i, j + q]

    kernel.__name__ = kernel.__qualname__ = name
    return cuda.jit(launch_bounds=(THREADS, blocks_per_sm))(kernel)
