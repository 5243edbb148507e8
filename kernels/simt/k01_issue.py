"""Chapter 01: how many multiply-adds an SM starts per cycle, by the number of its warps and of their chains.

Change: none, a measuring kernel. One block; a chain is a sum of which each step needs the step before.
Limit:  with few chains the latency of a multiply-add; with many, the number of FP32 lanes.
Needs:  any GPU. `out` holds blockDim.x float32, the sums of a thread's chains; `clocks` two uint64 per warp, its first
        and its last reading of the SM's clock. The block's time is last end - first begin: a busy SM lets some warps
        wait before they start, so the time of no single warp holds all the work.
"""

from numba import cuda, float32, uint32

from kernels.simt.probes import clock64


def unroll(CHAINS):
    """Return the steps between two tests of the loop: as many as the compiler writes out."""
    return min(64, 128 // CHAINS)


# region: kernel
def issue_kernel(CHAINS, THREE=False):
    """Return the kernel: CHAINS chains per thread, of two or THREE registers."""
    UNROLL = unroll(CHAINS)

    @cuda.jit
    def issue(a, b, loops, out, clocks):
        x = cuda.local.array(CHAINS, float32)
        tid = uint32(cuda.threadIdx.x)
        for j in range(CHAINS):
            x[j] = float32(tid + uint32(j))
        cuda.syncthreads()
        begin, left = clock64(), uint32(loops)
        while left > uint32(0):
            left -= uint32(1)
            for _ in range(UNROLL):
                for j in range(CHAINS):
                    x[j] = x[j] * a + (b if THREE else a)
        total = float32(0)
        for j in range(CHAINS):
            total += x[j]
        out[tid] = total  # NOTE: needs every chain's end: no clock is read before
        end, slot = clock64(), uint32(2) * (tid // uint32(32))
        if tid % uint32(32) == uint32(0):
            clocks[slot], clocks[slot + uint32(1)] = begin, end

    return issue
# endregion
