"""Chapter 09, a study: the code of k09_wide_columns with a tile of 64 x 128, for matrices of few tiles.

Change: a patch of 4 x 8 per thread: four times as many blocks.
Limit:  three shared loads feed 32 multiply-adds, where k09_wide_columns has six for 128.
Needs:  any GPU. A (M, K), B (K, N), C (M, N), float32, row-major. Block (256), grid (cdiv(N, 128), cdiv(M, 64)).
"""

from kernels.simt.patch_kernel import patch_kernel

small_tile = patch_kernel("small_tile", BM=64, BN=128, BK=16, WM=32, WN=32, TM=4, TN=8, blocks_per_sm=2)
