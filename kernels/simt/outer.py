"""The inner product of two shared tiles as eight outer products in registers, fed by 128-bit shared loads."""

from numba import cuda, float32, uint32

from kernels.simt.vector import load4

BK = 8  # outer products written out in `multiply`


# region: outer
def outer_product(TM, TN, STEP_M, STEP_N):
    """Return the device function step(acc, smem_a, smem_b, a, b), which adds one outer product to acc (TM, TN).

    `a` and `b` index the thread's first elements in the flat float32 tiles; it owns groups of four rows STEP_M apart
    and groups of four columns STEP_N apart.
    """

    @cuda.jit(device=True, forceinline=True)
    def step(acc, smem_a, smem_b, a, b):
        frag_a = cuda.local.array(TM, float32)
        frag_b = cuda.local.array(TN, float32)
        for g in range(TM // 4):
            x = load4(smem_a, a + uint32(STEP_M * g))
            for i in range(4):
                frag_a[4 * g + i] = x[i]
        for g in range(TN // 4):
            x = load4(smem_b, b + uint32(STEP_N * g))
            for j in range(4):
                frag_b[4 * g + j] = x[j]
        for i in range(TM):
            for j in range(TN):
                acc[i, j] += frag_a[i] * frag_b[j]

    return step


def outer_products(TM, TN, PITCH_A, PITCH_B, STEP_M, STEP_N):
    """Return the device function multiply(acc, smem_a, smem_b, a, b), which adds the eight outer products of two tiles.

    Tile A is stored transposed, (8, PITCH_A), and tile B as (8, PITCH_B); the other arguments are outer_product's.
    """
    step = outer_product(TM, TN, STEP_M, STEP_N)

    @cuda.jit(device=True, forceinline=True)
    def multiply(acc, smem_a, smem_b, a, b):
        # NOTE: written out; `for k in range(8)` stays a loop and waits for its loads in every turn.
        step(acc, smem_a, smem_b, a, b)
        step(acc, smem_a, smem_b, a + uint32(PITCH_A), b + uint32(PITCH_B))
        step(acc, smem_a, smem_b, a + uint32(2 * PITCH_A), b + uint32(2 * PITCH_B))
        step(acc, smem_a, smem_b, a + uint32(3 * PITCH_A), b + uint32(3 * PITCH_B))
        step(acc, smem_a, smem_b, a + uint32(4 * PITCH_A), b + uint32(4 * PITCH_B))
        step(acc, smem_a, smem_b, a + uint32(5 * PITCH_A), b + uint32(5 * PITCH_B))
        step(acc, smem_a, smem_b, a + uint32(6 * PITCH_A), b + uint32(6 * PITCH_B))
        step(acc, smem_a, smem_b, a + uint32(7 * PITCH_A), b + uint32(7 * PITCH_B))

    return multiply
# endregion
