"""Chapter 01: how many blocks an SM holds at once, seen by the blocks themselves.

Change: none, a measuring kernel. Each block signs in on its SM, stays for a while, and signs out.
Limit:  registers, shared memory, threads and the number of blocks per SM, whichever is used up first.
Needs:  any GPU. `present` and `most` hold one int32 per SM (zeros); dynamic shared memory is the launch's choice.
"""

from numba import cuda, uint64

from kernels.simt.probes import clock64, smid


# region: kernel
@cuda.jit
def residency(present, most, stay):
    if cuda.threadIdx.x == 0:
        sm = smid()
        now = cuda.atomic.add(present, sm, 1) + 1
        cuda.atomic.max(most, sm, now)
        begin = clock64()
        while clock64() - begin < uint64(stay):
            pass
        cuda.atomic.sub(present, sm, 1)
        cuda.threadfence()  # NOTE: before the SM can take another block
# endregion
