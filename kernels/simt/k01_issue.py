"""Chapter 01: how many multiply-adds an SM starts per cycle, by the number of its warps and of their chains.

Change: none, a measuring kernel. One block; a chain is a sum of which each step needs the step before.
Limit:  with few chains the latency of a multiply-add; with many, the number of FP32 lanes.
Needs:  any GPU. `out` holds blockDim.x * CHAINS float32, `cycles` one uint64 per warp.
"""

from numba import cuda, float32, uint32, uint64

from kernels.simt.probes import clock64


def unroll(CHAINS):
    """Return the steps between two tests of the loop: as many as the compiler writes out."""
    return min(64, 128 // CHAINS)


# region: kernel
def issue_kernel(CHAINS):
    """Return the kernel with CHAINS independent chains per thread."""
    UNROLL = unroll(CHAINS)

    @cuda.jit
    def issue(a, b, loops, out, cycles):
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
                    x[j] = x[j] * a + b  # one fused multiply-add
        end = clock64()
        for j in range(CHAINS):
            out[tid * uint32(CHAINS) + uint32(j)] = x[j]
        if tid % uint32(32) == uint32(0):
            cycles[tid // uint32(32)] = uint64(end - begin)

    return issue
# endregion
