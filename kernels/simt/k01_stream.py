"""Chapter 01: the two simplest kernels, add two vectors and copy one.

Change: none, they come first.
Limit:  one element per thread and step: how many bytes are under way depends on the number of warps.
Needs:  any GPU. Vectors of n float32. Any grid and block: the loop strides over the grid.
"""

from numba import cuda, uint32


# region: kernel
@cuda.jit
def add(x, y, out):
    i = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    if i < uint32(out.size):  # NOTE: the grid is rounded up to whole blocks
        out[i] = x[i] + y[i]
# endregion


# region: copy
@cuda.jit
def copy(src, dst):
    i, step = uint32(cuda.grid(1)), uint32(cuda.gridsize(1))
    n = uint32(dst.size)
    while i < n:
        dst[i] = src[i]
        i += step
# endregion
