"""Chapter 09: the best kernel of the CUDA-core rungs: an 8 x 16 patch per thread, multiplied column by column.

Change: 128 accumulators per thread, so that six 128-bit shared loads feed 128 multiply-adds; these go down the columns
        of the patch, while the loads of the next ones are under way; pairs of lanes share what they load; blocks
        inside the matrix run a loop without any test.
Limit:  the FP32 pipes; what is missing to their peak is issue slots for loads, and register banks.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, 256), cdiv(M, 128)).
"""

from kernels.simt.patch_kernel import patch_kernel

wide_columns = patch_kernel("wide_columns", BM=128, BN=256, BK=8, WM=32, WN=128, TM=8, TN=16, blocks_per_sm=1)
