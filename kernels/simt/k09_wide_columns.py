"""Chapter 09, a study: the 8 x 16 patch, multiplied column by column by blocks of half the size.

Change: the two loops of the outer product change places; pairs of lanes share what they load; two blocks of 128 threads
        share an SM; addresses are counted up.
Limit:  the FP32 pipes; what is missing to their peak is issue slots for loads, and register banks.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (128), grid (cdiv(N, 128), cdiv(M, 128)).
"""

from kernels.simt.patch_kernel import patch_kernel

wide_columns = patch_kernel("wide_columns", BM=128, BN=128, BK=8, WM=64, WN=64, TM=8, TN=16, blocks_per_sm=2)
