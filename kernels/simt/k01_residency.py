"""Chapter 01: how many blocks an SM holds at once, seen by the blocks themselves.

Change: none, a measuring kernel. Each block notes its SM and the times at which it came and left.
Limit:  registers, shared memory, threads and the number of blocks per SM, whichever is used up first.
Needs:  any GPU. `where`, `came` and `left` hold one uint64 per block; dynamic shared memory is the launch's choice.
"""

from numba import cuda, uint64

from kernels.simt.probes import clock64, smid


# region: kernel
@cuda.jit
def residency(where, came, left, stay):
    block, begin = cuda.blockIdx.x, clock64()
    while clock64() - begin < uint64(stay):
        pass
    cuda.syncthreads()  # NOTE: the block stays whole until all of its threads leave
    if cuda.threadIdx.x == 0:
        where[block], came[block], left[block] = smid(), begin, clock64()
# endregion
