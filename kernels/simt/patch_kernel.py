"""The last kernels of the CUDA-core rungs, for any size of tiles and patches (chapter 09).

A thread brings the values of its next outer product while it multiplies those that it has; multiply-adds go down the
columns of its patch; pairs of lanes share what they load (chapter 08); blocks inside the matrix run a main loop
without any test; addresses are counted up.
"""

from numba import cuda, float32, uint32, uint64

from kernels.simt.edge import edge_load4
from kernels.simt.vector import load4, store4


# region: order
def outer_product(TM, TN):
    """Return multiply(acc, frag_a, frag_b), which adds one outer product to a patch."""

    @cuda.jit(device=True, forceinline=True)
    def multiply(acc, frag_a, frag_b):
        for q in range(4):  # NOTE: one column of each group of four, then the next one
            for g in range(TN // 4):
                j = 4 * g + q
                for r in range(TM):  # NOTE: down one column, up the next
                    i = r if (q * (TN // 4) + g) % 2 == 0 else TM - 1 - r
                    acc[i, j] += frag_a[i] * frag_b[j]

    return multiply
# endregion


def fragments(TM, TN, STEP_M, STEP_N):
    """Return fetch(frag_a, frag_b, smem_a, smem_b, a, b), which loads what one outer product needs."""

    @cuda.jit(device=True, forceinline=True)
    def fetch(frag_a, frag_b, smem_a, smem_b, a, b):
        for g in range(TM // 4):
            x = load4(smem_a, a + uint32(STEP_M * g))
            for i in range(4):
                frag_a[4 * g + i] = x[i]
        for g in range(TN // 4):
            x = load4(smem_b, b + uint32(STEP_N * g))
            for j in range(4):
                frag_b[4 * g + j] = x[j]

    return fetch


# region: ahead
def one_ahead(fetch, multiply, TM, TN):
    """Return step(…): load the values of row k, multiply those of row k - 1."""

    @cuda.jit(device=True, forceinline=True)
    def step(acc, frag_a, frag_b, smem_a, smem_b, a, b):
        next_a = cuda.local.array(TM, float32)
        next_b = cuda.local.array(TN, float32)
        fetch(next_a, next_b, smem_a, smem_b, a, b)
        multiply(acc, frag_a, frag_b)
        for i in range(TM):
            frag_a[i] = next_a[i]
        for j in range(TN):
            frag_b[j] = next_b[j]

    return step
# endregion


def written_out(count, step, PITCH, BN):
    """Return a function that takes `step` `count` times, each a row of the tiles further, without a loop."""
    if count == 1:
        return step
    before = written_out(count - 1, step, PITCH, BN)
    A_ROWS, B_ROWS = (count - 1) * PITCH, (count - 1) * BN

    @cuda.jit(device=True, forceinline=True)
    def steps(acc, frag_a, frag_b, smem_a, smem_b, a, b):
        before(acc, frag_a, frag_b, smem_a, smem_b, a, b)
        step(acc, frag_a, frag_b, smem_a, smem_b, a + uint32(A_ROWS), b + uint32(B_ROWS))

    return steps


@cuda.jit(device=True, forceinline=True)
def load_inside(src, at, row, col):
    return load4(src, at)


@cuda.jit(device=True, forceinline=True)
def load_edge(src, at, row, col):
    return edge_load4(src, row, col)


def main_loop(load, steps, multiply, BM, BN, BK, TM, TN, THREADS):
    """Return run(…), which adds a block's products to acc; load(src, at, row, col) brings four elements of a tile."""
    PITCH = BM + 4
    TILE_A, TILE_B = BK * PITCH, BK * BN
    LOADS_A, LOADS_B = BM * BK // 4 // THREADS, BK * BN // 4 // THREADS  # of four elements, per thread
    ROWS_A, ROWS_B = THREADS // 2, 4 * THREADS // BN  # between two loads of a thread

    @cuda.jit(device=True, forceinline=True)
    def bring(A, B, at_a, at_b, m, n, ak, bk, next_a, next_b):
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
            x = next_b[r]
            store4(smem_b, put_b + uint32(r * ROWS_B * BN), x[0], x[1], x[2], x[3])

    @cuda.jit(device=True, forceinline=True)
    def run(acc, smem_a, smem_b, A, B, m, n, ak, bk, put_a, put_b, row, col):
        frag_a, frag_b = cuda.local.array(TM, float32), cuda.local.array(TN, float32)
        next_a = cuda.local.array((LOADS_A, 4), float32)
        next_b = cuda.local.array((LOADS_B, 4), float32)
        K, N = uint32(A.shape[1]), uint64(B.shape[1])
        at_a, at_b = uint64(m) * uint64(K) + uint64(ak), uint64(bk) * N + uint64(n)
        for i in range(TM):
            frag_a[i] = float32(0)  # NOTE: the first outer product adds zeros
        for j in range(TN):
            frag_b[j] = float32(0)
        bring(A, B, at_a, at_b, m, n, ak, bk, next_a, next_b)

        # Each turn stores one tile, loads the next, and multiplies from the last row before it to its last but one.
        buffer, k, left = uint32(0), uint32(0), (K + uint32(BK - 1)) // uint32(BK)
        while left > uint32(0):
            left -= uint32(1)
            tile_a, tile_b = buffer * uint32(TILE_A), buffer * uint32(TILE_B)
            place(smem_a, smem_b, tile_a + put_a, tile_b + put_b, next_a, next_b)
            buffer ^= uint32(1)
            if left > uint32(0):  # NOTE: after the last tile it is loaded once more, and not used
                at_a, at_b, k = at_a + uint64(BK), at_b + uint64(BK) * N, k + uint32(BK)
            bring(A, B, at_a, at_b, m, n, k + ak, k + bk, next_a, next_b)
            cuda.syncthreads()
            steps(acc, frag_a, frag_b, smem_a, smem_b, tile_a + row, tile_b + col)
        multiply(acc, frag_a, frag_b)

    return run


def patch_kernel(name, BM, BN, BK, WM, WN, TM, TN, blocks_per_sm):
    """Return the kernel for block tiles BM x BN, warp tiles WM x WN and thread patches TM x TN.

    Two threads load eight neighbours in a row of A, so that 2 BM threads cover 8 columns of the tile: a block has at
    most that many, or all of its threads load once.
    """
    THREADS = 32 * (BM // WM) * (BN // WN)
    PITCH = BM + 4
    SIZE_A, SIZE_B = 2 * BK * PITCH, 2 * BK * BN
    PAIRS = WN // TN // 2  # of columns of lanes
    STEP_M, STEP_N = 4 * (WM // TM), 4 * (WN // TN)  # between the groups of four that a thread owns
    fetch, multiply = fragments(TM, TN, STEP_M, STEP_N), outer_product(TM, TN)
    steps = written_out(BK, one_ahead(fetch, multiply, TM, TN), PITCH, BN)
    run_inside = main_loop(load_inside, steps, multiply, BM, BN, BK, TM, TN, THREADS)
    run_edge = main_loop(load_edge, steps, multiply, BM, BN, BK, TM, TN, THREADS)

    def kernel(A, B, C):
        smem_a = cuda.shared.array(SIZE_A, float32, alignment=16)
        smem_b = cuda.shared.array(SIZE_B, float32, alignment=16)
        acc = cuda.local.array((TM, TN), float32)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])
        tid = uint32(cuda.threadIdx.x)
        warp, lane = tid // uint32(32), tid % uint32(32)
        m0, n0 = uint32(cuda.blockIdx.y) * uint32(BM), uint32(cuda.blockIdx.x) * uint32(BN)
        # NOTE: lanes i and i ^ 1 share their rows of A, lanes i and i ^ 2 their columns of B.
        lane_row = lane // uint32(2) % uint32(2) + lane // uint32(4 * PAIRS) * uint32(2)
        lane_col = lane % uint32(2) + lane // uint32(4) % uint32(PAIRS) * uint32(2)
        row = warp % uint32(BM // WM) * uint32(WM) + lane_row * uint32(4)
        col = warp // uint32(BM // WM) * uint32(WN) + lane_col * uint32(4)
        am = tid // uint32(2) % uint32(BM)  # its four elements of A
        ak = tid % uint32(2) * uint32(4) + tid // uint32(2 * BM) * uint32(8)
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
            m = m0 + row + uint32(i // 4 * STEP_M + i % 4)
            for j in range(0, TN, 4):
                n = n0 + col + uint32(j // 4 * STEP_N)
                if inside:
                    store4(C, m * N + n, acc[i, j], acc[i, j + 1], acc[i, j + 2], acc[i, j + 3])
                elif m < M:
                    for q in range(4):
                        if n + uint32(q) < N:
                            C[m, n + uint32(q)] = acc[i, j + q]

    kernel.__name__ = kernel.__qualname__ = name
    return cuda.jit(launch_bounds=(THREADS, blocks_per_sm))(kernel)
