"""Chapter 09, a study: an 8 x 16 patch per thread, multiplied row by row.

Change: 128 accumulators per thread, so that six 128-bit shared loads feed 128 multiply-adds; two blocks of 128
        threads share an SM.
Limit:  register banks: many multiply-adds read two operands from one bank.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (128), grid (cdiv(N, 128), cdiv(M, 128)).
"""

from kernels.simt.patch_kernel import patch_kernel

wide_rows = patch_kernel(
    "wide_rows", BM=128, BN=128, BK=8, WM=64, WN=64, TM=8, TN=16, blocks_per_sm=2, columns=False, pairs=False
)
