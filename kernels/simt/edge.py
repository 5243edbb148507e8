"""128-bit access to global memory that stays right at ragged edges and on rows that are not aligned to 16 bytes.

`row` and `col` are uint32, the matrix is C-contiguous float32. These functions look at every element, so a kernel calls
them only for tiles that stick out of the matrix; inside, it calls load4 and store4 themselves.
"""

from numba import cuda, float32, uint32


@cuda.jit(device=True)
def edge_load4(src, row, col):
    """Return src[row, col … col + 3] as a tuple, with zeros beyond the edges."""
    rows, cols = uint32(src.shape[0]), uint32(src.shape[1])
    x0 = src[row, col] if row < rows and col < cols else float32(0)
    x1 = src[row, col + uint32(1)] if row < rows and col + uint32(1) < cols else float32(0)
    x2 = src[row, col + uint32(2)] if row < rows and col + uint32(2) < cols else float32(0)
    x3 = src[row, col + uint32(3)] if row < rows and col + uint32(3) < cols else float32(0)
    return x0, x1, x2, x3


@cuda.jit(device=True)
def edge_store4(dst, row, col, x0, x1, x2, x3):
    """Store dst[row, col … col + 3], as far as these elements exist."""
    rows, cols = uint32(dst.shape[0]), uint32(dst.shape[1])
    if row < rows and col < cols:
        dst[row, col] = x0
    if row < rows and col + uint32(1) < cols:
        dst[row, col + uint32(1)] = x1
    if row < rows and col + uint32(2) < cols:
        dst[row, col + uint32(2)] = x2
    if row < rows and col + uint32(3) < cols:
        dst[row, col + uint32(3)] = x3
