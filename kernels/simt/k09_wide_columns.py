"""Chapter 09, a study: the 8 x 16 patch, multiplied column by column.

Change: the two loops of the outer product change places.
Limit:  what shared memory can deliver to registers, and register banks.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (128), grid (cdiv(N, 128), cdiv(M, 128)).
"""

from kernels.simt.patch_kernel import patch_kernel

wide_columns = patch_kernel(
    "wide_columns", BM=128, BN=128, BK=8, WM=64, WN=64, TM=8, TN=16, blocks_per_sm=2, columns=True, pairs=False
)
